"""Several workspaces: installed by whoever may, each answered with its own token, which is replaced in time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
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
from adapters.slack.install import INSTALL, REDIRECT
from adapters.slack.installations import KEPT, REPLACED, SPENT
from adapters.slack.knocking import OF_ALL, OF_EACH
from bot.errors import InvalidSettings
from bot.ids import ConversationId, TurnId
from bot.inbound import Inbound, Said
from bot.installations import MAY_TAKE, Installations
from bot.outbox import OutboxFailed
from bot.replies import Notice, Reply
from storage.sql.database import Database
from storage.sql.installations import Installations as Store
from tests.adapters.slack.conftest import InboxBot, SlackTestSettings, served
from tests.stand_ins.slack.server import APP_TOKEN, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, User, Workspace

BASE = "http://parley.example:8080"
HALF_A_DAY = timedelta(hours=12)
REPLY = Reply(turn=TurnId("turn"), parts=(Notice(text="An answer."),))


class Now:
    """The time of the bot, of its database and of Slack alike."""

    def __init__(self) -> None:
        self.at = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.at


class InstalledBot(InboxBot):
    """One that keeps where it is installed in a database."""

    def __init__(self, settings: SlackTestSettings, database: Database) -> None:
        super().__init__(settings)
        self.database = database

    @property
    def clock(self) -> Callable[[], datetime]:
        return self.database.clock

    def installations(self, product: str) -> Installations:
        return Installations(product, self.database, [b"key"])


@dataclass(frozen=True, kw_only=True)
class Browser:
    """A person's, which keeps the one cookie."""

    slack: SlackServer
    http: aiohttp.ClientSession

    async def begin(self) -> tuple[str, str]:
        """Slack's page, and the cookie."""
        async with self.http.get(self.address(INSTALL), allow_redirects=False) as answer:
            [cookie] = answer.cookies.values()
            assert answer.status == 302
            return answer.headers["Location"], f"{cookie.key}={cookie.value}"

    async def end(self, back: str, cookie: str) -> tuple[int, str]:
        headers = {"Cookie": cookie} if cookie else {}
        address = f"{self.address(REDIRECT)}?{urlsplit(back).query}"
        async with self.http.get(address, headers=headers) as answer:
            return answer.status, await answer.text()

    async def install(self, user: User, *, org_wide: bool = False) -> tuple[int, str]:
        page, cookie = await self.begin()
        return await self.end(self.slack.authorize(page, user, org_wide=org_wide), cookie)

    def address(self, path: str) -> str:
        served = urlsplit(self.slack.app_url)
        return f"{served.scheme}://{served.netloc}{path}"


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture(autouse=True)
def nowhere_yet(slack: SlackServer, now: Now) -> None:
    """The app is installed nowhere; its tokens rotate."""
    slack.installations.clear()
    slack.rotation, slack.redirect_urls = True, frozenset({f"{BASE}{REDIRECT}"})
    slack.clock = lambda: now.at.timestamp()


@pytest.fixture
def other(slack: SlackServer) -> Workspace:
    return slack.add_workspace(Workspace(team="T2", name="Other <b>", bot_user="U2PARLEY"))


@pytest.fixture
def eve(other: Workspace) -> User:
    return other.add_user(User(id="U2EVE", name="Eve", team="T2"))


@pytest.fixture
def market(other: Workspace, eve: User) -> Channel:
    return other.add_channel(Channel(id="C2MARKET", members=[eve.id, "U2PARLEY"]))


@pytest.fixture
async def database(tmp_path: Path, now: Now) -> AsyncIterator[Database]:
    database = await Database.open(f"sqlite:///{tmp_path / 'parley.db'}", clock=now)
    yield database
    await database.close()


def settings(slack: SlackServer, *accounts: str) -> SlackTestSettings:
    return SlackTestSettings(
        slack_api_url=slack.api_url,
        slack_bot_token=None,
        slack_client_id=slack.client_id,
        slack_client_secret=SecretStr(slack.client_secret),
        accounts=accounts or (f"slack:{TEAM}", "slack:T2"),
        link_base=BASE,
    )


