"""The doctor reports what Microsoft answers, and what to enter where; never a secret."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.teams.checkup import checkup
from adapters.teams.settings import TeamsSettings
from bot.settings_section import SectionT
from bot.surface.installations import AppInstallations
from storage.sql.database import SqlDatabase
from tests.stand_ins.teams.conftest import teams
from tests.stand_ins.teams.faults import TeamsFault
from tests.stand_ins.teams.server import TeamsServer

__all__ = ["teams"]

PUBLIC = "https://parley.contoso.example"
GUID = "8d2c8c2c-54b8-4b3f-9a3a-1f2f0c7f7a11"
NOBODY = "http://127.0.0.1:9"


@dataclass
class CheckupTestSettings:
    teams: dict[str, str | None] = field(default_factory=dict[str, str | None])
    link_base: str = PUBLIC

    def section(self, section_type: type[SectionT]) -> SectionT:
        assert section_type is TeamsSettings
        return section_type.model_validate(self.teams)


@pytest.fixture
async def installations(tmp_path: Path) -> AsyncIterator[AppInstallations]:
    database = await SqlDatabase.open(f"sqlite:///{tmp_path / 'parley.db'}", clock=lambda: datetime.now(UTC))
    yield AppInstallations("teams", database, [b"key"])
    await database.close()


@pytest.fixture
def settings(teams: TeamsServer) -> CheckupTestSettings:
    return CheckupTestSettings(
        {
            "app_id": teams.registration.app_id,
            "app_password": teams.registration.secret,
            "app_tenant": teams.tenant.id,
            "token_url": teams.token_url,
            "openid_url": teams.openid_url,
        }
    )


async def findings_of(settings: CheckupTestSettings, installations: AppInstallations) -> list[str]:
    return [finding.found for finding in await checkup(settings, installations) if not finding.fault]


async def faults_of(settings: CheckupTestSettings, installations: AppInstallations) -> list[str]:
    return [finding.fault for finding in await checkup(settings, installations) if finding.fault]


async def test_a_correct_setup_is_reported_with_the_address_for_the_bots_page(
    teams: TeamsServer, settings: CheckupTestSettings, installations: AppInstallations
) -> None:
    host = teams.origin.removeprefix("http://")

    assert await faults_of(settings, installations) == []
    assert await findings_of(settings, installations) == [
        f"Microsoft gives the app {teams.registration.app_id} a token (SingleTenant)",
        f"{host} gives the keys with which Microsoft signs messages",
        f"{PUBLIC}/api/messages must be the Messaging endpoint on the page Configuration of the Azure Bot",
        f"messages are accepted from {teams.tenant.id}",
    ]


@pytest.mark.parametrize(
    ("changes", "needle"),
    [
        ({"app_id": None, "app_password": None, "app_tenant": None}, "create an Azure Bot"),
        ({"app_id": None}, "set both or neither"),
        ({"app_password": None}, "MICROSOFT_APP_PASSWORD"),
        ({"app_tenant": None}, "MICROSOFT_APP_TENANT_ID"),
        ({"app_tenant": None, "app_type": "MultiTenant"}, "MICROSOFT_APP_TENANT_ID"),
        ({"app_tenant": None, "token_url": None, "allowed_tenants": GUID}, "MICROSOFT_APP_TENANT_ID is not set"),
        ({"app_tenant": "", "token_url": None, "allowed_tenants": GUID}, "MICROSOFT_APP_TENANT_ID is not set"),
        ({"app_tenant": "contoso"}, "'contoso', which is not an id"),
        ({"allowed_tenants": "contoso.example"}, "PARLEY_TEAMS_ALLOWED_TENANTS has 'contoso.example'"),
        ({"app_id": "parley"}, "MICROSOFT_APP_ID has 'parley'"),
        ({"app_password": "a wrong secret"}, "Microsoft gives the app no token (401, AADSTS"),
        ({"token_url": f"{NOBODY}/token"}, "127.0.0.1:9 does not give a token"),
        ({"token_url": "http://login.example/token"}, "PARLEY_TEAMS_TOKEN_URL is not https"),
        ({"openid_url": f"{NOBODY}/openid"}, "127.0.0.1:9 gives no signing keys"),
    ],
)
async def test_each_fault_names_what_to_change(
    settings: CheckupTestSettings, installations: AppInstallations, changes: dict[str, str | None], needle: str
) -> None:
    changed = CheckupTestSettings({**settings.teams, **changes})

    faults = await faults_of(changed, installations)

    assert any(needle in fault for fault in faults), faults
    assert not any("secret" in fault for fault in faults)


@pytest.mark.parametrize("base", ["http://127.0.0.1:8080", "https://10.0.0.7", "http://parley.contoso.example"])
async def test_an_address_that_microsoft_cannot_reach_is_a_fault(
    settings: CheckupTestSettings, installations: AppInstallations, base: str
) -> None:
    settings.link_base = base

    assert await faults_of(settings, installations) == [
        f"PARLEY_PUBLIC_URL is {base}, which Microsoft cannot reach: set it to the https address that leads here"
    ]


async def test_no_secret_and_no_token_is_reported(
    teams: TeamsServer, settings: CheckupTestSettings, installations: AppInstallations
) -> None:
    findings = repr(await checkup(settings, installations))
    teams.plan_faults("token", TeamsFault(status=400, code="invalid_client"))
    findings += repr(await checkup(settings, installations))

    assert teams.registration.secret not in findings
    assert "eyJ" not in findings


async def test_an_app_of_many_tenants_is_told_that_no_new_ones_are_registered(
    teams: TeamsServer, settings: CheckupTestSettings, installations: AppInstallations
) -> None:
    settings.teams["app_type"] = "MultiTenant"

    assert "registers no new bots of this type" in (await findings_of(settings, installations))[-1]
