"""Posts, updates and streams replies against the stand-in, beyond the contract of every outbox."""

import asyncio
import math
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.teams.addresses import MoreChoicesCard, TeamsAddress, conversation_id_of, person_id_of
from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.errors import TeamsError, TeamsUnreachable
from adapters.teams.posting.outbox import TeamsOutbox, TeamsThread
from bot.ids import MessageId, PersonId, TurnId
from bot.surface.outbox import MessageGone, OutboxFailed
from bot.surface.replies import (
    ChosenPart,
    FilePart,
    FullTextPart,
    NoticePart,
    PictureKind,
    PicturePart,
    PicturePoint,
    ProgressPart,
    Reply,
    ReplyPart,
    TablePart,
    TextPart,
    TurnAction,
    TurnActionsPart,
)
from tests.adapters.slack.gallery import PARTS, choices_part_of, numbered_buttons
from tests.adapters.teams.conftest import (
    FurtherMessageTable,
    RecordedLog,
    RecordedStops,
    RecordedWaits,
    address_in,
    thread_at,
    wait_until,
)
from tests.stand_ins.teams.server import TeamsFault, TeamsServer
from tests.stand_ins.teams.tenancy import TenantConversation, TenantMessage, TenantPerson

TURN = TurnId("turn-1")
NOON = datetime(2031, 5, 9, 12, tzinfo=UTC)


def reply_with(*parts: ReplyPart) -> Reply:
    return Reply(turn=TURN, parts=parts)


def progress_of(text: str, written: str = "") -> Reply:
    parts = (TextPart(markdown=written),) if written else ()
    return reply_with(*parts, ProgressPart(text=text))


ANSWER = reply_with(TextPart(markdown="There are **42** receipts."), TurnActionsPart(handles=(TurnAction.RATE,)))
TABLE = TablePart(caption="Vendors", columns=("vendor", "n"), rows=(("Acme", "37"), ("Bolt", "5")))
STOPPED = reply_with(NoticePart(text="Stopped."))
FILE = FilePart(name="r.csv", title="Receipts", rows=3, path="/x/r.csv", url="https://example.org/d/x", expires=NOON)


@dataclass
class FixedOpening:
    """Fulfils `bot.surface.outbox.OpeningContent`. Records how long was waited."""

    reply: Reply | None
    waits_s: list[float] = field(default_factory=list[float])

    async def wait_for_reply(self, within_s: float) -> None:
        self.waits_s.append(within_s)

    async def get_current_reply(self) -> Reply | None:
        return self.reply


@dataclass
class RecordedOffers:
    """Fulfils `adapters.teams.posting.protocols.FileSender`. Fails as long as `error` is set. `file_errors`: the errors
    of single files, by name.
    """

    error: Exception | None = None
    file_errors: dict[str, Exception] = field(default_factory=dict[str, Exception])
    files: list[str] = field(default_factory=list[str])
    texts: dict[str, str] = field(default_factory=dict[str, str])

    async def offer_file(self, address: TeamsAddress, turn: TurnId, message: MessageId, file: FilePart) -> None:
        error = self.file_errors.get(file.name, self.error)
        if error is not None:
            raise error
        self.files.append(file.name)

    async def offer_text(
        self, address: TeamsAddress, turn: TurnId, message: MessageId, *, name: str, text: str
    ) -> None:
        if self.error is not None:
            raise self.error
        self.texts[name] = text


@pytest.fixture
def personal_thread(
    teams: TeamsServer, alan: TenantPerson, personal_chat: TenantConversation, teams_outbox: TeamsOutbox
) -> TeamsThread:
    return thread_at(teams_outbox, address_in(teams, personal_chat, alan))


@pytest.fixture
def group_thread(
    teams: TeamsServer, alan: TenantPerson, group_chat: TenantConversation, teams_outbox: TeamsOutbox
) -> TeamsThread:
    return thread_at(teams_outbox, address_in(teams, group_chat, alan))


@pytest.fixture
async def channel_thread(
    teams: TeamsServer, alan: TenantPerson, team_channel: TenantConversation, teams_outbox: TeamsOutbox
) -> TeamsThread:
    question, _ = await teams.say(alan, team_channel, "how many?", mention=False)
    return thread_at(teams_outbox, address_in(teams, team_channel, alan, thread=question.thread))


