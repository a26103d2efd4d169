"""`parley ask`: streams, exit statuses, conversations and batches."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Parley, run


def test_a_result_is_one_json_value_on_stdout(parley: Parley) -> None:
    ended = parley("ask", "List all receipts from Kestrel", "--json")

    assert (ended.status, ended.err) == (0, "")
    assert ended.json["outcome"] == "answer"
    assert ended.json["count"] == 40


def test_a_clarification_is_a_success_and_a_choice_goes_on(parley: Parley) -> None:
    asked = parley("ask", "List all receipts", "--json").json
    assert asked["outcome"] == "overload"
    choice = next(one for one in asked["choices"] if one["kind"] == "filter")

    chosen = parley("ask", "--conversation", asked["conversation"], "--choose", choice["id"], "--json")

    assert chosen.status == 0
    assert chosen.json["count"] == choice["count"]


def test_a_choice_is_made_once(parley: Parley) -> None:
    asked = parley("ask", "List all receipts", "--json").json
    click = ("ask", "--conversation", asked["conversation"], "--choose", asked["choices"][0]["id"])
    assert parley(*click).status == 0

    again = parley(*click)

    assert again.status == 1
    assert "already made" in again.err


def test_without_json_a_person_can_read_it_and_type_a_number(parley: Parley) -> None:
    asked = parley("ask", "List all receipts")

    assert asked.status == 0
    assert "120 receipts" in asked.out
    assert "Export all as CSV" in asked.out
    assert "--conversation" in asked.err


@pytest.mark.parametrize(
    ("words", "status", "said"),
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
def test_bad_input_is_told_on_stderr_alone(parley: Parley, words: list[str], status: int, said: str) -> None:
    ended = parley(*words)

    assert (ended.status, ended.out) == (status, "")
    assert said in ended.err


def test_an_error_with_json_still_goes_to_stderr(parley: Parley) -> None:
    ended = parley("ask", "List receipts", "--bucket", "nowhere", "--json")

    assert ended.status == 1
    assert "nowhere" in ended.err
    assert ended.json["outcome"] == "failed"


def test_somebody_without_a_grant_sees_nothing(parley: Parley) -> None:
    result = parley("ask", "List all receipts", "--as", "stranger", "--json").json

    assert (result["outcome"], result["count"]) == ("refused", None)
    assert not any(result[key] for key in ("doc_ids", "hits", "choices", "citations", "files"))
    assert "120" not in result["text"]


def test_a_batch_answers_in_order_each_line_for_itself(parley: Parley, tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    lines = [
        {"query_id": "a", "query": "List all receipts from Kestrel"},
        {"query_id": "b", "query": ""},
        {"query_id": "c", "query": "List all receipts", "buckets": ["receipts"]},
    ]
    source.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    ended = parley("ask", "--batch", str(source), "--out", str(out), "--jobs", "3")

    results = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert ended.status == 0
    assert [(one["query_id"], one["outcome"]) for one in results] == [
        ("a", "answer"),
        ("b", "failed"),
        ("c", "overload"),
    ]
    assert "no question" in results[1]["error"]
    assert len({one["conversation"] for one in results}) == 3


def test_a_bad_line_of_a_batch_is_named_and_the_rest_goes_on(parley: Parley, tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"query": "List all receipts"}\n{broken\n["list"]\n', encoding="utf-8")

    ended = parley("ask", "--batch", str(source), "--out", str(out))

    outcomes = [json.loads(line)["outcome"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert (ended.status, outcomes) == (1, ["overload", "failed", "failed"])
    assert "line 2" in ended.err


def test_an_export_writes_every_row(parley: Parley, tmp_path: Path) -> None:
    out = tmp_path / "all.csv"

    ended = parley("export", "List all receipts", "--out", str(out), "--json")

    assert ended.json["question"] == "List all receipts"
    assert ended.json["files"] == [{"name": ended.json["files"][0]["name"], "rows": 120, "path": str(out)}]
    assert len(out.read_text(encoding="utf-8").splitlines()) == 121


def test_a_limit_on_ids_shows_a_person_the_list_all_the_same(parley: Parley) -> None:
    ended = parley("ask", "List the receipts from Kestrel", "--limit", "1", "--json")

    assert len(ended.json["doc_ids"]) == 1
    assert "first 10" in ended.json["text"]


def test_an_export_of_nothing_fails_in_one_sentence(parley: Parley) -> None:
    ended = parley("export", "List all receipts after 2031-01-01")

    assert (ended.status, ended.out) == (1, "")
    assert ended.err.count("\n") == 1
    assert "nothing to export" in ended.err
    assert "\\" not in ended.err


def test_what_cannot_be_reached_is_named(tmp_path: Path) -> None:
    index = run(tmp_path, "ask", "hello", PARLEY_INDEX_URL="http://127.0.0.1:9")
    database = run(
        tmp_path, "ask", "hello", PARLEY_DATABASE_URL="postgresql://ada:hush@127.0.0.1:9/x", PARLEY_SECRET_KEY="k" * 40
    )

    assert (index.status, database.status) == (1, 1)
    assert "http://127.0.0.1:9" in index.err
    assert "127.0.0.1:9" in database.err
    assert "hush" not in database.err


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")

    ended = run(tmp_path / "file" / "home", "ask", "hello")

    assert ended.status == 1
    assert str(tmp_path / "file" / "home") in ended.err
