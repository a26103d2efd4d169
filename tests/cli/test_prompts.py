"""`parley prompts`, run as a process."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from prompts.prompt_library import load_prompt
from storage.sql.database import SqlDatabase
from storage.sql.database_url import sqlite_url_for
from storage.sql.stores.inbox import TurnInbox
from storage.sql.stores.model_calls import ModelCallStore
from tests.cli.conftest import run_parley
from tests.contracts.sql.test_inbox import a_turn, accept_new_turn
from tests.contracts.sql.test_model_calls import a_call

NAME = "route_question"
VALUES: dict[str, Any] = {
    "max_buckets": 3,
    "buckets": "receipts",
    "closest_values": [],
    "conversation": "",
    "question": "How many?",
}


@pytest.fixture
def values_file(tmp_path: Path) -> Path:
    path = tmp_path / "values.json"
    path.write_text(json.dumps(VALUES), encoding="utf-8")
    return path


@pytest.mark.parametrize("words", [["prompts"], ["prompts", "list"]])
def test_the_prompts_are_listed(tmp_path: Path, words: list[str]) -> None:
    prompt = load_prompt(NAME)

    listed = run_parley(tmp_path, *words).stdout

    assert f"version {prompt.version}, small model: {prompt.purpose}" in listed
    assert NAME in [entry["name"] for entry in run_parley(tmp_path, *words, "--json").json]


def test_a_prompt_is_shown_with_its_schema(tmp_path: Path) -> None:
    prompt = load_prompt(NAME)

    shown = run_parley(tmp_path, "prompts", "show", NAME)

    assert prompt.purpose in shown.stdout
    assert f"values: {', '.join(sorted(VALUES))}" in shown.stdout
    assert '"additionalProperties": false' in shown.stdout
    assert prompt.source.strip() in shown.stdout
    assert run_parley(tmp_path, "prompts", "show", NAME, "--json").json["output"] == prompt.output_schema


def test_a_prompt_is_rendered_with_values(tmp_path: Path, values_file: Path) -> None:
    expected = load_prompt(NAME).render(**VALUES)

    rendered = run_parley(tmp_path, "prompts", "render", NAME, "--values", str(values_file), "--json").json

    assert rendered == {"prompt": expected.label, "system": expected.system, "user": expected.user}
    assert expected.user in run_parley(tmp_path, "prompts", "render", NAME, "--values", str(values_file)).stdout


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"buckets": "receipts"}', "route_question also needs closest_values, conversation, max_buckets, question"),
        ("[]", "holds no JSON object"),
        ("{", "is not JSON"),
        (json.dumps(VALUES | {"closest_values": 5}), "cannot be rendered with these values"),
    ],
)
def test_values_that_do_not_fit_are_named(tmp_path: Path, values_file: Path, text: str, reason: str) -> None:
    values_file.write_text(text, encoding="utf-8")

    ended = run_parley(tmp_path, "prompts", "render", NAME, "--values", str(values_file))

    assert (ended.status, ended.stdout) == (1, "")
    assert reason in ended.stderr


def test_an_unknown_prompt_is_named_beside_those_that_are_there(tmp_path: Path) -> None:
    ended = run_parley(tmp_path, "prompts", "show", "nothing")

    assert ended.status == 1
    assert "there is no prompt 'nothing', only" in ended.stderr


def test_a_file_is_compared_with_the_installed_prompt(tmp_path: Path) -> None:
    source, copy = load_prompt(NAME).source, tmp_path / "copy.md"
    copy.write_text(source, encoding="utf-8")
    assert "is the installed prompt" in run_parley(tmp_path, "prompts", "diff", NAME, str(copy)).stdout

    copy.write_text(source.replace("You choose", "Choose"), encoding="utf-8")
    changed = run_parley(tmp_path, "prompts", "diff", NAME, str(copy)).stdout

    assert "\n-You choose which buckets" in changed
    assert "\n+Choose which buckets" in changed
    assert "raise it in the file" in changed

    copy.write_text("no prompt", encoding="utf-8")
    assert run_parley(tmp_path, "prompts", "diff", NAME, str(copy)).status == 1


def test_without_a_file_the_versions_that_were_sent_are_listed(tmp_path: Path) -> None:
    version = load_prompt(NAME).version
    assert f"{NAME}@{version}  installed, not sent yet" in run_parley(tmp_path, "prompts", "diff", NAME).stdout

    async def store_calls() -> None:
        database = await SqlDatabase.open(
            sqlite_url_for(tmp_path / "parley.db"), clock=lambda: datetime(2031, 5, 9, tzinfo=UTC)
        )
        turn = await accept_new_turn(TurnInbox(database), a_turn(1, "c1"))
        calls = [a_call(turn, f"{NAME}@0"), a_call(turn, f"{NAME}@{version}"), a_call(turn, "other@1")]
        await ModelCallStore(database).insert_calls(calls)
        await database.close()

    asyncio.run(store_calls())
    listed = run_parley(tmp_path, "prompts", "diff", NAME).stdout

    assert listed.splitlines() == [
        f"{NAME}@0  1 call, 0 failed, 2031-05-09 to 2031-05-09",
        f"{NAME}@{version}  1 call, 0 failed, 2031-05-09 to 2031-05-09  installed",
    ]