@pytest.fixture
def asker(alan: TenantPerson) -> PersonId:
    return person_id_of(alan.tenant, alan.object_id)


def only_message(teams: TeamsServer, place: TenantConversation) -> TenantMessage:
    [message] = teams.tenant.bot_messages(place)
    return message


def sent_texts(teams: TeamsServer, kind: str) -> list[str]:
    """The texts of the sent activities of a kind: `informative`, `streaming`, `final`, or a message's `message`."""
    return [call.body.get("text", "") for call in teams.calls_of("send") if stream_kind_of(call.body) == kind]


def stream_kind_of(activity: Mapping[str, Any]) -> str:
    kinds = [entity["streamType"] for entity in activity.get("entities", []) if entity["type"] == "streaminfo"]
    return kinds[0] if kinds else activity["type"]


# Streams


async def test_progress_in_a_personal_chat_streams_and_becomes_the_answer(
    teams: TeamsServer,
    personal_thread: TeamsThread,
    personal_chat: TenantConversation,
    asker: PersonId,
    waits: RecordedWaits,
) -> None:
    opened = await personal_thread.open_message(asker, FixedOpening(progress_of("Looking")))
    assert opened is not None
    waits.advance(2)
    await personal_thread.update_message(opened.message, progress_of("Reading"))
    waits.advance(2)
    await personal_thread.update_message(opened.message, progress_of("Reading", "There are"))
    waits.advance(2)
    await personal_thread.update_message(opened.message, progress_of("Reading", "There are **42** receipts."))
    await personal_thread.update_message(opened.message, ANSWER)

    assert sent_texts(teams, "informative") == ["Looking", "Reading"]
    assert sent_texts(teams, "streaming") == ["There are", "There are **42** receipts."]
    assert sent_texts(teams, "final") == ["There are **42** receipts."]
    message = only_message(teams, personal_chat)
    assert message.id == opened.message
    assert message.has_ai_label
    assert message.activity["channelData"] == {"feedbackLoop": {"type": "default"}}
    assert teams.refusals == []
    assert teams.calls_of("update") == []


async def test_updates_of_a_stream_are_held_back_and_the_newest_follows(
    teams: TeamsServer, personal_thread: TeamsThread, asker: PersonId, waits: RecordedWaits, teams_outbox: TeamsOutbox
) -> None:
    opened = await personal_thread.open_message(asker, FixedOpening(progress_of("Looking")))
    assert opened is not None
    for number in range(20):
        await personal_thread.update_message(opened.message, progress_of(f"Reading {number}"))
    assert sent_texts(teams, "informative") == ["Looking"]

    waits.advance(1.5)
    await teams_outbox.streams.tend_streams()

    assert sent_texts(teams, "informative") == ["Looking", "Reading 19"]


async def test_a_text_that_does_not_extend_the_shown_one_is_not_streamed_and_the_answer_replaces_it(
    teams: TeamsServer,
    personal_thread: TeamsThread,
    personal_chat: TenantConversation,
    asker: PersonId,
    waits: RecordedWaits,
) -> None:
    opened = await personal_thread.open_message(asker, FixedOpening(progress_of("Looking")))
    assert opened is not None
    for written in ("Perhaps 41 receipts", "No: 42"):
        waits.advance(2)
        await personal_thread.update_message(opened.message, progress_of("Reading", written))

    await personal_thread.update_message(opened.message, ANSWER)

    assert sent_texts(teams, "streaming") == ["Perhaps 41 receipts"]
    assert teams.refusals == []
    assert "There are **42** receipts." in only_message(teams, personal_chat).text
    assert only_message(teams, personal_chat).has_ai_label


async def test_a_stream_becomes_a_message_before_the_two_minutes_are_over(
    teams: TeamsServer,
    personal_thread: TeamsThread,
    personal_chat: TenantConversation,
    asker: PersonId,
    waits: RecordedWaits,
    teams_outbox: TeamsOutbox,
) -> None:
    opened = await personal_thread.open_message(asker, FixedOpening(progress_of("Looking")))
    assert opened is not None
    waits.advance(teams_outbox.streams.pace.longest_s)
    await teams_outbox.streams.tend_streams()
    waits.advance(60)

    await personal_thread.update_message(opened.message, progress_of("Still reading"))
    assert "Still reading" in only_message(teams, personal_chat).text
    await personal_thread.update_message(opened.message, ANSWER)

    assert only_message(teams, personal_chat).id == opened.message
    assert "There are **42** receipts." in only_message(teams, personal_chat).text
    assert teams.refusals == []


