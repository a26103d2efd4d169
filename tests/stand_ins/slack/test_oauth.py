"""Installing, rotating and revoking, in several workspaces at once."""

import base64
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
import pytest

from tests.stand_ins.slack.conftest import QUIET, App, Client
from tests.stand_ins.slack.server import NotPossible, SlackServer
from tests.stand_ins.slack.workspace import Channel, User, Workspace

BACK = "http://127.0.0.1/slack/oauth_redirect"


@pytest.fixture
def other(slack: SlackServer) -> Workspace:
    """Another workspace, with a person and a channel."""
    slack.redirect_urls = frozenset({BACK})
    place = slack.add_workspace(Workspace(team="T2", name="Other", bot_user="U2PARLEY"))
    place.add_user(User(id="U2", name="Bob", team="T2"))
    place.add_channel(Channel(id="C3", members=["U2", "U2PARLEY"]))
    return place


@pytest.fixture
def bob(other: Workspace) -> User:
    return other.users["U2"]


def asked_for(slack: SlackServer, **changed: str) -> str:
    """The address that the app's page leads to."""
    fields = {"client_id": slack.client_id, "scope": "chat:write,users:read", "redirect_uri": BACK, "state": "s1"}
    return f"https://slack.com/oauth/v2/authorize?{urlencode({**fields, **changed})}"


def code_in(address: str) -> str:
    return parse_qs(urlsplit(address).query)["code"][0]


async def exchange(slack: SlackServer, client: Client, granted: str, **changed: str) -> dict[str, Any]:
    given: dict[str, Any] = {"client_id": slack.client_id, "client_secret": slack.client_secret, "code": granted}
    given |= {"redirect_uri": BACK, **changed}
    return await client.call("oauth.v2.access", token="", **given)


async def refresh(slack: SlackServer, client: Client, token: str) -> dict[str, Any]:
    whose: dict[str, Any] = {"client_id": slack.client_id, "client_secret": slack.client_secret}
    return await client.call("oauth.v2.access", token="", **whose, grant_type="refresh_token", refresh_token=token)


async def test_a_person_approves_and_the_token_works_there(slack: SlackServer, client: Client, bob: User) -> None:
    back = slack.authorize(asked_for(slack), bob)
    got = await exchange(slack, client, code_in(back))

    assert back.startswith(BACK)
    assert "state=s1" in back
    assert (got["team"]["id"], got["bot_user_id"], got["authed_user"]["id"]) == ("T2", "U2PARLEY", "U2")
    assert (await client.call("auth.test", token=got["access_token"]))["team_id"] == "T2"
    assert (await client.call("auth.test"))["team_id"] == "T0PARLEY"


async def test_a_token_reaches_its_own_workspace_only(slack: SlackServer, client: Client, bob: User) -> None:
    token = (await exchange(slack, client, code_in(slack.authorize(asked_for(slack), bob))))["access_token"]
    posts = [
        await client.call("chat.postMessage", as_json=True, token=token, channel=channel, text="x", **QUIET)
        for channel in ("C3", "C1")
    ]
    assert [post.get("error") for post in posts] == [None, "channel_not_found"]


async def test_only_approved_scopes_are_granted(slack: SlackServer, client: Client, bob: User) -> None:
    address = slack.authorize(asked_for(slack, scope="chat:write"), bob)
    token = (await exchange(slack, client, code_in(address)))["access_token"]
    assert (await client.call("users.info", token=token, user="U2"))["error"] == "missing_scope"


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code": "made-up"}, "invalid_code"),
        ({"client_id": "1.2"}, "invalid_client_id"),
        ({"client_secret": "guessed"}, "bad_client_secret"),
        ({"redirect_uri": "https://elsewhere.example"}, "bad_redirect_uri"),
        ({"grant_type": "password"}, "invalid_grant_type"),
    ],
)
async def test_what_does_not_fit_gets_no_token(
    slack: SlackServer, client: Client, bob: User, changed: dict[str, str], error: str
) -> None:
    code = code_in(slack.authorize(asked_for(slack), bob))
    assert (await exchange(slack, client, code, **changed))["error"] == error
    assert (await exchange(slack, client, code))["ok"]


async def test_a_code_is_exchanged_once_and_soon(slack: SlackServer, client: Client, bob: User) -> None:
    now = 1_000.0
    slack.clock = lambda: now
    used, late = [code_in(slack.authorize(asked_for(slack), bob)) for _ in range(2)]
    await exchange(slack, client, used)
    again = await exchange(slack, client, used)
    now += 601

    assert again["error"] == "code_already_used"
    assert (await exchange(slack, client, late))["error"] == "invalid_code"


@pytest.mark.parametrize(
    "changed", [{"client_id": "1.2"}, {"redirect_uri": "https://elsewhere.example"}, {"scope": "admin"}, {"scope": ""}]
)
def test_a_request_that_slack_shows_an_error_for_leads_nowhere(
    slack: SlackServer, bob: User, changed: dict[str, str]
) -> None:
    with pytest.raises(NotPossible):
        slack.authorize(asked_for(slack, **changed), bob)


