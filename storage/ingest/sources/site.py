"""A web site as a source: the pages that its sitemaps name and its robots.txt lets us read."""

import asyncio
import hashlib
import io
import json
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from protego import Protego

from storage.ingest.errors import ListingFailed, Unparsable
from storage.ingest.load import SourceFile, is_known
from storage.ingest.sources.addresses import is_any, is_public
from storage.ingest.sources.client import ROBOT, Answer, Client, Unreachable, web_client
from storage.ingest.sources.sitemap import Page, Sitemap, parsed
from storage.ingest.sources.source import Fetch, Fetched, Gone, Item, PassedOver, Unchanged, Unfetched

_LARGEST_ROBOTS: Final = 512 * 1024
_LARGEST_SITEMAP: Final = 50 * 1024 * 1024
_LARGEST_PAGE: Final = 200 * 1024 * 1024
_DEPTH: Final = 3  # sitemaps that name sitemaps
_SITEMAPS: Final = 1000
_PAGES: Final = 200_000
_LONGEST_DELAY_S: Final = 60.0
_SETTLED: Final = timedelta(days=2)
_GONE: Final = frozenset({404, 410})
_SUFFIXES: Final = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/csv": ".csv",
}
_LOOSE: Final = {"": "", "application/octet-stream": "", "text/plain": ".txt"}  # where the URL may say more


