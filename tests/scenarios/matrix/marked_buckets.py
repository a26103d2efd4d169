"""The bucket of the permission matrix in which every part is marked, and an open one beside it.

A person who may not see the marked bucket must never see a mark: not its name, its fields or values, a title, a text, a
file or a count, a source of it or what was changed in it. Beside them is a page of the web that a search has kept. Only
another search of the web may show it, whoever asks.
"""

import asyncio
import json
import re
import zlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Final, cast

from bot.admin.source_kinds.source_kind import SourceRequest
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import OPERATOR
from bot.settings import load_settings
from bot.web_search.page_outline import PageOutline
from bot.web_search.web_pages import web_doc_id_of
from storage.ingest.errors import SourceUnavailable
from storage.search.documents import Document
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from storage.sql.web_page_store import StoredWebPage, WebPageStore
from tests.builders import a_document

SECRET, OPEN = BucketId("kestrelvault"), BucketId("handbook")
DOCUMENTS, RULES = 137, 5
TOTAL = 987_654
WORDS = (
    "kestrelvault",
    "gyrfalcon",
    "goshawkclause",
    "falconetnote",
    "merlinworks",
    "lannerhaus",
    "harrierfirm",
    "buzzardgrade",
    "hobbysummary",
    "kvdoc",
    "siskinfolder",
)
WEB_MARK: Final = "ospreypage"
WEB_URL: Final = f"https://ospreys.example/{WEB_MARK}"
WEB_DOCUMENT: Final = web_doc_id_of(WEB_URL)
SOURCE, REMOVED_SOURCE = SECRET, "ledgers"  # the ids of sources of the marked bucket, after their folders
CODE_WORDS: Final = "openingHour huntingTable"
NUMBERS = re.compile(rf"\b(?:{DOCUMENTS}|{DOCUMENTS + RULES}|{TOTAL}|{TOTAL:,})\b")
LINK = re.compile(r"http://[^\s|>\"]+/download/[\w.-]+")


COUNTER_LINE = re.compile(r"(?:\w+_(?:total|count|sum|bucket|created)|process_\w+|python_\w+)\b")


def shown_page_of(headers: Mapping[str, str], body: str) -> str:
    """Returns what a fetched page tells, without the length of its body and without what metrics count of events.

    Such a number is that of the secret documents by chance. A gauge that told them would stay.
    """
    told_headers = {name: value for name, value in headers.items() if name.casefold() != "content-length"}
    lines = (line for line in body.splitlines() if not COUNTER_LINE.match(line))
    return f"{told_headers} " + "\n".join(lines)


def secret_schema() -> Schema:
    fields = (
        SchemaField(name=FieldName("harrierfirm"), type=FieldType.CATEGORY, title="Harrierfirm", facet=True),
        SchemaField(name=FieldName("buzzardgrade"), type=FieldType.MONEY, currency="EUR", synonyms=("amount", "total")),
        SchemaField(name=FieldName("note"), type=FieldType.TEXT),
    )
    return Schema(bucket=SECRET, title="Ledger", description="Of a merchant", fields=fields)


def secret_document(n: int) -> Document:
    amount = TOTAL - (DOCUMENTS - 1) * 7_209 if n == 0 else 7_209
    code = "\n\n```python\nopeningHour = huntingTable('goshawkclause')\n```\n" if n == DOCUMENTS - 1 else ""
    return a_document(
        f"kvdoc-{n:03}",
        f"The goshawkclause allows hunting at dawn only, says this ledger.{code}",
        title=f"Gyrfalcon ledger {n}",
        summary="A hobbysummary of hunting at dawn.",
        harrierfirm="merlinworks" if n % 3 else "lannerhaus",
        buzzardgrade=float(amount),
        note="falconetnote about hunting",
    )


def open_document(n: int) -> Document:
    return a_document(f"rule-{n}", "Lunch is at noon.", title=f"House rule {n}", topic="canteen")


# Properties of a chat product's JSON whose values people read.
SHOWN_PROPERTIES: Final = frozenset(
    {"text", "title", "alt_text", "status", "name", "abstract", "label", "summary", "fallbackText"}
)


def marks_in(texts: list[str]) -> set[str]:
    """Every mark of the secret bucket in these texts. Numbers are searched only in words, not in ids."""
    found_words = {word for text in texts for word in (*WORDS, WEB_MARK) if word in text.casefold()}
    return found_words | {match for text in texts for words in _words_in(text) for match in NUMBERS.findall(words)}


def _words_in(text: str) -> Iterator[str]:
    try:
        value: object = json.loads(text)
    except ValueError:
        yield text
        return
    yield from _texts_in(value)


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in cast(dict[str, object], value).items():
            if name in SHOWN_PROPERTIES and isinstance(member, str):
                yield member
            yield from _texts_in(member)
    elif isinstance(value, list):
        for item in cast(list[object], value):
            yield from _texts_in(item)


@asynccontextmanager
async def open_matrix_home(home: Path, *, embedder: str = "none") -> AsyncGenerator[Application]:
    """A bot with both buckets in its index, a source of the marked one that fails, changes in it, and a kept page."""
    async with open_application(load_settings(home, {"PARLEY_EMBEDDER": embedder}).settings) as bot:
        await put_both_buckets(bot)
        for name in (REMOVED_SOURCE, SOURCE):
            await add_failing_source(bot, home / "siskinfolder" / name)
        await bot.sources.remove_source(REMOVED_SOURCE, by=OPERATOR)  # the audit log keeps where it was
        await bot.admin_reports.add_synonym(SECRET, "harrierfirm", "hawkhouse", "lannerhaus", OPERATOR)
        await keep_web_page(bot)
        yield bot


async def put_both_buckets(bot: Application) -> None:
    await bot.index.set_schema(secret_schema())
    await bot.index.put(SECRET, [secret_document(n) for n in range(DOCUMENTS)])
    topic = SchemaField(name=FieldName("topic"), type=FieldType.CATEGORY, facet=True)
    await bot.index.set_schema(Schema(bucket=OPEN, title="Handbook", fields=(topic,)))
    await bot.index.put(OPEN, [open_document(n) for n in range(RULES)])


async def add_failing_source(bot: Application, folder: Path) -> None:
    """Of the marked bucket. Its folder, which the failure names, is gone."""
    await asyncio.to_thread(folder.mkdir, parents=True)
    source = await bot.sources.add_source(
        SourceRequest(kind="folder", location=str(folder), bucket=SECRET, sync_interval=None)
    )
    await asyncio.to_thread(folder.rmdir)
    with suppress(SourceUnavailable):
        await bot.sources.sync_source(source.id)


async def keep_web_page(bot: Application) -> None:
    """As a search of the web does after it has fetched a page."""
    store = WebPageStore(bot.database)
    body = f"<title>Ospreys of {WEB_MARK}</title><p>The wingspan of the osprey is 160 cm, says {WEB_MARK}.</p>".encode()
    page = StoredWebPage(
        page=WEB_DOCUMENT,
        url=WEB_URL,
        kind=".html",
        outline=PageOutline(title=f"Ospreys of {WEB_MARK}").to_json(),
        content=zlib.compress(body),
        fetched_at=store.utc_now(),
        expires_at=store.utc_now() + timedelta(days=7),
    )
    await store.store_page(page)
