"""`parley eval`: three documents, a question of each kind, and one question that Parley answers wrongly."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ProcessResult, run_parley
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
    write_json_lines(folder / "slips_docs.jsonl", DOCUMENTS)
    write_json_lines(folder / "slips_queries.jsonl", QUESTIONS)
    write_json_lines(folder / "riddles.jsonl", [{"query_id": "r1", "query": "Why?", "kind": "clarify", "gold": {}}])
    (folder / "slips.schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return folder


def write_json_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="module")
def eval_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which evaluations keep their documents."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def metadata_run(data: Path, eval_home: Path) -> ProcessResult:
    return run_parley(
        eval_home,
        "eval",
        str(data),
        "--home",
        str(eval_home),
        "--metadata",
        "--out",
        str(eval_home / "report.json"),
        "--json",
    )


def scores_by_question(report: Any, column: str) -> dict[str, float]:
    return {question["query_id"]: question["right"] for question in report["columns"][column]["questions"]}


def test_right_questions_score_one_and_wrong_ones_zero(metadata_run: ProcessResult) -> None:
    assert (metadata_run.status, metadata_run.stderr) == (0, "")
    assert scores_by_question(metadata_run.json, "metadata") == {
        "list": 1,
        "none": 1,
        "wrong": 0,
        "lookup": 1,
        "sum": 1,
        "qa": 1,
    }


def test_each_set_is_also_asked_alone(metadata_run: ProcessResult) -> None:
    assert scores_by_question(metadata_run.json, "metadata alone") == scores_by_question(metadata_run.json, "metadata")


def test_the_report_has_the_plan_and_the_missing_documents(metadata_run: ProcessResult) -> None:
    wrong = next(item for item in metadata_run.json["columns"]["metadata"]["questions"] if item["query_id"] == "wrong")

    assert (wrong["got"]["missing"], wrong["got"]["extra"]) == (["s-1"], ["s-2"])
    assert [item["field"] for item in wrong["plan"]["filters"]] == ["vendor"]
    assert metadata_run.json["unscored"] == {"riddles": 1}


def test_a_later_run_is_compared_with_the_report(metadata_run: ProcessResult, data: Path, eval_home: Path) -> None:
    report = metadata_run.json
    for question in report["columns"]["metadata"]["questions"]:
        question["right"] = 0.0 if question["query_id"] == "list" else 1.0
    (eval_home / "other.json").write_text(json.dumps(report), encoding="utf-8")
    words = ("--metadata", "--no-alone", "--against", str(eval_home / "other.json"), "--explain")

    ended = run_parley(eval_home, "eval", str(data), "--home", str(eval_home), *words)

    assert ended.status == 0
    assert "right now: [metadata] slips list:" in ended.stdout
    assert "WRONG NOW: [metadata] slips wrong:" in ended.stdout
    assert "riddles: 1 questions without documents are not scored" in ended.stdout


def test_the_extracted_mode_asks_the_same_questions(data: Path, tmp_path: Path) -> None:
    ended = run_parley(tmp_path, "eval", str(data), "--extracted", "--no-alone", "--json")

    assert ended.status == 0
    assert set(ended.json["columns"]) == {"extracted"}
    assert scores_by_question(ended.json, "extracted")["qa"] == 1
    assert not (tmp_path / "parley.db").exists()


def test_an_error_names_the_line_of_a_broken_document(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "slips_docs.jsonl", DOCUMENTS)
    write_json_lines(tmp_path / "slips_queries.jsonl", QUESTIONS)
    with (tmp_path / "slips_docs.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"title": "no id"}\n')

    ended = run_parley(tmp_path, "eval", str(tmp_path), "--metadata")

    assert (ended.status, ended.stdout) == (1, "")
    assert "slips_docs.jsonl, line 4" in ended.stderr


def test_a_missing_reranker_is_reported_before_the_evaluation_starts(data: Path, tmp_path: Path) -> None:
    ended = run_parley(tmp_path, "eval", str(data), "--metadata", PARLEY_RERANKER=f"flashrank:{MODEL}")

    assert (ended.status, ended.stdout) == (1, "")
    assert "PARLEY_RERANKER: " in ended.stderr


@pytest.mark.skipif(find_spec("flashrank") is None, reason="flashrank (the extra `rerank`) is not installed")
def test_the_rerankers_model_comes_from_the_persons_home(data: Path, tmp_path: Path) -> None:
    write_model(tmp_path / "models", {"wax": 1.0})
    words = ("--metadata", "--no-alone", "--json")

    ended = run_parley(tmp_path, "eval", str(data), *words, PARLEY_RERANKER=f"flashrank:{MODEL}")

    assert (ended.status, ended.stderr) == (0, "")
    assert scores_by_question(ended.json, "metadata")["qa"] == 1
