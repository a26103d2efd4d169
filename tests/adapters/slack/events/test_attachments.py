"""Files attached to a question that Parley may not read: the answer says so."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.slack.events.commands import SHORTCUT
from tests.adapters.slack.office import SlackOffice, open_slack_office
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember


@pytest.fixture
async def office(
    slack: SlackServer, tmp_path: Path, ada: SlackMember, general: SlackChannel
) -> AsyncIterator[SlackOffice]:
    async with open_slack_office(slack, tmp_path / "home") as office:
        await office.grant_receipts(f"user:slack:{TEAM}:{ada.id}")
        await office.grant_receipts_to_channel(general)
        yield office


async def test_the_answer_names_an_attached_file_that_was_not_read(
    office: SlackOffice, slack: SlackServer, ada: SlackMember
) -> None:
    file = slack.upload_file(ada, "<!channel>*q3*.pdf", b"%PDF")

    await slack.post_as_person(ada, slack.workspace.direct_channel_of(ada.id), "List every receipt", files=[file])

    text = (await office.wait_for_answer()).visible_text()
    assert "<!channel>*q3*.pdf" in text
    assert "was not read" in text
    assert "42" in text


async def test_files_without_a_question_are_named_with_a_request_for_one(
    office: SlackOffice, slack: SlackServer, ada: SlackMember
) -> None:
    files = [slack.upload_file(ada, f"{number}.csv", b"a,b") for number in range(7)]

    await slack.post_as_person(ada, slack.workspace.direct_channel_of(ada.id), "", files=files)

    await slack.wait_until(
        lambda: any("were not read" in message.visible_text() for message in office.posted_messages())
    )
    text = office.posted_messages()[0].visible_text()
    assert "4.csv and 2 more" in text
    assert "no question here" in text


async def test_a_file_that_slack_does_not_name_is_reported_as_not_read(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    general.is_ext_shared = True

    await slack.post_as_person(
        ada, general, f"<@{BOT_USER}> List every receipt", files=[slack.upload_file(ada, "secret.pdf", b"%PDF")]
    )

    await slack.wait_until(
        lambda: any("was not read" in message.visible_text() for message in office.posted_messages())
    )
    assert "The attached file was not read" in office.posted_messages()[0].visible_text()


async def test_a_file_in_a_message_with_the_shortcut_is_reported_as_not_read(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember, general: SlackChannel
) -> None:
    remark, _ = await slack.post_as_person(
        bob, general, "List every receipt", files=[slack.upload_file(bob, "q3.pdf", b"%PDF")]
    )

    await slack.use_shortcut(ada, remark, SHORTCUT)

    text = (await office.wait_for_answer()).visible_text()
    assert "q3.pdf" in text
    assert "was not read" in text


async def test_the_answer_to_an_edited_question_still_names_the_unread_file(
    office: SlackOffice, slack: SlackServer, ada: SlackMember
) -> None:
    direct = slack.workspace.direct_channel_of(ada.id)
    question, _ = await slack.post_as_person(
        ada, direct, "start over", files=[slack.upload_file(ada, "q3.pdf", b"%PDF")]
    )
    await slack.wait_until(
        lambda: any("Started over." in message.visible_text() for message in office.posted_messages())
    )

    await slack.edit_message(question, "List every receipt")

    assert "q3.pdf" in (await office.wait_for_answer()).visible_text()
