"""Several workspaces: allowed accounts install the app, and each gets replies with its own token, replaced in time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
import pytest
from pydantic import SecretStr
from sqlalchemy import text

from adapters.slack.app import SlackSurface
from adapters.slack.app import surface as slack_surface
from adapters.slack.workspaces.installed_workspaces import LOOKUP_TTL, MIN_TOKEN_LIFETIME, REPLACE_BEFORE_EXPIRY
from adapters.slack.workspaces.oauth import INSTALL_PATH, REDIRECT_PATH
from bot.errors import InvalidSettings
from bot.http.rate_limit import MAX_IN_ALL, MAX_PER_CALLER
from bot.ids import ConversationId, TurnId
from bot.surface.inbound import Inbound, TextMessage
from bot.surface.installations import INSTALL_TIMEOUT, AppInstallations
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import NoticePart, Reply
from storage.sql.database import SqlDatabase
from storage.sql.stores.installations import InstallationStore as Store
from tests.adapters.slack.conftest import InboxBot, SlackTestSettings, serve_surface
from tests.stand_ins.slack.server import APP_TOKEN, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, StandInWorkspace

PUBLIC_URL = "http://parley.example:8080"
TOKEN_LIFETIME = timedelta(hours=12)
ANSWER_REPLY = Reply(turn=TurnId("turn"), parts=(NoticePart(text="An answer."),))


class SharedClock:
    """The clock of the bot, of its database and of Slack."""

    def __init__(self) -> None:
        self.time = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.time


class InstalledBot(InboxBot):
    """A bot that stores its installations in a database."""

    def __init__(self, settings: SlackTestSettings, database: SqlDatabase) -> None:
        super().__init__(settings)
        self.database = database

    @property
    def clock(self) -> Callable[[], datetime]:
        return self.database.clock

    def installations_for(self, product: str) -> AppInstallations:
        return AppInstallations(product, self.database, [b"key"])


@dataclass(frozen=True, kw_only=True)
class InstallingBrowser:
    """A person's browser, which passes on the installation cookie."""

    slack: SlackServer
    http: aiohttp.ClientSession

    async def begin_installation(self) -> tuple[str, str]:
        """Returns the address of Slack's approval page, and the cookie."""
        async with self.http.get(self.app_address_of(INSTALL_PATH), allow_redirects=False) as response:
            [cookie] = response.cookies.values()
            assert response.status == 302
            return response.headers["Location"], f"{cookie.key}={cookie.value}"

    async def finish_installation(self, redirect: str, cookie: str) -> tuple[int, str]:
        headers = {"Cookie": cookie} if cookie else {}
        address = f"{self.app_address_of(REDIRECT_PATH)}?{urlsplit(redirect).query}"
        async with self.http.get(address, headers=headers) as response:
            return response.status, await response.text()

    async def install_app(self, user: SlackMember, *, org_wide: bool = False) -> tuple[int, str]:
        page, cookie = await self.begin_installation()
        return await self.finish_installation(self.slack.authorize_app(page, user, org_wide=org_wide), cookie)

    def app_address_of(self, path: str) -> str:
        app_url = urlsplit(self.slack.app_url)
        return f"{app_url.scheme}://{app_url.netloc}{path}"


@pytest.fixture
def now() -> SharedClock:
    return SharedClock()


@pytest.fixture(autouse=True)
def no_installations(slack: SlackServer, now: SharedClock) -> None:
    """Start without installations, and with token rotation."""
    slack.installations.clear()
    slack.rotation, slack.redirect_urls = True, frozenset({f"{PUBLIC_URL}{REDIRECT_PATH}"})
    slack.clock = lambda: now.time.timestamp()


@pytest.fixture
def other_workspace(slack: SlackServer) -> StandInWorkspace:
    return slack.add_workspace(StandInWorkspace(team="T2", name="Other <b>", bot_user="U2PARLEY"))


@pytest.fixture
def eve(other_workspace: StandInWorkspace) -> SlackMember:
    return other_workspace.add_user(SlackMember(id="U2EVE", name="Eve", team="T2"))


