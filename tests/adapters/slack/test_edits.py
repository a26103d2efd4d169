"""An edited question gets a new answer in the place of the old one; a deleted question takes its answer along."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.slack.app import SlackSurface
from bot.errors import FileGone
from bot.ids import PersonId
from bot.inbound import Private, Said, Withdrawn
from tests.adapters.slack.conftest import InboxBot
from tests.adapters.slack.office import Office, an_office
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, Message, User


@pytest.fixture
async def office(slack: SlackServer, tmp_path: Path, ada: User, general: Channel) -> AsyncIterator[Office]:
    """Ada alone sees the receipts, and so does the channel, whose history Parley may read."""
    slack.scopes |= slack.optional_scopes
    async with an_office(slack, tmp_path / "home") as office:
        await office.open_channel(general)
        await office.grant(f"user:slack:{TEAM}:{ada.id}")
        yield office


@pytest.fixture
def direct(slack: SlackServer, ada: User) -> Channel:
    return slack.workspace.direct(ada.id)


# What is accepted


async def test_an_edit_revises_its_question_in_the_same_conversation(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, direct: Channel
) -> None:
    asked, _ = await slack.say(ada, direct, "List receipts")

    delivered = await slack.edit(asked, "List &lt;all&gt; receipts")

    first, second = bot.accepted
    assert delivered.statuses == [200]
    assert second.body == Said("List <all> receipts")
    assert second.revises == first.message_id
    assert (second.conversation, second.person) == (first.conversation, first.person)
    assert second.audience == first.audience


async def test_a_change_of_anything_but_the_words_is_no_edit(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, direct: Channel
) -> None:
    asked, _ = await slack.say(ada, direct, "see https://example.org")

    delivered = await slack.edit(asked, "see https://example.org")

    assert delivered.statuses == [200]
    assert len(bot.accepted) == 1


async def test_a_deleted_question_is_withdrawn_with_replies_and_without(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, direct: Channel
) -> None:
    alone, _ = await slack.say(ada, direct, "List receipts")
    answered, _ = await slack.say(ada, direct, "List receipts")
    slack.workspace.messages.append(
        Message(ts=slack.workspace.next_ts(), channel=direct.id, user=BOT_USER, text="42", thread_ts=answered.ts)
    )

    first, second = alone.ts, answered.ts
    await slack.delete(alone)
    await slack.delete(answered)

    assert [(one.body, one.revises) for one in bot.accepted[2:]] == [(Withdrawn(), first), (Withdrawn(), second)]


async def test_changes_of_parleys_own_messages_and_of_bots_are_ignored(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, direct: Channel
) -> None:
    own = Message(ts=slack.workspace.next_ts(), channel=direct.id, user=BOT_USER, text="Looking …")
    slack.workspace.messages.append(own)

    edited = await slack.edit(own, "42")
    deleted = await slack.delete(own)

    assert (edited.statuses, deleted.statuses) == ([200], [200])
    assert bot.accepted == []


# What becomes of it


async def test_an_edited_question_is_answered_in_the_place_of_the_old_answer(
    office: Office, slack: SlackServer, ada: User, direct: Channel
) -> None:
    asked, _ = await slack.say(ada, direct, "start over")
    await slack.until(lambda: any("Started over." in one.words() for one in office.said()))

    await slack.edit(asked, "List every receipt")

    answer = await office.answer()
    assert office.said() == [answer]
    assert "42" in answer.words()
    assert "Started over." not in answer.words()


async def test_an_edit_to_something_that_was_never_asked_is_ignored(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    remark, _ = await slack.say(ada, general, "lunch?")

    delivered = await slack.edit(remark, "lunch at noon?")
    await slack.say(ada, general, f"<@{BOT_USER}> List every receipt")
    await office.answer()

    assert delivered.statuses == [200]
    assert len(office.said()) == 1


async def test_an_edit_that_comes_before_its_question_is_the_question(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    first = f"<@{BOT_USER}> start over"
    asked, _ = await slack.say(ada, general, first, deliveries=0)
    await slack.edit(asked, f"<@{BOT_USER}> List every receipt")
    answer = await office.answer()

    late = await slack.deliver_late(ada, general, asked, first)
    await slack.edit(asked, f"<@{BOT_USER}> List all receipts")
    await slack.say(ada, general, f"<@{BOT_USER}> List receipts")
    await office.answer(2)

    assert [one.statuses for one in late] == [[200], [200]]
    assert [one.thread_ts for one in office.said()] == [asked.ts, office.said()[1].thread_ts]
    assert office.said()[0] == answer


async def test_a_question_that_comes_after_its_deletion_is_not_answered(
    office: Office, slack: SlackServer, ada: User, direct: Channel
) -> None:
    asked, _ = await slack.say(ada, direct, "start over", deliveries=0)
    await slack.delete(asked)

    await slack.deliver_late(ada, direct, asked, "start over")
    await slack.say(ada, direct, "List every receipt")
    answer = await office.answer()

    assert office.said() == [answer]


async def test_the_buttons_of_the_old_answer_count_no_more(
    office: Office, slack: SlackServer, ada: User, direct: Channel
) -> None:
    asked, _ = await slack.say(ada, direct, "List every receipt")
    answer = await office.answer()
    before = answer.buttons()[0]
    await slack.edit(asked, "List each receipt")
    await slack.until(lambda: bool(answer.buttons()) and answer.buttons()[0] != before)

    await slack.deliver_action(ada, answer, before)

    await slack.until(lambda: any("expired" in one.words() for one in office.said()))


async def test_a_deleted_question_takes_its_answer_along(
    office: Office, slack: SlackServer, ada: User, direct: Channel
) -> None:
    asked, _ = await slack.say(ada, direct, "List every receipt")
    await office.answer()

    await slack.delete(asked)

    await slack.until(lambda: office.said() == [])


async def test_a_deleted_question_takes_along_what_its_author_chose_and_the_file_of_it(
    office: Office, slack: SlackServer, ada: User, direct: Channel
) -> None:
    asked, _ = await slack.say(ada, direct, "List every receipt")
    await slack.click(ada, await office.answer(), "Export all")
    await slack.until(lambda: any(file.shared for file in slack.workspace.files.values()))
    [file] = slack.workspace.files.values()
    [past] = (await office.bot.personal.own(Private(person=PersonId(f"slack:{TEAM}:{ada.id}")), most=5)).exports

    await slack.delete(asked)

    await slack.until(lambda: [one for one in office.said() if one.metadata] == [])
    assert (file.mode, file.content) == ("tombstone", None)
    with pytest.raises(FileGone):
        await office.bot.exports.find((past.url or "").rpartition("/")[2])


async def test_where_others_went_on_the_file_goes_all_the_same(
    office: Office, slack: SlackServer, ada: User, bob: User, general: Channel
) -> None:
    asked, _ = await slack.say(ada, general, f"<@{BOT_USER}> export")
    await slack.until(lambda: any(file.shared for file in slack.workspace.files.values()))
    [file] = slack.workspace.files.values()
    await slack.say(bob, general, "thanks", thread_ts=asked.ts)

    await slack.delete(asked)

    await slack.until(lambda: any("The question was deleted" in one.words() for one in office.said()))
    assert file.mode == "tombstone"


async def test_where_others_went_on_a_line_says_that_the_answer_is_gone(
    office: Office, slack: SlackServer, ada: User, bob: User, general: Channel
) -> None:
    asked, _ = await slack.say(ada, general, f"<@{BOT_USER}> List every receipt")
    answer = await office.answer()
    await slack.say(bob, general, "42 it is, then", thread_ts=asked.ts)

    await slack.delete(asked)

    await slack.until(lambda: "The question was deleted" in answer.words())
    assert "42" not in answer.words()
    assert answer.buttons() == []


async def test_where_slack_does_not_say_who_went_on_the_line_stays(
    office: Office, slack: SlackServer, ada: User, general: Channel
) -> None:
    asked, _ = await slack.say(ada, general, f"<@{BOT_USER}> List every receipt")
    answer = await office.answer()
    slack.scopes -= {"channels:history"}

    gone = {"subtype": "message_deleted", "deleted_ts": asked.ts, "ts": slack.workspace.next_ts()}
    before = {"ts": asked.ts, "user": ada.id, "text": asked.text}
    where = {"type": "message", "channel": general.id, "channel_type": "channel"}
    await slack.deliver_event({**where, **gone, "previous_message": before})

    await slack.until(lambda: "The question was deleted" in answer.words())


async def test_an_answer_that_is_gone_already_is_no_failure(
    office: Office, slack: SlackServer, ada: User, direct: Channel
) -> None:
    asked, _ = await slack.say(ada, direct, "List every receipt")
    answer = await office.answer()
    slack.workspace.messages.remove(answer)
    before = len(slack.called("chat.delete"))

    await slack.delete(asked)
    await slack.until(lambda: len(slack.called("chat.delete")) > before)
    await slack.say(ada, direct, "List every receipt")

    assert "42" in (await office.answer()).words()


async def test_where_the_old_answer_was_deleted_the_new_one_is_a_message_of_its_own(
    office: Office, slack: SlackServer, ada: User, direct: Channel
) -> None:
    asked, _ = await slack.say(ada, direct, "start over")
    await slack.until(lambda: any("Started over." in one.words() for one in office.said()))
    slack.workspace.messages.remove(office.said()[0])

    await slack.edit(asked, "List every receipt")

    answer = await office.answer()
    assert office.said() == [answer]
    assert answer.thread_ts == asked.ts
