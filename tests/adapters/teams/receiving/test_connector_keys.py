"""The Bot Connector's keys change, and its metadata is not always there."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.teams.receiving.connector_keys import REFETCH_INTERVAL_S, ConnectorKeys
from tests.adapters.teams.reception import TeamsReception, serve_reception
from tests.stand_ins.teams.server import TeamsFault, TeamsServer
from tests.stand_ins.teams.tenancy import TenantPerson

DAY_S = 24 * 3600.0


@pytest.fixture
async def keys(teams: TeamsServer) -> AsyncIterator[ConnectorKeys]:
    """Keys that nobody has fetched yet."""
    keys = TeamsReception().build_keys(teams.openid_url)
    yield keys
    await keys.close()


async def test_a_new_key_is_fetched_when_it_is_first_used(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    await teams.say(ada, None, "before")
    teams.rotate_keys()
    reception.clock.now_s += REFETCH_INTERVAL_S

    _, [delivery] = await teams.say(ada, None, "after")

    assert delivery.statuses == [202]
    assert teams.keys.key_requests == 2


async def test_a_key_that_is_no_longer_published_is_refused_after_the_next_fetch(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    old_key = teams.keys.current
    message, _ = await teams.say(ada, None, "before")
    teams.rotate_keys()
    reception.clock.now_s += REFETCH_INTERVAL_S
    await teams.say(ada, None, "after")

    delivery = await teams.deliver_activity(message.activity, token=teams.sign_delivery(key=old_key))

    assert delivery.statuses == [401]


async def test_unknown_key_ids_cause_one_fetch_a_minute(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    message, _ = await teams.say(ada, None, "List receipts")
    forged = teams.sign_delivery(key=teams.keys.create_key())
    before = teams.keys.key_requests
    reception.clock.now_s += REFETCH_INTERVAL_S

    for _ in range(5):
        assert (await teams.deliver_activity(message.activity, token=forged)).statuses == [401]
    fetches_at_once = teams.keys.key_requests - before
    reception.clock.now_s += REFETCH_INTERVAL_S
    await teams.deliver_activity(message.activity, token=forged)

    assert (fetches_at_once, teams.keys.key_requests - before) == (1, 2)


async def test_known_keys_outlive_an_outage_of_days(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    teams.faults.outages |= {"openid", "keys"}
    for day in range(1, 4):
        reception.clock.now_s += DAY_S + 1
        _, [delivery] = await teams.say(ada, None, "List receipts")
        assert delivery.statuses == [202]
        await reception.wait_for_lines("teams signing keys not loaded", day)

    assert teams.keys.key_requests == 1


async def test_keys_of_a_day_ago_are_fetched_again(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson
) -> None:
    reception.clock.now_s += DAY_S + 1

    _, [delivery] = await teams.say(ada, None, "List receipts")
    await reception.wait_for_lines("teams signing keys loaded", 2)

    assert delivery.statuses == [202]
    assert teams.keys.key_requests == 2


async def test_before_the_first_fetch_nobody_is_let_in_and_the_log_names_the_cause(
    teams: TeamsServer, ada: TenantPerson
) -> None:
    teams.faults.outages.add("openid")

    async with serve_reception(TeamsReception(), teams) as reception:
        _, [delivery] = await teams.say(ada, None, "List receipts")

    [line] = [line for line in reception.log_lines if line["event"] == "teams request refused"]
    assert (delivery.statuses, reception.accepted) == ([401], [])
    assert line == {
        "level": "warning",
        "event": "teams request refused",
        "status": 401,
        "reason": "no signing keys yet: status 503",
    }


async def test_keys_that_came_late_let_the_next_delivery_in(teams: TeamsServer) -> None:
    reception = TeamsReception()
    keys = reception.build_keys(teams.openid_url)
    teams.plan_faults("openid", TeamsFault(status=503))
    await keys.start()
    reception.clock.now_s += 5

    assert await keys.find_key(teams.keys.current.kid) is not None
    await keys.close()


async def test_concurrent_requests_share_one_fetch(teams: TeamsServer, keys: ConnectorKeys) -> None:
    found = await asyncio.gather(*(keys.find_key(teams.keys.current.kid) for _ in range(20)))

    assert None not in found
    assert (teams.keys.metadata_requests, teams.keys.key_requests) == (1, 1)


@pytest.mark.parametrize(
    "fault", [TeamsFault(), TeamsFault(status=500), TeamsFault(status=200), TeamsFault(status=302)]
)
async def test_a_failed_fetch_keeps_the_keys(
    reception: TeamsReception, teams: TeamsServer, ada: TenantPerson, fault: TeamsFault
) -> None:
    old_key = teams.keys.current
    message, _ = await teams.say(ada, None, "List receipts")
    teams.rotate_keys(keep=True)
    reception.clock.now_s += REFETCH_INTERVAL_S
    teams.plan_faults("keys", fault, fault)  # the client repeats a request whose connection was cut

    refused = await teams.deliver_activity(message.activity)
    accepted = await teams.deliver_activity(message.activity, token=teams.sign_delivery(key=old_key))

    assert (refused.statuses, accepted.statuses) == ([401], [202])


async def test_closing_ends_a_fetch_that_hangs(teams: TeamsServer) -> None:
    keys = TeamsReception().build_keys(teams.openid_url)
    teams.plan_faults("openid", TeamsFault(hang=True))
    fetch = asyncio.create_task(keys.start())
    _, still_waiting = await asyncio.wait((fetch,), timeout=0.1)

    await keys.close()
    await asyncio.wait_for(fetch, 5)
    assert still_waiting == {fetch}
