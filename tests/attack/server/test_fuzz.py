"""Odd bodies, queries and headers for every address: no 5xx, bounded work for each, and no growing memory.

The suite sends a part of what `make fuzz` sends, with the same seed.
"""

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

import pytest

from tests.attack.server.costly_bodies import make_costly_requests
from tests.attack.server.fuzzing import FuzzedBot, open_fuzzed_bot
from tests.attack.server.odd_requests import OddRequestMaker
from tests.attack.server.raw_client import send_raw

SEED: Final = 20_261_126
REQUESTS: Final = int(os.environ.get("PARLEY_FUZZ_REQUESTS", "250"))  # for each address
MAX_GROWTH_MB: Final = 64.0
MAKERS: Final[dict[str, tuple[Callable[[OddRequestMaker], bytes], set[int]]]] = {
    "slack": (OddRequestMaker.make_slack_request, {200, 400, 401, 404}),
    "teams": (OddRequestMaker.make_teams_request, {200, 202, 400, 401}),
    "forms": (OddRequestMaker.make_form_request, {303, 400, 403, 415, 422}),
    "admin": (OddRequestMaker.make_admin_request, {303, 400, 403, 404, 415, 422}),
    "mcp": (OddRequestMaker.make_mcp_request, {200, 202, 400, 401, 404, 406, 415}),
    "reads": (OddRequestMaker.make_read_request, {200, 303, 400, 403, 404, 405}),
}


@pytest.fixture
async def fuzzed_bot(tmp_path: Path) -> AsyncIterator[FuzzedBot]:
    async with open_fuzzed_bot(tmp_path, SEED) as fuzzed_bot:
        yield fuzzed_bot


@pytest.mark.parametrize("address", MAKERS)
async def test_no_odd_request_raises_or_holds_up_the_server(fuzzed_bot: FuzzedBot, address: str) -> None:
    make_request, expected_statuses = MAKERS[address]

    record = await fuzzed_bot.send_requests(
        lambda: make_request(fuzzed_bot.maker), REQUESTS, reads_all=address == "mcp"
    )

    assert (record.errors, record.costly) == ([], [])
    assert record.grown_mb < MAX_GROWTH_MB
    assert set(record.statuses) >= expected_statuses


async def test_what_the_odd_requests_are_made_from_is_sound(fuzzed_bot: FuzzedBot) -> None:
    target, maker = fuzzed_bot.target, fuzzed_bot.maker

    for request in maker.make_sound_requests():
        assert await send_raw(target.host, target.port, request) in (200, 202)


async def test_the_forms_of_the_admin_page_are_answered_as_they_were_sent(fuzzed_bot: FuzzedBot) -> None:
    """Without the odd values. Some name what is not there, or show an older state: they are refused in a sentence."""
    target = fuzzed_bot.target

    statuses = {
        path: await send_raw(target.host, target.port, request)
        for path, request in fuzzed_bot.maker.make_sound_admin_forms()
    }

    changed = {path for path, status in statuses.items() if status == 303}
    assert changed == {
        "/admin/synonym",
        "/admin/revoke",
        "/admin/admins/add",
        "/admin/admins/remove",
        "/admin/limits",
        "/admin/retention",
    }
    assert (statuses.pop("/admin/leave"), statuses.pop("/admin/source/%ff%00")) == (200, 400)
    assert {*statuses.values()} <= {303, 403, 404, 409, 422}


async def test_no_body_costs_more_than_a_second_of_processor_time(fuzzed_bot: FuzzedBot) -> None:
    requests = make_costly_requests(fuzzed_bot.maker)

    records = {
        name: await fuzzed_bot.send_requests(lambda request=request: request, 1) for name, request in requests.items()
    }

    assert [name for name, record in records.items() if record.costly] == []
    # The connection of a sender of tiny chunks is closed before there is anything to answer.
    assert [name for name, record in records.items() if record.errors] == ["chunks"]
    assert records["chunks"].statuses == {0: 1}
