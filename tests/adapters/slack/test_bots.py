"""Bots of other apps: those that the operator allows may ask with a mention, and never loop."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.slack.app import SlackSurface
from bot.errors import InvalidSettings
from bot.settings import load_settings
from bot.surface.inbound import ChannelAudience
from storage.sql.stores.limits import LimitStore, QuestionLimit
from tests.adapters.slack.conftest import InboxBot
from tests.adapters.slack.office import SlackOffice, open_slack_office
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import APP, BOT_ID, BOT_USER, TEAM, OtherApp, SlackChannel, SlackMember

TICKETS = OtherApp(id="A1TICKETS", bot="B1TICKETS", user="U1TICKETS")
OLD = OtherApp(id="A2OLD", bot="B2OLD")
QUESTION = f"<@{BOT_USER}> List every receipt"
ALLOWED = ("A1TICKETS", "B2OLD", APP, BOT_ID)


@pytest.fixture
def bot(bot: InboxBot, slack: SlackServer) -> InboxBot:
    """A bot that allows two other bots. Allowing its own ids must have no effect."""
    bot.settings = bot.settings.model_copy(update={"bots": ALLOWED})
    return bot


async def test_a_mention_by_an_allowed_bot_is_accepted(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, general: SlackChannel
) -> None:
    for app in (TICKETS, OLD):
        await slack.post_as_app(app, general, QUESTION)

    people = [inbound.person for inbound in bot.accepted]
    assert people == [f"slack:{TEAM}:U1TICKETS", f"slack:{TEAM}:B2OLD"]
    assert all(inbound.is_automatic and isinstance(inbound.audience, ChannelAudience) for inbound in bot.accepted)


@pytest.mark.parametrize(
    ("app", "text"),
    [
        (OtherApp(id="A3", bot="B3", user="U3"), QUESTION),
        (OtherApp(id="A3", bot="B3"), QUESTION),
        (TICKETS, "List every receipt"),
        (OtherApp(id=APP, bot="B4", user="U4"), QUESTION),
        (OtherApp(id="A4", bot=BOT_ID, user="U4"), QUESTION),
        (OtherApp(id="A1TICKETS", bot="B1TICKETS", user=BOT_USER), QUESTION),
    ],
    ids=["not named", "of the old kind, not named", "without a mention", "our app", "our bot", "our user"],
)
async def test_messages_of_other_bots_are_ignored(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, general: SlackChannel, app: OtherApp, text: str
) -> None:
    slack.scopes |= slack.optional_scopes
    _, delivered = await slack.post_as_app(app, general, text)

    assert bot.accepted == []
    assert {tuple(delivery.statuses) for delivery in delivered} == {(200,)}


async def test_a_bots_direct_message_is_ignored(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember
) -> None:
    await slack.post_as_app(TICKETS, slack.workspace.direct_channel_of(ada.id), QUESTION)

    assert bot.accepted == []


@pytest.mark.parametrize("named", ["U1", "b1", "B", "A1,x"])
def test_an_invalid_app_id_is_refused(tmp_path: Path, named: str) -> None:
    with pytest.raises(InvalidSettings, match="PARLEY_SLACK_BOTS"):
        load_settings(tmp_path, {"PARLEY_SLACK_BOTS": named})


@pytest.fixture
async def office(slack: SlackServer, tmp_path: Path, general: SlackChannel) -> AsyncIterator[SlackOffice]:
    async with open_slack_office(slack, tmp_path / "home", PARLEY_SLACK_BOTS="A1TICKETS") as office:
        yield office


async def test_a_bot_that_replies_to_every_answer_is_stopped_by_its_limit(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    """Refusals count towards the limit of a bot, unlike that of a person, and the bot gets no notice."""
    await LimitStore(office.bot.database).change_limits_if_unchanged({}, {QuestionLimit.PERSON_HOUR: 3}, by="operator")
    question, _ = await slack.post_as_app(TICKETS, general, QUESTION)
    for count in range(1, 4):
        await slack.wait_until(lambda: len(refused_answers_in(office)) == count)  # noqa: B023 - awaited at once
        await slack.post_as_app(TICKETS, general, QUESTION, thread_ts=question.ts)

    await slack.post_as_person(ada, general, QUESTION, thread_ts=question.ts)
    await slack.wait_until(lambda: len(refused_answers_in(office)) == 4)

    assert len(office.posted_messages()) == 4
    assert not any("You have asked" in message.visible_text() for message in office.posted_messages())


def refused_answers_in(office: SlackOffice) -> list[str]:
    return [message.visible_text() for message in office.posted_messages() if "Nothing here" in message.visible_text()]