@pytest.fixture
def market(other_workspace: StandInWorkspace, eve: SlackMember) -> SlackChannel:
    return other_workspace.add_channel(SlackChannel(id="C2MARKET", members=[eve.id, "U2PARLEY"]))


@pytest.fixture
async def database(tmp_path: Path, now: SharedClock) -> AsyncIterator[SqlDatabase]:
    database = await SqlDatabase.open(f"sqlite:///{tmp_path / 'parley.db'}", clock=now)
    yield database
    await database.close()


def installed_settings(slack: SlackServer, *accounts: str) -> SlackTestSettings:
    return SlackTestSettings(
        api_url=slack.api_url,
        bot_token=None,
        client_id=slack.client_id,
        client_secret=SecretStr(slack.client_secret),
        accounts=accounts or (f"slack:{TEAM}", "slack:T2"),
        link_base=PUBLIC_URL,
    )


@pytest.fixture
def bot(slack: SlackServer, database: SqlDatabase) -> InstalledBot:
    return InstalledBot(installed_settings(slack), database)


@pytest.fixture
async def surface(slack: SlackServer, bot: InstalledBot) -> AsyncIterator[SlackSurface]:
    async with serve_surface(surface_for_bot(bot), slack) as surface:
        yield surface


def surface_for_bot(bot: InstalledBot) -> SlackSurface:
    surface = slack_surface(bot)
    assert surface is not None
    return surface


@pytest.fixture
async def browser(slack: SlackServer, surface: SlackSurface) -> AsyncIterator[InstallingBrowser]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        yield InstallingBrowser(slack=slack, http=http)


async def post_answer(surface: SlackSurface, inbound: Inbound) -> None:
    await surface.outbox.thread_for(inbound.conversation, inbound.address).post_message(ANSWER_REPLY)


# Installing


async def test_each_workspace_is_answered_with_its_own_token(
    slack: SlackServer,
    surface: SlackSurface,
    bot: InstalledBot,
    browser: InstallingBrowser,
    ada: SlackMember,
    general: SlackChannel,
    eve: SlackMember,
    market: SlackChannel,
    other_workspace: StandInWorkspace,
) -> None:
    assert [await browser.install_app(user) for user in (ada, eve)] == [
        (200, "Parley is installed in Parley. Open it under Apps in Slack.\n"),
        (200, "Parley is installed in Other <b>. Open it under Apps in Slack.\n"),
    ]

    await slack.post_as_person(ada, general, f"<@{BOT_USER}> here?")
    await slack.post_as_person(eve, market, "<@U2PARLEY> there?")
    for inbound in bot.accepted:
        await post_answer(surface, inbound)

    first, second = bot.accepted
    assert (first.body, second.body) == (TextMessage("here?"), TextMessage("there?"))
    assert (first.conversation.split(":")[1], second.conversation.split(":")[1]) == (TEAM, "T2")
    assert [len(workspace.bot_messages()) for workspace in (slack.workspace, other_workspace)] == [1, 1]
    assert slack.calls_of("auth.test") == []


async def test_tokens_are_encrypted_in_the_database(
    browser: InstallingBrowser, ada: SlackMember, database: SqlDatabase
) -> None:
    await browser.install_app(ada)

    tokens = await database.run_read(
        lambda connection: connection.execute(text("SELECT tokens FROM installations")).all()
    )
    assert len(tokens) == 1
    assert "xox" not in tokens[0].tokens


async def test_the_cookie_is_restricted_to_the_redirect_path(browser: InstallingBrowser) -> None:
    async with browser.http.get(browser.app_address_of(INSTALL_PATH), allow_redirects=False) as response:
        [cookie] = response.cookies.values()

    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (REDIRECT_PATH, True, "Lax")
    assert cookie["max-age"] == "600"


