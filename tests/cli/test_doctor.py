"""`parley doctor --surface slack` and `--surface teams`, run as a process."""

from pathlib import Path

import pytest

from tests.cli.conftest import run_parley

NOBODY = "http://127.0.0.1:9/api/"


def test_an_unreachable_slack_is_reported_in_one_sentence(tmp_path: Path) -> None:
    tokens = {"SLACK_BOT_TOKEN": "xoxb-hush", "SLACK_APP_TOKEN": "xapp-hush"}
    ended = run_parley(tmp_path, "doctor", "--slack", "--json", SLACK_API_URL=NOBODY, **tokens)

    [problem] = ended.json["problems"]
    assert ended.status == 1
    assert "127.0.0.1:9 cannot be reached" in problem
    assert [finding["fault"] for finding in ended.json["slack"]] == [problem]
    assert "hush" not in ended.stdout + ended.stderr


def test_a_slack_without_settings_is_reported_with_advice(tmp_path: Path) -> None:
    ended = run_parley(tmp_path, "doctor", "--surface", "slack")

    assert ended.status == 1
    assert "Slack: app: nothing is set: make an app from manifest.yaml" in ended.stdout


def test_the_verdict_stands_first_and_last_and_problems_before_the_rest(tmp_path: Path) -> None:
    fine = run_parley(tmp_path, "doctor", "--index")
    wrong = run_parley(tmp_path, "doctor", "--index", "--slack", PARLEY_RETENTION_DAYS="many", PARLEY_LOG="loud")
    unset = run_parley(tmp_path, "doctor", "--index", "--slack")

    lines = fine.stdout.splitlines()
    assert lines[0] == lines[-1] == "Everything answers."
    assert wrong.stdout.splitlines()[0].endswith("problems.")
    first_settings = [line.partition(" ")[0] for line in wrong.stdout.splitlines()[1:3]]
    assert sorted(first_settings) == ["PARLEY_LOG", "PARLEY_RETENTION_DAYS"]
    assert "problems:" in wrong.stderr
    assert unset.stdout.splitlines()[0] == "1 problem."
    assert unset.stdout.splitlines()[1].startswith("Slack: app: nothing is set")
    assert unset.stdout.splitlines()[2].startswith("Index: file: ")


def test_the_older_option_for_slack_prints_the_same(tmp_path: Path) -> None:
    by_name, by_alias = run_parley(tmp_path, "doctor", "--surface", "slack"), run_parley(tmp_path, "doctor", "--slack")

    assert (by_alias.status, by_alias.stdout, by_alias.stderr) == (by_name.status, by_name.stdout, by_name.stderr)


def test_a_surface_without_a_checkup_is_wrong_usage(tmp_path: Path) -> None:
    ended = run_parley(tmp_path, "doctor", "--surface", "terminal")

    assert ended.status == 2
    assert "cannot be checked" in ended.stderr


def test_slack_is_called_only_on_request(tmp_path: Path) -> None:
    ended = run_parley(tmp_path, "doctor", SLACK_API_URL=NOBODY, SLACK_BOT_TOKEN="xoxb-1", SLACK_SIGNING_SECRET="s")

    assert ended.status == 0
    assert "Everything answers." in ended.stdout


@pytest.mark.parametrize("words", [("--surface", "teams"), ("--teams",)])
def test_a_teams_without_settings_is_reported_with_advice(tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = run_parley(tmp_path, "doctor", *words)

    assert ended.status == 1
    assert "Teams: app: nothing is set: create an Azure Bot" in ended.stdout


def test_an_unreachable_microsoft_is_reported_without_secrets(tmp_path: Path) -> None:
    app = {
        "MICROSOFT_APP_ID": "2f9d7a4e-60cb-4d65-9d3c-7f2d1a0b9c8d",
        "MICROSOFT_APP_PASSWORD": "hush",
        "MICROSOFT_APP_TENANT_ID": "6f5f7c0e-1d2b-4c3a-8e9f-0a1b2c3d4e5f",
        "PARLEY_TEAMS_TOKEN_URL": NOBODY,
        "PARLEY_TEAMS_OPENID_URL": NOBODY,
    }
    ended = run_parley(tmp_path, "doctor", "--surface", "teams", "--json", **app)

    faults = [finding["fault"] for finding in ended.json["teams"] if finding["fault"]]
    assert ended.status == 1
    assert [fault.partition(" ")[0] for fault in faults] == ["127.0.0.1:9", "127.0.0.1:9", "PARLEY_PUBLIC_URL"]
    assert "hush" not in ended.stdout + ended.stderr


def test_an_unreachable_index_is_checked_in_one_sentence(tmp_path: Path) -> None:
    ended = run_parley(tmp_path, "doctor", "--index", "--json", PARLEY_INDEX_URL="http://127.0.0.1:9")

    [finding] = ended.json["index"]
    assert ended.status == 1
    assert finding["what"] == "version"
    assert "no connection" in finding["fault"]
    assert "PARLEY_INDEX_URL" in finding["fault"]


def test_the_embedded_index_is_checked_by_its_file(tmp_path: Path) -> None:
    ended = run_parley(tmp_path, "doctor", "--index")

    assert ended.status == 0
    assert f"Index: file: the embedded index in {tmp_path}" in ended.stdout
