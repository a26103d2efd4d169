"""OAuth: installing, token rotation and revocation in several workspaces."""

import base64
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import aiohttp
import pytest

from tests.stand_ins.slack.conftest import QUIET, RecordingApp, WebApiClient
from tests.stand_ins.slack.server import ActionNotPossible, SlackServer
from tests.stand_ins.slack.workspace import SlackChannel, SlackMember, StandInWorkspace

REDIRECT_URI = "http://127.0.0.1/slack/oauth_redirect"


@pytest.fixture
def other_workspace(slack: SlackServer) -> StandInWorkspace:
    """Returns another workspace, with a person and a channel."""
    slack.redirect_urls = frozenset({REDIRECT_URI})
    workspace = slack.add_workspace(StandInWorkspace(team="T2", name="Other", bot_user="U2PARLEY"))
    workspace.add_user(SlackMember(id="U2", name="Bob", team="T2"))
    workspace.add_channel(SlackChannel(id="C3", members=["U2", "U2PARLEY"]))
    return workspace


@pytest.fixture
def bob(other_workspace: StandInWorkspace) -> SlackMember:
    return other_workspace.users["U2"]


def authorization_address(slack: SlackServer, **changed: str) -> str:
    """Returns the address of Slack's approval page."""
    fields = {
        "client_id": slack.client_id,
        "scope": "chat:write,users:read",
        "redirect_uri": REDIRECT_URI,
        "state": "s1",
    }
    return f"https://slack.com/oauth/v2/authorize?{urlencode({**fields, **changed})}"


def code_in(address: str) -> str:
    return parse_qs(urlsplit(address).query)["code"][0]


