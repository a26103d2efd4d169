"""`parley teams package`, run as a process."""

import json
import zipfile
from pathlib import Path

from tests.cli.conftest import run_parley

APP_ID = "2f9d7a4e-60cb-4d65-9d3c-7f2d1a0b9c8d"


def test_the_package_is_written_with_notes_about_missing_settings(tmp_path: Path) -> None:
    target = tmp_path / "app.zip"
    ended = run_parley(tmp_path / "home", "teams", "package", "--out", str(target), MICROSOFT_APP_ID=APP_ID)

    with zipfile.ZipFile(target) as package:
        manifest = json.loads(package.read("manifest.json"))
    assert ended.status == 0
    assert manifest["bots"][0]["botId"] == APP_ID
    assert ended.stdout.startswith(f"{target}  ")
    assert "PARLEY_TEAMS_PRIVACY_URL" in ended.stdout
    assert "PARLEY_PUBLIC_URL is http://127.0.0.1:8080" in ended.stdout


def test_the_json_has_the_path_and_the_notes_alone(tmp_path: Path) -> None:
    target = tmp_path / "app.zip"
    ended = run_parley(
        tmp_path / "home",
        "teams",
        "package",
        "--json",
        "--out",
        str(target),
        MICROSOFT_APP_ID=APP_ID,
        PARLEY_PUBLIC_URL="https://parley.contoso.example",
        PARLEY_TEAMS_DEVELOPER_NAME="Contoso",
        PARLEY_TEAMS_WEBSITE_URL="https://contoso.example",
        PARLEY_TEAMS_PRIVACY_URL="https://contoso.example/privacy",
        PARLEY_TEAMS_TERMS_URL="https://contoso.example/terms",
    )

    assert ended.json == {"path": str(target), "notes": []}


def test_without_an_app_there_is_no_package(tmp_path: Path) -> None:
    ended = run_parley(tmp_path / "home", "teams", "package", "--out", str(tmp_path / "app.zip"))

    assert (ended.status, ended.stdout) == (1, "")
    assert "MICROSOFT_APP_ID is not set" in ended.stderr
    assert not (tmp_path / "app.zip").exists()


def test_a_folder_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    target = tmp_path / "missing" / "app.zip"
    ended = run_parley(tmp_path / "home", "teams", "package", "--out", str(target), MICROSOFT_APP_ID=APP_ID)

    assert ended.status == 1
    assert str(target) in ended.stderr
