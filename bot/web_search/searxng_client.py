"""Asks a SearXNG server over its JSON API. Whatever it answers is data from outside: bounded, and read leniently."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any as Json
from typing import Final, cast
from urllib.parse import urlsplit

import aiohttp

from agent.web_search.web_results import WebResult
from bot.web_search.errors import WebSearchUnavailable
from storage.ingest.sources.site_client import TRANSLATED_ERRORS

REQUEST_TIMEOUT_S: Final = 10.0
_MAX_BYTES: Final = 2 * 1024 * 1024
_MAX_RESULTS: Final = 30
_MAX_TITLE_CHARS, _MAX_SNIPPET_CHARS, _MAX_URL_CHARS = 300, 1000, 2000
_CHUNK_BYTES: Final = 1 << 16
_COMMAND_SIGNS: Final = (
    "!:<"  # before a word: `!!g` redirects to another site, `!images`, `:de` and `<3` change settings
)
_REASON_BY_STATUS: Final = {
    400: "it does not accept the query",
    401: "it wants a password",
    403: "it does not allow the JSON format; add json to search.formats in its settings.yml",
    404: "there is no search at this address",
    429: "it limits our requests; turn its limiter off for this machine",
}


class SearxngClient:
    def __init__(self, session: aiohttp.ClientSession, base_url: str, timeout_s: float = REQUEST_TIMEOUT_S) -> None:
        self._session, self._url, self._timeout_s = session, f"{base_url}/search", timeout_s

    async def find_pages(self, query: str, language: str = "") -> tuple[WebResult, ...]:
        """Returns the results in the server's order, 30 at most. Raises `WebSearchUnavailable`.

        `language`: ISO 639-1; empty leaves it to the server.
        """
        parameters = {
            "q": _without_commands(query),
            "format": "json",
            "safesearch": "1",
            **({"language": language} if language else {}),
        }
        try:
            timeout = aiohttp.ClientTimeout(total=self._timeout_s)
            async with self._session.get(
                self._url, params=parameters, allow_redirects=False, timeout=timeout
            ) as response:
                if response.status != 200:
                    raise WebSearchUnavailable(
                        _REASON_BY_STATUS.get(response.status, f"it answers {response.status}"), status=response.status
                    )
                return _parse_results(await _read_body(response))
        except TimeoutError as exc:
            raise WebSearchUnavailable("it does not answer in time") from exc
        except TRANSLATED_ERRORS as exc:
            raise WebSearchUnavailable("it cannot be reached, or its answer cannot be read") from exc


@asynccontextmanager
async def open_searxng_client(base_url: str, timeout_s: float = REQUEST_TIMEOUT_S) -> AsyncGenerator[SearxngClient]:
    """Opens a client with its own connections. It keeps no cookies."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield SearxngClient(session, base_url, timeout_s)


def _without_commands(query: str) -> str:
    """Returns the query with its words as words: SearXNG takes some of them for commands."""
    return " ".join(filter(None, (word.lstrip(_COMMAND_SIGNS) for word in query.split())))


async def _read_body(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for data in response.content.iter_chunked(_CHUNK_BYTES):
        body += data
        if len(body) > _MAX_BYTES:
            response.close()
            raise WebSearchUnavailable("its answer is too large")
    return bytes(body)


def _parse_results(body: bytes) -> tuple[WebResult, ...]:
    """Leaves out entries without a web address. Raises `WebSearchUnavailable`."""
    try:
        data: Json = json.loads(body)
    except (ValueError, RecursionError) as exc:
        raise WebSearchUnavailable("its answer is not JSON; is it a SearXNG server?") from exc
    entries = cast("dict[str, Json]", data).get("results") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise WebSearchUnavailable("its answer has no list of results; is it a SearXNG server?")
    results = (_parse_result(entry) for entry in cast("list[Json]", entries))
    return tuple(result for result in results if result is not None)[:_MAX_RESULTS]


def _parse_result(entry: Json) -> WebResult | None:
    if not isinstance(entry, dict):
        return None
    fields = cast("dict[str, Json]", entry)
    url = fields.get("url")
    if not isinstance(url, str) or not _is_web_url(url):
        return None
    return WebResult(
        url=url,
        title=_text_of(fields.get("title"), _MAX_TITLE_CHARS),
        snippet=_text_of(fields.get("content"), _MAX_SNIPPET_CHARS),
    )


def _is_web_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            len(url) <= _MAX_URL_CHARS
            and parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.username is None
        )
    except ValueError:
        return False


def _text_of(value: Json, max_characters: int) -> str:
    """The text in one line that can be stored; empty for anything else."""
    if not isinstance(value, str):
        return ""
    printable = "".join(character if character.isprintable() else " " for character in value[: 2 * max_characters])
    return " ".join(printable.split())[:max_characters]
