"""Fetches single pages of the web: politely, from public addresses alone, and within limits of type, size and time."""

import asyncio
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from storage.ingest.sources.addresses import is_public_address
from storage.ingest.sources.robots import RobotsRules, rewind_body
from storage.ingest.sources.site import suffix_for
from storage.ingest.sources.site_client import SiteClient, UnreachableUrl, open_site_client
from storage.ingest.sources.urls import host_of, normalize_url

MAX_PAGE_BYTES: Final = 3 * 1024 * 1024
PAGE_TIMEOUT: Final = timedelta(seconds=15)  # of one page with its robots.txt, pauses included
_MAX_CONCURRENT_HOSTS: Final = 4
_SUFFIXES: Final = frozenset({".html", ".pdf", ".txt", ".md"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadablePage:
    """A page as the site sent it. `final_url` is where the redirects led; `suffix` is that of its format."""

    url: str
    final_url: str
    suffix: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadablePage:
    """A page that was not read, and why."""

    url: str
    reason: str


PageResult: TypeAlias = ReadablePage | UnreadablePage


class WebPageFetcher:
    """Visits several hosts at once, but the pages of one host one after another.

    Obeys robots.txt and its crawl delay, also for the targets of redirects.
    """

    def __init__(
        self,
        *,
        is_allowed_address: Callable[[str], bool] = is_public_address,
        page_timeout: timedelta = PAGE_TIMEOUT,
        max_bytes: int = MAX_PAGE_BYTES,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._is_allowed_address, self._clock = is_allowed_address, clock
        self._timeout_s, self._max_bytes = page_timeout.total_seconds(), max_bytes

    async def fetch_pages(self, urls: Sequence[str], time_limit: timedelta | None = None) -> list[PageResult]:
        """Returns a result for each URL, in order. A failure is a result, also of what is not read in time."""
        deadline = None if time_limit is None else asyncio.get_running_loop().time() + time_limit.total_seconds()
        urls_by_host: dict[str, list[str]] = {}
        for url in dict.fromkeys(map(normalize_url, urls)):
            urls_by_host.setdefault(host_of(url), []).append(url)
        slots = asyncio.Semaphore(_MAX_CONCURRENT_HOSTS)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._visit_host(host_urls, slots, deadline)) for host_urls in urls_by_host.values()
            ]
        results = {result.url: result for task in tasks for result in task.result()}
        return [results[normalize_url(url)] for url in urls]

    async def _visit_host(
        self, urls: Sequence[str], slots: asyncio.Semaphore, deadline: float | None
    ) -> list[PageResult]:
        async with slots, open_site_client(is_allowed_address=self._is_allowed_address, clock=self._clock) as client:
            robots = RobotsRules(client)
            return [await self._fetch_page(url, client, robots, deadline) for url in urls]

    async def _fetch_page(
        self, url: str, client: SiteClient, robots: RobotsRules, deadline: float | None
    ) -> PageResult:
        body = io.BytesIO()
        try:
            async with asyncio.timeout(self._timeout_s), asyncio.timeout_at(deadline):
                response = await client.fetch_url(
                    url,
                    lambda: rewind_body(body),
                    max_bytes=self._max_bytes,
                    check_url=robots.find_refusal,
                    headers={"Accept": "text/html,application/xhtml+xml,application/pdf,text/plain;q=0.9"},
                )
        except TimeoutError:
            return UnreadablePage(url=url, reason="it does not answer in time")
        except UnreachableUrl as exc:
            return UnreadablePage(url=url, reason=exc.reason)
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        suffix = suffix_for(media_type, response.url)
        if response.status != 200 or suffix not in _SUFFIXES:
            return UnreadablePage(url=url, reason="it is no page of text")
        return ReadablePage(url=url, final_url=normalize_url(response.url), suffix=suffix, body=body.getvalue())