async def test_the_streams_are_watched_while_the_outbox_is_open(
    teams: TeamsServer, personal_thread: TeamsThread, asker: PersonId, waits: RecordedWaits, teams_outbox: TeamsOutbox
) -> None:
    await teams_outbox.start()
    try:
        await personal_thread.open_message(asker, FixedOpening(progress_of("Looking")))
        waits.advance(teams_outbox.streams.pace.longest_s)
        await wait_until(lambda: sent_texts(teams, "final") != [])
    finally:
        await teams_outbox.close()


async def test_a_stopped_stream_stops_the_turn_and_shows_how_it_ended(
    teams: TeamsServer,
    personal_thread: TeamsThread,
    personal_chat: TenantConversation,
    asker: PersonId,
    alan: TenantPerson,
    waits: RecordedWaits,
    stops: RecordedStops,
) -> None:
    opened = await personal_thread.open_message(asker, FixedOpening(progress_of("Looking")))
    assert opened is not None
    teams.stop_stream(alan)
    waits.advance(2)

    await personal_thread.update_message(opened.message, progress_of("Reading"))
    await personal_thread.update_message(opened.message, STOPPED)

    assert stops.stops == [(TURN, conversation_id_of(teams.tenant.id, personal_chat.id), asker)]
    assert "Stopped." in only_message(teams, personal_chat).text


async def test_a_stopped_stream_that_cannot_be_changed_is_gone(
    teams: TeamsServer,
    personal_thread: TeamsThread,
    personal_chat: TenantConversation,
    asker: PersonId,
    alan: TenantPerson,
) -> None:
    opened = await personal_thread.open_message(asker, FixedOpening(progress_of("Looking")))
    assert opened is not None
    teams.stop_stream(alan)
    teams.plan_faults("update", TeamsFault(status=403, code="ContentStreamNotAllowed"))

    with pytest.raises(MessageGone):
        await personal_thread.update_message(opened.message, ANSWER)


async def test_an_answer_that_is_ready_in_time_needs_no_stream(
    teams: TeamsServer, personal_thread: TeamsThread, personal_chat: TenantConversation, asker: PersonId
) -> None:
    opening = FixedOpening(ANSWER)

    opened = await personal_thread.open_message(asker, opening)

    assert opened is not None
    assert len(opening.waits_s) == 1
    assert [call.body["type"] for call in teams.calls] == ["message"]
    assert only_message(teams, personal_chat).id == opened.message


async def test_a_chat_without_streams_gets_a_message_that_is_updated(
    teams: TeamsServer, personal_thread: TeamsThread, personal_chat: TenantConversation, asker: PersonId
) -> None:
    teams.plan_faults("send", TeamsFault(status=403, code="ContentStreamNotAllowed"))

    for _ in range(2):  # the second turn does not try to stream any more
        opened = await personal_thread.open_message(asker, FixedOpening(progress_of("Looking")))
        assert opened is not None
        await personal_thread.update_message(opened.message, ANSWER)

    assert sent_texts(teams, "informative") == []
    assert [message.text for message in teams.tenant.bot_messages(personal_chat)] == ["There are **42** receipts."] * 2


async def test_a_second_turn_in_a_chat_does_not_disturb_the_stream_of_the_first(
    teams: TeamsServer, personal_thread: TeamsThread, personal_chat: TenantConversation, asker: PersonId
) -> None:
    first = await personal_thread.open_message(asker, FixedOpening(progress_of("Looking")))
    second = await personal_thread.open_message(asker, FixedOpening(progress_of("Looking as well")))
    assert first is not None
    assert second is not None

    await personal_thread.update_message(second.message, STOPPED)
    await personal_thread.update_message(first.message, ANSWER)

    assert [message.text for message in teams.tenant.bot_messages(personal_chat)] == [
        "There are **42** receipts.",
        "Stopped.",
    ]
    assert teams.refusals == []