async def exchange_code(slack: SlackServer, client: WebApiClient, code: str, /, **changed: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {"client_id": slack.client_id, "client_secret": slack.client_secret, "code": code}
    arguments |= {"redirect_uri": REDIRECT_URI, **changed}
    return await client.call_method("oauth.v2.access", token="", **arguments)


async def exchange_refresh_token(slack: SlackServer, client: WebApiClient, token: str) -> dict[str, Any]:
    credentials: dict[str, Any] = {"client_id": slack.client_id, "client_secret": slack.client_secret}
    return await client.call_method(
        "oauth.v2.access", token="", **credentials, grant_type="refresh_token", refresh_token=token
    )


async def test_an_approved_installation_gets_a_token_for_its_workspace(
    slack: SlackServer, client: WebApiClient, bob: SlackMember
) -> None:
    redirect = slack.authorize_app(authorization_address(slack), bob)
    response = await exchange_code(slack, client, code_in(redirect))

    assert redirect.startswith(REDIRECT_URI)
    assert "state=s1" in redirect
    assert (response["team"]["id"], response["bot_user_id"], response["authed_user"]["id"]) == ("T2", "U2PARLEY", "U2")
    assert (await client.call_method("auth.test", token=response["access_token"]))["team_id"] == "T2"
    assert (await client.call_method("auth.test"))["team_id"] == "T0PARLEY"


async def test_a_token_works_in_its_own_workspace_only(
    slack: SlackServer, client: WebApiClient, bob: SlackMember
) -> None:
    token = (await exchange_code(slack, client, code_in(slack.authorize_app(authorization_address(slack), bob))))[
        "access_token"
    ]
    posts = [
        await client.call_method("chat.postMessage", as_json=True, token=token, channel=channel, text="x", **QUIET)
        for channel in ("C3", "C1")
    ]
    assert [post.get("error") for post in posts] == [None, "channel_not_found"]


async def test_only_approved_scopes_are_granted(slack: SlackServer, client: WebApiClient, bob: SlackMember) -> None:
    address = slack.authorize_app(authorization_address(slack, scope="chat:write"), bob)
    token = (await exchange_code(slack, client, code_in(address)))["access_token"]
    assert (await client.call_method("users.info", token=token, user="U2"))["error"] == "missing_scope"


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
async def test_an_exchange_with_a_wrong_argument_gets_no_token(
    slack: SlackServer, client: WebApiClient, bob: SlackMember, changed: dict[str, str], error: str
) -> None:
    code = code_in(slack.authorize_app(authorization_address(slack), bob))
    assert (await exchange_code(slack, client, code, **changed))["error"] == error
    assert (await exchange_code(slack, client, code))["ok"]


async def test_a_code_can_be_exchanged_once_and_expires(
    slack: SlackServer, client: WebApiClient, bob: SlackMember
) -> None:
    now = 1_000.0
    slack.clock = lambda: now
    used_code, late_code = [code_in(slack.authorize_app(authorization_address(slack), bob)) for _ in range(2)]
    await exchange_code(slack, client, used_code)
    second_exchange = await exchange_code(slack, client, used_code)
    now += 601

    assert second_exchange["error"] == "code_already_used"
    assert (await exchange_code(slack, client, late_code))["error"] == "invalid_code"


@pytest.mark.parametrize(
    "changed", [{"client_id": "1.2"}, {"redirect_uri": "https://elsewhere.example"}, {"scope": "admin"}, {"scope": ""}]
)
def test_an_invalid_authorization_request_is_refused(
    slack: SlackServer, bob: SlackMember, changed: dict[str, str]
) -> None:
    with pytest.raises(ActionNotPossible):
        slack.authorize_app(authorization_address(slack, **changed), bob)


async def test_the_client_credentials_can_be_in_the_header(
    slack: SlackServer, http: aiohttp.ClientSession, bob: SlackMember
) -> None:
    credentials = base64.b64encode(f"{slack.client_id}:{slack.client_secret}".encode()).decode()
    headers = {"Authorization": f"Basic {credentials}"}
    form_fields = {
        "code": code_in(slack.authorize_app(authorization_address(slack), bob)),
        "redirect_uri": REDIRECT_URI,
    }
    async with http.post(slack.api_url + "oauth.v2.access", data=form_fields, headers=headers) as response:
        assert (await response.json())["ok"]


async def test_a_rotating_token_expires_and_its_refresh_token_works_once(
    slack: SlackServer, client: WebApiClient, bob: SlackMember
) -> None:
    now = 1_000.0
    slack.rotation, slack.clock = True, lambda: now
    installation = await exchange_code(slack, client, code_in(slack.authorize_app(authorization_address(slack), bob)))
    refreshed = await exchange_refresh_token(slack, client, installation["refresh_token"])
    reused = await exchange_refresh_token(slack, client, installation["refresh_token"])
    check_before_expiry = await client.call_method("auth.test", token=installation["access_token"])
    now += installation["expires_in"]
    check_after_expiry = await client.call_method("auth.test", token=installation["access_token"])

    assert installation["expires_in"] == 12 * 3600
    assert (refreshed["ok"], reused["error"]) == (True, "invalid_refresh_token")
    assert (check_before_expiry["ok"], check_after_expiry["error"]) == (True, "token_expired")
    assert (await exchange_refresh_token(slack, client, refreshed["refresh_token"]))["ok"]


async def test_a_revoked_token_is_invalid_and_a_test_revocation_has_no_effect(
    slack: SlackServer, client: WebApiClient, bob: SlackMember
) -> None:
    token = slack.install_with_token(slack.other_workspaces[0], "xoxb-two")
    test_revocation = await client.call_method("auth.revoke", token=token, test=True)
    revoked = await client.call_method("auth.revoke", token=token)

    assert (test_revocation["revoked"], revoked["revoked"]) == (False, True)
    assert (await client.call_method("auth.test", token=token))["error"] == "token_revoked"


async def test_deliveries_name_their_installation(
    slack: SlackServer, app: RecordingApp, ada: SlackMember, bob: SlackMember
) -> None:
    deliveries_before = (
        await slack.post_as_person(bob, slack.other_workspaces[0].channels["C3"], "<@U2PARLEY> hello")
    )[1]
    slack.install_with_token(slack.other_workspaces[0], "xoxb-two")
    for user, text in ((bob, "<@U2PARLEY> hello"), (ada, "<@U0PARLEY> hello")):
        workspace = slack.workspace_of_user(user)
        await slack.post_as_person(user, next(iter(workspace.channels.values())), text)

    assert deliveries_before == []
    assert [payload["team_id"] for payload in app.received] == ["T2", "T0PARLEY"]
    assert [payload["authorizations"][0]["user_id"] for payload in app.received] == ["U2PARLEY", "U0PARLEY"]


async def test_uninstalling_one_workspace_keeps_the_other(
    slack: SlackServer, client: WebApiClient, app: RecordingApp, bob: SlackMember
) -> None:
    slack.events |= {"app_uninstalled", "tokens_revoked"}
    slack.install_with_token(slack.other_workspaces[0], "xoxb-two")

    await slack.uninstall_app(slack.other_workspaces[0])

    assert {payload["team_id"] for payload in app.received} == {"T2"}
    assert (await client.call_method("auth.test", token="xoxb-two"))["error"] == "token_revoked"
    assert (await client.call_method("auth.test"))["ok"]


async def test_an_organisation_wide_installation_covers_all_its_workspaces(
    slack: SlackServer, client: WebApiClient, app: RecordingApp, bob: SlackMember
) -> None:
    [workspace] = slack.other_workspaces
    workspace.enterprise = "E1"
    sibling = slack.add_workspace(StandInWorkspace(team="T3", bot_user="U2PARLEY", enterprise="E1"))
    sibling.add_channel(SlackChannel(id="C4", members=["U2", "U2PARLEY"]))
    response = await exchange_code(
        slack, client, code_in(slack.authorize_app(authorization_address(slack), bob, org_wide=True))
    )
    token = response["access_token"]
    posts = [
        await client.call_method("chat.postMessage", as_json=True, token=token, channel=channel, text="x", **QUIET)
        for channel in ("C3", "C4", "C1")
    ]

    assert (response["team"], response["enterprise"]["id"], response["is_enterprise_install"]) == (None, "E1", True)
    assert [post.get("error") for post in posts] == [None, None, "channel_not_found"]
    assert len(sibling.bot_messages()) == 1
    assert (await client.call_method("auth.test", token=token))["is_enterprise_install"]


async def test_deliveries_of_an_organisation_have_no_authorized_team(
    slack: SlackServer, app: RecordingApp, bob: SlackMember
) -> None:
    [workspace] = slack.other_workspaces
    workspace.enterprise = "E1"
    slack.install_with_token(workspace, "xoxb-org", org_wide=True)
    slack.commands = frozenset({"/ask-docs"})
    slack.events, slack.scopes = frozenset({"app_mention"}), frozenset({"app_mentions:read", "commands"})

    await slack.post_as_person(bob, workspace.channels["C3"], "<@U2PARLEY> hello")
    await slack.use_command(bob, workspace.channels["C3"], "/ask-docs")

    event, command = app.received
    [authorization] = event["authorizations"]
    assert (authorization["enterprise_id"], authorization["team_id"]) == ("E1", None)
    assert (authorization["is_enterprise_install"], command["is_enterprise_install"]) == (True, "true")


def test_a_workspace_without_an_organisation_cannot_install_organisation_wide(
    slack: SlackServer, bob: SlackMember
) -> None:
    with pytest.raises(ActionNotPossible):
        slack.authorize_app(authorization_address(slack), bob, org_wide=True)
