"""What the project's `manifest.yaml` asks Slack for. The stand-in grants that and no more."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

PATH = Path(__file__).parents[3] / "manifest.yaml"


class _Scopes(BaseModel):
    bot: list[str]
    bot_optional: list[str] = []


class _OAuth(BaseModel):
    scopes: _Scopes
    redirect_urls: list[str] = []


class _Subscriptions(BaseModel):
    request_url: str
    bot_events: list[str]


class _Interactivity(BaseModel):
    is_enabled: bool
    request_url: str


class _Settings(BaseModel):
    event_subscriptions: _Subscriptions
    interactivity: _Interactivity
    socket_mode_enabled: bool
    token_rotation_enabled: bool = False


class Manifest(BaseModel):
    display_information: dict[str, str]
    features: dict[str, Any]
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
        return frozenset(one["command"] for one in self.features.get("slash_commands", []))

    @property
    def shortcuts(self) -> frozenset[str]:
        """By their callback ids."""
        return frozenset(one["callback_id"] for one in self.features.get("shortcuts", []))

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
def manifest() -> Manifest:
    return Manifest.model_validate(yaml.safe_load(PATH.read_text(encoding="utf-8")))
