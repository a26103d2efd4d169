"""The doctor says what Slack says of the tokens, and what to click."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from adapters.slack.checkup import checkup
from adapters.slack.scopes import OPTIONAL, REQUIRED
from bot.installations import Installations, NewInstallation, Tokens
from storage.sql.database import Database
from tests.adapters.slack.conftest import SlackTestSettings
from tests.stand_ins.slack.server import APP_TOKEN, SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM

PUBLIC = "https://parley.example"


@pytest.fixture
async def installations(tmp_path: Path) -> AsyncIterator[Installations]:
    database = await Database.open(f"sqlite:///{tmp_path / 'parley.db'}", clock=lambda: datetime.now(UTC))
    yield Installations("slack", database, [b"key"])
    await database.close()


@pytest.fixture
def settings(slack: SlackServer) -> SlackTestSettings:
    slack.scopes = REQUIRED | OPTIONAL
    return SlackTestSettings(slack_api_url=slack.api_url, link_base=PUBLIC)


@pytest.fixture
def several(slack: SlackServer, settings: SlackTestSettings) -> SlackTestSettings:
    secret = SecretStr(slack.client_secret)
    return replace(
        settings,
        slack_bot_token=None,
        slack_client_id=slack.client_id,
        slack_client_secret=secret,
        accounts=(f"slack:{TEAM}",),
    )


async def found(settings: SlackTestSettings, installations: Installations) -> list[str]:
    return [finding.found for finding in await checkup(settings, installations) if not finding.fault]


async def faults(settings: SlackTestSettings, installations: Installations) -> list[str]:
    return [finding.fault for finding in await checkup(settings, installations) if finding.fault]


async def test_what_is_right_is_told_with_what_the_apps_page_must_say(
    settings: SlackTestSettings, installations: Installations
) -> None:
    assert await faults(settings, installations) == []
    assert await found(settings, installations) == [
        f"bot user {BOT_USER} in {TEAM}",
        f"all {len(REQUIRED)} that are needed",
        f"{PUBLIC}/slack/events must be the Request URL of Event Subscriptions, Interactivity and commands",
    ]


async def test_with_socket_mode_nothing_has_to_be_reachable(
    slack: SlackServer, settings: SlackTestSettings, installations: Installations
) -> None:
    slack.socket_mode = True
    over_sockets = replace(
        settings, slack_app_token=SecretStr(APP_TOKEN), slack_signing_secret=None, link_base="http://127.0.0.1:8080"
    )

    assert await faults(over_sockets, installations) == []
    assert (await found(over_sockets, installations))[-1] == "Socket Mode; Slack need not reach this machine"
    assert slack.sockets.opened == 0


@pytest.mark.parametrize(
    ("changed", "needle"),
    [
        ({"slack_bot_token": None}, "make an app from manifest.yaml"),
        (
            {"slack_bot_token": SecretStr("xoxb-old")},
            "SLACK_BOT_TOKEN is refused by Slack (invalid_auth): open your app",
        ),
        ({"slack_signing_secret": None}, "SLACK_SIGNING_SECRET is not set"),
        ({"slack_app_token": SecretStr(TOKEN)}, "connections:write"),
        ({"slack_app_token": SecretStr(APP_TOKEN)}, "turn on Socket Mode"),
        ({"accounts": ("slack:T9",)}, f"does not name slack:{TEAM}"),
        ({"link_base": "http://127.0.0.1:8080"}, "set it to the https address"),
        ({"link_base": "http://parley.example"}, "set it to the https address"),
        ({"link_base": "https://10.0.0.7"}, "set it to the https address"),
        ({"link_base": "https://localhost"}, "set it to the https address"),
    ],
)
async def test_each_fault_says_what_to_do(
    settings: SlackTestSettings, installations: Installations, changed: dict[str, Any], needle: str
) -> None:
    [fault] = await faults(replace(settings, **changed), installations)

    assert needle in fault


async def test_scopes_that_are_missing_are_named(
    slack: SlackServer, settings: SlackTestSettings, installations: Installations
) -> None:
    slack.scopes -= {"users:read", "files:write"}

    [fault] = await faults(settings, installations)

    assert "lacks the scopes files:write, users:read: add them under OAuth & Permissions" in fault
    assert "Reinstall" in fault


async def test_optional_scopes_may_be_missing(
    slack: SlackServer, settings: SlackTestSettings, installations: Installations
) -> None:
    slack.scopes = REQUIRED

    assert await faults(settings, installations) == []
    scopes = (await found(settings, installations))[1]
    assert "without the optional channels:history, files:read, groups:history" in scopes


@pytest.mark.parametrize("fault", [Fault(status=503), Fault(status=0)])
async def test_without_a_network_there_is_one_plain_sentence(
    slack: SlackServer, settings: SlackTestSettings, installations: Installations, fault: Fault
) -> None:
    slack.fail("auth.test", *[fault] * 3)

    [sentence] = await faults(settings, installations)

    assert "cannot be reached" in sentence
    assert "check the network" in sentence


async def test_an_app_for_several_workspaces_is_told_where_it_is_installed(
    slack: SlackServer, several: SlackTestSettings, installations: Installations
) -> None:
    assert (await found(several, installations))[0].startswith(f"nowhere yet: open {PUBLIC}/slack/install")

    for team, token in ((TEAM, TOKEN), ("T2", "xoxb-dead")):
        await installations.put(installed(team, token))
    named = replace(several, accounts=(f"slack:{TEAM}", "slack:T2"))

    assert (await found(named, installations))[0] == f"bot user {BOT_USER} in {TEAM}"
    [fault] = await faults(named, installations)
    assert (
        fault == f"slack:T2 is refused by Slack (invalid_auth): open {PUBLIC}/slack/install and install it there again"
    )
    [unnamed] = await faults(several, installations)
    assert "PARLEY_ACCOUNTS does not name it" in unnamed


async def test_no_secret_is_told(slack: SlackServer, settings: SlackTestSettings, installations: Installations) -> None:
    told: list[str] = []
    for changed in ({}, {"slack_bot_token": SecretStr("xoxb-secret")}, {"slack_app_token": SecretStr("xapp-secret")}):
        told += [repr(finding) for finding in await checkup(replace(settings, **changed), installations)]

    secrets: Sequence[str] = (TOKEN, SIGNING_SECRET, "xoxb-secret", "xapp-secret", slack.client_secret)
    assert [secret for secret in secrets if secret in " ".join(told)] == []


def installed(team: str, token: str) -> NewInstallation:
    return NewInstallation(
        product="slack",
        team=team,
        enterprise=None,
        name=team,
        bot_user=BOT_USER,
        scopes=(),
        tokens=Tokens(access=SecretStr(token)),
        installed_by=f"slack:{team}:U1",
    )
