"""A Slack workspace for the permission matrix, with a running bot and a bucket in which every part is marked.

A person who may not see the bucket must never see a mark: not its name, its fields or values, a title, a text, a file
or a count. `MatrixWorkspace.texts_seen_by` returns everything that was ever sent to where a person reads, or that they
fetched by HTTP.
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
from adapters.slack.events.http_endpoint import EVENTS_PATH
from bot.application import Application
from bot.bootstrap import open_application
from bot.http_server import build_web_app
from bot.ids import EVERYONE, Subject
from bot.settings import load_settings
from bot.turns.metrics import TurnMetrics
from storage.search.documents import Document
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from storage.sql.stores.clarifications import clarifications
from storage.sql.stores.turns import turns
from tests.bot.conftest import running_workers
from tests.builders import a_document
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage, SlackUsergroup

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
        SchemaField(name=FieldName("harrierfirm"), type=FieldType.CATEGORY, title="Harrierfirm", facet=True),
        SchemaField(name=FieldName("buzzardgrade"), type=FieldType.MONEY, currency="EUR", synonyms=("amount", "total")),
        SchemaField(name=FieldName("note"), type=FieldType.TEXT),
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
class MatrixSeat:
    """A separate person with their own channel and direct messages, for one surface and one possible leak."""

    person: SlackMember
    channel: SlackChannel
    direct: SlackChannel


@dataclass(kw_only=True)
class FetchedPage:
    """An answer of the HTTP port, with the person who requested it."""

    person: str
    text: str


@dataclass(kw_only=True)
class MatrixWorkspace:
    slack: SlackServer
    bot: Application
    http: aiohttp.ClientSession
    port: str
    ada: SlackMember  # may always see the secret bucket
    fetched: list[FetchedPage] = field(default_factory=list[FetchedPage])
    offer: SlackMessage | None = None  # choices about the secret bucket, sent only to Ada
    answer: SlackMessage | None = None  # an answer from the secret bucket, sent only to Ada
    link: str = ""  # to Ada's export file
    roots: dict[str, str] = field(default_factory=dict[str, str])  # thread of Ada's answered question, by channel

    @property
    def offer_of_ada(self) -> SlackMessage:
        assert self.offer is not None
        return self.offer

    @property
    def answer_to_ada(self) -> SlackMessage:
        assert self.answer is not None
        return self.answer

    @property
    def direct_of_ada(self) -> SlackChannel:
        return self.slack.workspace.direct_channel_of(self.ada.id)

    def add_seat(self, name: str, **person: Any) -> MatrixSeat:
        workspace = self.slack.workspace
        user = workspace.add_user(SlackMember(id=f"U{name.upper()}", name=name, **person))
        channel = SlackChannel(id=f"C{name.upper()}", members=[user.id, self.ada.id, BOT_USER])
        return MatrixSeat(
            person=user, channel=workspace.add_channel(channel), direct=workspace.direct_channel_of(user.id)
        )

    async def grant(self, bucket: BucketId, subject: str, *, include_external: bool = False) -> None:
        await self.bot.grants.grant_bucket_access(
            bucket, Subject(subject), include_external=include_external, by="operator"
        )

    async def revoke(self, bucket: BucketId, subject: str) -> None:
        await self.bot.grants.revoke_grant(bucket, Subject(subject), by="operator")

    async def wait_until_quiet(self) -> None:
        """Wait until no turn is open."""
        open_turns = select(func.count()).select_from(turns).where(turns.c.finished_at.is_(None))
        while await self.bot.database.run_read(lambda connection: connection.execute(open_turns).scalar_one()):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.02)

    async def fetch(self, person: SlackMember, address: str) -> None:
        url = address if address.startswith("http") else self.port + address
        async with self.http.get(url) as response:
            self.fetched.append(FetchedPage(person=person.id, text=f"{dict(response.headers)} {await response.text()}"))

    async def ask_as_ada(self, seat: MatrixSeat) -> None:
        """Ada asks in the seat's channel. The answer is complete after `quiet`."""
        question, _ = await self.slack.post_as_person(self.ada, seat.channel, f"<@{BOT_USER}> List every ledger")
        self.roots[seat.channel.id] = question.ts

    async def click_in_view(self, person: SlackMember, action: str, value: str) -> None:
        """Click a button of a Home tab, even if the person's tab does not show it."""
        button = {"type": "button", "action_id": action, "block_id": "b", "value": value, "action_ts": "1.0"}
        interaction = {
            **self.slack.interaction_payload(person, "block_actions"),
            "view": a_view("home", "home"),
            "actions": [button],
        }
        await self.slack.deliver_interaction(interaction)

    async def submit_view(self, person: SlackMember, view: Mapping[str, Any]) -> None:
        """Submit a modal that was never opened, and record the response that the person sees."""
        interaction = {**self.slack.interaction_payload(person, "view_submission"), "view": view}
        response = await self.slack.deliver_interaction(interaction)
        self.fetched.append(FetchedPage(person=person.id, text=response.body))

    async def clarification_of(self, turn: str) -> str:
        """The id of the clarification that a turn offers."""
        query = select(clarifications.c.id).where(clarifications.c.turn == turn)
        return await self.bot.database.run_read(lambda connection: connection.execute(query).scalar_one())

    def answers(self, channel: SlackChannel) -> list[SlackMessage]:
        return self.slack.workspace.bot_messages(channel.id)

    def call_count(self) -> int:
        return len(self.slack.calls)

    def texts_seen_by(self, seat: MatrixSeat, since: int = 0) -> list[str]:
        """Everything ever sent to where the person reads, as JSON, and what they fetched over HTTP."""
        places = {seat.channel.id, seat.direct.id}
        sent_arguments = [
            call.arguments for call in self.slack.calls[since:] if self._reaches(call.arguments, seat, places)
        ]
        fetched_texts = [answer.text for answer in self.fetched if answer.person == seat.person.id]
        ephemeral_messages = [
            message for message in self.slack.workspace.messages if message.visible_to == seat.person.id
        ]
        home_views = [view.content for user, view in self.slack.workspace.homes.items() if user == seat.person.id]
        ephemeral_contents = [{"text": message.text, "blocks": message.blocks} for message in ephemeral_messages]
        files = [text for arguments in sent_arguments for text in self._file_texts(arguments)]
        return [*map(json.dumps, [*sent_arguments, *ephemeral_contents, *home_views]), *fetched_texts, *files]

    def _reaches(self, arguments: Mapping[str, Any], seat: MatrixSeat, places: set[str]) -> bool:
        trigger = self.slack.triggers.get(str(arguments.get("trigger_id")))
        people = {arguments.get("user"), arguments.get("user_id"), trigger.user if trigger else None}
        return seat.person.id in people or bool(places & {arguments.get("channel"), arguments.get("channel_id")})

    def _file_texts(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        for file_reference in arguments.get("files", []):
            file = self.slack.workspace.files[file_reference["id"]]
            yield f"{file.name} {file.title} {(file.content or b'').decode('utf-8-sig')}"


def a_view(kind: str, callback: str, metadata: str = "", **fields: Any) -> dict[str, Any]:
    """A view as Slack sends it. `fields`: element values by block; a block has one element with the block's name."""
    state = {"values": {name: {name: value} for name, value in fields.items()}}
    view: dict[str, Any] = {"id": "V0FORGED", "hash": "1.a", "type": kind, "callback_id": callback, "blocks": []}
    return {**view, "private_metadata": metadata, "state": state}


def turn_of(message: SlackMessage) -> str:
    return str((message.metadata or {})["event_payload"]["turn"])


def marks_in(texts: list[str]) -> set[str]:
    """Every mark of the secret bucket in these texts. Numbers are searched only in words, not in ids."""
    found_words = {word for text in texts for word in WORDS if word in text.casefold()}
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
            if name in {"text", "title", "alt_text", "status"} and isinstance(member, str):
                yield member
            yield from _texts_in(member)
    elif isinstance(value, list):
        for item in cast(list[object], value):
            yield from _texts_in(item)


@asynccontextmanager
async def open_matrix_home(home: Path) -> AsyncGenerator[Application]:
    """A bot with both buckets in its index."""
    async with open_application(load_settings(home, {"PARLEY_EMBEDDER": "none"}).settings) as bot:
        await bot.index.set_schema(secret_schema())
        await bot.index.put(SECRET, [secret_document(n) for n in range(DOCUMENTS)])
        topic = SchemaField(name=FieldName("topic"), type=FieldType.CATEGORY, facet=True)
        await bot.index.set_schema(Schema(bucket=OPEN, title="Handbook", fields=(topic,)))
        await bot.index.put(OPEN, [open_document(n) for n in range(RULES)])
        yield bot


@asynccontextmanager
async def open_matrix_workspace(home: Path, *, admins: Sequence[str] = ()) -> AsyncGenerator[MatrixWorkspace]:
    """A workspace with a running bot. Ada is granted the secret bucket, everyone the open bucket."""
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackServer())
        port, listening = await _open_port(stack)
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
        bot = await stack.enter_async_context(open_application(load_settings(home, environ).settings))
        surface = slack_surface(bot)
        assert surface is not None
        bot.register_surface(surface)
        runner = web.AppRunner(build_web_app(bot, [surface], TurnMetrics()))
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.SockSite(runner, listening).start()
        slack.app_url = f"{port}{EVENTS_PATH}"
        await surface.start()
        stack.push_async_callback(surface.close)
        await stack.enter_async_context(running_workers(bot))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        ada = slack.workspace.add_user(SlackMember(id="U0ADA", name="Ada"))
        slack.workspace.add_group(SlackUsergroup(id=ENTITLED, handle="entitled", name="Entitled", members=[ada.id]))
        town = MatrixWorkspace(slack=slack, bot=bot, http=http, port=port, ada=ada)
        await town.grant(SECRET, f"user:slack:{TEAM}:{ada.id}")
        await town.grant(OPEN, EVERYONE)
        yield town


