"""`parley eval`: three documents, a question of each kind, and one whose answer is not what Parley says."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ended, run
from tests.stand_ins.cross_encoder import MODEL, write_model

SHOPS = [("Kestrel", "2024-03-05", 20.5), ("Northline", "2024-04-01", 7.0), ("Kestrel", "2023-01-10", 4.5)]
DOCUMENTS = [
    {
        "doc_id": f"s-{number}",
        "bucket": "slips",
        "title": f"Slip {number}",
        "text": f"Slip {number} of {vendor}, {date}.\nIn all: {total:.2f} EUR.\nSealed with {wax} wax.",
        "metadata": {"vendor": vendor, "date": date, "total": total},
    }
    for number, ((vendor, date, total), wax) in enumerate(zip(SHOPS, ("red", "blue", "green"), strict=True), start=1)
]
QUESTIONS: list[dict[str, Any]] = [
    {
        "query_id": "list",
        "query": "List all slips from Kestrel",
        "kind": "list",
        "gold": {"behaviour": "list", "doc_ids": ["s-1", "s-3"]},
    },
    {
        "query_id": "none",
        "query": "List all slips from Kestrel after 2030",
        "kind": "list",
        "gold": {"behaviour": "no_result", "doc_ids": []},
    },
    {
        "query_id": "wrong",
        "query": "List all slips from Northline",
        "kind": "list",
        "gold": {"behaviour": "list", "doc_ids": ["s-1"]},
    },
    {
        "query_id": "lookup",
        "query": "What is the date of the slip from Northline?",
        "kind": "lookup",
        "gold": {"behaviour": "answer", "doc_ids": ["s-2"], "answer": "2024-04-01"},
    },
    {
        "query_id": "sum",
        "query": "What is the sum of the total of slips from Kestrel?",
        "kind": "aggregate",
        "gold": {"behaviour": "answer", "doc_ids": ["s-1", "s-3"], "answer": 25.0, "currency": "EUR"},
    },
    {
        "query_id": "qa",
        "query": "Which slip is sealed with green wax?",
        "kind": "qa",
        "gold": {
            "behaviour": "answer",
            "doc_ids": ["s-3"],
            "evidence": [{"doc_id": "s-3", "text": "green wax", "start": 46, "end": 68}],
        },
    },
]
SCHEMA = """\
bucket: slips
synonyms: [slip, slips]
fields:
- {name: vendor, type: category, facet: true}
- {name: date, type: date}
- {name: total, type: money, currency: EUR}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write(folder / "slips_docs.jsonl", DOCUMENTS)
    write(folder / "slips_queries.jsonl", QUESTIONS)
    write(folder / "riddles.jsonl", [{"query_id": "r1", "query": "Why?", "kind": "clarify", "gold": {}}])
    (folder / "slips.schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return folder


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that evaluations keep their documents in."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def first(data: Path, kept: Path) -> Ended:
    return run(kept, "eval", str(data), "--home", str(kept), "--metadata", "--out", str(kept / "report.json"), "--json")


def right(report: Any, column: str) -> dict[str, float]:
    return {one["query_id"]: one["right"] for one in report["columns"][column]["questions"]}


def test_what_is_right_counts_and_what_is_wrong_does_not(first: Ended) -> None:
    assert (first.status, first.err) == (0, "")
    assert right(first.json, "metadata") == {"list": 1, "none": 1, "wrong": 0, "lookup": 1, "sum": 1, "qa": 1}


def test_each_set_is_asked_alone_too(first: Ended) -> None:
    assert right(first.json, "metadata alone") == right(first.json, "metadata")


def test_the_report_tells_the_plan_and_what_was_missed(first: Ended) -> None:
    wrong = next(one for one in first.json["columns"]["metadata"]["questions"] if one["query_id"] == "wrong")

    assert (wrong["got"]["missing"], wrong["got"]["extra"]) == (["s-1"], ["s-2"])
    assert [one["field"] for one in wrong["plan"]["filters"]] == ["vendor"]
    assert first.json["unscored"] == {"riddles": 1}


def test_a_later_run_is_held_against_it(first: Ended, data: Path, kept: Path) -> None:
    report = first.json
    for one in report["columns"]["metadata"]["questions"]:
        one["right"] = 0.0 if one["query_id"] == "list" else 1.0
    (kept / "other.json").write_text(json.dumps(report), encoding="utf-8")
    words = ("--metadata", "--no-alone", "--against", str(kept / "other.json"), "--explain")

    ended = run(kept, "eval", str(data), "--home", str(kept), *words)

    assert ended.status == 0
    assert "right now: [metadata] slips list:" in ended.out
    assert "WRONG NOW: [metadata] slips wrong:" in ended.out
    assert "riddles: 1 questions without documents are not scored" in ended.out


def test_without_metadata_the_same_questions_are_asked(data: Path, tmp_path: Path) -> None:
    ended = run(tmp_path, "eval", str(data), "--extracted", "--no-alone", "--json")

    assert ended.status == 0
    assert set(ended.json["columns"]) == {"extracted"}
    assert right(ended.json, "extracted")["qa"] == 1
    assert not (tmp_path / "parley.db").exists()


def test_a_broken_document_is_named_with_its_line(tmp_path: Path) -> None:
    write(tmp_path / "slips_docs.jsonl", DOCUMENTS)
    write(tmp_path / "slips_queries.jsonl", QUESTIONS)
    with (tmp_path / "slips_docs.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"title": "no id"}\n')

    ended = run(tmp_path, "eval", str(tmp_path), "--metadata")

    assert (ended.status, ended.out) == (1, "")
    assert "slips_docs.jsonl, line 4" in ended.err


def test_a_reranker_that_is_set_but_missing_is_named_before_anything_is_measured(data: Path, tmp_path: Path) -> None:
    ended = run(tmp_path, "eval", str(data), "--metadata", PARLEY_RERANKER=f"flashrank:{MODEL}")

    assert (ended.status, ended.out) == (1, "")
    assert "PARLEY_RERANKER: " in ended.err


@pytest.mark.skipif(find_spec("flashrank") is None, reason="flashrank (the extra `rerank`) is not installed")
def test_the_model_of_a_reranker_comes_from_the_home_though_the_documents_do_not(data: Path, tmp_path: Path) -> None:
    write_model(tmp_path / "models", {"wax": 1.0})
    words = ("--metadata", "--no-alone", "--json")

    ended = run(tmp_path, "eval", str(data), *words, PARLEY_RERANKER=f"flashrank:{MODEL}")

    assert (ended.status, ended.err) == (0, "")
    assert right(ended.json, "metadata")["qa"] == 1