async def test_another_browser_cannot_finish_an_installation(
    slack: SlackServer, browser: InstallingBrowser, ada: SlackMember, database: SqlDatabase
) -> None:
    own_page, _ = await browser.begin_installation()
    _, other_cookie = await browser.begin_installation()

    status, page = await browser.finish_installation(slack.authorize_app(own_page, ada), other_cookie)

    assert (status, "Please start again" in page) == (400, True)
    assert await AppInstallations("slack", database, [b"key"]).list_installations() == []


async def test_an_installation_can_be_finished_once(
    slack: SlackServer, browser: InstallingBrowser, ada: SlackMember
) -> None:
    page, cookie = await browser.begin_installation()
    redirect = slack.authorize_app(page, ada)

    assert [(await browser.finish_installation(redirect, cookie))[0] for _ in range(2)] == [200, 400]


async def test_an_installation_expires(
    slack: SlackServer, browser: InstallingBrowser, ada: SlackMember, now: SharedClock
) -> None:
    page, cookie = await browser.begin_installation()
    redirect = slack.authorize_app(page, ada)
    now.time += INSTALL_TIMEOUT

    assert (await browser.finish_installation(redirect, cookie))[0] == 400


@pytest.mark.parametrize("changed", [{"state": "guessed"}, {"state": ""}])
async def test_an_unknown_state_is_refused(
    slack: SlackServer, browser: InstallingBrowser, ada: SlackMember, changed: dict[str, str]
) -> None:
    page, cookie = await browser.begin_installation()
    fields = {name: values[0] for name, values in parse_qs(urlsplit(slack.authorize_app(page, ada)).query).items()}

    assert (await browser.finish_installation(f"{PUBLIC_URL}{REDIRECT_PATH}?{urlencode(fields | changed)}", cookie))[
        0
    ] == 400
    assert slack.calls_of("oauth.v2.access") == []


async def test_a_declined_installation_is_not_stored(browser: InstallingBrowser) -> None:
    address, cookie = await browser.begin_installation()
    state = parse_qs(urlsplit(address).query)["state"][0]

    status, page = await browser.finish_installation(
        f"{PUBLIC_URL}{REDIRECT_PATH}?error=access_denied&state={state}", cookie
    )

    assert (status, "not approved" in page) == (400, True)


async def begin_as_caller(browser: InstallingBrowser, *, caller: str) -> tuple[int, str | None]:
    """Begin an installation and return the status and the `Retry-After` header."""
    headers = {"X-Forwarded-For": f"203.0.113.9, {caller}"}
    async with browser.http.get(
        browser.app_address_of(INSTALL_PATH), headers=headers, allow_redirects=False
    ) as response:
        return response.status, response.headers.get("Retry-After")


async def test_a_caller_beyond_the_rate_limit_must_wait(browser: InstallingBrowser, now: SharedClock) -> None:
    attempts = [await begin_as_caller(browser, caller="198.51.100.1") for _ in range(MAX_PER_CALLER + 1)]
    other_caller = await begin_as_caller(browser, caller="198.51.100.2")
    now.time += timedelta(seconds=60)

    assert attempts == [(302, None)] * MAX_PER_CALLER + [(429, "60")]
    assert other_caller == (302, None)
    assert await begin_as_caller(browser, caller="198.51.100.1") == (302, None)


async def test_all_callers_together_have_a_rate_limit(browser: InstallingBrowser, database: SqlDatabase) -> None:
    attempts = [await begin_as_caller(browser, caller=f"198.51.100.{n}") for n in range(MAX_IN_ALL + 1)]
    count_statement = text("SELECT count(*) FROM installation_states")

    assert attempts[-1] == (429, "60")
    assert await database.run_read(lambda connection: connection.execute(count_statement).scalar_one()) == MAX_IN_ALL


async def test_the_number_of_pending_installations_is_limited(database: SqlDatabase) -> None:
    store = Store(database)
    was_stored = [
        await store.begin_pending_installation(f"state {n}", "browser", INSTALL_TIMEOUT, max_pending=2)
        for n in range(3)
    ]

    assert was_stored == [True, True, False]