@pytest.fixture
def bot(slack: SlackServer, database: Database) -> InstalledBot:
    return InstalledBot(settings(slack), database)


@pytest.fixture
async def surface(slack: SlackServer, bot: InstalledBot) -> AsyncIterator[SlackSurface]:
    async with served(built(bot), slack) as surface:
        yield surface


def built(bot: InstalledBot) -> SlackSurface:
    surface = slack_surface(bot)
    assert surface is not None
    return surface


@pytest.fixture
async def browser(slack: SlackServer, surface: SlackSurface) -> AsyncIterator[Browser]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        yield Browser(slack=slack, http=http)


async def answer(surface: SlackSurface, inbound: Inbound) -> None:
    await surface.outbox.post(inbound.conversation, inbound.address, REPLY)


# Installing


async def test_each_workspace_is_answered_with_its_own_token(
    slack: SlackServer,
    surface: SlackSurface,
    bot: InstalledBot,
    browser: Browser,
    ada: User,
    general: Channel,
    eve: User,
    market: Channel,
    other: Workspace,
) -> None:
    assert [await browser.install(user) for user in (ada, eve)] == [
        (200, "Parley is installed in Parley. Open it under Apps in Slack.\n"),
        (200, "Parley is installed in Other <b>. Open it under Apps in Slack.\n"),
    ]

    await slack.say(ada, general, f"<@{BOT_USER}> here?")
    await slack.say(eve, market, "<@U2PARLEY> there?")
    for inbound in bot.accepted:
        await answer(surface, inbound)

    here, there = bot.accepted
    assert (here.body, there.body) == (Said("here?"), Said("there?"))
    assert (here.conversation.split(":")[1], there.conversation.split(":")[1]) == (TEAM, "T2")
    assert [len(place.answers()) for place in (slack.workspace, other)] == [1, 1]
    assert slack.called("auth.test") == []


async def test_tokens_are_sealed_in_the_database(browser: Browser, ada: User, database: Database) -> None:
    await browser.install(ada)

    tokens = await database.read(lambda connection: connection.execute(text("SELECT tokens FROM installations")).all())
    assert len(tokens) == 1
    assert "xox" not in tokens[0].tokens


async def test_the_cookie_is_for_this_alone(browser: Browser) -> None:
    async with browser.http.get(browser.address(INSTALL), allow_redirects=False) as answer:
        [cookie] = answer.cookies.values()

    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == (REDIRECT, True, "Lax")
    assert cookie["max-age"] == "600"


async def test_another_browser_cannot_end_what_one_has_begun(
    slack: SlackServer, browser: Browser, ada: User, database: Database
) -> None:
    mine, _ = await browser.begin()
    _, theirs = await browser.begin()

    status, page = await browser.end(slack.authorize(mine, ada), theirs)

    assert (status, "Please begin anew" in page) == (400, True)
    assert await Installations("slack", database, [b"key"]).all() == []


async def test_an_installation_ends_once(slack: SlackServer, browser: Browser, ada: User) -> None:
    page, cookie = await browser.begin()
    back = slack.authorize(page, ada)

    assert [(await browser.end(back, cookie))[0] for _ in range(2)] == [200, 400]


async def test_an_installation_has_its_time(slack: SlackServer, browser: Browser, ada: User, now: Now) -> None:
    page, cookie = await browser.begin()
    back = slack.authorize(page, ada)
    now.at += MAY_TAKE

    assert (await browser.end(back, cookie))[0] == 400


