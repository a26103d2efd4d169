"""An installed adapter brings its own settings: a class that its entry point in `parley.settings` names."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field, SecretStr

from bot.errors import InvalidSettings
from bot.settings import LoadedSettings, load_settings, survey_settings
from bot.settings_section import SettingsSection
from tests.cli.conftest import run_parley


class SampleTeamsSettings(SettingsSection):
    app_secret: Annotated[SecretStr | None, Field(validation_alias="TEAMS_APP_SECRET")] = None
    teams_seats: Annotated[int, Field(ge=1)] = 5
    issuer: Annotated[str | None, Field(validation_alias="PARLEY_TEAMS_SAMPLE")] = None

    def find_problems(self) -> list[str]:
        return ["Teams needs TEAMS_APP_SECRET"] if self.issuer and self.app_secret is None else []


class GreedyTeamsSettings(SettingsSection):
    port: int = 1


class UninstalledTeamsSettings(SettingsSection):
    pass


InstallAdapter = Callable[[type[SettingsSection]], Path]


@pytest.fixture
def install_adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallAdapter:
    """Installs a distribution with an entry point for the section; returns the folder of the installation."""

    def install(section_type: type[SettingsSection]) -> Path:
        site = tmp_path / "site"
        metadata = site / "parley_teams-1.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: parley-teams\nVersion: 1\n")
        target = f"{section_type.__module__}:{section_type.__name__}"
        (metadata / "entry_points.txt").write_text(f"[parley.settings]\nteams = {target}\n")
        monkeypatch.setattr(sys, "path", [str(site), *sys.path])
        return site

    return install


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


def load_from(home: Path, toml: str, **environ: str) -> LoadedSettings:
    (home / "parley.toml").write_text(toml, encoding="utf-8")
    return load_settings(home, environ)


def test_a_section_is_read_from_the_environment_and_the_file(home: Path, install_adapter: InstallAdapter) -> None:
    install_adapter(SampleTeamsSettings)

    loaded = load_from(home, "teams_seats = 9\nparley_teams_sample = 'file'", PARLEY_TEAMS_SAMPLE="environment")
    section = loaded.settings.section(SampleTeamsSettings)

    assert (section.teams_seats, section.issuer, section.app_secret) == (9, "environment", None)
    assert loaded.sources["PARLEY_TEAMS_SEATS"] == "parley.toml"
    assert loaded.sources["PARLEY_TEAMS_SAMPLE"] == "environment"
    assert loaded.sources["TEAMS_APP_SECRET"] == "default"


def test_an_invalid_setting_of_a_section_is_named_and_the_others_are_kept(
    home: Path, install_adapter: InstallAdapter
) -> None:
    install_adapter(SampleTeamsSettings)

    loaded = survey_settings(home, {"PARLEY_TEAMS_SEATS": "0", "PARLEY_TEAMS_SAMPLE": "me", "PARLEY_PORT": "x"})
    section = loaded.settings.section(SampleTeamsSettings)

    assert [error.setting for error in loaded.errors] == ["PARLEY_PORT", "PARLEY_TEAMS_SEATS"]
    assert "greater than or equal to 1" in loaded.errors[1].reason
    assert (section.teams_seats, section.issuer) == (5, "me")


def test_two_sections_cannot_claim_the_same_variable(home: Path, install_adapter: InstallAdapter) -> None:
    install_adapter(GreedyTeamsSettings)

    with pytest.raises(InvalidSettings, match=rf"PARLEY_PORT is claimed by bot\.settings and by {__name__}"):
        load_settings(home, {})


def test_a_section_stays_with_changed_settings(home: Path, install_adapter: InstallAdapter) -> None:
    install_adapter(SampleTeamsSettings)
    settings = load_from(home, "teams_seats = 9").settings.model_copy(update={"port": 1})

    assert (settings.port, settings.section(SampleTeamsSettings).teams_seats) == (1, 9)


def test_a_section_without_an_entry_point_is_not_found(home: Path) -> None:
    settings = load_settings(home, {}).settings

    with pytest.raises(LookupError, match="UninstalledTeamsSettings"):
        settings.section(UninstalledTeamsSettings)


def test_the_keys_of_an_uninstalled_adapter_are_refused(home: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"'teams_seats' in .* is not a setting"):
        load_from(home, "teams_seats = 9")


def test_doctor_lists_a_section_and_its_problems(home: Path, install_adapter: InstallAdapter) -> None:
    site = install_adapter(SampleTeamsSettings)

    ended = run_parley(home, "doctor", "--json", PYTHONPATH=str(site), PARLEY_TEAMS_SAMPLE="me")
    rows = {row["name"]: (row["value"], row["source"]) for row in ended.json["settings"]}

    assert rows["PARLEY_TEAMS_SAMPLE"] == ("me", "environment")
    assert rows["PARLEY_TEAMS_SEATS"] == ("5", "default")
    assert ended.json["problems"] == ["Teams needs TEAMS_APP_SECRET"]