async def test_an_unknown_code_installs_nothing(browser: InstallingBrowser) -> None:
    address, cookie = await browser.begin_installation()
    state = parse_qs(urlsplit(address).query)["state"][0]

    status, page = await browser.finish_installation(f"{PUBLIC_URL}{REDIRECT_PATH}?code=made-up&state={state}", cookie)

    assert (status, "invalid_code" in page) == (502, True)


async def test_a_workspace_that_is_not_allowed_cannot_install(
    slack: SlackServer, database: SqlDatabase, eve: SlackMember
) -> None:
    bot = InstalledBot(installed_settings(slack, f"slack:{TEAM}"), database)
    async with (
        serve_surface(surface_for_bot(bot), slack),
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http,
    ):
        status, page = await InstallingBrowser(slack=slack, http=http).install_app(eve)

    assert (status, "slack:T2" in page) == (403, True)
    assert await bot.installations_for("slack").list_installations() == []
    assert all(installed.revoked for installed in slack.installations.values())


async def test_a_workspace_that_is_no_longer_allowed_is_ignored(
    slack: SlackServer,
    database: SqlDatabase,
    browser: InstallingBrowser,
    bot: InstalledBot,
    eve: SlackMember,
    market: SlackChannel,
) -> None:
    await browser.install_app(eve)
    strict_bot = InstalledBot(installed_settings(slack, f"slack:{TEAM}"), database)

    async with serve_surface(surface_for_bot(strict_bot), slack):
        _, [delivered, *_] = await slack.post_as_person(eve, market, "<@U2PARLEY> there?")

    assert (delivered.statuses, strict_bot.accepted) == ([200], [])


@pytest.mark.usefixtures("surface")
async def test_deliveries_without_an_installation_are_acknowledged_and_ignored(
    slack: SlackServer, bot: InstalledBot, ada: SlackMember, general: SlackChannel
) -> None:
    event = {"type": "app_mention", "user": ada.id, "text": "hello", "channel": general.id, "ts": "1.2"}

    delivered = await slack.deliver_event(event)

    assert (delivered.statuses, bot.accepted) == ([200], [])


# Organisations


@pytest.fixture
def grid(slack: SlackServer, other_workspace: StandInWorkspace) -> StandInWorkspace:
    """Put both workspaces into one organisation."""
    for workspace in (slack.workspace, other_workspace):
        workspace.enterprise = "E1"
    return other_workspace


async def test_one_installation_serves_all_workspaces_of_an_organisation(
    slack: SlackServer,
    database: SqlDatabase,
    grid: StandInWorkspace,
    ada: SlackMember,
    general: SlackChannel,
    eve: SlackMember,
    market: SlackChannel,
) -> None:
    bot = InstalledBot(installed_settings(slack, "slack:E1"), database)
    async with (
        serve_surface(surface_for_bot(bot), slack) as surface,
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http,
    ):
        assert (await InstallingBrowser(slack=slack, http=http).install_app(ada, org_wide=True))[0] == 200

        await slack.post_as_person(ada, general, f"<@{BOT_USER}> here?")
        await slack.post_as_person(eve, market, "<@U2PARLEY> there?")
        for inbound in bot.accepted:
            await post_answer(surface, inbound)

    assert len(bot.accepted) == 2
    assert {inbound.address["enterprise"] for inbound in bot.accepted} == {"E1"}
    assert [len(workspace.bot_messages()) for workspace in (slack.workspace, grid)] == [1, 1]


async def test_a_workspace_of_an_allowed_organisation_can_install(
    slack: SlackServer, database: SqlDatabase, grid: StandInWorkspace, eve: SlackMember, market: SlackChannel
) -> None:
    bot = InstalledBot(installed_settings(slack, "slack:E1"), database)
    async with (
        serve_surface(surface_for_bot(bot), slack),
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http,
    ):
        assert (await InstallingBrowser(slack=slack, http=http).install_app(eve))[0] == 200
        await slack.post_as_person(eve, market, "<@U2PARLEY> there?")

    [installation] = await bot.installations_for("slack").list_installations()
    assert (installation.account, installation.enterprise) == ("slack:T2", "E1")
    assert len(bot.accepted) == 1


