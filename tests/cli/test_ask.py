"""`parley ask`: streams, exit statuses, conversations and batches."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Parley, environment_for, run_parley


def test_a_result_is_one_json_value_on_stdout(parley: Parley) -> None:
    ended = parley("ask", "List all receipts from Kestrel", "--json")

    assert (ended.status, ended.stderr) == (0, "")
    assert ended.json["outcome"] == "answer"
    assert ended.json["count"] == 40


def test_a_clarification_exits_with_success_and_its_choice_can_be_clicked(parley: Parley) -> None:
    question_result = parley("ask", "List all receipts", "--json").json
    assert question_result["outcome"] == "overload"
    filter_choice = next(choice for choice in question_result["choices"] if choice["kind"] == "filter")

    chosen = parley("ask", "--conversation", question_result["conversation"], "--choose", filter_choice["id"], "--json")

    assert chosen.status == 0
    assert chosen.json["count"] == filter_choice["count"]


def test_a_choice_can_be_made_only_once(parley: Parley) -> None:
    question_result = parley("ask", "List all receipts", "--json").json
    click = ("ask", "--conversation", question_result["conversation"], "--choose", question_result["choices"][0]["id"])
    assert parley(*click).status == 0

    second_click = parley(*click)

    assert second_click.status == 1
    assert "already made" in second_click.stderr


def test_without_json_the_output_is_text_with_a_hint_how_to_choose(parley: Parley) -> None:
    ended = parley("ask", "List all receipts")

    assert ended.status == 0
    assert "120 receipts" in ended.stdout
    assert "Export all as CSV" in ended.stdout
    assert "--conversation" in ended.stderr


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["ask", "   "], 1, "no question"),
        (["ask", "a" * 50_000], 1, "10,000 characters"),
        (["ask", "List receipts", "--bucket", "nowhere"], 1, "'nowhere'"),
        (["ask", "--conversation", "terminal:x", "--choose", "nope"], 1, "do not know this choice"),
        (["ask", "hello", "--as", "mail:ada"], 2, "local:NAME"),
        (["ask", "hello", "--choose", "x"], 2, "--choose"),
        (["ask"], 2, "question"),
        (["ask", "hello", "--batch", "x.jsonl"], 2, "--batch"),
        (["ask", "--batch", "no-such-file.jsonl", "--out", "out.jsonl"], 1, "no-such-file.jsonl"),
        (["frobnicate"], 2, "frobnicate"),
    ],
)
def test_bad_input_is_reported_only_on_stderr(parley: Parley, words: list[str], status: int, message: str) -> None:
    ended = parley(*words)

    assert (ended.status, ended.stdout) == (status, "")
    assert message in ended.stderr


def test_an_error_with_json_still_goes_to_stderr(parley: Parley) -> None:
    ended = parley("ask", "List receipts", "--bucket", "nowhere", "--json")

    assert ended.status == 1
    assert "nowhere" in ended.stderr
    assert ended.json["outcome"] == "failed"


def test_a_person_without_a_grant_sees_nothing(parley: Parley) -> None:
    result = parley("ask", "List all receipts", "--as", "stranger", "--json").json

    assert (result["outcome"], result["count"]) == ("refused", None)
    assert not any(result[key] for key in ("doc_ids", "hits", "choices", "citations", "files"))
    assert "120" not in result["text"]


def test_a_batch_answers_each_line_independently_and_in_order(parley: Parley, tmp_path: Path) -> None:
    source, results_path = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    lines = [
        {"query_id": "a", "query": "List all receipts from Kestrel"},
        {"query_id": "b", "query": ""},
        {"query_id": "c", "query": "List all receipts", "buckets": ["receipts"]},
    ]
    source.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    ended = parley("ask", "--batch", str(source), "--out", str(results_path), "--jobs", "3")

    results = [json.loads(line) for line in results_path.read_text(encoding="utf-8").splitlines()]
    assert ended.status == 0
    assert [(result["query_id"], result["outcome"]) for result in results] == [
        ("a", "answer"),
        ("b", "failed"),
        ("c", "overload"),
    ]
    assert "no question" in results[1]["error"]
    assert len({result["conversation"] for result in results}) == 3


def test_an_error_names_the_bad_line_of_a_batch_and_the_other_lines_run(parley: Parley, tmp_path: Path) -> None:
    source, results_path = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"query": "List all receipts"}\n{broken\n["list"]\n', encoding="utf-8")

    ended = parley("ask", "--batch", str(source), "--out", str(results_path))

    outcomes = [json.loads(line)["outcome"] for line in results_path.read_text(encoding="utf-8").splitlines()]
    assert (ended.status, outcomes) == (1, ["overload", "failed", "failed"])
    assert "line 2" in ended.stderr


def test_an_export_writes_every_row(parley: Parley, tmp_path: Path) -> None:
    csv_path = tmp_path / "all.csv"

    ended = parley("export", "List all receipts", "--out", str(csv_path), "--json")

    assert ended.json["question"] == "List all receipts"
    assert ended.json["files"] == [{"name": ended.json["files"][0]["name"], "rows": 120, "path": str(csv_path)}]
    assert len(csv_path.read_text(encoding="utf-8").splitlines()) == 121


def test_a_limit_on_ids_does_not_limit_the_list_in_the_text(parley: Parley) -> None:
    ended = parley("ask", "List the receipts from Kestrel", "--limit", "1", "--json")

    assert len(ended.json["doc_ids"]) == 1
    assert "first 10" in ended.json["text"]


def test_an_export_of_nothing_fails_in_one_sentence(parley: Parley) -> None:
    ended = parley("export", "List all receipts after 2031-01-01")

    assert (ended.status, ended.stdout) == (1, "")
    assert ended.stderr.count("\n") == 1
    assert "nothing to export" in ended.stderr
    assert "\\" not in ended.stderr


def test_an_error_names_the_unreachable_service(tmp_path: Path) -> None:
    index = run_parley(tmp_path, "ask", "hello", PARLEY_INDEX_URL="http://127.0.0.1:9")
    database = run_parley(
        tmp_path, "ask", "hello", PARLEY_DATABASE_URL="postgresql://ada:hush@127.0.0.1:9/x", PARLEY_SECRET_KEY="k" * 40
    )

    assert (index.status, database.status) == (1, 1)
    assert "http://127.0.0.1:9" in index.stderr
    assert "127.0.0.1:9" in database.stderr
    assert "hush" not in database.stderr


def test_an_error_names_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")

    ended = run_parley(tmp_path / "file" / "home", "ask", "hello")

    assert ended.status == 1
    assert str(tmp_path / "file" / "home") in ended.stderr


def test_debug_adds_to_the_json_what_the_reasoner_did(parley: Parley) -> None:
    plain = parley("ask", "How many receipts are there?", "--json").json
    ended = parley("ask", "How many receipts are there?", "--json", "--debug")

    assert ended.json.keys() - plain.keys() == {"calls", "reasoning"}
    assert (ended.json["calls"], ended.json["reasoning"]) == ([], {})
    assert "reasoner rule" in ended.stderr
    assert "reading the question: " in ended.stderr


GARBAGE_SCRIPT = """
import gc, sys
from pathlib import Path
from bot.cli.runtime import run_with_bot

