"""Compares all messages with golden files. The cards can be pasted into the designer of adaptivecards.io."""

import json
from pathlib import Path
from typing import get_args

import pytest

from adapters.teams.payloads.json_values import JsonObject
from bot.surface.replies import ReplyPart
from tests.adapters.slack.gallery import PARTS
from tests.adapters.teams.gallery import MESSAGES
from tests.stand_ins.teams.activity_checker import check_activity

GOLDEN = Path(__file__).parents[3] / "golden" / "teams"


def as_json_file(message: JsonObject) -> str:
    return json.dumps(message, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", MESSAGES)
def test_each_message_equals_its_golden_file(name: str) -> None:
    assert as_json_file(MESSAGES[name]) == (GOLDEN / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MESSAGES)
def test_each_message_is_valid_for_teams(name: str) -> None:
    check_activity(json.loads(as_json_file(MESSAGES[name])), is_personal=True, supports_files=True)


def test_each_part_of_a_reply_has_a_golden_file() -> None:
    assert {type(part) for part in PARTS.values()} == set(get_args(ReplyPart))
    assert PARTS.keys() <= MESSAGES.keys()


def test_each_golden_file_has_a_message() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(MESSAGES)
