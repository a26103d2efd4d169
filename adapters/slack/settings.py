"""The settings of the Slack app. `bot.settings` reads them."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from bot.settings_section import CommaSeparated, SettingsSection


def _validate_bot_id(text: str) -> str:
    if re.fullmatch(r"[AB][A-Z0-9]+", text) is None:
        raise ValueError(f"{text!r} is neither the id of an app (A0123) nor of a bot (B0123)")
    return text


def _validate_api_url(url: str) -> str:
    if not url.endswith("/api/"):
        raise ValueError("it does not end in /api/")
    return url


class SlackSettings(SettingsSection):
    bot_token: Annotated[SecretStr | None, Field(validation_alias="SLACK_BOT_TOKEN")] = None
    signing_secret: Annotated[SecretStr | None, Field(validation_alias="SLACK_SIGNING_SECRET")] = None
    app_token: Annotated[SecretStr | None, Field(validation_alias="SLACK_APP_TOKEN")] = None
    client_id: Annotated[str | None, Field(validation_alias="SLACK_CLIENT_ID")] = None
    client_secret: Annotated[SecretStr | None, Field(validation_alias="SLACK_CLIENT_SECRET")] = None
    api_url: Annotated[str, AfterValidator(_validate_api_url), Field(validation_alias="SLACK_API_URL")] = (
        "https://slack.com/api/"
    )
    threads: Annotated[bool, Field(validation_alias="PARLEY_SLACK_THREADS")] = False
    bots: Annotated[
        tuple[Annotated[str, AfterValidator(_validate_bot_id)], ...],
        CommaSeparated,
        Field(validation_alias="PARLEY_SLACK_BOTS"),
    ] = ()
    file_mb: Annotated[int, Field(ge=0, validation_alias="PARLEY_SLACK_FILE_MB")] = 1_000

    @property
    def is_configured(self) -> bool:
        """Whether there is an app: by its token in one workspace, or by its client id in several."""
        return self.bot_token is not None or self.client_id is not None

    @property
    def has_worker_surface(self) -> bool:
        return self.is_configured and not self.find_problems()

    def find_problems(self) -> list[str]:
        has_app = bool(self.bot_token or self.client_id)
        if has_app == bool(self.signing_secret or self.app_token):
            return []
        variables = "SLACK_APP_TOKEN or SLACK_SIGNING_SECRET"
        return [f"Slack needs SLACK_BOT_TOKEN together with {variables}; set both or neither"]