async def test_the_stream_of_a_lost_process_becomes_the_answer(
    teams: TeamsServer,
    personal_thread: TeamsThread,
    personal_chat: TenantConversation,
    alan: TenantPerson,
    asker: PersonId,
    other_outbox: TeamsOutbox,
    stops: RecordedStops,
) -> None:
    opened = await personal_thread.open_message(asker, FixedOpening(progress_of("Looking")))
    assert opened is not None

    await thread_at(other_outbox, address_in(teams, personal_chat, alan)).update_message(opened.message, ANSWER)

    assert only_message(teams, personal_chat).text == "There are **42** receipts."
    assert stops.stops == []


async def test_a_throttled_update_of_a_stream_is_sent_later_with_the_same_number(
    teams: TeamsServer, personal_thread: TeamsThread, asker: PersonId, waits: RecordedWaits, teams_outbox: TeamsOutbox
) -> None:
    opened = await personal_thread.open_message(asker, FixedOpening(progress_of("Looking")))
    assert opened is not None
    waits.advance(2)
    teams.plan_faults("send", TeamsFault(status=429, retry_after=3))

    with pytest.raises(OutboxFailed):
        await personal_thread.update_message(opened.message, progress_of("Reading"))
    waits.advance(4)
    await teams_outbox.streams.tend_streams()

    assert sent_texts(teams, "informative") == ["Looking", "Reading"]
    [first, second] = [call.body["entities"][0]["streamSequence"] for call in teams.calls_of("send")]
    assert (first, second) == (1, 2)


# Messages


async def test_progress_in_a_group_is_one_message_that_is_updated(
    teams: TeamsServer, group_thread: TeamsThread, group_chat: TenantConversation, asker: PersonId
) -> None:
    opening = FixedOpening(progress_of("Looking"))
    opened = await group_thread.open_message(asker, opening)
    assert opened is not None
    await group_thread.update_message(
        opened.message, reply_with(ProgressPart(text="Reading"), TurnActionsPart(handles=(TurnAction.STOP,)))
    )
    assert only_message(teams, group_chat).button_titles() == ["Stop"]
    await group_thread.update_message(opened.message, ANSWER)

    assert opening.waits_s == []
    assert only_message(teams, group_chat).text == "There are **42** receipts."
    assert only_message(teams, group_chat).edits == 2


async def test_no_turn_asks_for_a_token_of_its_own(
    teams: TeamsServer,
    personal_thread: TeamsThread,
    group_thread: TeamsThread,
    asker: PersonId,
    waits: RecordedWaits,
) -> None:
    for thread in (personal_thread, group_thread):
        for _ in range(10):
            await thread.show_activity()
            opened = await thread.open_message(asker, FixedOpening(progress_of("Looking")))
            assert opened is not None
            await thread.update_message(opened.message, ANSWER)
            waits.advance(5)

    assert teams.tokens.requests == 1


async def test_a_deleted_message_is_gone(
    teams: TeamsServer, group_thread: TeamsThread, group_chat: TenantConversation
) -> None:
    message = await group_thread.post_message(progress_of("Looking"))
    only_message(teams, group_chat).is_deleted = True

    with pytest.raises(MessageGone):
        await group_thread.update_message(message, ANSWER)


async def test_a_deleted_message_of_a_channels_thread_is_gone(
    teams: TeamsServer, channel_thread: TeamsThread, team_channel: TenantConversation
) -> None:
    message = await channel_thread.post_message(progress_of("Looking"))
    only_message(teams, team_channel).is_deleted = True

    with pytest.raises(MessageGone):
        await channel_thread.update_message(message, ANSWER)

    assert [call.status for call in teams.refusals] == [403]


async def test_a_message_is_posted_once_while_teams_fails_for_a_moment(
    teams: TeamsServer, group_thread: TeamsThread, group_chat: TenantConversation
) -> None:
    teams.plan_faults("send", TeamsFault(status=502), TeamsFault(status=429, retry_after=2), TeamsFault(status=412))

    await group_thread.post_message(ANSWER)

    assert only_message(teams, group_chat).text == "There are **42** receipts."


@pytest.mark.parametrize(
    ("fault", "retry", "retry_after_s"),
    [
        (TeamsFault(status=429, retry_after=120), True, 120.0),
        (TeamsFault(status=500), True, None),
        (TeamsFault(), True, None),
        (TeamsFault(status=403, code="MessageWritesBlocked"), False, None),
    ],
    ids=str,
)
async def test_a_failure_says_whether_a_later_call_may_succeed(
    teams: TeamsServer, group_thread: TeamsThread, fault: TeamsFault, retry: bool, retry_after_s: float | None
) -> None:
    teams.plan_faults("send", fault)

    with pytest.raises(OutboxFailed) as caught:
        await group_thread.post_message(ANSWER)

    assert (caught.value.retry, caught.value.retry_after_s) == (retry, retry_after_s)