@pytest.mark.parametrize("changed", [{"state": "guessed"}, {"state": ""}])
async def test_a_state_that_was_not_given_out_ends_nothing(
    slack: SlackServer, browser: Browser, ada: User, changed: dict[str, str]
) -> None:
    page, cookie = await browser.begin()
    fields = {name: values[0] for name, values in parse_qs(urlsplit(slack.authorize(page, ada)).query).items()}

    assert (await browser.end(f"{BASE}{REDIRECT}?{urlencode(fields | changed)}", cookie))[0] == 400
    assert slack.called("oauth.v2.access") == []


async def test_what_was_not_approved_is_not_installed(browser: Browser) -> None:
    address, cookie = await browser.begin()
    state = parse_qs(urlsplit(address).query)["state"][0]

    status, page = await browser.end(f"{BASE}{REDIRECT}?error=access_denied&state={state}", cookie)

    assert (status, "not approved" in page) == (400, True)


async def begun(browser: Browser, *, for_whom: str) -> tuple[int, str | None]:
    """The status, and when to come again."""
    headers = {"X-Forwarded-For": f"203.0.113.9, {for_whom}"}
    async with browser.http.get(browser.address(INSTALL), headers=headers, allow_redirects=False) as answer:
        return answer.status, answer.headers.get("Retry-After")


async def test_one_who_begins_again_and_again_has_to_wait(browser: Browser, now: Now) -> None:
    tries = [await begun(browser, for_whom="198.51.100.1") for _ in range(OF_EACH + 1)]
    other = await begun(browser, for_whom="198.51.100.2")
    now.at += timedelta(seconds=60)

    assert tries == [(302, None)] * OF_EACH + [(429, "60")]
    assert other == (302, None)
    assert await begun(browser, for_whom="198.51.100.1") == (302, None)


async def test_all_together_have_to_wait_as_well(browser: Browser, database: Database) -> None:
    tries = [await begun(browser, for_whom=f"198.51.100.{n}") for n in range(OF_ALL + 1)]
    kept = text("SELECT count(*) FROM installation_states")

    assert tries[-1] == (429, "60")
    assert await database.read(lambda connection: connection.execute(kept).scalar_one()) == OF_ALL


async def test_no_more_are_kept_than_may_begin_at_once(database: Database) -> None:
    store = Store(database)
    kept = [await store.begin(f"state {n}", "browser", MAY_TAKE, most=2) for n in range(3)]

    assert kept == [True, True, False]


async def test_a_code_that_slack_does_not_know_installs_nothing(browser: Browser) -> None:
    address, cookie = await browser.begin()
    state = parse_qs(urlsplit(address).query)["state"][0]

    status, page = await browser.end(f"{BASE}{REDIRECT}?code=made-up&state={state}", cookie)

    assert (status, "invalid_code" in page) == (502, True)


async def test_a_workspace_that_is_not_named_may_not_install(slack: SlackServer, database: Database, eve: User) -> None:
    bot = InstalledBot(settings(slack, f"slack:{TEAM}"), database)
    async with served(built(bot), slack), aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        status, page = await Browser(slack=slack, http=http).install(eve)

    assert (status, "slack:T2" in page) == (403, True)
    assert await bot.installations("slack").all() == []
    assert all(installed.revoked for installed in slack.installations.values())


async def test_a_workspace_that_is_no_longer_named_is_no_longer_served(
    slack: SlackServer, database: Database, browser: Browser, bot: InstalledBot, eve: User, market: Channel
) -> None:
    await browser.install(eve)
    strict = InstalledBot(settings(slack, f"slack:{TEAM}"), database)

    async with served(built(strict), slack):
        _, [delivered, *_] = await slack.say(eve, market, "<@U2PARLEY> there?")

    assert (delivered.statuses, strict.accepted) == ([200], [])


@pytest.mark.usefixtures("surface")
async def test_where_the_app_is_not_installed_all_is_acknowledged_and_ignored(
    slack: SlackServer, bot: InstalledBot, ada: User, general: Channel
) -> None:
    event = {"type": "app_mention", "user": ada.id, "text": "hello", "channel": general.id, "ts": "1.2"}

    delivered = await slack.deliver_event(event)

    assert (delivered.statuses, bot.accepted) == ([200], [])