# Leaving


@pytest.mark.parametrize("event", [{"type": "app_uninstalled"}, {"type": "tokens_revoked", "tokens": {"bot": ["U2"]}}])
async def test_a_removed_app_is_forgotten_and_logged(
    slack: SlackServer,
    surface: SlackSurface,
    bot: InstalledBot,
    browser: InstallingBrowser,
    eve: SlackMember,
    market: SlackChannel,
    other_workspace: StandInWorkspace,
    event: dict[str, object],
) -> None:
    await browser.install_app(eve)
    await slack.post_as_person(eve, market, "<@U2PARLEY> there?")

    delivered = await slack.deliver_event(event, workspace=other_workspace)
    await slack.post_as_person(eve, market, "<@U2PARLEY> still there?")

    assert delivered.statuses == [200]
    assert await bot.installations_for("slack").list_installations() == []
    assert len(bot.accepted) == 1
    with pytest.raises(OutboxFailed) as caught:
        await post_answer(surface, bot.accepted[0])
    assert not caught.value.retry
    assert [line["team"] for line in bot.log_lines if line["event"] == "slack app removed"] == ["T2"]


async def test_a_late_removal_event_does_not_remove_a_newer_installation(
    slack: SlackServer,
    bot: InstalledBot,
    browser: InstallingBrowser,
    eve: SlackMember,
    other_workspace: StandInWorkspace,
    now: SharedClock,
) -> None:
    await browser.install_app(eve)
    removed_at = int(now.time.timestamp())
    now.time += timedelta(minutes=1)
    await browser.install_app(eve)

    await slack.deliver_event({"type": "app_uninstalled"}, workspace=other_workspace, event_time=removed_at)

    assert [installation.account for installation in await bot.installations_for("slack").list_installations()] == [
        "slack:T2"
    ]


async def test_a_revoked_token_of_a_person_is_ignored(
    slack: SlackServer,
    bot: InstalledBot,
    browser: InstallingBrowser,
    eve: SlackMember,
    other_workspace: StandInWorkspace,
) -> None:
    await browser.install_app(eve)

    await slack.deliver_event({"type": "tokens_revoked", "tokens": {"oauth": ["U2EVE"]}}, workspace=other_workspace)

    assert len(await bot.installations_for("slack").list_installations()) == 1


async def test_a_removal_from_one_workspace_keeps_the_organisations_installation(
    slack: SlackServer, database: SqlDatabase, grid: StandInWorkspace, ada: SlackMember
) -> None:
    bot = InstalledBot(installed_settings(slack, "slack:E1"), database)
    async with (
        serve_surface(surface_for_bot(bot), slack),
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http,
    ):
        await InstallingBrowser(slack=slack, http=http).install_app(ada, org_wide=True)
        workspace_authorizations = [{"enterprise_id": "E1", "team_id": "T2", "is_enterprise_install": False}]
        organisation_authorizations = [{"enterprise_id": "E1", "team_id": None, "is_enterprise_install": True}]

        remaining: list[int] = []
        for authorizations in (workspace_authorizations, organisation_authorizations):
            await slack.deliver_event({"type": "app_uninstalled"}, workspace=grid, authorizations=authorizations)
            remaining.append(len(await bot.installations_for("slack").list_installations()))

    assert remaining == [1, 0]


# Tokens


async def test_a_token_is_replaced_in_the_background_before_it_expires(
    slack: SlackServer,
    surface: SlackSurface,
    bot: InstalledBot,
    browser: InstallingBrowser,
    eve: SlackMember,
    market: SlackChannel,
    other_workspace: StandInWorkspace,
    now: SharedClock,
) -> None:
    await browser.install_app(eve)
    await slack.post_as_person(eve, market, "<@U2PARLEY> one")
    now.time += TOKEN_LIFETIME - REPLACE_BEFORE_EXPIRY + LOOKUP_TTL

    await slack.post_as_person(eve, market, "<@U2PARLEY> two")
    await slack.wait_until(lambda: len(refresh_calls(slack)) == 1)
    now.time += REPLACE_BEFORE_EXPIRY
    await post_answer(surface, bot.accepted[1])

    assert len(bot.accepted) == 2
    assert len(other_workspace.bot_messages()) == 1


