"""An edited question gets a new answer in place of the old one; a deleted question loses its answer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.slack.app import SlackSurface
from bot.errors import FileGone
from bot.ids import PersonId
from bot.surface.inbound import MessageDeletion, PrivateAudience, TextMessage
from tests.adapters.slack.conftest import InboxBot
from tests.adapters.slack.office import SlackOffice, open_slack_office
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage


@pytest.fixture
async def office(
    slack: SlackServer, tmp_path: Path, ada: SlackMember, general: SlackChannel
) -> AsyncIterator[SlackOffice]:
    """Grants the receipts to Ada and to the channel, whose history Parley may read."""
    slack.scopes |= slack.optional_scopes
    async with open_slack_office(slack, tmp_path / "home") as office:
        await office.grant_receipts_to_channel(general)
        await office.grant_receipts(f"user:slack:{TEAM}:{ada.id}")
        yield office


@pytest.fixture
def direct(slack: SlackServer, ada: SlackMember) -> SlackChannel:
    return slack.workspace.direct_channel_of(ada.id)


# Accepted revisions


async def test_an_edit_revises_its_question_in_the_same_conversation(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, direct: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, direct, "List receipts")

    delivered = await slack.edit_message(question, "List &lt;all&gt; receipts")

    first, second = bot.accepted
    assert delivered.statuses == [200]
    assert second.body == TextMessage("List <all> receipts")
    assert second.revises == first.message_id
    assert (second.conversation, second.person) == (first.conversation, first.person)
    assert second.audience == first.audience


async def test_a_change_without_new_text_is_no_edit(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, direct: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, direct, "see https://example.org")

    delivered = await slack.edit_message(question, "see https://example.org")

    assert delivered.statuses == [200]
    assert len(bot.accepted) == 1


async def test_a_deleted_question_is_withdrawn_with_replies_and_without(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, direct: SlackChannel
) -> None:
    without_replies, _ = await slack.post_as_person(ada, direct, "List receipts")
    with_replies, _ = await slack.post_as_person(ada, direct, "List receipts")
    slack.workspace.messages.append(
        SlackMessage(
            ts=slack.workspace.next_ts(), channel=direct.id, user=BOT_USER, text="42", thread_ts=with_replies.ts
        )
    )

    first_ts, second_ts = without_replies.ts, with_replies.ts
    await slack.delete_message(without_replies)
    await slack.delete_message(with_replies)

    assert [(inbound.body, inbound.revises) for inbound in bot.accepted[2:]] == [
        (MessageDeletion(), first_ts),
        (MessageDeletion(), second_ts),
    ]


async def test_changes_of_parleys_own_messages_and_of_bots_are_ignored(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, direct: SlackChannel
) -> None:
    own_message = SlackMessage(ts=slack.workspace.next_ts(), channel=direct.id, user=BOT_USER, text="Looking …")
    slack.workspace.messages.append(own_message)

    edited = await slack.edit_message(own_message, "42")
    deleted = await slack.delete_message(own_message)

    assert (edited.statuses, deleted.statuses) == ([200], [200])
    assert bot.accepted == []


# Effects of revisions


async def test_the_answer_to_an_edited_question_replaces_the_old_answer(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, direct: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, direct, "start over")
    await slack.wait_until(
        lambda: any("Started over." in message.visible_text() for message in office.posted_messages())
    )

    await slack.edit_message(question, "List every receipt")

    answer = await office.wait_for_answer()
    assert office.posted_messages() == [answer]
    assert "42" in answer.visible_text()
    assert "Started over." not in answer.visible_text()


async def test_an_edit_of_a_message_that_is_no_question_is_ignored(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    remark, _ = await slack.post_as_person(ada, general, "lunch?")

    delivered = await slack.edit_message(remark, "lunch at noon?")
    await slack.post_as_person(ada, general, f"<@{BOT_USER}> List every receipt")
    await office.wait_for_answer()

    assert delivered.statuses == [200]
    assert len(office.posted_messages()) == 1


async def test_an_edit_that_arrives_before_its_question_replaces_it(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    first = f"<@{BOT_USER}> start over"
    question, _ = await slack.post_as_person(ada, general, first, deliveries=0)
    await slack.edit_message(question, f"<@{BOT_USER}> List every receipt")
    answer = await office.wait_for_answer()

    deliveries = await slack.deliver_late(ada, general, question, first)
    await slack.edit_message(question, f"<@{BOT_USER}> List all receipts")
    await slack.post_as_person(ada, general, f"<@{BOT_USER}> List receipts")
    await office.wait_for_answer(2)

    assert [delivery.statuses for delivery in deliveries] == [[200], [200]]
    assert [message.thread_ts for message in office.posted_messages()] == [
        question.ts,
        office.posted_messages()[1].thread_ts,
    ]
    assert office.posted_messages()[0] == answer


async def test_a_question_that_arrives_after_its_deletion_is_not_answered(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, direct: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, direct, "start over", deliveries=0)
    await slack.delete_message(question)

    await slack.deliver_late(ada, direct, question, "start over")
    await slack.post_as_person(ada, direct, "List every receipt")
    answer = await office.wait_for_answer()

    assert office.posted_messages() == [answer]


async def test_the_buttons_of_the_old_answer_expire(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, direct: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, direct, "List every receipt")
    answer = await office.wait_for_answer()
    old_button = answer.block_buttons()[0]
    await slack.edit_message(question, "List each receipt")
    await slack.wait_until(lambda: bool(answer.block_buttons()) and answer.block_buttons()[0] != old_button)

    await slack.deliver_action(ada, answer, old_button)

    await slack.wait_until(lambda: any("expired" in message.visible_text() for message in office.posted_messages()))


async def test_the_answer_of_a_deleted_question_is_deleted(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, direct: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, direct, "List every receipt")
    await office.wait_for_answer()

    await slack.delete_message(question)

    await slack.wait_until(lambda: office.posted_messages() == [])


async def test_a_deleted_question_loses_the_export_that_its_author_chose(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, direct: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, direct, "List every receipt")
    await slack.click_button(ada, await office.wait_for_answer(), "Export all")
    await slack.wait_until(lambda: any(file.shared for file in slack.workspace.files.values()))
    [file] = slack.workspace.files.values()
    [past_export] = (
        await office.bot.personal_history.load_overview(
            PrivateAudience(person=PersonId(f"slack:{TEAM}:{ada.id}")), max_buckets=5
        )
    ).exports

    await slack.delete_message(question)

    await slack.wait_until(lambda: [message for message in office.posted_messages() if message.metadata] == [])
    assert (file.mode, file.content) == ("tombstone", None)
    with pytest.raises(FileGone):
        await office.bot.exports.find_download((past_export.url or "").rpartition("/")[2])


async def test_the_file_is_deleted_even_after_messages_by_others(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember, general: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, general, f"<@{BOT_USER}> export")
    await slack.wait_until(lambda: any(file.shared for file in slack.workspace.files.values()))
    [file] = slack.workspace.files.values()
    await slack.post_as_person(bob, general, "thanks", thread_ts=question.ts)

    await slack.delete_message(question)

    await slack.wait_until(
        lambda: any("The question was deleted" in message.visible_text() for message in office.posted_messages())
    )
    assert file.mode == "tombstone"


async def test_after_messages_by_others_a_note_replaces_the_deleted_answer(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, bob: SlackMember, general: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, general, f"<@{BOT_USER}> List every receipt")
    answer = await office.wait_for_answer()
    await slack.post_as_person(bob, general, "42 it is, then", thread_ts=question.ts)

    await slack.delete_message(question)

    await slack.wait_until(lambda: "The question was deleted" in answer.visible_text())
    assert "42" not in answer.visible_text()
    assert answer.block_buttons() == []


async def test_a_note_replaces_the_answer_when_the_thread_is_not_readable(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, general, f"<@{BOT_USER}> List every receipt")
    answer = await office.wait_for_answer()
    slack.scopes -= {"channels:history"}

    deletion = {"subtype": "message_deleted", "deleted_ts": question.ts, "ts": slack.workspace.next_ts()}
    previous_message = {"ts": question.ts, "user": ada.id, "text": question.text}
    message_fields = {"type": "message", "channel": general.id, "channel_type": "channel"}
    await slack.deliver_event({**message_fields, **deletion, "previous_message": previous_message})

    await slack.wait_until(lambda: "The question was deleted" in answer.visible_text())


async def test_an_answer_that_is_deleted_already_causes_no_failure(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, direct: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, direct, "List every receipt")
    answer = await office.wait_for_answer()
    slack.workspace.messages.remove(answer)
    call_count = len(slack.calls_of("chat.delete"))

    await slack.delete_message(question)
    await slack.wait_until(lambda: len(slack.calls_of("chat.delete")) > call_count)
    await slack.post_as_person(ada, direct, "List every receipt")

    assert "42" in (await office.wait_for_answer()).visible_text()


async def test_a_new_message_is_posted_when_the_old_answer_was_deleted(
    office: SlackOffice, slack: SlackServer, ada: SlackMember, direct: SlackChannel
) -> None:
    question, _ = await slack.post_as_person(ada, direct, "start over")
    await slack.wait_until(
        lambda: any("Started over." in message.visible_text() for message in office.posted_messages())
    )
    slack.workspace.messages.remove(office.posted_messages()[0])

    await slack.edit_message(question, "List every receipt")

    answer = await office.wait_for_answer()
    assert office.posted_messages() == [answer]
    assert answer.thread_ts == question.ts