# Organisations


@pytest.fixture
def grid(slack: SlackServer, other: Workspace) -> Workspace:
    """Both workspaces are of one organisation."""
    for place in (slack.workspace, other):
        place.enterprise = "E1"
    return other


async def test_one_installation_serves_all_workspaces_of_an_organisation(
    slack: SlackServer,
    database: Database,
    grid: Workspace,
    ada: User,
    general: Channel,
    eve: User,
    market: Channel,
) -> None:
    bot = InstalledBot(settings(slack, "slack:E1"), database)
    async with served(built(bot), slack) as surface, aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        assert (await Browser(slack=slack, http=http).install(ada, org_wide=True))[0] == 200

        await slack.say(ada, general, f"<@{BOT_USER}> here?")
        await slack.say(eve, market, "<@U2PARLEY> there?")
        for inbound in bot.accepted:
            await answer(surface, inbound)

    assert len(bot.accepted) == 2
    assert {inbound.address["enterprise"] for inbound in bot.accepted} == {"E1"}
    assert [len(place.answers()) for place in (slack.workspace, grid)] == [1, 1]


async def test_a_workspace_of_an_organisation_may_install_by_itself(
    slack: SlackServer, database: Database, grid: Workspace, eve: User, market: Channel
) -> None:
    bot = InstalledBot(settings(slack, "slack:E1"), database)
    async with served(built(bot), slack), aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        assert (await Browser(slack=slack, http=http).install(eve))[0] == 200
        await slack.say(eve, market, "<@U2PARLEY> there?")

    [installation] = await bot.installations("slack").all()
    assert (installation.account, installation.enterprise) == ("slack:T2", "E1")
    assert len(bot.accepted) == 1


# Leaving


@pytest.mark.parametrize("event", [{"type": "app_uninstalled"}, {"type": "tokens_revoked", "tokens": {"bot": ["U2"]}}])
async def test_an_app_that_was_removed_is_forgotten_and_says_so_in_the_log(
    slack: SlackServer,
    surface: SlackSurface,
    bot: InstalledBot,
    browser: Browser,
    eve: User,
    market: Channel,
    other: Workspace,
    event: dict[str, object],
) -> None:
    await browser.install(eve)
    await slack.say(eve, market, "<@U2PARLEY> there?")

    delivered = await slack.deliver_event(event, place=other)
    await slack.say(eve, market, "<@U2PARLEY> still there?")

    assert delivered.statuses == [200]
    assert await bot.installations("slack").all() == []
    assert len(bot.accepted) == 1
    with pytest.raises(OutboxFailed) as caught:
        await answer(surface, bot.accepted[0])
    assert not caught.value.retry
    assert [line["team"] for line in bot.lines if line["event"] == "slack app removed"] == ["T2"]


async def test_late_word_of_an_end_does_not_undo_a_new_beginning(
    slack: SlackServer, bot: InstalledBot, browser: Browser, eve: User, other: Workspace, now: Now
) -> None:
    await browser.install(eve)
    before = int(now.at.timestamp())
    now.at += timedelta(minutes=1)
    await browser.install(eve)

    await slack.deliver_event({"type": "app_uninstalled"}, place=other, event_time=before)

    assert [one.account for one in await bot.installations("slack").all()] == ["slack:T2"]


async def test_a_persons_token_is_none_of_ours(
    slack: SlackServer, bot: InstalledBot, browser: Browser, eve: User, other: Workspace
) -> None:
    await browser.install(eve)

    await slack.deliver_event({"type": "tokens_revoked", "tokens": {"oauth": ["U2EVE"]}}, place=other)

    assert len(await bot.installations("slack").all()) == 1