async def test_a_turn_goes_on_once_the_app_gets_a_token_again(teams: TeamsServer, group_thread: TeamsThread) -> None:
    teams.plan_faults("token", TeamsFault(status=401, code="invalid_client"))

    with pytest.raises(OutboxFailed) as caught:
        await group_thread.post_message(ANSWER)
    assert caught.value.retry

    assert await group_thread.post_message(ANSWER)


async def test_a_reply_stays_in_the_thread_of_its_channel(
    teams: TeamsServer, alan: TenantPerson, team_channel: TenantConversation, teams_outbox: TeamsOutbox
) -> None:
    question, _ = await teams.say(alan, team_channel, "how many?", mention=False)
    thread = thread_at(teams_outbox, address_in(teams, team_channel, alan, thread=question.thread))

    await thread.post_message(ANSWER)

    assert only_message(teams, team_channel).thread == question.thread


async def test_the_newest_service_url_is_used(
    teams: TeamsServer,
    alan: TenantPerson,
    group_chat: TenantConversation,
    connector: TeamsConnectorClient,
    stops: RecordedStops,
    teams_log: RecordedLog,
) -> None:
    @dataclass
    class MovedTenant:
        async def find_service_url(self, tenant: str, conversation: str) -> str | None:
            return teams.service_url if (tenant, conversation) == (teams.tenant.id, group_chat.id) else None

    old_address = address_in(teams, group_chat, alan)
    teams.move_region("amer")
    outbox = TeamsOutbox(
        connector,
        files=None,
        service_urls=MovedTenant(),
        further_messages=FurtherMessageTable(),
        on_stop=stops,
        log=teams_log.logger(),
    )

    await thread_at(outbox, old_address).post_message(ANSWER)

    assert only_message(teams, group_chat).text == "There are **42** receipts."


async def test_the_choice_is_shown_on_the_clicked_card_where_the_first_message_is_gone(
    teams: TeamsServer, alan: TenantPerson, group_chat: TenantConversation, teams_outbox: TeamsOutbox
) -> None:
    offer = reply_with(TextPart(markdown="Which?"), choices_part_of(*numbered_buttons(2)))
    address = address_in(teams, group_chat, alan)
    card = await thread_at(teams_outbox, address).post_message(offer)
    clicked = thread_at(teams_outbox, address_in(teams, group_chat, alan, clarification_card=card))

    await clicked.show_chosen(MessageId("1"), offer, ChosenPart(label="Vendor 2", by="Ada"))

    assert only_message(teams, group_chat).text == "Which?\n\n✓ **Vendor 2** — chosen by Ada"
    assert only_message(teams, group_chat).button_titles() == []


async def test_a_typed_choice_is_shown_on_the_card_of_the_clarification_alone(
    teams: TeamsServer,
    alan: TenantPerson,
    group_chat: TenantConversation,
    teams_outbox: TeamsOutbox,
    other_outbox: TeamsOutbox,
) -> None:
    offer = reply_with(TextPart(markdown="Which?"), TABLE, choices_part_of(*numbered_buttons(2)))
    card = await thread_at(teams_outbox, address_in(teams, group_chat, alan)).post_message(offer)
    typed, _ = await teams.say(alan, group_chat, "Vendor 2", mention=False)
    thread = thread_at(other_outbox, address_in(teams, group_chat, alan, reply_to=typed.id))

    await thread.show_chosen(card, offer, ChosenPart(label="Vendor 2", by="Ada"))

    assert "chosen by Ada" in only_message(teams, group_chat).visible_text()
    assert [call.activity_id for call in teams.calls_of("update")] == [card]
    assert teams.refusals == []