async def report(bot):
    print(gc.isenabled(), gc.get_freeze_count() > 0)

run_with_bot(report, home=Path(sys.argv[1]), debug=False)
"""


def test_a_command_collects_garbage_only_of_what_it_makes_after_the_start(tmp_path: Path) -> None:
    command = [sys.executable, "-c", GARBAGE_SCRIPT, str(tmp_path)]
    ended = subprocess.run(command, env=environment_for(tmp_path), capture_output=True, text=True, check=True)

    assert ended.stdout.split() == ["True", "True"]


IMPORT_SCRIPT = """
import sys
from bot.cli.app import app

app(sys.argv[1:], standalone_mode=False)
print(*sys.modules)
"""


def test_a_command_that_answers_no_question_imports_nothing_that_answers(tmp_path: Path) -> None:
    command = [sys.executable, "-c", IMPORT_SCRIPT, "bucket", "list", "--home", str(tmp_path)]
    ended = subprocess.run(command, env=environment_for(tmp_path), capture_output=True, text=True, check=True)

    imported = set(ended.stdout.split())
    assert "bot.bootstrap" in imported
    assert imported.isdisjoint({"agent.loop", "agent.rules.reasoner", "bot.dialogue.conversation_dialogue"})


def test_an_output_that_its_reader_closes_is_no_error(home: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)

    ended = subprocess.run(
        [sys.executable, "-m", "bot.cli", "ask", "List all receipts"],
        env=environment_for(home),
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    os.close(write_end)

    assert ended.stderr == ""
    assert ended.returncode == 1