async def test_an_expired_token_is_replaced_before_the_delivery(
    slack: SlackServer,
    bot: InstalledBot,
    browser: InstallingBrowser,
    eve: SlackMember,
    market: SlackChannel,
    now: SharedClock,
) -> None:
    await browser.install_app(eve)
    now.time += TOKEN_LIFETIME * 3

    _, [delivered, *_] = await slack.post_as_person(eve, market, "<@U2PARLEY> hello")

    assert delivered.statuses == [200]
    assert (len(bot.accepted), len(refresh_calls(slack))) == (1, 1)


async def test_two_replicas_use_a_refresh_token_once(
    slack: SlackServer,
    database: SqlDatabase,
    browser: InstallingBrowser,
    bot: InstalledBot,
    eve: SlackMember,
    market: SlackChannel,
    now: SharedClock,
) -> None:
    await browser.install_app(eve)
    await slack.post_as_person(eve, market, "<@U2PARLEY> one")
    [inbound] = bot.accepted
    now.time += TOKEN_LIFETIME - MIN_TOKEN_LIFETIME * 2
    replica = InstalledBot(installed_settings(slack), database)

    async with serve_surface(surface_for_bot(replica), slack) as surface:
        await asyncio.gather(
            *(post_answer(surface, inbound) for _ in range(3)), slack.post_as_person(eve, market, "<@U2PARLEY> two")
        )
        await slack.wait_until(lambda: len(refresh_calls(slack)) >= 1)

    assert len(refresh_calls(slack)) == 1
    [installation] = await bot.installations_for("slack").list_installations()
    assert installation.tokens.expires_at == now.time + TOKEN_LIFETIME


async def test_a_delivery_is_deferred_when_slack_replaces_no_token(
    slack: SlackServer,
    bot: InstalledBot,
    browser: InstallingBrowser,
    eve: SlackMember,
    market: SlackChannel,
    now: SharedClock,
) -> None:
    await browser.install_app(eve)
    now.time += TOKEN_LIFETIME * 3
    slack.plan_faults("oauth.v2.access", Fault(status=503))

    _, [delivered, *_] = await slack.post_as_person(eve, market, "<@U2PARLEY> hello")
    now.time += timedelta(minutes=2)
    _, [redelivered, *_] = await slack.post_as_person(eve, market, "<@U2PARLEY> hello again")

    assert (delivered.statuses, redelivered.statuses) == ([503] * 4, [200])
    assert len(refresh_calls(slack)) == 1


async def test_a_refused_refresh_token_is_logged(
    slack: SlackServer,
    bot: InstalledBot,
    browser: InstallingBrowser,
    eve: SlackMember,
    market: SlackChannel,
    now: SharedClock,
) -> None:
    await browser.install_app(eve)
    for installed in slack.installations.values():
        installed.refresh = "another"
    now.time += TOKEN_LIFETIME

    _, [delivered, *_] = await slack.post_as_person(eve, market, "<@U2PARLEY> hello")

    assert delivered.statuses == [503] * 4
    [line] = [line for line in bot.log_lines if line["event"] == "slack token not replaced"]
    assert (line["account"], line["reason"]) == ("slack:T2", "invalid_refresh_token")


def refresh_calls(slack: SlackServer) -> list[object]:
    return [call for call in slack.calls_of("oauth.v2.access") if call.get("grant_type") == "refresh_token"]


# Settings