async def test_a_typed_choice_touches_no_other_message_where_the_clarification_is_gone(
    teams: TeamsServer, alan: TenantPerson, group_chat: TenantConversation, teams_outbox: TeamsOutbox
) -> None:
    offer = reply_with(TextPart(markdown="Which?"), choices_part_of(*numbered_buttons(2)))
    card = await thread_at(teams_outbox, address_in(teams, group_chat, alan)).post_message(offer)
    typed, _ = await teams.say(alan, group_chat, "Vendor 2", mention=False)
    thread = thread_at(teams_outbox, address_in(teams, group_chat, alan, reply_to=typed.id))
    only_message(teams, group_chat).is_deleted = True

    with pytest.raises(MessageGone):
        await thread.show_chosen(card, offer, ChosenPart(label="Vendor 2", by="Ada"))

    assert [call.activity_id for call in teams.calls_of("update")] == [card]
    assert teams.calls_of("delete") == []


async def test_the_choice_is_shown_on_the_further_choices_where_the_clarification_is_gone(
    teams: TeamsServer, alan: TenantPerson, group_chat: TenantConversation, teams_outbox: TeamsOutbox
) -> None:
    choices = choices_part_of(*numbered_buttons(2))
    offer = reply_with(TextPart(markdown="Which?"), choices)
    further = await thread_at(teams_outbox, address_in(teams, group_chat, alan)).post_message(offer)
    cards = (MoreChoicesCard(message=further, clarification=choices.clarification),)
    thread = thread_at(teams_outbox, address_in(teams, group_chat, alan, more_cards=cards))

    await thread.show_chosen(MessageId("1"), offer, ChosenPart(label="Vendor 2", by="Ada"))

    assert only_message(teams, group_chat).visible_text() == "✓ **Vendor 2** — chosen by Ada"


async def test_further_choices_that_are_gone_hinder_no_clarification(
    teams: TeamsServer, alan: TenantPerson, group_chat: TenantConversation, teams_outbox: TeamsOutbox
) -> None:
    choices = choices_part_of(*numbered_buttons(2))
    offer = reply_with(TextPart(markdown="Which?"), choices)
    card = await thread_at(teams_outbox, address_in(teams, group_chat, alan)).post_message(offer)
    cards = (MoreChoicesCard(message="1", clarification=choices.clarification),)
    thread = thread_at(teams_outbox, address_in(teams, group_chat, alan, more_cards=cards))

    await thread.show_chosen(card, offer, ChosenPart(label="Vendor 2", by="Ada"))

    assert only_message(teams, group_chat).visible_text() == "Which?\n\n✓ **Vendor 2** — chosen by Ada"


async def test_typing_is_shown_and_its_failure_hurts_nobody(
    teams: TeamsServer, group_thread: TeamsThread, personal_thread: TeamsThread, teams_log: RecordedLog
) -> None:
    await group_thread.show_activity()
    await personal_thread.show_activity()
    assert [call.body for call in teams.calls] == [{"type": "typing"}] * 2

    teams.plan_faults("send", TeamsFault(status=500))
    await group_thread.show_activity()

    assert teams_log.lines[-1]["event"] == "teams typing not shown"


# Private replies


async def test_a_private_reply_of_a_group_goes_to_the_personal_chat(
    teams: TeamsServer,
    group_thread: TeamsThread,
    group_chat: TenantConversation,
    personal_chat: TenantConversation,
    asker: PersonId,
) -> None:
    personal_chat.has_app = True

    for _ in range(2):
        await group_thread.post_privately(asker, reply_with(NoticePart(text="Between us.")))

    assert [message.text for message in teams.tenant.bot_messages(personal_chat)] == ["Between us."] * 2
    assert teams.tenant.bot_messages(group_chat) == []
    assert len(teams.calls_of("create")) == 1


async def test_a_private_reply_fails_for_good_where_the_person_has_not_installed_the_app(
    teams: TeamsServer, group_thread: TeamsThread, personal_chat: TenantConversation, asker: PersonId
) -> None:
    personal_chat.has_app = False

    with pytest.raises(OutboxFailed) as caught:
        await group_thread.post_privately(asker, reply_with(NoticePart(text="Between us.")))

    assert not caught.value.retry
    assert teams.tenant.bot_messages() == []


# Files


@pytest.fixture
def offers() -> RecordedOffers:
    return RecordedOffers()


@pytest.fixture
def offering_outbox(
    connector: TeamsConnectorClient, stops: RecordedStops, teams_log: RecordedLog, offers: RecordedOffers
) -> TeamsOutbox:
    return TeamsOutbox(
        connector,
        files=offers,
        service_urls=None,
        further_messages=FurtherMessageTable(),
        on_stop=stops,
        log=teams_log.logger(),
    )


