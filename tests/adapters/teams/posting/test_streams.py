"""Streams of several chats at once, and what becomes of streams that Teams refuses."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.teams.addresses import conversation_id_of, person_id_of
from adapters.teams.connector.access_token import AccessTokenCache
from adapters.teams.connector.calls import MAX_ATTEMPTS
from adapters.teams.connector.client import TeamsConnectorClient
from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.posting.streams import ChatStreams, StreamContent, StreamOwner, TeamsStreamPace
from bot.ids import TurnId
from tests.adapters.teams.conftest import RecordedLog, RecordedStops, RecordedWaits, wait_until
from tests.stand_ins.teams.server import TeamsFault, TeamsServer
from tests.stand_ins.teams.streams import STREAM_S
from tests.stand_ins.teams.tenancy import TenantPerson

LOOKING = StreamContent(activity="Looking")


class HeldConnector(TeamsConnectorClient):
    """Activities to the conversations in `held` are not sent before `release` is set; those in `broken` fail."""

    def __init__(self, tokens: AccessTokenCache, waits: RecordedWaits) -> None:
        super().__init__(tokens, clock=waits.clock, sleep=waits, jitter=lambda: 0.5)
        self.held, self.broken = set[str](), set[str]()
        self.release = asyncio.Event()
        self.waiting_count = 0

    async def send_activity(
        self, service_url: str, conversation: str, activity: JsonObject, *, attempts: int = MAX_ATTEMPTS
    ) -> str:
        if conversation in self.broken:
            raise RuntimeError("a bug")
        if conversation in self.held:
            self.waiting_count += 1
            try:
                await self.release.wait()
            finally:
                self.waiting_count -= 1
        return await super().send_activity(service_url, conversation, activity, attempts=attempts)


@pytest.fixture
async def held_connector(access_tokens: AccessTokenCache, waits: RecordedWaits) -> AsyncIterator[HeldConnector]:
    client = HeldConnector(access_tokens, waits)
    await client.start()
    yield client
    await client.close()


@pytest.fixture
async def streams(
    held_connector: HeldConnector, stops: RecordedStops, teams_log: RecordedLog, waits: RecordedWaits
) -> AsyncIterator[ChatStreams]:
    """Not started. Looks at its streams all the time once it is."""
    pace = TeamsStreamPace(patience_s=0.0, tick_s=0.0)
    streams = ChatStreams(held_connector, stops, teams_log.logger(), pace=pace, clock=waits.clock)
    yield streams
    await streams.close()


@pytest.fixture
def alans_stream(teams: TeamsServer, alan: TenantPerson) -> StreamOwner:
    return owner_of(teams, alan)


@pytest.fixture
def beths_stream(teams: TeamsServer, beth: TenantPerson) -> StreamOwner:
    return owner_of(teams, beth)


def owner_of(teams: TeamsServer, person: TenantPerson) -> StreamOwner:
    chat = teams.tenant.personal_chat_of(person)
    return StreamOwner(
        turn=TurnId(f"turn-of-{person.name}"),
        conversation=conversation_id_of(teams.tenant.id, chat.id),
        person=person_id_of(person.tenant, person.object_id),
        chat=chat.id,
        service_url=teams.service_url,
    )


def has_ended(teams: TeamsServer, owner: StreamOwner) -> bool:
    return not any(stream.is_open for stream in teams.streams.values() if stream.conversation == owner.chat)


async def pass_ticks(count: int) -> None:
    """Lets the streams be looked at so often."""
    for _ in range(count):
        await asyncio.sleep(0)


async def begin_stream(streams: ChatStreams, owner: StreamOwner) -> str:
    message = await streams.begin_stream(owner, LOOKING)
    assert message is not None
    return message


async def show_next(
    streams: ChatStreams, owner: StreamOwner, message: str, waits: RecordedWaits, written: str = ""
) -> None:
    """Shows further content as soon as Teams takes it."""
    waits.advance(streams.pace.buffer_s)
    await streams.show_content(owner.chat, message, StreamContent(activity="Reading", written=written))


async def test_a_slow_chat_holds_up_the_end_of_no_other_stream(
    teams: TeamsServer,
    streams: ChatStreams,
    held_connector: HeldConnector,
    alans_stream: StreamOwner,
    beths_stream: StreamOwner,
    waits: RecordedWaits,
) -> None:
    for owner in (alans_stream, beths_stream):
        await streams.begin_stream(owner, LOOKING)
    held_connector.held.add(alans_stream.chat)
    waits.advance(streams.pace.longest_s)

    await streams.start()
    await wait_until(lambda: has_ended(teams, beths_stream))
    assert not has_ended(teams, alans_stream)
    held_connector.release.set()
    await wait_until(lambda: has_ended(teams, alans_stream))

    assert teams.refusals == []


async def test_a_stream_is_looked_at_by_one_task_at_a_time(
    streams: ChatStreams, held_connector: HeldConnector, alans_stream: StreamOwner, waits: RecordedWaits
) -> None:
    await streams.begin_stream(alans_stream, LOOKING)
    held_connector.held.add(alans_stream.chat)
    waits.advance(streams.pace.longest_s)
    await streams.start()
    await wait_until(lambda: held_connector.waiting_count == 1)
    task_count = len(asyncio.all_tasks())

    await pass_ticks(50)

    assert len(asyncio.all_tasks()) == task_count


async def test_closing_ends_the_calls_that_hang(
    streams: ChatStreams, held_connector: HeldConnector, alans_stream: StreamOwner, waits: RecordedWaits
) -> None:
    await streams.begin_stream(alans_stream, LOOKING)
    held_connector.held.add(alans_stream.chat)
    waits.advance(streams.pace.longest_s)
    await streams.start()
    await wait_until(lambda: held_connector.waiting_count == 1)

    await streams.close()

    assert held_connector.waiting_count == 0


async def test_an_unforeseen_error_ends_the_tending_of_no_other_stream(
    teams: TeamsServer,
    streams: ChatStreams,
    held_connector: HeldConnector,
    alans_stream: StreamOwner,
    beths_stream: StreamOwner,
    waits: RecordedWaits,
    teams_log: RecordedLog,
) -> None:
    message = await begin_stream(streams, alans_stream)
    held_connector.broken.add(alans_stream.chat)
    waits.advance(streams.pace.longest_s)
    await streams.start()
    await wait_until(lambda: not streams.has_open_stream(alans_stream.chat, message))

    await streams.begin_stream(beths_stream, LOOKING)
    waits.advance(streams.pace.longest_s)
    await wait_until(lambda: has_ended(teams, beths_stream))

    [line] = [line for line in teams_log.lines if line["level"] == "error"]
    assert (line["turn_id"], line["error"]) == (alans_stream.turn, "RuntimeError")


# Refusals


@pytest.mark.parametrize(
    "sentence",
    [
        "Content stream was canceled by user.",
        "Content stream was cancelled by user",
        "CONTENT STREAM WAS CANCELLED BY THE USER",
    ],
)
async def test_a_stream_that_the_person_has_canceled_stops_its_turn(
    teams: TeamsServer,
    streams: ChatStreams,
    alans_stream: StreamOwner,
    waits: RecordedWaits,
    stops: RecordedStops,
    sentence: str,
) -> None:
    message = await begin_stream(streams, alans_stream)
    teams.plan_faults("send", TeamsFault(status=403, code="ContentStreamNotAllowed", message=sentence))

    await show_next(streams, alans_stream, message, waits)

    assert stops.stops == [(alans_stream.turn, alans_stream.conversation, alans_stream.person)]
    assert not streams.has_open_stream(alans_stream.chat, message)


@pytest.mark.parametrize(
    "fault",
    [
        TeamsFault(
            status=403,
            code="ContentStreamNotAllowed",
            message="Content stream is not allowed on an already completed streamed message",
        ),
        TeamsFault(status=403, code="ContentStreamNotAllowed", message="Content stream is not allowed"),
        TeamsFault(status=403, code="ContentStreamNotAllowed", message=""),
        TeamsFault(status=403, code="ConversationBlockedByUser", message="User blocked the conversation with the bot."),
        TeamsFault(status=400, code="BadRequest", message="The text was canceled by user"),
    ],
    ids=lambda fault: fault.message,
)
async def test_any_other_refusal_of_a_stream_stops_no_turn(
    teams: TeamsServer,
    streams: ChatStreams,
    alans_stream: StreamOwner,
    waits: RecordedWaits,
    stops: RecordedStops,
    fault: TeamsFault,
) -> None:
    message = await begin_stream(streams, alans_stream)
    teams.plan_faults("send", fault)

    await show_next(streams, alans_stream, message, waits)

    assert stops.stops == []
    assert not streams.has_open_stream(alans_stream.chat, message)


async def test_a_part_that_is_too_large_stops_no_turn(
    teams: TeamsServer, streams: ChatStreams, alans_stream: StreamOwner, waits: RecordedWaits, stops: RecordedStops
) -> None:
    message = await begin_stream(streams, alans_stream)

    await show_next(streams, alans_stream, message, waits, written="word " * 30_000)

    assert [call.error for call in teams.refusals] == ["ContentStreamNotAllowed: Message size too large"]
    assert stops.stops == []


async def test_a_stream_that_teams_has_ended_after_two_minutes_stops_no_turn(
    teams: TeamsServer, streams: ChatStreams, alans_stream: StreamOwner, waits: RecordedWaits, stops: RecordedStops
) -> None:
    message = await begin_stream(streams, alans_stream)
    waits.advance(STREAM_S)

    await show_next(streams, alans_stream, message, waits)

    assert ["exceeded streaming time" in call.error for call in teams.refusals] == [True]
    assert stops.stops == []


async def test_a_stop_is_noticed_also_when_the_stream_becomes_a_message(
    teams: TeamsServer,
    streams: ChatStreams,
    alans_stream: StreamOwner,
    alan: TenantPerson,
    waits: RecordedWaits,
    stops: RecordedStops,
) -> None:
    await begin_stream(streams, alans_stream)
    teams.stop_stream(alan)
    waits.advance(streams.pace.longest_s)

    await streams.tend_streams()

    assert [stop[0] for stop in stops.stops] == [alans_stream.turn]


async def test_a_stop_that_comes_with_the_answer_changes_nothing(
    teams: TeamsServer, streams: ChatStreams, alans_stream: StreamOwner, alan: TenantPerson, stops: RecordedStops
) -> None:
    message = await begin_stream(streams, alans_stream)
    teams.stop_stream(alan)

    is_shown = await streams.end_stream(alans_stream.chat, message, {"type": "message", "text": "There are 42."})

    assert not is_shown
    assert stops.stops == []


async def test_the_words_of_a_refusal_are_not_logged(
    teams: TeamsServer,
    streams: ChatStreams,
    alans_stream: StreamOwner,
    waits: RecordedWaits,
    teams_log: RecordedLog,
) -> None:
    message = await begin_stream(streams, alans_stream)
    fault = TeamsFault(status=403, code="ContentStreamNotAllowed", message="Private words, canceled by user")
    teams.plan_faults("send", fault)

    await show_next(streams, alans_stream, message, waits)

    assert teams_log.lines
    assert "rivate" not in repr(teams_log.lines)
