"""What `--debug` shows of a search, and asking from a Python program."""

from pathlib import Path
from typing import Any

import pytest

from bot.cli.search_description import describe_search
from bot.scripting import ask_question
from tests.cli.conftest import run_parley

NOTES = {
    "winch": "The winch is greased with graphite paste each spring.",
    "mast": "Masts are painted with linseed varnish before launching.",
    "sails": "Sails dry on the long line behind the shed.",
}
TWO_TOPICS = "greasing the winch with paste and painting masts with varnish"


@pytest.fixture(scope="module")
def notes_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notes")
    documents = folder / "documents"
    documents.mkdir()
    for name, text in NOTES.items():
        (documents / f"{name}.txt").write_text(text, encoding="utf-8")
    assert run_parley(folder / "home", "ingest", str(documents), "--bucket", "notes").status == 0
    return folder / "home"


def a_result(**changed: Any) -> dict[str, Any]:
    hit = {
        "doc_id": "sheds/winch.md",
        "page": 3,
        "score": 1.51,
        "found_by": ["text", "semantic"],
        "sub_queries": [1, 2],
        "validation_score": 0.614,
    }
    return {
        "hits": [hit, hit | {"page": None, "sub_queries": [3], "validation_score": None}],
        "sub_queries": ["winch and mast", "winch", "mast"],
        "decomposed": True,
        "meta": {"total_candidates": 41, "returned": 2, "sub_query_count": 3},
    } | changed


def test_sub_queries_are_numbered_and_passages_say_what_found_them() -> None:
    assert list(describe_search(a_result())) == [
        "3 sub-queries:",
        "  1. winch and mast",
        "  2. winch",
        "  3. mast",
        "41 unique candidates → top 2",
        "   1. 1.510  sheds/winch.md, page 3  (found by text, semantic; for queries 1, 2; validated 0.61)",
        "   2. 1.510  sheds/winch.md  (found by text, semantic; for query 3)",
    ]


def test_a_single_query_is_not_listed_and_nothing_is_said_without_passages() -> None:
    lines = list(describe_search(a_result(sub_queries=["winch"], decomposed=False)))

    assert lines[0] == "41 unique candidates → top 2"
    assert "for quer" not in lines[1]
    assert list(describe_search(a_result(hits=[]))) == []


def test_debug_prints_the_search_to_stderr(notes_home: Path) -> None:
    ended = run_parley(notes_home, "ask", TWO_TOPICS, "--debug")

    assert ended.status == 0
    assert "3 sub-queries:" in ended.stderr
    assert "2. greasing the winch with paste" in ended.stderr
    assert "sub-queries" not in ended.stdout


def test_without_decomposition_there_is_one_query(notes_home: Path) -> None:
    result = run_parley(notes_home, "ask", TWO_TOPICS, "--no-decompose", "--json").json

    assert (result["decomposed"], result["sub_queries"]) == (False, [TWO_TOPICS])


def test_a_program_gets_the_same_result_as_the_command_line(
    notes_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PARLEY_EMBEDDER", "none")
    printed = run_parley(notes_home, "ask", TWO_TOPICS, "--hits", "1", "--json").json

    result = ask_question(TWO_TOPICS, limit=1, debug=True, home=notes_home)

    assert result["meta"] == printed["meta"]
    assert [hit["chunk_id"] for hit in result["hits"]] == [hit["chunk_id"] for hit in printed["hits"]]
    assert "3 sub-queries:" in capsys.readouterr().err
