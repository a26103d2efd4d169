"""The admin page on a port of this process, over a home with one open bucket and one that nobody may see."""

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest_asyncio
from aiohttp import ClientSession, CookieJar, web

from adapters.web.admin.endpoint import AdminSite
from bot.admin.admin_page.entrance import AdminEntrance
from bot.application import Application
from bot.bootstrap import open_application
from bot.http_server import build_web_app
from bot.ids import OPERATOR, PersonId
from bot.metrics.service_metrics import ServiceMetrics
from bot.settings import load_settings
from storage.search.documents import FieldAnnotation
from storage.search.ids import BucketId, FieldName, Subject
from storage.search.schema import FieldType, Schema, SchemaField
from tests.bot.fakes import Clock
from tests.builders import a_document

ANN, BOB = PersonId("local:ann"), PersonId("local:bob")
LETTERS, SECRET = BucketId("letters"), BucketId("secret")
LETTER = "Dear yard, the mast of <b>Tern</b> costs EUR 900 & more. Paid by Ada."
HIDDEN_WORD = "falconry"
_FORM_KEY = re.compile(r'name="form_key" value="([0-9a-f]+)"')


@dataclass(kw_only=True)
class OpenedSite:
    """A running admin page, and a browser that keeps cookies. `base` is its address."""

    bot: Application
    clock: Clock
    base: str
    session: ClientSession = field(repr=False)

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
        async with self.session.get(self.base + path, headers=headers, allow_redirects=False) as response:
            return response.status, unescape(await response.text())

    async def get_markup(self, path: str) -> str:
        async with self.session.get(self.base + path) as response:
            return await response.text()

    async def post(
        self, path: str, fields: Mapping[str, str] | None = None, *, origin: str | None = None
    ) -> tuple[int, str, str]:
        """Post a form as the page would send it; the status, the text and the address that it leads to."""
        headers = {"Origin": self.base if origin is None else origin}
        request = self.session.post(self.base + path, data=fields or {}, headers=headers, allow_redirects=False)
        async with request as response:
            return response.status, unescape(await response.text()), response.headers.get("Location", "")

    async def form_key(self) -> str:
        match = _FORM_KEY.search(await self.get_markup("/admin/grants"))
        assert match is not None
        return match[1]

    async def submit(self, path: str, **fields: str) -> tuple[int, str, str]:
        """Submit a form of a page of this visitor."""
        return await self.post(path, {"form_key": await self.form_key(), **fields})

    @property
    def entrance(self) -> AdminEntrance:
        bot = self.bot
        return AdminEntrance(administration=bot.administration, database=bot.database, settings=bot.settings)

    async def enter_as(self, person: PersonId) -> None:
        link = await self.entrance.create_link(person)
        status, _, address = await self.post("/admin/enter/" + link.rpartition("/")[2])
        assert (status, address) == (303, "/admin")


def letters_schema() -> Schema:
    fields = (
        SchemaField(name=FieldName("boat"), type=FieldType.CATEGORY, title="Boat", facet=True),
        SchemaField(name=FieldName("price"), type=FieldType.MONEY, currency="EUR"),
        SchemaField(name=FieldName("length"), type=FieldType.NUMBER, unit="m"),
    )
    return Schema(bucket=LETTERS, title="Letters", fields=fields)


async def fill_buckets(bot: Application) -> None:
    await bot.index.set_schema(letters_schema())
    boats = ["Tern", "Dunlin", "Petrel"]
    letters = [
        a_document(f"l-{n:03}", LETTER, title=f"Letter {n}", boat=boats[n % 3], price=900.0 + n, length=float(n % 9))
        for n in range(60)
    ]
    start, end = LETTER.index("EUR 900"), LETTER.index("EUR 900") + len("EUR 900")
    annotations = (
        FieldAnnotation(field=FieldName("price"), value=900.0, confidence=0.95, start=start, end=end),
        FieldAnnotation(
            field=FieldName("boat"), value="Ada", confidence=0.55, start=len(LETTER) - 4, end=len(LETTER) - 1
        ),
    )
    letters[0] = replace(
        a_document("l-000", LETTER, title="Letter 0", boat="Tern", price=900.0), annotations=annotations
    )
    await bot.index.put(LETTERS, letters)
    topic = SchemaField(name=FieldName("topic"), type=FieldType.CATEGORY, facet=True)
    await bot.index.set_schema(Schema(bucket=SECRET, title="Permits", fields=(topic,)))
    await bot.index.put(
        SECRET, [a_document("s-1", f"The permit allows {HIDDEN_WORD}.", title=HIDDEN_WORD, topic=HIDDEN_WORD)]
    )
    await bot.grants.grant_bucket_access(LETTERS, Subject(f"user:{ANN}"), by=OPERATOR)


@asynccontextmanager
async def open_site(home: Path, **environ: str) -> AsyncGenerator[OpenedSite]:
    """Ann is an admin and may see the letters; Bob is none."""
    settings = load_settings(home, {"PARLEY_EMBEDDER": "none", "PARLEY_ADMINS": ANN, **environ}).settings
    clock = Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))
    async with open_application(settings, clock=clock) as bot:
        await fill_buckets(bot)
        runner = web.AppRunner(build_web_app(bot, [AdminSite(bot)], ServiceMetrics()), access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as session:
                yield OpenedSite(
                    bot=bot, clock=clock, base=f"http://127.0.0.1:{runner.addresses[0][1]}", session=session
                )
        finally:
            await runner.cleanup()


@pytest_asyncio.fixture
async def site(tmp_path: Path) -> AsyncGenerator[OpenedSite]:
    async with open_site(tmp_path / "home") as opened:
        yield opened


@pytest_asyncio.fixture
async def guarded_site(tmp_path: Path) -> AsyncGenerator[OpenedSite]:
    """Like `site`, but with a token: this machine alone proves nothing."""
    async with open_site(tmp_path / "home", PARLEY_WEB_TOKEN="open sesame") as opened:
        yield opened
