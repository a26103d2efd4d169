"""The token cache against the stand-in's token endpoint."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr

from adapters.teams.connector.access_token import (
    LAST_USE_S,
    MAX_TRIES,
    REFRESH_AHEAD_S,
    AccessTokenCache,
    token_request_for,
)
from adapters.teams.errors import TeamsSignInFailed
from adapters.teams.settings import AppType, TeamsSettings
from tests.adapters.teams.conftest import RecordedWaits, settings_for, wait_until
from tests.stand_ins.teams.faults import TeamsFault
from tests.stand_ins.teams.server import TeamsServer

LIFETIME_S = 3_600


@asynccontextmanager
async def open_cache(settings: TeamsSettings, waits: RecordedWaits) -> AsyncGenerator[AccessTokenCache]:
    cache = AccessTokenCache(token_request_for(settings), clock=waits.clock, sleep=waits, jitter=lambda: 0.5)
    await cache.start()
    try:
        yield cache
    finally:
        await cache.close()


async def wait_for_requests(teams: TeamsServer, count: int) -> None:
    await wait_until(lambda: teams.tokens.requests >= count)


async def next_new_token(cache: AccessTokenCache, old: str) -> str:
    """The token of the refresh, whose answer may be on its way."""
    for _ in range(1_000):
        token = await cache.get_token()
        if token != old:
            return token
        await asyncio.sleep(0.005)
    raise AssertionError("no new token")


@pytest.mark.parametrize("kind", AppType)
async def test_each_kind_of_app_gets_a_token(teams: TeamsServer, waits: RecordedWaits, kind: AppType) -> None:
    teams.registration.kind = kind.value

    async with open_cache(settings_for(teams), waits) as cache:
        token = await cache.get_token()

    assert teams.tokens.is_valid(token, teams.clock())


async def test_one_token_serves_all_calls(teams: TeamsServer, access_tokens: AccessTokenCache) -> None:
    tokens = {await access_tokens.get_token() for _ in range(20)}

    assert len(tokens) == 1
    assert teams.tokens.requests == 1


async def test_calls_that_wait_for_a_token_share_one_request(
    teams: TeamsServer, access_tokens: AccessTokenCache
) -> None:
    release = asyncio.Event()
    teams.plan_faults("token", TeamsFault(released_by=release))
    callers = [asyncio.create_task(access_tokens.get_token()) for _ in range(20)]
    await wait_for_requests(teams, 1)
    callers.pop().cancel()  # who waits no longer takes nothing from the others
    release.set()

    assert len(set(await asyncio.gather(*callers))) == 1
    assert teams.tokens.requests == 1


async def test_a_token_is_refreshed_before_it_expires_while_calls_go_on_with_it(
    teams: TeamsServer, access_tokens: AccessTokenCache, waits: RecordedWaits
) -> None:
    first = await access_tokens.get_token()
    release = asyncio.Event()
    teams.plan_faults("token", TeamsFault(released_by=release))
    waits.advance(LIFETIME_S - REFRESH_AHEAD_S + 1)

    assert [await access_tokens.get_token() for _ in range(5)] == [first] * 5  # none of them waits
    await wait_for_requests(teams, 2)
    release.set()
    await wait_until(lambda: len(teams.tokens.expiries) == 2)
    assert await next_new_token(access_tokens, first)
    assert teams.tokens.requests == 2


async def test_an_expired_token_is_not_used(
    teams: TeamsServer, access_tokens: AccessTokenCache, waits: RecordedWaits
) -> None:
    first = await access_tokens.get_token()
    waits.advance(LIFETIME_S - LAST_USE_S + 1)

    assert await access_tokens.get_token() != first


async def test_a_refresh_that_fails_leaves_the_valid_token_and_is_not_repeated_at_once(
    teams: TeamsServer, access_tokens: AccessTokenCache, waits: RecordedWaits
) -> None:
    first = await access_tokens.get_token()
    waits.advance(LIFETIME_S - REFRESH_AHEAD_S + 1)
    teams.plan_faults("token", *[TeamsFault(status=400, code="invalid_request")] * 10)

    for _ in range(50):
        assert await access_tokens.get_token() == first
        await asyncio.sleep(0.001)

    assert teams.tokens.requests == 2


async def test_a_rejected_token_is_replaced_once_for_all_callers(
    teams: TeamsServer, access_tokens: AccessTokenCache
) -> None:
    first = await access_tokens.get_token()

    tokens = await asyncio.gather(*(access_tokens.replace_token(first) for _ in range(10)))

    assert set(tokens) == {await access_tokens.get_token()}
    assert first not in tokens
    assert teams.tokens.requests == 2


async def test_a_token_service_that_is_down_for_a_moment_is_asked_again(
    teams: TeamsServer, access_tokens: AccessTokenCache
) -> None:
    teams.plan_faults("token", TeamsFault(status=503), TeamsFault())

    assert await access_tokens.get_token()
    assert teams.tokens.requests == 3


async def test_a_token_service_that_stays_down_fails_the_call_after_some_tries(
    teams: TeamsServer, access_tokens: AccessTokenCache
) -> None:
    teams.faults.outages.add("token")

    with pytest.raises(TeamsSignInFailed, match="503"):
        await access_tokens.get_token()

    assert teams.tokens.requests == MAX_TRIES
    teams.faults.outages.clear()
    assert await access_tokens.get_token()


async def test_a_wrong_secret_is_named_by_its_code_and_nowhere_shown(teams: TeamsServer, waits: RecordedWaits) -> None:
    settings = settings_for(teams).model_copy(update={"app_password": SecretStr("a-wrong-secret")})

    async with open_cache(settings, waits) as cache:
        with pytest.raises(TeamsSignInFailed) as caught:
            await cache.get_token()

    assert "AADSTS7000215" in str(caught.value)
    assert "MICROSOFT_APP_PASSWORD" in str(caught.value)
    assert "a-wrong-secret" not in f"{caught.value!r} {caught.value.__cause__!r} {token_request_for(settings)!r}"
    assert teams.tokens.requests == 1  # a refusal is not repeated


async def test_no_token_is_shown_by_the_objects_that_hold_it(access_tokens: AccessTokenCache) -> None:
    token = await access_tokens.get_token()

    assert token not in repr(vars(access_tokens))


async def test_a_cache_that_is_not_open_says_so(teams_settings: TeamsSettings) -> None:
    with pytest.raises(TeamsSignInFailed, match="not open"):
        await AccessTokenCache(token_request_for(teams_settings)).get_token()


async def test_a_managed_identity_is_asked_for_past_the_proxy(
    teams: TeamsServer, waits: RecordedWaits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    teams.registration.kind = AppType.SINGLE_TENANT.value
    async with open_cache(settings_for(teams), waits) as cache:
        with pytest.raises(TeamsSignInFailed, match="does not answer"):  # nobody is at the proxy's address
            await cache.get_token()
    teams.registration.kind = AppType.MANAGED_IDENTITY.value

    async with open_cache(settings_for(teams), waits) as cache:
        token = await cache.get_token()

    assert teams.tokens.is_valid(token, teams.clock())


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        (AppType.SINGLE_TENANT, "https://login.microsoftonline.com/a-tenant/oauth2/v2.0/token"),
        (AppType.MULTI_TENANT, "https://login.microsoftonline.com/botframework.com/oauth2/v2.0/token"),
        (AppType.MANAGED_IDENTITY, "http://169.254.169.254/metadata/identity/oauth2/token"),
    ],
)
def test_tokens_come_from_microsofts_addresses(kind: AppType, url: str) -> None:
    settings = TeamsSettings(app_id="an-app", app_tenant="a-tenant", app_type=kind)

    assert token_request_for(settings).url == url