async def test_the_client_may_stand_in_the_header(slack: SlackServer, http: aiohttp.ClientSession, bob: User) -> None:
    held = base64.b64encode(f"{slack.client_id}:{slack.client_secret}".encode()).decode()
    headers = {"Authorization": f"Basic {held}"}
    given = {"code": code_in(slack.authorize(asked_for(slack), bob)), "redirect_uri": BACK}
    async with http.post(slack.api_url + "oauth.v2.access", data=given, headers=headers) as response:
        assert (await response.json())["ok"]


async def test_a_token_that_rotates_expires_and_its_refresh_token_is_used_once(
    slack: SlackServer, client: Client, bob: User
) -> None:
    now = 1_000.0
    slack.rotation, slack.clock = True, lambda: now
    first = await exchange(slack, client, code_in(slack.authorize(asked_for(slack), bob)))
    second = await refresh(slack, client, first["refresh_token"])
    reused = await refresh(slack, client, first["refresh_token"])
    before = await client.call("auth.test", token=first["access_token"])
    now += first["expires_in"]
    after = await client.call("auth.test", token=first["access_token"])

    assert first["expires_in"] == 12 * 3600
    assert (second["ok"], reused["error"]) == (True, "invalid_refresh_token")
    assert (before["ok"], after["error"]) == (True, "token_expired")
    assert (await refresh(slack, client, second["refresh_token"]))["ok"]


async def test_a_revoked_token_is_dead_and_a_trial_changes_nothing(
    slack: SlackServer, client: Client, bob: User
) -> None:
    token = slack.install(slack.others[0], "xoxb-two")
    tried = await client.call("auth.revoke", token=token, test=True)
    revoked = await client.call("auth.revoke", token=token)

    assert (tried["revoked"], revoked["revoked"]) == (False, True)
    assert (await client.call("auth.test", token=token))["error"] == "token_revoked"


async def test_deliveries_name_the_installation_they_are_for(
    slack: SlackServer, app: App, ada: User, bob: User
) -> None:
    before = (await slack.say(bob, slack.others[0].channels["C3"], "<@U2PARLEY> hello"))[1]
    slack.install(slack.others[0], "xoxb-two")
    for user, text in ((bob, "<@U2PARLEY> hello"), (ada, "<@U0PARLEY> hello")):
        place = slack.home_of(user)
        await slack.say(user, next(iter(place.channels.values())), text)

    assert before == []
    assert [told["team_id"] for told in app.received] == ["T2", "T0PARLEY"]
    assert [told["authorizations"][0]["user_id"] for told in app.received] == ["U2PARLEY", "U0PARLEY"]


async def test_uninstalling_one_leaves_the_other(slack: SlackServer, client: Client, app: App, bob: User) -> None:
    slack.events |= {"app_uninstalled", "tokens_revoked"}
    slack.install(slack.others[0], "xoxb-two")

    await slack.uninstall(slack.others[0])

    assert {told["team_id"] for told in app.received} == {"T2"}
    assert (await client.call("auth.test", token="xoxb-two"))["error"] == "token_revoked"
    assert (await client.call("auth.test"))["ok"]


async def test_an_organisation_is_installed_once_for_its_workspaces(
    slack: SlackServer, client: Client, app: App, bob: User
) -> None:
    [place] = slack.others
    place.enterprise = "E1"
    third = slack.add_workspace(Workspace(team="T3", bot_user="U2PARLEY", enterprise="E1"))
    third.add_channel(Channel(id="C4", members=["U2", "U2PARLEY"]))
    got = await exchange(slack, client, code_in(slack.authorize(asked_for(slack), bob, org_wide=True)))
    token = got["access_token"]
    posts = [
        await client.call("chat.postMessage", as_json=True, token=token, channel=channel, text="x", **QUIET)
        for channel in ("C3", "C4", "C1")
    ]

    assert (got["team"], got["enterprise"]["id"], got["is_enterprise_install"]) == (None, "E1", True)
    assert [post.get("error") for post in posts] == [None, None, "channel_not_found"]
    assert len(third.answers()) == 1
    assert (await client.call("auth.test", token=token))["is_enterprise_install"]


async def test_deliveries_of_an_organisation_name_no_team_as_authorized(
    slack: SlackServer, app: App, bob: User
) -> None:
    [place] = slack.others
    place.enterprise = "E1"
    slack.install(place, "xoxb-org", org_wide=True)
    slack.commands = frozenset({"/ask-docs"})
    slack.events, slack.scopes = frozenset({"app_mention"}), frozenset({"app_mentions:read", "commands"})

    await slack.say(bob, place.channels["C3"], "<@U2PARLEY> hello")
    await slack.command(bob, place.channels["C3"], "/ask-docs")

    event, command = app.received
    [authorization] = event["authorizations"]
    assert (authorization["enterprise_id"], authorization["team_id"]) == ("E1", None)
    assert (authorization["is_enterprise_install"], command["is_enterprise_install"]) == (True, "true")


def test_a_workspace_of_no_organisation_has_none_to_install(slack: SlackServer, bob: User) -> None:
    with pytest.raises(NotPossible):
        slack.authorize(asked_for(slack), bob, org_wide=True)
