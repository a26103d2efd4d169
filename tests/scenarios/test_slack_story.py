"""The story of the demo in Slack: asked over signed HTTP, asked back, clicked, narrowed, exported."""

import asyncio
import csv
import io
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web

from adapters.slack.app import PATH
from adapters.slack.app import surface as slack_surface
from bot.bootstrap import Bot, build_bot
from bot.demo.corpus import Corpus, generate, write
from bot.ids import EVERYONE, Subject, TurnId
from bot.settings import load_settings
from storage.ingest.pipeline import ingest
from tests.bot.conftest import finished, working
from tests.scenarios.truth import plain_records
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, Message, User

BUCKETS = ("receipts", "contracts")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return generate()


@pytest.fixture(scope="module")
def home(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the corpus in its index, and no grants."""
    folder, home = tmp_path_factory.mktemp("corpus"), tmp_path_factory.mktemp("home")
    write(corpus, folder)

    async def load() -> None:
        async with build_bot(load_settings(home, {"PARLEY_EMBEDDER": "none"}).settings) as bot:
            for name in BUCKETS:
                schema = corpus.buckets[name].schema
                await ingest(bot.index, [folder / f"{schema.bucket}.jsonl"], schema=schema)

    asyncio.run(load())
    return home


@dataclass
class Office:
    """A workspace with a channel that may see both buckets, and Parley at work in it."""

    slack: SlackServer
    bot: Bot
    ada: User
    bob: User
    general: Channel

    async def ask(self, text: str, thread: str | None = None) -> Message:
        """Ada, in the channel. The finished answer."""
        return await self.say(self.ada, self.general, f"<@{BOT_USER}> {text}", thread)

    async def say(self, user: User, channel: Channel, text: str, thread: str | None = None) -> Message:
        before = len(self.words())
        await self.slack.say(user, channel, text, thread_ts=thread)
        return await self.answer_after(before)

    async def click(self, user: User, message: Message, label: str) -> Message:
        before = len(self.words())
        await self.slack.click(user, message, label)
        return await self.answer_after(before)

    async def answer_after(self, before: int) -> Message:
        """The next answer, once there were so many, as soon as its turn is over."""
        await self.slack.until(lambda: len(self.words()) > before)
        answer = self.words()[before]
        await finished(self.bot, TurnId((answer.metadata or {})["event_payload"]["turn"]))
        return answer

    def whispers(self, user: User) -> list[str]:
        """What the person alone was told."""
        return [message.text for message in self.slack.workspace.answers() if message.only_for == user.id]

    def words(self) -> list[Message]:
        """Answers, without the messages that only hold a file."""
        return [message for message in self.slack.workspace.answers() if message.metadata]


@pytest.fixture
async def office(home: Path) -> AsyncIterator[Office]:
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackServer())
        environ = {
            "PARLEY_EMBEDDER": "none",
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": slack.api_url,
        }
        bot = await stack.enter_async_context(build_bot(load_settings(home, environ).settings))
        await serve(bot, slack, stack)
        yield await an_office(slack, bot)


async def serve(bot: Bot, slack: SlackServer, stack: AsyncExitStack) -> None:
    surface = slack_surface(bot)
    assert surface is not None
    bot.register(surface)
    app = web.Application()
    app.router.add_routes(surface.routes())
    runner = web.AppRunner(app)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.app_url = f"http://127.0.0.1:{runner.addresses[0][1]}{PATH}"
    await surface.start()
    stack.push_async_callback(surface.close)
    await stack.enter_async_context(working(bot))


async def an_office(slack: SlackServer, bot: Bot) -> Office:
    """Each in a channel of its own: conversations of other tests are others."""
    place = slack.workspace
    ada, bob = place.add_user(User(id="U1ADA", name="Ada")), place.add_user(User(id="U2BOB", name="Bob"))
    general = place.add_channel(Channel(id=f"C{id(slack):X}", members=[ada.id, bob.id, BOT_USER]))
    for bucket in await bot.index.buckets():
        await bot.grants.grant(bucket, Subject(f"channel:slack:{TEAM}:{general.id}"), by="operator")
    return Office(slack=slack, bot=bot, ada=ada, bob=bob, general=general)


def counts(message: Message) -> dict[str, int]:
    """By label, of the buttons that carry a number."""
    found = (re.fullmatch(r"(.*) · ([\d,]+)", button["text"]["text"]) for button in message.buttons())
    return {match[1]: int(match[2].replace(",", "")) for match in found if match}


async def test_a_list_too_long_is_asked_back_narrowed_and_exported(office: Office, corpus: Corpus) -> None:
    tires = [record for record in plain_records(corpus, "receipts") if record["category"] == "tires"]

    asked = await office.ask("List every tire purchase receipt")
    offered = counts(asked)
    export = offered.pop("Export all as CSV")

    assert export == len(tires) == 1_042
    assert sum(offered.values()) == export
    assert f"{export:,}" in asked.words()

    vendor = next(iter(offered))
    narrowed = await office.click(office.bob, asked, vendor)

    assert {button["action_id"] for button in asked.buttons()} == {"steps"}
    assert f"{vendor} — chosen by Bob" in asked.words()
    of_vendor = [record for record in tires if record.get("vendor") == vendor]
    assert counts(narrowed)["Export all as CSV"] == offered[vendor] == len(of_vendor)

    typed = await office.ask("only 2024", thread=narrowed.thread_ts)
    of_year = [record for record in of_vendor if str(record.get("date")).startswith("2024")]

    assert counts(typed)["Export all as CSV"] == len(of_year)

    exported = await office.click(office.ada, typed, "Export all as CSV")
    [file] = office.slack.workspace.files.values()
    rows = list(csv.DictReader(io.StringIO((file.content or b"").decode("utf-8-sig"))))

    assert file.shared
    assert f"{len(of_year)} rows" in exported.words()
    assert len(rows) == len(of_year)
    assert {message.thread_ts for message in office.slack.workspace.answers()} == {narrowed.thread_ts}


async def test_an_empty_set_is_said_and_each_way_out_leads_somewhere(office: Office) -> None:
    asked = await office.ask("Contracts with ACME for 2031")
    offered = counts(asked)

    assert all(count >= 1 for count in offered.values())

    label = min(offered, key=lambda label: offered[label])
    answer = await office.click(office.ada, asked, label)

    assert {button["action_id"] for button in asked.buttons()} == {"steps"}
    assert str(offered[label]) in answer.words()


async def test_a_message_delivered_eleven_times_is_answered_once(office: Office) -> None:
    text = f"<@{BOT_USER}> Contracts with ACME for 2031"

    await office.slack.say(office.ada, office.general, text, deliveries=11)
    await office.answer_after(0)

    assert len(office.slack.workspace.answers()) == 1


async def test_a_second_click_is_told_who_was_first(office: Office) -> None:
    asked = await office.ask("Contracts with ACME for 2031")
    button = asked.buttons()[0]
    await office.click(office.ada, asked, button["text"]["text"])

    said = len(office.words())
    await office.slack.deliver_action(office.bob, asked, button)
    await office.slack.until(lambda: bool(office.whispers(office.bob)))

    label = button["text"]["text"].partition(" · ")[0]
    assert office.whispers(office.bob) == [f"A choice was already made here: {label}, by Ada."]
    assert len(office.words()) == said


async def test_who_is_granted_nothing_learns_nothing(office: Office) -> None:
    direct = office.slack.workspace.direct(office.bob.id)

    refused = await office.say(office.bob, direct, "List every tire purchase receipt")

    assert refused.channel == direct.id
    assert refused.buttons() == []
    assert not re.search(r"\d|vendor|category", refused.words())


async def test_a_guest_closes_the_channel(office: Office) -> None:
    guest = office.slack.workspace.add_user(User(id="U9GUEST", name="Guest", is_guest=True))
    office.general.members.append(guest.id)

    refused = await office.ask("List every tire purchase receipt")

    assert refused.buttons() == []
    assert not re.search(r"\d", refused.words())


async def test_a_guest_in_private_is_not_everyone(office: Office) -> None:
    guest = office.slack.workspace.add_user(User(id="U9GUEST", name="Guest", is_guest=True))
    private = office.slack.workspace.direct
    buckets = sorted(await office.bot.index.buckets())
    for bucket in buckets:
        await office.bot.grants.grant(bucket, EVERYONE, by="operator")

    for_guest = await office.say(guest, private(guest.id), "List every tire purchase receipt")
    for_ada = await office.say(office.ada, private(office.ada.id), "List every tire purchase receipt")
    for bucket in buckets:
        await office.bot.grants.revoke(bucket, EVERYONE, by="operator")

    assert counts(for_guest) == {}
    assert counts(for_ada)["Export all as CSV"] == 1_042
