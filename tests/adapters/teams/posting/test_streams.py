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
from tests.stand_ins.teams.server import TeamsServer
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
    message = await streams.begin_stream(alans_stream, LOOKING)
    assert message is not None
    held_connector.broken.add(alans_stream.chat)
    waits.advance(streams.pace.longest_s)
    await streams.start()
    await wait_until(lambda: not streams.has_open_stream(alans_stream.chat, message))

    await streams.begin_stream(beths_stream, LOOKING)
    waits.advance(streams.pace.longest_s)
    await wait_until(lambda: has_ended(teams, beths_stream))

    [line] = [line for line in teams_log.lines if line["level"] == "error"]
    assert (line["turn_id"], line["error"]) == (alans_stream.turn, "RuntimeError")