async def test_an_organisation_is_not_left_with_one_of_its_workspaces(
    slack: SlackServer, database: Database, grid: Workspace, ada: User
) -> None:
    bot = InstalledBot(settings(slack, "slack:E1"), database)
    async with served(built(bot), slack), aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        await Browser(slack=slack, http=http).install(ada, org_wide=True)
        team = [{"enterprise_id": "E1", "team_id": "T2", "is_enterprise_install": False}]
        whole = [{"enterprise_id": "E1", "team_id": None, "is_enterprise_install": True}]

        left: list[int] = []
        for authorizations in (team, whole):
            await slack.deliver_event({"type": "app_uninstalled"}, place=grid, authorizations=authorizations)
            left.append(len(await bot.installations("slack").all()))

    assert left == [1, 0]


# Tokens


async def test_a_token_is_replaced_before_it_expires_and_beside_what_goes_on(
    slack: SlackServer,
    surface: SlackSurface,
    bot: InstalledBot,
    browser: Browser,
    eve: User,
    market: Channel,
    other: Workspace,
    now: Now,
) -> None:
    await browser.install(eve)
    await slack.say(eve, market, "<@U2PARLEY> one")
    now.at += HALF_A_DAY - REPLACED + KEPT

    await slack.say(eve, market, "<@U2PARLEY> two")
    await slack.until(lambda: len(refreshes(slack)) == 1)
    now.at += REPLACED
    await answer(surface, bot.accepted[1])

    assert len(bot.accepted) == 2
    assert len(other.answers()) == 1


async def test_a_token_that_has_expired_meanwhile_is_replaced_first(
    slack: SlackServer, bot: InstalledBot, browser: Browser, eve: User, market: Channel, now: Now
) -> None:
    await browser.install(eve)
    now.at += HALF_A_DAY * 3

    _, [delivered, *_] = await slack.say(eve, market, "<@U2PARLEY> hello")

    assert delivered.statuses == [200]
    assert (len(bot.accepted), len(refreshes(slack))) == (1, 1)


async def test_two_replicas_use_a_refresh_token_once(
    slack: SlackServer, database: Database, browser: Browser, bot: InstalledBot, eve: User, market: Channel, now: Now
) -> None:
    await browser.install(eve)
    await slack.say(eve, market, "<@U2PARLEY> one")
    [first] = bot.accepted
    now.at += HALF_A_DAY - SPENT * 2
    replica = InstalledBot(settings(slack), database)

    async with served(built(replica), slack) as surface:
        await asyncio.gather(*(answer(surface, first) for _ in range(3)), slack.say(eve, market, "<@U2PARLEY> two"))
        await slack.until(lambda: len(refreshes(slack)) >= 1)

    assert len(refreshes(slack)) == 1
    [installation] = await bot.installations("slack").all()
    assert installation.tokens.expires_at == now.at + HALF_A_DAY


async def test_a_slack_that_does_not_answer_keeps_the_delivery_for_later(
    slack: SlackServer, bot: InstalledBot, browser: Browser, eve: User, market: Channel, now: Now
) -> None:
    await browser.install(eve)
    now.at += HALF_A_DAY * 3
    slack.fail("oauth.v2.access", Fault(status=503))

    _, [delivered, *_] = await slack.say(eve, market, "<@U2PARLEY> hello")
    now.at += timedelta(minutes=2)
    _, [again, *_] = await slack.say(eve, market, "<@U2PARLEY> hello again")

    assert (delivered.statuses, again.statuses) == ([503] * 4, [200])
    assert len(refreshes(slack)) == 1


async def test_a_refresh_token_that_slack_refuses_is_said_in_the_log(
    slack: SlackServer, bot: InstalledBot, browser: Browser, eve: User, market: Channel, now: Now
) -> None:
    await browser.install(eve)
    for installed in slack.installations.values():
        installed.refresh = "another"
    now.at += HALF_A_DAY

    _, [delivered, *_] = await slack.say(eve, market, "<@U2PARLEY> hello")

    assert delivered.statuses == [503] * 4
    [line] = [line for line in bot.lines if line["event"] == "slack token not replaced"]
    assert (line["account"], line["reason"]) == ("slack:T2", "invalid_refresh_token")