@pytest.mark.parametrize(
    ("changed", "setting"),
    [
        ({"client_secret": None}, "SLACK_CLIENT_SECRET"),
        ({"signing_secret": None}, "SLACK_SIGNING_SECRET"),
        ({"bot_token": SecretStr("xoxb-one")}, "SLACK_BOT_TOKEN"),
        ({"accounts": ()}, "PARLEY_ACCOUNTS"),
        ({"accounts": ("teams:T1",)}, "PARLEY_ACCOUNTS"),
    ],
)
async def test_missing_and_contradictory_settings_are_refused(
    slack: SlackServer, database: SqlDatabase, changed: dict[str, Any], setting: str
) -> None:
    invalid_settings = installed_settings(slack).model_copy(update=changed)

    with pytest.raises(InvalidSettings) as caught:
        slack_surface(InstalledBot(invalid_settings, database))

    assert caught.value.setting == setting


async def test_a_reply_to_an_unknown_workspace_fails_for_good(surface: SlackSurface) -> None:
    with pytest.raises(OutboxFailed) as caught:
        await surface.outbox.thread_for(ConversationId("slack:T9:C9:1"), {"team": "T9", "channel": "C9"}).post_message(
            ANSWER_REPLY
        )

    assert not caught.value.retry


async def test_with_socket_mode_only_the_installation_routes_remain(slack: SlackServer, database: SqlDatabase) -> None:
    changes = {"signing_secret": None, "app_token": SecretStr(APP_TOKEN)}
    over_sockets = installed_settings(slack).model_copy(update=changes)

    assert [route.path for route in surface_for_bot(InstalledBot(over_sockets, database)).http_routes()] == [
        INSTALL_PATH,
        REDIRECT_PATH,
    ]


# One workspace


@pytest.fixture
def single_workspace_bot(slack: SlackServer, database: SqlDatabase) -> InstalledBot:
    slack.install_with_token(slack.workspace, TOKEN)
    changes = {"client_id": None, "bot_token": SecretStr(TOKEN), "accounts": ()}
    single_settings = installed_settings(slack).model_copy(update=changes)
    return InstalledBot(single_settings, database)


@pytest.mark.parametrize("accounts", [(), (f"slack:{TEAM}",), ("teams:X", f"slack:{TEAM}")])
async def test_a_token_of_an_allowed_workspace_is_used(
    slack: SlackServer,
    single_workspace_bot: InstalledBot,
    ada: SlackMember,
    general: SlackChannel,
    accounts: tuple[str, ...],
) -> None:
    single_workspace_bot.settings = single_workspace_bot.settings.model_copy(update={"accounts": accounts})
    async with serve_surface(surface_for_bot(single_workspace_bot), slack):
        await slack.post_as_person(ada, general, f"<@{BOT_USER}> hello")

    assert len(single_workspace_bot.accepted) == 1


async def test_a_token_of_another_workspace_is_refused_at_start(
    slack: SlackServer, single_workspace_bot: InstalledBot
) -> None:
    single_workspace_bot.settings = single_workspace_bot.settings.model_copy(update={"accounts": ("slack:T9",)})
    surface = surface_for_bot(single_workspace_bot)

    with pytest.raises(InvalidSettings, match=f"does not name slack:{TEAM}"):
        await surface.start()
    await surface.close()


async def test_a_token_of_another_workspace_is_ignored_after_an_outage_at_start(
    slack: SlackServer, single_workspace_bot: InstalledBot, ada: SlackMember, general: SlackChannel
) -> None:
    slack.plan_faults("auth.test", *[Fault(status=503)] * 3)
    single_workspace_bot.settings = single_workspace_bot.settings.model_copy(update={"accounts": ("slack:T9",)})
    async with serve_surface(surface_for_bot(single_workspace_bot), slack):
        _, [delivered, *_] = await slack.post_as_person(ada, general, f"<@{BOT_USER}> hello")

    assert (delivered.statuses, single_workspace_bot.accepted) == ([200], [])


async def test_a_removal_from_the_single_workspace_is_logged(
    slack: SlackServer, single_workspace_bot: InstalledBot
) -> None:
    async with serve_surface(surface_for_bot(single_workspace_bot), slack):
        delivered = await slack.deliver_event({"type": "app_uninstalled"})

    assert delivered.statuses == [200]
    assert [line["event"] for line in single_workspace_bot.log_lines] == ["slack app removed"]
