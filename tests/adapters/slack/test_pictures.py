"""The picture of an answer in Slack, from the question to the image in its thread."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from bot.bootstrap import open_application
from bot.ids import Subject
from bot.settings import load_settings
from tests.adapters.slack.story_office import StoryOffice, an_office, serve_slack
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import TEAM, StoredFile

QUESTION = "How many receipts per vendor?"


@asynccontextmanager
async def open_office(home: Path, **environ: str) -> AsyncGenerator[StoryOffice]:
    """37 receipts of Acme and 5 of Bolt."""
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackServer())
        slack_settings = {
            "PARLEY_TENANT": TENANT,
            "PARLEY_EMBEDDER": "none",
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": slack.api_url,
        }
        settings = load_settings(home, slack_settings | environ).settings
        bot = await stack.enter_async_context(open_application(settings))
        await bot.index.set_schema(a_receipt_schema())
        vendors = ["Acme"] * 37 + ["Bolt"] * 5
        receipts = [a_document(f"r{n:03}", f"receipt {n}", vendor=vendor) for n, vendor in enumerate(vendors)]
        await bot.index.put(RECEIPTS, receipts)
        await serve_slack(bot, slack, stack)
        yield await an_office(slack, bot)


def shared_pictures(office: StoryOffice) -> list[StoredFile]:
    return [file for file in office.slack.workspace.files.values() if file.shared and file.mode != "tombstone"]


async def test_groups_come_with_an_image_that_goes_with_a_deleted_question(tmp_path: Path) -> None:
    async with open_office(tmp_path) as office:
        direct = office.slack.workspace.direct_channel_of(office.ada.id)
        await office.bot.grants.grant_bucket_access(
            RECEIPTS, Subject(f"user:slack:{TEAM}:{office.ada.id}"), by="operator"
        )
        question, _ = await office.slack.post_as_person(office.ada, direct, QUESTION)
        answer = await office.answer_after(0)
        await office.slack.wait_until(lambda: bool(shared_pictures(office)))

        [picture] = shared_pictures(office)
        assert "42 receipts, by vendor:" in answer.visible_text()
        assert picture.alternative_text == "Bars: Acme 37, Bolt 5"
        assert (picture.title, (picture.content or b"")[:4]) == ("Documents, by vendor", b"\x89PNG")

        await office.slack.delete_message(question)
        await office.slack.wait_until(lambda: not shared_pictures(office))


async def test_no_image_follows_where_pictures_are_off(tmp_path: Path) -> None:
    async with open_office(tmp_path, PARLEY_PICTURES="off") as office:
        answer = await office.ask(QUESTION)

        assert "42 receipts, by vendor:" in answer.visible_text()
        assert shared_pictures(office) == []
