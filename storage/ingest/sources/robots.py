"""The rules of robots.txt, fetched once for each origin."""

import io
from typing import Final

from protego import Protego

from storage.ingest.sources.site_client import ROBOT_NAME, SiteClient, UnreachableUrl
from storage.ingest.sources.urls import origin_of

_MAX_ROBOTS_BYTES: Final = 512 * 1024
_MAX_CRAWL_DELAY_S: Final = 60.0


class RobotsRules:
    """The rules of the origins that `client` visits. The client obeys their crawl delay."""

    def __init__(self, client: SiteClient) -> None:
        self._client = client
        self._rules_by_origin: dict[str, Protego | UnreachableUrl] = {}

    async def load_rules(self, url: str) -> "Protego | UnreachableUrl":
        """Returns the robots.txt rules for a URL, fetched once for each origin.

        By RFC 9309 a 4xx status allows everything, and an unreachable robots.txt allows nothing.
        """
        origin = origin_of(url)
        if origin not in self._rules_by_origin:
            self._rules_by_origin[origin] = await self._fetch_rules(origin)
        rules = self._rules_by_origin[origin]
        if isinstance(rules, Protego) and (delay := rules.crawl_delay(ROBOT_NAME)) is not None:
            self._client.set_min_delay(min(delay, _MAX_CRAWL_DELAY_S))
        return rules

    async def find_refusal(self, url: str) -> str | None:
        """Returns why the URL may not be requested; None if it may."""
        rules = await self.load_rules(url)
        is_allowed = isinstance(rules, Protego) and rules.can_fetch(url, ROBOT_NAME)
        return None if is_allowed else "the site's robots.txt does not allow it"

    async def _fetch_rules(self, origin: str) -> "Protego | UnreachableUrl":
        body = io.BytesIO()
        try:
            await self._client.fetch_url(
                f"{origin}/robots.txt",
                lambda: rewind_body(body),
                max_bytes=_MAX_ROBOTS_BYTES,
                check_url=_allow_any_url,
                headers={},
            )
        except UnreachableUrl as exc:
            is_missing = exc.status is not None and 400 <= exc.status < 500 and exc.status != 429
            return Protego.parse("") if is_missing else exc
        return Protego.parse(body.getvalue().decode("utf-8-sig", "replace"))


def rewind_body(body: io.IOBase) -> "io.IOBase":
    """Empties the body for another try."""
    body.seek(0)
    body.truncate()
    return body


async def _allow_any_url(url: str) -> str | None:
    return None
