"""The story of the demo in Slack over signed HTTP: question, clarification, click, follow-up, export."""

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

from adapters.slack.app import EVENTS_PATH
from adapters.slack.app import surface as slack_surface
from bot.application import Application
from bot.bootstrap import open_application
from bot.demo.corpus import DemoCorpus, generate_corpus, write_corpus
from bot.ids import EVERYONE, Subject, TurnId
from bot.settings import load_settings
from storage.ingest.pipeline import ingest_files
from tests.bot.conftest import running_workers, wait_until_finished
from tests.scenarios.truth import plain_records
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage

BUCKETS = ("receipts", "contracts")


@pytest.fixture(scope="module")
def corpus() -> DemoCorpus:
    return generate_corpus()


@pytest.fixture(scope="module")
def home(corpus: DemoCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the corpus in its index and without grants."""
    folder, home = tmp_path_factory.mktemp("corpus"), tmp_path_factory.mktemp("home")
    write_corpus(corpus, folder)

    async def load() -> None:
        async with open_application(load_settings(home, {"PARLEY_EMBEDDER": "none"}).settings) as bot:
            for name in BUCKETS:
                schema = corpus.buckets[name].schema
                await ingest_files(
                    bot.index, [folder / f"{schema.bucket}.jsonl"], extractor=bot.extractor, schema=schema
                )

    asyncio.run(load())
    return home


@dataclass
class StoryOffice:
    """A workspace with a channel that may see both buckets, and Parley at work in it."""

    slack: SlackServer
    bot: Application
    ada: SlackMember
    bob: SlackMember
    general: SlackChannel

    async def ask(self, text: str, thread: str | None = None) -> SlackMessage:
        """Ada asks in the channel. Returns the finished answer."""
        return await self.say(self.ada, self.general, f"<@{BOT_USER}> {text}", thread)

    async def say(self, user: SlackMember, channel: SlackChannel, text: str, thread: str | None = None) -> SlackMessage:
        answer_count = len(self.text_answers())
        await self.slack.post_as_person(user, channel, text, thread_ts=thread)
        return await self.answer_after(answer_count)

    async def click(self, user: SlackMember, message: SlackMessage, label: str) -> SlackMessage:
        answer_count = len(self.text_answers())
        await self.slack.click_button(user, message, label)
        return await self.answer_after(answer_count)

    async def answer_after(self, answer_count: int) -> SlackMessage:
        """The next answer after the first `answer_count` answers, when its turn has ended."""
        await self.slack.wait_until(lambda: len(self.text_answers()) > answer_count)
        answer = self.text_answers()[answer_count]
        await wait_until_finished(self.bot, TurnId((answer.metadata or {})["event_payload"]["turn"]))
        return answer

    def ephemeral_texts(self, user: SlackMember) -> list[str]:
        """The messages that only this person sees."""
        return [message.text for message in self.slack.workspace.bot_messages() if message.visible_to == user.id]

    def text_answers(self) -> list[SlackMessage]:
        """The answers, without messages that only have a file."""
        return [message for message in self.slack.workspace.bot_messages() if message.metadata]


@pytest.fixture
async def office(home: Path) -> AsyncIterator[StoryOffice]:
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackServer())
        environ = {
            "PARLEY_EMBEDDER": "none",
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": slack.api_url,
        }
        bot = await stack.enter_async_context(open_application(load_settings(home, environ).settings))
        await serve_slack(bot, slack, stack)
        yield await an_office(slack, bot)


async def serve_slack(bot: Application, slack: SlackServer, stack: AsyncExitStack) -> None:
    surface = slack_surface(bot)
    assert surface is not None
    bot.register_surface(surface)
    app = web.Application()
    app.router.add_routes(surface.http_routes())
    runner = web.AppRunner(app)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.app_url = f"http://127.0.0.1:{runner.addresses[0][1]}{EVENTS_PATH}"
    await surface.start()
    stack.push_async_callback(surface.close)
    await stack.enter_async_context(running_workers(bot))


async def an_office(slack: SlackServer, bot: Application) -> StoryOffice:
    """An office with its own channel, so that tests do not share conversations."""
    workspace = slack.workspace
    ada, bob = (
        workspace.add_user(SlackMember(id="U1ADA", name="Ada")),
        workspace.add_user(SlackMember(id="U2BOB", name="Bob")),
    )
    general = workspace.add_channel(SlackChannel(id=f"C{id(slack):X}", members=[ada.id, bob.id, BOT_USER]))
    for bucket in await bot.index.load_bucket_states():
        await bot.grants.grant_bucket_access(bucket, Subject(f"channel:slack:{TEAM}:{general.id}"), by="operator")
    return StoryOffice(slack=slack, bot=bot, ada=ada, bob=bob, general=general)


def counts_by_label(message: SlackMessage) -> dict[str, int]:
    """The counts on the buttons by label, for buttons with a count."""
    matches = (re.fullmatch(r"(.*) · ([\d,]+)", button["text"]["text"]) for button in message.block_buttons())
    return {match[1]: int(match[2].replace(",", "")) for match in matches if match}


async def test_a_list_that_is_too_long_gets_choices_and_is_narrowed_and_exported(
    office: StoryOffice, corpus: DemoCorpus
) -> None:
    tires = [record for record in plain_records(corpus, "receipts") if record["category"] == "tires"]

    offer = await office.ask("List every tire purchase receipt")
    count_by_label = counts_by_label(offer)
    export = count_by_label.pop("Export all as CSV")

    assert export == len(tires) == 1_042
    assert sum(count_by_label.values()) == export
    assert f"{export:,}" in offer.visible_text()

    vendor = next(iter(count_by_label))
    narrowed = await office.click(office.bob, offer, vendor)

    assert {button["action_id"] for button in offer.block_buttons()} == {"steps"}
    assert f"{vendor} — chosen by Bob" in offer.visible_text()
    of_vendor = [record for record in tires if record.get("vendor") == vendor]
    assert counts_by_label(narrowed)["Export all as CSV"] == count_by_label[vendor] == len(of_vendor)

    follow_up = await office.ask("only 2024", thread=narrowed.thread_ts)
    of_year = [record for record in of_vendor if str(record.get("date")).startswith("2024")]

    assert counts_by_label(follow_up)["Export all as CSV"] == len(of_year)

    exported = await office.click(office.ada, follow_up, "Export all as CSV")
    [file] = office.slack.workspace.files.values()
    rows = list(csv.DictReader(io.StringIO((file.content or b"").decode("utf-8-sig"))))

    assert file.shared
    assert f"{len(of_year)} rows" in exported.visible_text()
    assert len(rows) == len(of_year)
    assert {message.thread_ts for message in office.slack.workspace.bot_messages()} == {narrowed.thread_ts}


async def test_an_empty_set_offers_refinements_that_find_documents(office: StoryOffice) -> None:
    offer = await office.ask("Contracts with ACME for 2031")
    count_by_label = counts_by_label(offer)

    assert all(count >= 1 for count in count_by_label.values())

    label = min(count_by_label, key=lambda label: count_by_label[label])
    answer = await office.click(office.ada, offer, label)

    assert {button["action_id"] for button in offer.block_buttons()} == {"steps"}
    assert str(count_by_label[label]) in answer.visible_text()


async def test_a_message_delivered_eleven_times_is_answered_once(office: StoryOffice) -> None:
    text = f"<@{BOT_USER}> Contracts with ACME for 2031"

    await office.slack.post_as_person(office.ada, office.general, text, deliveries=11)
    await office.answer_after(0)

    assert len(office.slack.workspace.bot_messages()) == 1


async def test_a_second_clicker_learns_who_clicked_first(office: StoryOffice) -> None:
    offer = await office.ask("Contracts with ACME for 2031")
    button = offer.block_buttons()[0]
    await office.click(office.ada, offer, button["text"]["text"])

    answer_count = len(office.text_answers())
    await office.slack.deliver_action(office.bob, offer, button)
    await office.slack.wait_until(lambda: bool(office.ephemeral_texts(office.bob)))

    label = button["text"]["text"].partition(" · ")[0]
    assert office.ephemeral_texts(office.bob) == [f"A choice was already made here: {label}, by Ada."]
    assert len(office.text_answers()) == answer_count


async def test_a_person_without_grants_learns_nothing(office: StoryOffice) -> None:
    direct = office.slack.workspace.direct_channel_of(office.bob.id)

    refused = await office.say(office.bob, direct, "List every tire purchase receipt")

    assert refused.channel == direct.id
    assert refused.block_buttons() == []
    assert not re.search(r"\d|vendor|category", refused.visible_text())


async def test_a_guest_in_the_channel_closes_it(office: StoryOffice) -> None:
    guest = office.slack.workspace.add_user(SlackMember(id="U9GUEST", name="Guest", is_guest=True))
    office.general.members.append(guest.id)

    refused = await office.ask("List every tire purchase receipt")

    assert refused.block_buttons() == []
    assert not re.search(r"\d", refused.visible_text())


async def test_a_grant_to_everyone_does_not_include_a_guest_in_private(office: StoryOffice) -> None:
    guest = office.slack.workspace.add_user(SlackMember(id="U9GUEST", name="Guest", is_guest=True))
    private = office.slack.workspace.direct_channel_of
    buckets = sorted(await office.bot.index.load_bucket_states())
    for bucket in buckets:
        await office.bot.grants.grant_bucket_access(bucket, EVERYONE, by="operator")

    for_guest = await office.say(guest, private(guest.id), "List every tire purchase receipt")
    for_ada = await office.say(office.ada, private(office.ada.id), "List every tire purchase receipt")
    for bucket in buckets:
        await office.bot.grants.revoke_grant(bucket, EVERYONE, by="operator")

    assert counts_by_label(for_guest) == {}
    assert counts_by_label(for_ada)["Export all as CSV"] == 1_042