@asynccontextmanager
async def opened(
    url: str, *, allow_private: bool = False, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> "AsyncGenerator[Site]":
    """The site, with connections of its own for the length of the block."""
    async with web_client(reaches=is_any if allow_private else is_public, clock=clock) as client:
        yield Site(url, client, clock=clock)


class Site:
    """The pages below `url`, by the sitemaps of its robots.txt, else by `/sitemap.xml`; `url` may be that of a sitemap.

    An item's id is its path and query, with `//HOST` before it on another host than that of `url`. Other hosts are
    those alone that a sitemap of the robots.txt lies on. A page's version is its `lastmod`, once that is two days old:
    it may change again on the same day, of any zone. Its cursor is what a conditional request needs, and a digest for
    sites that ignore those.
    """

    def __init__(self, url: str, client: Client, *, clock: Callable[[], datetime]) -> None:
        self._url, self._client, self._clock = normal(url), client, clock
        self._hosts = {_host(self._url)}
        self._robots: dict[str, Protego | Unreachable] = {}

    # -- which pages

    async def items(self) -> AsyncIterator[Item]:
        """As the sitemaps have them, in their order. One that cannot be read fails the listing, after the others."""
        problems: list[str] = []
        listed = set[str]()
        async for page in self._pages(problems):
            item = await self._item(page, problems)
            if item is None or item.id in listed:
                continue
            if len(listed) >= _PAGES:
                problems.append(f"it has more than {_PAGES:,} pages")
                break
            listed.add(item.id)
            yield item
        if problems:
            raise ListingFailed("; ".join(dict.fromkeys(problems[:3])))

    async def _pages(self, problems: list[str]) -> AsyncIterator[Page]:
        waiting = deque((url, 1) for url in await self._roots(problems))
        met = {url for url, _ in waiting}
        while waiting:
            url, depth = waiting.popleft()
            sitemap = await self._sitemap(url, problems, is_root=depth == 1)
            for page in sitemap.pages:
                yield page
            further = [one for one in map(normal, sitemap.sitemaps) if one not in met]
            if further and (depth > _DEPTH or len(met) + len(further) > _SITEMAPS):
                problems.append(f"its sitemaps are more than {_SITEMAPS:,}, or nested deeper than {_DEPTH}")
                continue
            met |= {*further}
            waiting += [(one, depth + 1) for one in further]

    async def _roots(self, problems: list[str]) -> list[str]:
        if _is_sitemap(self._url):
            return [self._url]
        robots = await self._robots_of(self._url)
        if isinstance(robots, Unreachable):
            problems.append(f"its robots.txt cannot be had: {robots.reason}")
            return []
        named = [normal(one) for one in robots.sitemaps]
        return list(dict.fromkeys(named)) or [f"{_origin(self._url)}/sitemap.xml"]

    async def _sitemap(self, url: str, problems: list[str], *, is_root: bool) -> Sitemap:
        async def allowed(asked: str) -> str | None:
            return None if is_root or _host(asked) in self._hosts else "it is on another host"

        body = io.BytesIO()
        try:
            answer = await self._client.get(
                url, lambda: _emptied(body), largest=_LARGEST_SITEMAP, allowed=allowed, headers={}
            )
            if is_root:
                self._hosts |= {_host(url), _host(answer.url)}
            return parsed(body.getvalue())
        except (Unreachable, Unparsable) as exc:
            advice = "; give the address of its sitemap instead" if url.endswith("/sitemap.xml") and is_root else ""
            problems.append(f"{url}: {exc.reason}{advice}")
            return Sitemap()

    async def _item(self, page: Page, problems: list[str]) -> Item | None:
        """None for a page that is none of ours to read."""
        url = normal(page.url)
        if _host(url) not in self._hosts or not self._is_below(url):
            return None
        robots = await self._robots_of(url)
        if isinstance(robots, Unreachable):
            problems.append(f"the robots.txt of {_host(url)} cannot be had: {robots.reason}")
            return None
        if not robots.can_fetch(url, ROBOT):
            return None
        return Item(id=self._id(url), version=self._settled(page.changed), where=url)

    def _is_below(self, url: str) -> bool:
        if _is_sitemap(self._url) or _host(url) != _host(self._url):
            return True
        base, path = urlsplit(self._url).path, urlsplit(url).path
        return path == base or path.startswith(base.rstrip("/") + "/")

    def _id(self, url: str) -> str:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        return path if _host(url) == _host(self._url) else f"//{_host(url)}{path}"

    def _settled(self, changed: str) -> str:
        """The `lastmod`, if nothing more can happen at that time; empty otherwise."""
        try:
            at = datetime.fromisoformat(changed)
        except ValueError:
            return ""
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        return changed if at + _SETTLED < self._clock() else ""

    # -- who may read them

    async def _robots_of(self, url: str) -> "Protego | Unreachable":
        """The rules for a URL, asked for once. By RFC 9309 a 4xx allows everything, and no answer nothing."""
        origin = _origin(url)
        if origin not in self._robots:
            self._robots[origin] = await self._asked_robots(origin)
        robots = self._robots[origin]
        if isinstance(robots, Protego) and (delay := robots.crawl_delay(ROBOT)) is not None:
            self._client.slow_down(min(delay, _LONGEST_DELAY_S))
        return robots

    async def _asked_robots(self, origin: str) -> "Protego | Unreachable":
        body = io.BytesIO()
        try:
            await self._client.get(
                f"{origin}/robots.txt", lambda: _emptied(body), largest=_LARGEST_ROBOTS, allowed=_anything, headers={}
            )
        except Unreachable as exc:
            is_none = exc.status is not None and 400 <= exc.status < 500 and exc.status != 429
            return Protego.parse("") if is_none else exc
        return Protego.parse(body.getvalue().decode("utf-8-sig", "replace"))

    async def _allowed(self, url: str) -> str | None:
        """Whether a page may be asked for, also where a redirect leads."""
        url = normal(url)
        if _host(url) not in self._hosts:
            return f"it leads to another host, {_host(url)}"
        robots = await self._robots_of(url)
        is_allowed = isinstance(robots, Protego) and robots.can_fetch(url, ROBOT)
        return None if is_allowed else "the site's robots.txt does not allow it"

    # -- their content

    async def fetch(self, item: Item, cursor: str, folder: Path) -> Fetch:
        """By a conditional request."""
        known = _Cursor.read(cursor)
        path = folder / hashlib.sha256(item.id.encode()).hexdigest()[:32] / "body"
        path.parent.mkdir()
        try:
            with path.open("wb") as file:
                answer = await self._client.get(
                    item.where,
                    lambda: _emptied(file),
                    largest=_LARGEST_PAGE,
                    allowed=self._allowed,
                    headers=known.headers,
                )
        except Unreachable as exc:
            return Gone() if exc.status in _GONE else Unfetched(reason=exc.reason)
        if answer.status == 304:
            if not cursor:
                return Unfetched(reason="the site says that it has not changed, and was not asked")
            return Unchanged(version=item.version, cursor=cursor)
        return await asyncio.to_thread(_received, item, answer, path, known)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cursor:
    etag: str = ""
    modified: str = ""
    digest: str = ""

    @classmethod
    def read(cls, written: str) -> "_Cursor":
        """Empty for what another version wrote otherwise: then it is fetched again."""
        try:
            return cls(**json.loads(written))
        except (TypeError, ValueError):
            return cls()

    def written(self) -> str:
        return json.dumps({"etag": self.etag, "modified": self.modified, "digest": self.digest})

    @property
    def headers(self) -> Mapping[str, str]:
        given = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in given.items() if value}


