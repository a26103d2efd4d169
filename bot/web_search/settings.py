"""The settings of the web search, such as `PARLEY_WEB` and `PARLEY_SEARXNG_URL`."""

from datetime import timedelta
from enum import StrEnum
from ipaddress import ip_address, ip_network
from typing import Annotated

from pydantic import AfterValidator, Field

from bot.settings_section import CommaSeparated, SettingsSection, validate_web_url
from storage.ingest.sources.addresses import is_public_address

MAX_WEB_ROUNDS = 3


class WebUse(StrEnum):
    """When the web is searched for a question that the documents do not answer."""

    OFF = "off"
    ASK = "ask"  # a button offers it
    AUTO = "auto"  # at once


def _validate_network(text: str) -> str:
    ip_network(text)
    return text


class WebSearchSettings(SettingsSection):
    """Whether the web may be searched, by which server, and how far."""

    web: WebUse = WebUse.OFF
    searxng_url: Annotated[str, AfterValidator(validate_web_url)] | None = None
    web_completeness: Annotated[float, Field(ge=0, le=1)] = 0.8
    web_rounds: Annotated[int, Field(ge=1, le=MAX_WEB_ROUNDS)] = MAX_WEB_ROUNDS
    web_days: Annotated[int, Field(ge=1, le=365)] = 7  # until a page is fetched again
    # Private networks whose pages are read as well, such as 10.1.0.0/16
    web_networks: Annotated[tuple[Annotated[str, AfterValidator(_validate_network)], ...], CommaSeparated] = ()
    web_hints: bool = True  # a follow-up's query names the subject of the pages that answered before

    @property
    def is_allowed(self) -> bool:
        """Whether the web is searched at all. Without a server it is not."""
        return self.web is not WebUse.OFF and self.searxng_url is not None

    @property
    def page_lifetime(self) -> timedelta:
        return timedelta(days=self.web_days)

    def is_allowed_address(self, address: str) -> bool:
        """Whether pages at this address are read: one of the public internet, or of the given networks."""
        if is_public_address(address):
            return True
        try:
            parsed = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        return any(parsed in ip_network(network) for network in self.web_networks)

    def find_problems(self) -> list[str]:
        if self.web is not WebUse.OFF and self.searxng_url is None:
            return [f"PARLEY_WEB is {self.web}, but PARLEY_SEARXNG_URL names no server, so the web is not searched"]
        return []
