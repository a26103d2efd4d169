"""The doctor reports what Slack answers about the tokens, and what to click."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from adapters.slack.checkup import checkup
from adapters.slack.workspaces.scopes import OPTIONAL_SCOPES, REQUIRED_SCOPES
from bot.surface.installations import AccessTokens, AppInstallations, NewAppInstallation
from storage.sql.database import SqlDatabase
from tests.adapters.slack.conftest import SlackTestSettings
from tests.stand_ins.slack.server import APP_TOKEN, SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM

PUBLIC = "https://parley.example"


@pytest.fixture
async def installations(tmp_path: Path) -> AsyncIterator[AppInstallations]:
    database = await SqlDatabase.open(f"sqlite:///{tmp_path / 'parley.db'}", clock=lambda: datetime.now(UTC))
    yield AppInstallations("slack", database, [b"key"])
    await database.close()


@pytest.fixture
def settings(slack: SlackServer) -> SlackTestSettings:
    slack.scopes = REQUIRED_SCOPES | OPTIONAL_SCOPES
    return SlackTestSettings(api_url=slack.api_url, link_base=PUBLIC)


@pytest.fixture
def oauth_settings(slack: SlackServer, settings: SlackTestSettings) -> SlackTestSettings:
    oauth = {
        "bot_token": None,
        "client_id": slack.client_id,
        "client_secret": SecretStr(slack.client_secret),
        "accounts": (f"slack:{TEAM}",),
    }
    return settings.model_copy(update=oauth)


async def findings_of(settings: SlackTestSettings, installations: AppInstallations) -> list[str]:
    return [finding.found for finding in await checkup(settings, installations) if not finding.fault]


async def faults_of(settings: SlackTestSettings, installations: AppInstallations) -> list[str]:
    return [finding.fault for finding in await checkup(settings, installations) if finding.fault]


async def test_a_correct_setup_is_reported_with_the_addresses_for_the_apps_page(
    settings: SlackTestSettings, installations: AppInstallations
) -> None:
    assert await faults_of(settings, installations) == []
    assert await findings_of(settings, installations) == [
        f"bot user {BOT_USER} in {TEAM}",
        f"all {len(REQUIRED_SCOPES)} that are needed",
        f"{PUBLIC}/slack/events must be the Request URL of Event Subscriptions, Interactivity and commands",
    ]


async def test_with_socket_mode_no_address_must_be_reachable(
    slack: SlackServer, settings: SlackTestSettings, installations: AppInstallations
) -> None:
    slack.socket_mode = True
    changes = {"app_token": SecretStr(APP_TOKEN), "signing_secret": None, "link_base": "http://127.0.0.1:8080"}
    over_sockets = settings.model_copy(update=changes)

    assert await faults_of(over_sockets, installations) == []
    assert (await findings_of(over_sockets, installations))[-1] == "Socket Mode; Slack need not reach this machine"
    assert slack.sockets.opened == 0


@pytest.mark.parametrize(
    ("changed", "needle"),
    [
        ({"bot_token": None}, "make an app from manifest.yaml"),
        (
            {"bot_token": SecretStr("xoxb-old")},
            "SLACK_BOT_TOKEN is refused by Slack (invalid_auth): open your app",
        ),
        ({"signing_secret": None}, "SLACK_SIGNING_SECRET is not set"),
        ({"app_token": SecretStr(TOKEN)}, "connections:write"),
        ({"app_token": SecretStr(APP_TOKEN)}, "turn on Socket Mode"),
        ({"accounts": ("slack:T9",)}, f"does not name slack:{TEAM}"),
        ({"link_base": "http://127.0.0.1:8080"}, "set it to the https address"),
        ({"link_base": "http://parley.example"}, "set it to the https address"),
        ({"link_base": "https://10.0.0.7"}, "set it to the https address"),
        ({"link_base": "https://localhost"}, "set it to the https address"),
    ],
)
async def test_each_fault_comes_with_advice(
    settings: SlackTestSettings, installations: AppInstallations, changed: dict[str, Any], needle: str
) -> None:
    [fault] = await faults_of(settings.model_copy(update=changed), installations)

    assert needle in fault


async def test_missing_scopes_are_named(
    slack: SlackServer, settings: SlackTestSettings, installations: AppInstallations
) -> None:
    slack.scopes -= {"users:read", "files:write"}

    [fault] = await faults_of(settings, installations)

    assert "lacks the scopes files:write, users:read: add them under OAuth & Permissions" in fault
    assert "Reinstall" in fault


async def test_optional_scopes_may_be_missing(
    slack: SlackServer, settings: SlackTestSettings, installations: AppInstallations
) -> None:
    slack.scopes = REQUIRED_SCOPES

    assert await faults_of(settings, installations) == []
    scopes = (await findings_of(settings, installations))[1]
    assert "without the optional channels:history, files:read, groups:history, users:read.email" in scopes


@pytest.mark.parametrize("fault", [Fault(status=503), Fault(status=0)])
async def test_an_unreachable_slack_is_reported_in_one_sentence(
    slack: SlackServer, settings: SlackTestSettings, installations: AppInstallations, fault: Fault
) -> None:
    slack.plan_faults("auth.test", *[fault] * 3)

    [sentence] = await faults_of(settings, installations)

    assert "cannot be reached" in sentence
    assert "check the network" in sentence


async def test_the_installations_of_an_app_for_several_workspaces_are_checked(
    slack: SlackServer, oauth_settings: SlackTestSettings, installations: AppInstallations
) -> None:
    assert (await findings_of(oauth_settings, installations))[0].startswith(f"nowhere yet: open {PUBLIC}/slack/install")

    for team, token in ((TEAM, TOKEN), ("T2", "xoxb-dead")):
        await installations.save_installation(new_installation(team, token))
    both_named = oauth_settings.model_copy(update={"accounts": (f"slack:{TEAM}", "slack:T2")})

    assert (await findings_of(both_named, installations))[0] == f"bot user {BOT_USER} in {TEAM}"
    [fault] = await faults_of(both_named, installations)
    assert (
        fault == f"slack:T2 is refused by Slack (invalid_auth): open {PUBLIC}/slack/install and install it there again"
    )
    [unnamed] = await faults_of(oauth_settings, installations)
    assert "PARLEY_ACCOUNTS does not name it" in unnamed


async def test_no_secret_is_shown(
    slack: SlackServer, settings: SlackTestSettings, installations: AppInstallations
) -> None:
    findings: list[str] = []
    tokens: list[dict[str, object]] = [
        {},
        {"bot_token": SecretStr("xoxb-secret")},
        {"app_token": SecretStr("xapp-secret")},
    ]
    for changed in tokens:
        findings += [repr(finding) for finding in await checkup(settings.model_copy(update=changed), installations)]

    secrets: Sequence[str] = (TOKEN, SIGNING_SECRET, "xoxb-secret", "xapp-secret", slack.client_secret)
    assert [secret for secret in secrets if secret in " ".join(findings)] == []


def new_installation(team: str, token: str) -> NewAppInstallation:
    return NewAppInstallation(
        product="slack",
        team=team,
        enterprise=None,
        name=team,
        bot_user=BOT_USER,
        scopes=(),
        tokens=AccessTokens(access=SecretStr(token)),
        installed_by=f"slack:{team}:U1",
    )
