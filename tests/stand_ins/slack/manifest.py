"""Loads the project's `load_manifest.yaml`. The stand-in grants exactly what the manifest requests.

Invalid manifests are refused: unknown names, texts that are too long, invalid addresses. The limits are those of the
schema that Slack publishes (github.com/slackapi/manifest-schema, version 2, November 2026).
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

PATH = Path(__file__).parents[3] / "manifest.yaml"


def _check_unique(names: list[str]) -> list[str]:
    if len(set(names)) != len(names):
        raise ValueError("a name stands there twice")
    return names


Address = Annotated[str, Field(pattern=r"^https?://", max_length=3000)]
Name = Annotated[str, Field(max_length=50)]
Scopes = Annotated[list[Name], Field(max_length=255)]
Events = Annotated[list[Name], Field(max_length=100), AfterValidator(_check_unique)]


def text_field(longest: int, shortest: int = 1) -> Any:
    return Field(min_length=shortest, max_length=longest)


class _ManifestPart(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Metadata(_ManifestPart):
    major_version: int
    minor_version: int


class _DisplayInformation(_ManifestPart):
    name: str = text_field(35)
    description: str = text_field(140)
    background_color: str = Field(pattern=r"^#[0-9a-fA-F]{3}([0-9a-fA-F]{3})?$")


class _Prompt(_ManifestPart):
    title: str
    message: str


class _AgentView(_ManifestPart):
    agent_description: str = Field(max_length=300)
    suggested_prompts: list[_Prompt] = Field(max_length=4)


class _AppHome(_ManifestPart):
    home_tab_enabled: bool
    messages_tab_enabled: bool
    messages_tab_read_only_enabled: bool


class _BotUser(_ManifestPart):
    display_name: str = text_field(80)
    always_online: bool


class _Command(_ManifestPart):
    command: str = Field(pattern="^/", min_length=2, max_length=32)
    url: Address | None = None
    description: str = text_field(2000)
    usage_hint: str = text_field(1000)
    should_escape: bool = False


class _Shortcut(_ManifestPart):
    name: str = text_field(24)
    type: Literal["message", "global"]
    callback_id: str = text_field(255)
    description: str = text_field(150)


class _Features(_ManifestPart):
    agent_view: _AgentView
    app_home: _AppHome
    bot_user: _BotUser
    slash_commands: list[_Command] = Field(min_length=1, max_length=50)
    shortcuts: list[_Shortcut] = Field(min_length=1, max_length=10)


def _check_features(given: dict[str, Any]) -> dict[str, Any]:
    _Features.model_validate(given)
    return given


class _Scopes(_ManifestPart):
    bot: Scopes
    bot_optional: Scopes = []


class _OAuth(_ManifestPart):
    scopes: _Scopes
    redirect_urls: Annotated[list[str], Field(max_length=1000), AfterValidator(_check_unique)] = []


class _Subscriptions(_ManifestPart):
    request_url: Address
    bot_events: Events


class _Interactivity(_ManifestPart):
    is_enabled: bool
    request_url: Address


class _Settings(_ManifestPart):
    event_subscriptions: _Subscriptions
    interactivity: _Interactivity
    org_deploy_enabled: bool
    socket_mode_enabled: bool
    token_rotation_enabled: bool = False


class Manifest(_ManifestPart):
    metadata: _Metadata = Field(alias="_metadata")
    display_information: _DisplayInformation
    features: Annotated[dict[str, Any], AfterValidator(_check_features)]
    oauth_config: _OAuth
    settings: _Settings

    @property
    def redirect_urls(self) -> frozenset[str]:
        return frozenset(self.oauth_config.redirect_urls)

    @property
    def optional_scopes(self) -> frozenset[str]:
        return frozenset(self.oauth_config.scopes.bot_optional)

    @property
    def socket_mode(self) -> bool:
        return self.settings.socket_mode_enabled

    @property
    def rotation(self) -> bool:
        return self.settings.token_rotation_enabled

    @property
    def commands(self) -> frozenset[str]:
        return frozenset(command["command"] for command in self.features.get("slash_commands", []))

    @property
    def shortcuts(self) -> frozenset[str]:
        """The callback ids of the shortcuts."""
        return frozenset(shortcut["callback_id"] for shortcut in self.features.get("shortcuts", []))

    @property
    def is_agent(self) -> bool:
        return "agent_view" in self.features

    @property
    def home_tab(self) -> bool:
        return bool(self.features.get("app_home", {}).get("home_tab_enabled"))

    @property
    def scopes(self) -> frozenset[str]:
        return frozenset(self.oauth_config.scopes.bot)

    @property
    def events(self) -> frozenset[str]:
        return frozenset(self.settings.event_subscriptions.bot_events)


@cache
def load_manifest() -> Manifest:
    """Load the manifest. Raises `ValidationError` for one that Slack would refuse."""
    return Manifest.model_validate(yaml.safe_load(PATH.read_text(encoding="utf-8")))
