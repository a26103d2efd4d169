"""Other apps' bots: heard where the operator names them, like a person who mentions Parley, and never in circles."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.slack.app import SlackSurface
from bot.errors import InvalidSettings
from bot.inbound import Shared
from bot.settings import load_settings
from storage.sql.limits import Limit, Limits
from tests.adapters.slack.conftest import InboxBot
from tests.adapters.slack.office import Office, an_office
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import APP, BOT_ID, BOT_USER, TEAM, Channel, OtherApp, User

TICKETS = OtherApp(id="A1TICKETS", bot="B1TICKETS", user="U1TICKETS")
OLD = OtherApp(id="A2OLD", bot="B2OLD")
QUESTION = f"<@{BOT_USER}> List every receipt"
ALLOWED = ("A1TICKETS", "B2OLD", APP, BOT_ID)


@pytest.fixture
def bot(bot: InboxBot, slack: SlackServer) -> InboxBot:
    """With a bot that hears two others. Its own ids are named in vain."""
    bot.settings = replace(bot.settings, slack_bots=ALLOWED)
    return bot


async def test_a_bot_that_may_ask_is_heard_as_one_who_mentions(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, general: Channel
) -> None:
    for app in (TICKETS, OLD):
        await slack.say_as(app, general, QUESTION)

    people = [one.person for one in bot.accepted]
    assert people == [f"slack:{TEAM}:U1TICKETS", f"slack:{TEAM}:B2OLD"]
    assert all(one.automatic and isinstance(one.audience, Shared) for one in bot.accepted)


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
async def test_others_are_not(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, general: Channel, app: OtherApp, text: str
) -> None:
    slack.scopes |= slack.optional_scopes
    _, delivered = await slack.say_as(app, general, text)

    assert bot.accepted == []
    assert {tuple(one.statuses) for one in delivered} == {(200,)}


async def test_in_direct_messages_no_bot_is_heard(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User
) -> None:
    await slack.say_as(TICKETS, slack.workspace.direct(ada.id), QUESTION)

    assert bot.accepted == []


@pytest.mark.parametrize("named", ["U1", "b1", "B", "A1,x"])
def test_what_is_no_id_of_an_app_is_refused(tmp_path: Path, named: str) -> None:
    with pytest.raises(InvalidSettings, match="PARLEY_SLACK_BOTS"):
        load_settings(tmp_path, {"PARLEY_SLACK_BOTS": named})


@pytest.fixture
async def office(slack: SlackServer, tmp_path: Path, general: Channel) -> AsyncIterator[Office]:
    async with an_office(slack, tmp_path / "home", PARLEY_SLACK_BOTS="A1TICKETS") as office:
        yield office


async def test_a_bot_that_answers_each_answer_is_answered_no_more_at_its_limit(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    """Refusals, which count for no person, count for a program; and it is not told."""
    await Limits(office.bot.database).change({}, {Limit.PERSON_HOUR: 3}, by="operator")
    asked, _ = await slack.say_as(TICKETS, general, QUESTION)
    for said in range(1, 4):
        await slack.until(lambda: len(finished(office)) == said)  # noqa: B023 - awaited at once
        await slack.say_as(TICKETS, general, QUESTION, thread_ts=asked.ts)

    await slack.say(ada, general, QUESTION, thread_ts=asked.ts)
    await slack.until(lambda: len(finished(office)) == 4)

    assert len(office.said()) == 4
    assert not any("You have asked" in one.words() for one in office.said())


def finished(office: Office) -> list[str]:
    return [one.words() for one in office.said() if "Nothing here" in one.words()]