def refreshes(slack: SlackServer) -> list[object]:
    return [call for call in slack.called("oauth.v2.access") if call.get("grant_type") == "refresh_token"]


# Settings


@pytest.mark.parametrize(
    ("changed", "setting"),
    [
        ({"slack_client_secret": None}, "SLACK_CLIENT_SECRET"),
        ({"slack_signing_secret": None}, "SLACK_SIGNING_SECRET"),
        ({"slack_bot_token": SecretStr("xoxb-one")}, "SLACK_BOT_TOKEN"),
        ({"accounts": ()}, "PARLEY_ACCOUNTS"),
        ({"accounts": ("teams:T1",)}, "PARLEY_ACCOUNTS"),
    ],
)
async def test_what_is_missing_or_too_much_is_said(
    slack: SlackServer, database: Database, changed: dict[str, Any], setting: str
) -> None:
    wrong = replace(settings(slack), **changed)

    with pytest.raises(InvalidSettings) as caught:
        slack_surface(InstalledBot(wrong, database))

    assert caught.value.setting == setting


async def test_a_reply_to_an_unknown_place_ends(surface: SlackSurface) -> None:
    with pytest.raises(OutboxFailed) as caught:
        await surface.outbox.post(ConversationId("slack:T9:C9:1"), {"team": "T9", "channel": "C9"}, REPLY)

    assert not caught.value.retry


async def test_over_sockets_only_installing_needs_an_address(slack: SlackServer, database: Database) -> None:
    over_sockets = replace(settings(slack), slack_signing_secret=None, slack_app_token=SecretStr(APP_TOKEN))

    assert [route.path for route in built(InstalledBot(over_sockets, database)).routes()] == [INSTALL, REDIRECT]


# One workspace


@pytest.fixture
def one(slack: SlackServer, database: Database) -> InstalledBot:
    slack.install(slack.workspace, TOKEN)
    alone = replace(settings(slack), slack_client_id=None, slack_bot_token=SecretStr(TOKEN), accounts=())
    return InstalledBot(alone, database)


@pytest.mark.parametrize("accounts", [(), (f"slack:{TEAM}",), ("teams:X", f"slack:{TEAM}")])
async def test_a_token_of_a_workspace_that_is_named_is_used(
    slack: SlackServer, one: InstalledBot, ada: User, general: Channel, accounts: tuple[str, ...]
) -> None:
    one.settings = replace(one.settings, accounts=accounts)
    async with served(built(one), slack):
        await slack.say(ada, general, f"<@{BOT_USER}> hello")

    assert len(one.accepted) == 1


async def test_a_token_of_another_workspace_than_those_named_is_refused_at_start(
    slack: SlackServer, one: InstalledBot
) -> None:
    one.settings = replace(one.settings, accounts=("slack:T9",))
    surface = built(one)

    with pytest.raises(InvalidSettings, match=f"does not name slack:{TEAM}"):
        await surface.start()
    await surface.close()


async def test_where_slack_was_down_at_start_another_workspace_is_ignored_later(
    slack: SlackServer, one: InstalledBot, ada: User, general: Channel
) -> None:
    slack.fail("auth.test", *[Fault(status=503)] * 3)
    one.settings = replace(one.settings, accounts=("slack:T9",))
    async with served(built(one), slack):
        _, [delivered, *_] = await slack.say(ada, general, f"<@{BOT_USER}> hello")

    assert (delivered.statuses, one.accepted) == ([200], [])


async def test_an_app_that_was_removed_from_the_one_workspace_says_so_in_the_log(
    slack: SlackServer, one: InstalledBot
) -> None:
    async with served(built(one), slack):
        delivered = await slack.deliver_event({"type": "app_uninstalled"})

    assert delivered.statuses == [200]
    assert [line["event"] for line in one.lines] == ["slack app removed"]