async def test_a_file_is_offered_once_in_a_personal_chat(
    teams: TeamsServer,
    alan: TenantPerson,
    personal_chat: TenantConversation,
    offering_outbox: TeamsOutbox,
    offers: RecordedOffers,
) -> None:
    thread = thread_at(offering_outbox, address_in(teams, personal_chat, alan))
    reply = reply_with(TextPart(markdown="Here is the file."), FILE)
    message = await thread.post_message(reply)

    for _ in range(2):
        await thread.attach_files(message, reply)

    assert offers.files == ["r.csv"]
    assert only_message(teams, personal_chat).button_titles() == []


@pytest.mark.parametrize("error", [TeamsUnreachable("x"), OSError("x"), TimeoutError()], ids=repr)
async def test_a_file_that_cannot_be_offered_is_a_link_that_stays(
    teams: TeamsServer,
    alan: TenantPerson,
    personal_chat: TenantConversation,
    offering_outbox: TeamsOutbox,
    offers: RecordedOffers,
    error: TeamsError | OSError,
) -> None:
    thread = thread_at(offering_outbox, address_in(teams, personal_chat, alan))
    reply = reply_with(TextPart(markdown="Here is the file."), FILE)
    message = await thread.post_message(reply)
    offers.error = error

    await thread.attach_files(message, reply)
    assert only_message(teams, personal_chat).button_titles() == ["Download r.csv"]
    await thread.update_message(message, reply)

    assert only_message(teams, personal_chat).button_titles() == ["Download r.csv"]


async def test_a_file_that_could_not_be_offered_is_a_link_also_after_another_file_has_failed(
    teams: TeamsServer,
    alan: TenantPerson,
    personal_chat: TenantConversation,
    offering_outbox: TeamsOutbox,
    offers: RecordedOffers,
) -> None:
    thread = thread_at(offering_outbox, address_in(teams, personal_chat, alan))
    second = replace(FILE, name="s.csv", path="/x/s.csv")
    reply = reply_with(TextPart(markdown="Here are the files."), FILE, second)
    message = await thread.post_message(reply)
    offers.file_errors = {"r.csv": OSError("gone"), "s.csv": OutboxFailed("the database", retry=True)}

    with pytest.raises(OutboxFailed):
        await thread.attach_files(message, reply)
    offers.file_errors.clear()
    await thread.update_message(message, reply)
    await thread.attach_files(message, reply)

    assert offers.files == ["s.csv"]
    assert only_message(teams, personal_chat).button_titles() == ["Download r.csv"]


async def test_a_file_in_a_group_is_a_link(
    teams: TeamsServer,
    alan: TenantPerson,
    group_chat: TenantConversation,
    offering_outbox: TeamsOutbox,
    offers: RecordedOffers,
) -> None:
    thread = thread_at(offering_outbox, address_in(teams, group_chat, alan))
    reply = reply_with(FILE)
    message = await thread.post_message(reply)

    await thread.attach_files(message, reply)

    assert offers.files == []
    assert only_message(teams, group_chat).button_titles() == ["Download r.csv"]


async def test_a_full_text_is_a_file_in_a_personal_chat_and_further_messages_in_a_group(
    teams: TeamsServer,
    alan: TenantPerson,
    personal_chat: TenantConversation,
    group_chat: TenantConversation,
    offering_outbox: TeamsOutbox,
    offers: RecordedOffers,
) -> None:
    whole = reply_with(FullTextPart(name="answer.txt", reply=reply_with(TextPart(markdown="word " * 20_000))))

    for place in (personal_chat, group_chat):
        thread = thread_at(offering_outbox, address_in(teams, place, alan))
        message = await thread.post_message(whole)
        for _ in range(2):
            await thread.attach_files(message, whole)

    assert offers.texts["answer.txt"].count("word") == 20_000
    [first, *further] = teams.tenant.bot_messages(group_chat)
    assert first.text == "All of it follows."
    assert "".join(message.text for message in further).count("word") == 20_000