async def _open_port(stack: AsyncExitStack) -> "tuple[str, Any]":
    """Open a port before the bot starts, because the bot's links contain the port."""
    import socket

    listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    return f"http://127.0.0.1:{listening.getsockname()[1]}", listening


async def make_offers(town: MatrixWorkspace) -> None:
    """Send Ada an answer, buttons, and a link to a file; the link because the upload fails."""
    offer_message = await _ask_in_direct_message(town, "List every ledger")
    town.offer = replace(offer_message, blocks=list(offer_message.blocks))
    town.answer = await _ask_in_direct_message(town, "What may be hunted at dawn?")
    town.slack.plan_faults("files.getUploadURLExternal", *[Fault(status=500)] * 3)
    await town.slack.click_button(town.ada, offer_message, "Export all")
    await town.wait_until_quiet()
    blocks_json = json.dumps([message.blocks for message in town.answers(town.direct_of_ada)])
    town.link = LINK.findall(blocks_json)[0]


async def _ask_in_direct_message(town: MatrixWorkspace, words: str) -> SlackMessage:
    question, _ = await town.slack.post_as_person(town.ada, town.direct_of_ada, words)
    await town.wait_until_quiet()
    return next(message for message in town.answers(town.direct_of_ada) if message.thread_ts == question.ts)
