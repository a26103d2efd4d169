"""`parley doctor --slack`, as people start it."""

from pathlib import Path

from tests.cli.conftest import run

NOBODY = "http://127.0.0.1:9/api/"


def test_a_slack_that_cannot_be_reached_is_one_plain_sentence(tmp_path: Path) -> None:
    tokens = {"SLACK_BOT_TOKEN": "xoxb-hush", "SLACK_APP_TOKEN": "xapp-hush"}
    ended = run(tmp_path, "doctor", "--slack", "--json", SLACK_API_URL=NOBODY, **tokens)

    [problem] = ended.json["problems"]
    assert ended.status == 1
    assert "127.0.0.1:9 cannot be reached" in problem
    assert [finding["fault"] for finding in ended.json["slack"]] == [problem]
    assert "hush" not in ended.out + ended.err


def test_a_slack_that_is_not_set_up_is_said_with_what_to_do(tmp_path: Path) -> None:
    ended = run(tmp_path, "doctor", "--slack")

    assert ended.status == 1
    assert "Slack: app: nothing is set: make an app from manifest.yaml" in ended.out


def test_slack_is_not_asked_unless_it_is_wanted(tmp_path: Path) -> None:
    ended = run(tmp_path, "doctor", SLACK_API_URL=NOBODY, SLACK_BOT_TOKEN="xoxb-1", SLACK_SIGNING_SECRET="s")

    assert ended.status == 0
    assert "Everything answers." in ended.out
