"""The settings of the Slack app come from its variables and from `parley.toml`."""

from pathlib import Path

import pytest

from adapters.slack.settings import SlackSettings
from bot.errors import InvalidSettings
from bot.settings import load_settings


def load_slack_settings(home: Path, toml: str = "", **environ: str) -> SlackSettings:
    (home / "parley.toml").write_text(toml, encoding="utf-8")
    return load_settings(home, environ).settings.section(SlackSettings)


def test_without_any_setting_there_is_no_app(tmp_path: Path) -> None:
    settings = load_slack_settings(tmp_path)

    assert not settings.is_configured
    assert settings.api_url == "https://slack.com/api/"
    assert (settings.threads, settings.bots, settings.file_mb) == (False, (), 1_000)


def test_tokens_are_read_under_slacks_own_names_and_stay_hidden(tmp_path: Path) -> None:
    settings = load_slack_settings(tmp_path, 'slack_app_token = "xapp-1"', SLACK_BOT_TOKEN="xoxb-1")

    assert settings.bot_token is not None
    assert settings.bot_token.get_secret_value() == "xoxb-1"
    assert settings.app_token is not None
    assert "xoxb" not in repr(settings)
    assert "xapp" not in repr(settings)


@pytest.mark.parametrize("key", ["slack_threads", "SLACK_THREADS", "parley_slack_threads", "PARLEY_SLACK_THREADS"])
def test_a_key_of_the_file_is_the_variable_in_any_case_with_or_without_the_prefix(tmp_path: Path, key: str) -> None:
    assert load_slack_settings(tmp_path, f"{key} = true").threads


@pytest.mark.parametrize("key", ["threads", "bot_token", "parley_slack_bot_token"])
def test_the_name_of_a_field_is_no_key_of_the_file(tmp_path: Path, key: str) -> None:
    with pytest.raises(InvalidSettings, match="is not a setting"):
        load_slack_settings(tmp_path, f'{key} = "true"')


def test_bots_are_separated_by_commas(tmp_path: Path) -> None:
    assert load_slack_settings(tmp_path, PARLEY_SLACK_BOTS="A1, B2,").bots == ("A1", "B2")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("SLACK_API_URL", "http://127.0.0.1/", "does not end in /api/"),
        ("PARLEY_SLACK_THREADS", "perhaps", "valid boolean"),
        ("PARLEY_SLACK_BOTS", "U1", "is neither the id of an app"),
        ("PARLEY_SLACK_FILE_MB", "-1", "greater than or equal to 0"),
    ],
)
def test_the_error_names_the_variable(tmp_path: Path, name: str, value: str, reason: str) -> None:
    with pytest.raises(InvalidSettings, match=rf"{name} is not valid .*{reason}.*: correct it") as raised:
        load_slack_settings(tmp_path, **{name: value})

    assert raised.value.setting == name


@pytest.mark.parametrize(
    ("tokens", "is_complete"),
    [
        ({}, True),
        ({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}, True),
        ({"SLACK_CLIENT_ID": "1.2", "SLACK_SIGNING_SECRET": "s"}, True),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, False),
        ({"SLACK_SIGNING_SECRET": "s"}, False),
    ],
)
def test_an_app_needs_a_way_to_receive_messages(tmp_path: Path, tokens: dict[str, str], is_complete: bool) -> None:
    problems = load_slack_settings(tmp_path, **tokens).find_problems()

    assert [problem for problem in problems if "set both or neither" in problem] == problems
    assert (problems == []) is is_complete