def _received(item: Item, answer: Answer, path: Path, known: _Cursor) -> Fetch:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    etag, modified = answer.headers.get("etag", ""), answer.headers.get("last-modified", "")
    cursor = _Cursor(etag=etag, modified=modified, digest=digest).written()
    if digest == known.digest:
        return Unchanged(version=item.version, cursor=cursor)
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    named = path.with_name(_file_name(item.where, _suffix(kind, item.where)))
    if not is_known(SourceFile(path=named, name=item.id)):
        what = f"its type {kind!r} is not read" if kind else "it does not say its type"
        return PassedOver(reason=what, version=item.version, cursor=cursor)
    return Fetched(path=path.rename(named), link=item.where, version=item.version, cursor=cursor)


def _suffix(kind: str, url: str) -> str:
    """By the type that the site gives; the URL's own where that says little."""
    if kind not in _LOOSE:
        return _SUFFIXES.get(kind, "")
    own = "".join(PurePosixPath(urlsplit(url).path).suffixes[-1:]).lower()
    is_better = is_known(SourceFile(path=Path(f"x{own}"), name=""))
    return own if is_better else _LOOSE[kind]


def _file_name(url: str, suffix: str) -> str:
    """What a document without a title of its own is called after."""
    last = PurePosixPath(unquote(urlsplit(url).path)).stem
    safe = "".join(c for c in last if c.isprintable() and c not in "/\\\0").strip(". ")
    return f"{safe[:40] or _host(url)}{suffix}"


def _emptied(body: io.IOBase) -> "io.IOBase":
    """As new, for another try."""
    body.seek(0)
    body.truncate()
    return body


async def _anything(url: str) -> str | None:
    return None


# -- addresses


def normal(url: str) -> str:
    """One spelling: no fragment, host in small letters, no usual port, a path. What is no URL comes back as it is."""
    try:
        parts = urlsplit(url.strip())
        host = _netloc(parts)
    except ValueError:
        return url
    return SplitResult(parts.scheme.lower(), host, parts.path or "/", parts.query, "").geturl()


def _netloc(parts: SplitResult) -> str:
    """Raises `ValueError`."""
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}.get(parts.scheme.lower())
    return host if parts.port in (None, usual) else f"{host}:{parts.port}"


def _host(url: str) -> str:
    """With its port, if that is an unusual one."""
    try:
        return _netloc(urlsplit(url))
    except ValueError:
        return ""


def _origin(url: str) -> str:
    return f"{urlsplit(url).scheme}://{_host(url)}"


def _is_sitemap(url: str) -> bool:
    return urlsplit(url).path.lower().endswith((".xml", ".xml.gz"))