async def test_a_full_text_that_failed_goes_on_where_it_ended(
    teams: TeamsServer, alan: TenantPerson, group_chat: TenantConversation, teams_outbox: TeamsOutbox
) -> None:
    whole = reply_with(FullTextPart(name="answer.txt", reply=reply_with(TextPart(markdown="word " * 20_000))))
    thread = thread_at(teams_outbox, address_in(teams, group_chat, alan))
    message = await thread.post_message(whole)
    release = asyncio.Event()
    release.set()
    teams.plan_faults("send", TeamsFault(released_by=release), TeamsFault(status=500))

    with pytest.raises(OutboxFailed):
        await thread.attach_files(message, whole)
    await thread.attach_files(message, whole)

    further = teams.tenant.bot_messages(group_chat)[1:]
    assert "".join(message.text for message in further).count("word") == 20_000


async def test_a_message_that_cannot_be_noted_is_posted_again_later(
    teams: TeamsServer,
    alan: TenantPerson,
    group_chat: TenantConversation,
    teams_outbox: TeamsOutbox,
    further_messages: FurtherMessageTable,
) -> None:
    whole = reply_with(FullTextPart(name="answer.txt", reply=reply_with(TextPart(markdown="word " * 20_000))))
    thread = thread_at(teams_outbox, address_in(teams, group_chat, alan))
    message = await thread.post_message(whole)
    further_messages.error = OutboxFailed("the database", retry=True)

    with pytest.raises(OutboxFailed):
        await thread.attach_files(message, whole)
    assert [shown.id for shown in teams.tenant.bot_messages(group_chat)] == [message]

    further_messages.error = None
    await thread.attach_files(message, whole)
    further = teams.tenant.bot_messages(group_chat)[1:]
    assert "".join(shown.text for shown in further).count("word") == 20_000


async def test_a_full_text_that_cannot_be_offered_is_tried_again(
    teams: TeamsServer,
    alan: TenantPerson,
    personal_chat: TenantConversation,
    offering_outbox: TeamsOutbox,
    offers: RecordedOffers,
) -> None:
    whole = reply_with(FullTextPart(name="answer.txt", reply=ANSWER))
    thread = thread_at(offering_outbox, address_in(teams, personal_chat, alan))
    message = await thread.post_message(whole)
    offers.error = OSError("no space")

    with pytest.raises(OutboxFailed) as caught:
        await thread.attach_files(message, whole)
    assert caught.value.retry

    offers.error = None
    await thread.attach_files(message, whole)
    assert "42 receipts" in offers.texts["answer.txt"]


async def test_nothing_of_a_message_is_logged(
    teams: TeamsServer, personal_thread: TeamsThread, asker: PersonId, teams_log: RecordedLog, waits: RecordedWaits
) -> None:
    opened = await personal_thread.open_message(asker, FixedOpening(progress_of("Private words")))
    assert opened is not None
    waits.advance(2)
    teams.plan_faults("send", TeamsFault(status=403, code="ContentStreamNotAllowed"))
    await personal_thread.update_message(opened.message, progress_of("More private words"))

    assert teams_log.lines
    assert "rivate" not in repr(teams_log.lines)


async def test_a_picture_is_an_image_of_the_card_with_its_alternative_text(
    teams: TeamsServer, group_chat: TenantConversation, group_thread: TeamsThread
) -> None:
    await group_thread.post_message(reply_with(TextPart(markdown="By vendor:"), PARTS["picture"], PARTS["table"]))

    card = only_message(teams, group_chat).activity["attachments"][0]["content"]
    kinds = [element["type"] for element in card["body"]]
    image = card["body"][kinds.index("Image")]
    assert kinds.index("Image") < kinds.index("Table")
    assert image["altText"] == "Bars: Acme & Sons USD 1,200.00, <!channel> USD 600.50"
    assert b64decode(image["url"].removeprefix("data:image/png;base64,")).startswith(b"\x89PNG")


async def test_a_reply_stands_without_a_picture_that_cannot_be_drawn(
    teams: TeamsServer, group_chat: TenantConversation, group_thread: TeamsThread
) -> None:
    points = tuple(PicturePoint(label=label, value=math.nan, value_text="?") for label in "ab")
    picture = PicturePart(kind=PictureKind.BARS, title="Sum", points=points, description="Bars")

    await group_thread.post_message(reply_with(TextPart(markdown="By vendor:"), picture))

    assert only_message(teams, group_chat).activity["text"] == "By vendor:"
