"""A town for the permission matrix: a workspace, Parley at work in it, and a bucket of which every part is marked.

Whoever may not see the bucket must never be shown a mark: not its name, its fields, their values, a title, a text, a
file, a number of it. `Town.seen_by` is all that was ever sent to where a person reads, or fetched from the HTTP port.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import aiohttp
from aiohttp import web
from sqlalchemy import func, select

from adapters.slack.app import surface as slack_surface
from adapters.slack.receiving import PATH
from bot.bootstrap import Bot, build_bot
from bot.http import application
from bot.ids import EVERYONE, Subject
from bot.metrics import Metrics
from bot.settings import load_settings
from storage.search.documents import Document
from storage.search.ids import BucketId, FieldName
from storage.search.schema import Field, FieldType, Schema
from storage.sql.tables import clarifications, turns
from tests.bot.conftest import working
from tests.builders import a_document
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, Message, User, Usergroup

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
)
NUMBERS = re.compile(rf"\b(?:{DOCUMENTS}|{DOCUMENTS + RULES}|{TOTAL}|{TOTAL:,})\b")
LINK = re.compile(r"http://[^\s|>\"]+/download/[\w.-]+")
ENTITLED = "S0ENTITLED"


def secret_schema() -> Schema:
    fields = (
        Field(name=FieldName("harrierfirm"), type=FieldType.CATEGORY, title="Harrierfirm", facet=True),
        Field(name=FieldName("buzzardgrade"), type=FieldType.MONEY, currency="EUR", synonyms=("amount", "total")),
        Field(name=FieldName("note"), type=FieldType.TEXT),
    )
    return Schema(bucket=SECRET, title="Ledger", description="Of a merchant", fields=fields)


def secret_document(n: int) -> Document:
    amount = TOTAL - (DOCUMENTS - 1) * 7_209 if n == 0 else 7_209
    return a_document(
        f"kvdoc-{n:03}",
        "The goshawkclause allows hunting at dawn only, says this ledger.",
        title=f"Gyrfalcon ledger {n}",
        summary="A hobbysummary of hunting at dawn.",
        harrierfirm="merlinworks" if n % 3 else "lannerhaus",
        buzzardgrade=float(amount),
        note="falconetnote about hunting",
    )


def open_document(n: int) -> Document:
    return a_document(f"rule-{n}", "Lunch is at noon.", title=f"House rule {n}", topic="canteen")


@dataclass(frozen=True, kw_only=True)
class Seat:
    """A person of their own, with a channel of their own and direct messages, for one way in and one thing to leak."""

    person: User
    channel: Channel
    direct: Channel


@dataclass(kw_only=True)
class Fetched:
    """What the HTTP port has answered, by the person who asked."""

    person: str
    text: str


@dataclass(kw_only=True)
class Town:
    slack: SlackServer
    bot: Bot
    http: aiohttp.ClientSession
    port: str
    ada: User  # may see the secret bucket, whatever becomes of others
    fetched: list[Fetched] = field(default_factory=list[Fetched])
    offer: Message | None = None  # to Ada alone, of the secret bucket
    answer: Message | None = None  # to Ada alone, from it
    link: str = ""  # to a file of Ada's
    roots: dict[str, str] = field(default_factory=dict[str, str])  # what Ada asked in a channel, and was answered there

    @property
    def offer_of_ada(self) -> Message:
        assert self.offer is not None
        return self.offer

    @property
    def answer_to_ada(self) -> Message:
        assert self.answer is not None
        return self.answer

    @property
    def direct_of_ada(self) -> Channel:
        return self.slack.workspace.direct(self.ada.id)

    def seat(self, name: str, **person: Any) -> Seat:
        place = self.slack.workspace
        user = place.add_user(User(id=f"U{name.upper()}", name=name, **person))
        channel = Channel(id=f"C{name.upper()}", members=[user.id, self.ada.id, BOT_USER])
        return Seat(person=user, channel=place.add_channel(channel), direct=place.direct(user.id))

    async def grant(self, bucket: BucketId, subject: str, *, include_external: bool = False) -> None:
        await self.bot.grants.grant(bucket, Subject(subject), include_external=include_external, by="operator")

    async def revoke(self, bucket: BucketId, subject: str) -> None:
        await self.bot.grants.revoke(bucket, Subject(subject), by="operator")

    async def quiet(self) -> None:
        """No turn is open any more."""
        still_open = select(func.count()).select_from(turns).where(turns.c.finished_at.is_(None))
        while await self.bot.database.read(lambda connection: connection.execute(still_open).scalar_one()):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.02)

    async def fetch(self, person: User, address: str) -> None:
        url = address if address.startswith("http") else self.port + address
        async with self.http.get(url) as response:
            self.fetched.append(Fetched(person=person.id, text=f"{dict(response.headers)} {await response.text()}"))

    async def asked_by_ada(self, seat: Seat) -> None:
        """In the channel, and answered by the time that it is quiet."""
        question, _ = await self.slack.say(self.ada, seat.channel, f"<@{BOT_USER}> List every ledger")
        self.roots[seat.channel.id] = question.ts

    async def click_in_view(self, person: User, action: str, value: str) -> None:
        """Of a Home tab, whatever the person is shown there."""
        done = {"type": "button", "action_id": action, "block_id": "b", "value": value, "action_ts": "1.0"}
        told = {**self.slack.interaction(person, "block_actions"), "view": a_view("home", "home"), "actions": [done]}
        await self.slack.deliver_interaction(told)

    async def submit(self, person: User, view: Mapping[str, Any]) -> None:
        """A modal that nobody opened. What the answer shows in its place is seen as well."""
        told = {**self.slack.interaction(person, "view_submission"), "view": view}
        answered = await self.slack.deliver_interaction(told)
        self.fetched.append(Fetched(person=person.id, text=answered.body))

    async def clarification_of(self, turn: str) -> str:
        """The id of what a turn offers."""
        of_turn = select(clarifications.c.id).where(clarifications.c.turn == turn)
        return await self.bot.database.read(lambda connection: connection.execute(of_turn).scalar_one())

    def answers(self, channel: Channel) -> list[Message]:
        return self.slack.workspace.answers(channel.id)

    def mark(self) -> int:
        return len(self.slack.calls)

    def seen_by(self, seat: Seat, since: int = 0) -> list[str]:
        """Each thing sent to where the person reads, as JSON, whatever became of it later; and what they fetched."""
        places = {seat.channel.id, seat.direct.id}
        sent = [call.arguments for call in self.slack.calls[since:] if self._reaches(call.arguments, seat, places)]
        told = [one.text for one in self.fetched if one.person == seat.person.id]
        said = [one for one in self.slack.workspace.messages if one.only_for == seat.person.id]
        shown = [one.content for user, one in self.slack.workspace.homes.items() if user == seat.person.id]
        answered = [{"text": one.text, "blocks": one.blocks} for one in said]
        files = [text for arguments in sent for text in self._files(arguments)]
        return [*map(json.dumps, [*sent, *answered, *shown]), *told, *files]

    def _reaches(self, arguments: Mapping[str, Any], seat: Seat, places: set[str]) -> bool:
        trigger = self.slack.triggers.get(str(arguments.get("trigger_id")))
        people = {arguments.get("user"), arguments.get("user_id"), trigger.user if trigger else None}
        return seat.person.id in people or bool(places & {arguments.get("channel"), arguments.get("channel_id")})

    def _files(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        for one in arguments.get("files", []):
            file = self.slack.workspace.files[one["id"]]
            yield f"{file.name} {file.title} {(file.content or b'').decode('utf-8-sig')}"


def a_view(kind: str, callback: str, kept: str = "", **fields: Any) -> dict[str, Any]:
    """As Slack tells of one; `fields` by block, which hold one element of the same name."""
    state = {"values": {name: {name: held} for name, held in fields.items()}}
    known: dict[str, Any] = {"id": "V0FORGED", "hash": "1.a", "type": kind, "callback_id": callback, "blocks": []}
    return {**known, "private_metadata": kept, "state": state}


def turn_of(message: Message) -> str:
    return str((message.metadata or {})["event_payload"]["turn"])


def marks_in(seen: list[str]) -> set[str]:
    """Every mark of the secret bucket that is in there. Numbers are looked for in words only, not in ids."""
    found = {word for text in seen for word in WORDS if word in text.casefold()}
    return found | {match for text in seen for words in _words(text) for match in NUMBERS.findall(words)}


def _words(text: str) -> Iterator[str]:
    try:
        value: object = json.loads(text)
    except ValueError:
        yield text
        return
    yield from _texts(value)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in cast(dict[str, object], value).items():
            if name in {"text", "title", "alt_text", "status"} and isinstance(member, str):
                yield member
            yield from _texts(member)
    elif isinstance(value, list):
        for item in cast(list[object], value):
            yield from _texts(item)


@asynccontextmanager
async def a_home(home: Path) -> AsyncGenerator[Bot]:
    """With both buckets in its index."""
    async with build_bot(load_settings(home, {"PARLEY_EMBEDDER": "none"}).settings) as bot:
        await bot.index.set_schema(secret_schema())
        await bot.index.put(SECRET, [secret_document(n) for n in range(DOCUMENTS)])
        topic = Field(name=FieldName("topic"), type=FieldType.CATEGORY, facet=True)
        await bot.index.set_schema(Schema(bucket=OPEN, title="Handbook", fields=(topic,)))
        await bot.index.put(OPEN, [open_document(n) for n in range(RULES)])
        yield bot


@asynccontextmanager
async def a_town(home: Path, *, admins: Sequence[str] = ()) -> AsyncGenerator[Town]:
    """Ada is granted the secret bucket; everyone, and whoever else is told so, the open one."""
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackServer())
        port, listening = await _listening(stack)
        environ = {
            "PARLEY_EMBEDDER": "none",
            "PARLEY_ADMINS": ",".join(admins),
            "PARLEY_PUBLIC_URL": port,
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": slack.api_url,
            "PARLEY_SLACK_THREADS": "true",
        }
        slack.scopes |= slack.optional_scopes
        bot = await stack.enter_async_context(build_bot(load_settings(home, environ).settings))
        surface = slack_surface(bot)
        assert surface is not None
        bot.register(surface)
        runner = web.AppRunner(application(bot, [surface], Metrics()))
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.SockSite(runner, listening).start()
        slack.app_url = f"{port}{PATH}"
        await surface.start()
        stack.push_async_callback(surface.close)
        await stack.enter_async_context(working(bot))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        ada = slack.workspace.add_user(User(id="U0ADA", name="Ada"))
        slack.workspace.add_group(Usergroup(id=ENTITLED, handle="entitled", name="Entitled", members=[ada.id]))
        town = Town(slack=slack, bot=bot, http=http, port=port, ada=ada)
        await town.grant(SECRET, f"user:slack:{TEAM}:{ada.id}")
        await town.grant(OPEN, EVERYONE)
        yield town


async def _listening(stack: AsyncExitStack) -> "tuple[str, Any]":
    """A port before there is a bot, whose links name it."""
    import socket

    listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    return f"http://127.0.0.1:{listening.getsockname()[1]}", listening


async def make_offers(town: Town) -> None:
    """To Ada alone: an answer, buttons, and a link to a file, because the upload failed."""
    asked_back = await _told(town, "List every ledger")
    town.offer = replace(asked_back, blocks=list(asked_back.blocks))
    town.answer = await _told(town, "What may be hunted at dawn?")
    town.slack.fail("files.getUploadURLExternal", *[Fault(status=500)] * 3)
    await town.slack.click(town.ada, asked_back, "Export all")
    await town.quiet()
    said = json.dumps([one.blocks for one in town.answers(town.direct_of_ada)])
    town.link = LINK.findall(said)[0]


async def _told(town: Town, words: str) -> Message:
    question, _ = await town.slack.say(town.ada, town.direct_of_ada, words)
    await town.quiet()
    return next(one for one in town.answers(town.direct_of_ada) if one.thread_ts == question.ts)
