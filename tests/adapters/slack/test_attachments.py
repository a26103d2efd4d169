"""Files that come with a question, where Parley may not read files: the answer says so."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.slack.commands import SHORTCUT
from tests.adapters.slack.office import Office, an_office
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, User


@pytest.fixture
async def office(slack: SlackServer, tmp_path: Path, ada: User, general: Channel) -> AsyncIterator[Office]:
    async with an_office(slack, tmp_path / "home") as office:
        await office.grant(f"user:slack:{TEAM}:{ada.id}")
        await office.open_channel(general)
        yield office


async def test_an_attached_file_is_named_as_not_read_beside_the_answer(
    office: Office, slack: SlackServer, ada: User
) -> None:
    file = slack.upload(ada, "<!channel>*q3*.pdf", b"%PDF")

    await slack.say(ada, slack.workspace.direct(ada.id), "List every receipt", files=[file])

    words = (await office.answer()).words()
    assert "<!channel>*q3*.pdf" in words
    assert "was not read" in words
    assert "42" in words


async def test_a_file_without_words_is_named_with_the_plea_for_a_question(
    office: Office, slack: SlackServer, ada: User
) -> None:
    files = [slack.upload(ada, f"{number}.csv", b"a,b") for number in range(7)]

    await slack.say(ada, slack.workspace.direct(ada.id), "", files=files)

    await slack.until(lambda: any("were not read" in one.words() for one in office.said()))
    words = office.said()[0].words()
    assert "4.csv and 2 more" in words
    assert "no question here" in words


async def test_a_file_that_slack_does_not_name_is_said_to_be_unread_too(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    general.is_ext_shared = True

    await slack.say(ada, general, f"<@{BOT_USER}> List every receipt", files=[slack.upload(ada, "secret.pdf", b"%PDF")])

    await slack.until(lambda: any("was not read" in one.words() for one in office.said()))
    assert "The attached file was not read" in office.said()[0].words()


async def test_a_file_in_a_message_that_is_asked_about_is_not_read_either(
    office: Office, slack: SlackServer, ada: User, bob: User, general: Channel
) -> None:
    remark, _ = await slack.say(bob, general, "List every receipt", files=[slack.upload(bob, "q3.pdf", b"%PDF")])

    await slack.shortcut(ada, remark, SHORTCUT)

    words = (await office.answer()).words()
    assert "q3.pdf" in words
    assert "was not read" in words


async def test_an_edited_question_keeps_saying_what_was_not_read(office: Office, slack: SlackServer, ada: User) -> None:
    direct = slack.workspace.direct(ada.id)
    asked, _ = await slack.say(ada, direct, "start over", files=[slack.upload(ada, "q3.pdf", b"%PDF")])
    await slack.until(lambda: any("Started over." in one.words() for one in office.said()))

    await slack.edit(asked, "List every receipt")

    assert "q3.pdf" in (await office.answer()).words()
