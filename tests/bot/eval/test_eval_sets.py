"""Reading evaluation sets from a folder, and errors about broken ones."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.eval.eval_sets import UnreadableEvalSet, read_suite
from storage.search.ids import BucketId, FieldName

DOCUMENT: dict[str, Any] = {"doc_id": "d1", "bucket": "deeds", "title": "A deed", "text": "A deed."}
QUESTION = {"query_id": "q1", "query": "Which?", "kind": "list", "gold": {"behaviour": "list", "doc_ids": ["d1"]}}
SCHEMA = "bucket: {0}\nfields:\n- name: {1}\n  type: category\n"


def write_lines(folder: Path, name: str, *rows: object) -> Path:
    path = folder / name
    text = "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def a_set(folder: Path, name: str, questions: Sequence[Any] = (QUESTION,), **document: Any) -> None:
    write_lines(folder, f"{name}_docs.jsonl.gz", DOCUMENT | document)
    write_lines(folder, f"{name}_queries.jsonl", *questions)


def test_a_set_is_documents_and_questions_compressed_or_not(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds")
    write_lines(tmp_path, "riddles.jsonl", {"query_id": "r1", "query": "Why?", "kind": "clarify", "gold": {}})
    write_lines(tmp_path, "notes.jsonl", {"doc_id": "d1"})

    suite = read_suite(tmp_path)

    (deeds,) = suite.selected_sets
    assert (deeds.name, deeds.buckets, deeds.default_bucket, deeds.schema) == ("deeds", ("deeds",), None, None)
    assert [question.query_id for question in deeds.questions] == ["q1"]
    assert suite.unscored_counts == {"riddles": 1}


def test_questions_without_documents_are_read_if_their_kind_can_be_scored(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds")
    for number in (1, 2):
        line = {"query_id": f"r{number}", "query": "Who and when?", "kind": "decompose", "gold": {"steps": ["who"]}}
        write_lines(tmp_path, f"steps{number}.jsonl", line, line | {"query_id": "other"})

    every, selected = read_suite(tmp_path, limit=1), read_suite(tmp_path, ["steps2"])

    assert {name: len(questions) for name, questions in every.reading_questions.items()} == {"steps1": 1, "steps2": 1}
    assert every.unscored_counts == {}
    assert (
        [eval_set.name for eval_set in selected.selected_sets],
        {name: len(reading_questions) for name, reading_questions in selected.reading_questions.items()},
    ) == (
        [],
        {"steps2": 2},
    )


def test_documents_without_a_bucket_get_the_bucket_of_the_set(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds", bucket=None)

    (deeds,) = read_suite(tmp_path).selected_sets

    assert (deeds.buckets, deeds.default_bucket) == (("deeds",), "deeds")


def test_a_schema_in_the_folder_wins_over_the_packaged_schema(tmp_path: Path) -> None:
    a_set(tmp_path, "contracts")
    a_set(tmp_path, "receipts")
    (tmp_path / "contracts.schema.yaml").write_text(SCHEMA.format("deeds", "notary"), encoding="utf-8")

    contracts, receipts = read_suite(tmp_path).selected_sets

    assert contracts.schema is not None
    assert receipts.schema is not None
    assert list(contracts.schema.by_name) == ["notary"]
    assert "vendor" in receipts.schema.by_name


def test_sets_of_one_bucket_join_their_schemas(tmp_path: Path) -> None:
    for name, field in (("one", "notary"), ("two", "seal")):
        a_set(tmp_path, name)
        (tmp_path / f"{name}.schema.yaml").write_text(SCHEMA.format(name, field), encoding="utf-8")

    suite = read_suite(tmp_path)
    schema = suite.schema_of(BucketId("deeds"))

    assert schema is not None
    assert (schema.bucket, list(schema.by_name)) == ("deeds", [FieldName("notary"), FieldName("seal")])
    assert not suite.has_inferred_schema(BucketId("deeds"))


def test_a_set_that_is_not_selected_still_adds_its_schema_to_the_bucket(tmp_path: Path) -> None:
    for name, field in (("one", "notary"), ("two", "seal")):
        a_set(tmp_path, name)
        (tmp_path / f"{name}.schema.yaml").write_text(SCHEMA.format(name, field), encoding="utf-8")
    (tmp_path / "two_queries.jsonl").write_text("{broken\n", encoding="utf-8")

    suite = read_suite(tmp_path, ["one"])
    schema = suite.schema_of(BucketId("deeds"))

    assert [eval_set.name for eval_set in suite.selected_sets] == ["one"]
    assert schema is not None
    assert list(schema.by_name) == ["notary", "seal"]


def test_a_limit_picks_evenly(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds", [QUESTION | {"query_id": f"q{number}"} for number in range(6)])

    (deeds,) = read_suite(tmp_path, limit=3).selected_sets

    assert [question.query_id for question in deeds.questions] == ["q0", "q2", "q4"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{broken", "line 2: it is not JSON"),
        ("[1]", "line 2: it is not a JSON object"),
        ({"query_id": "q2", "query": "Which?", "kind": "list"}, "line 2: gold: Field required"),
        (QUESTION | {"query_id": "q2", "gold": {"doc_ids": "d1"}}, "line 2: gold.doc_ids"),
        (QUESTION, "line 2: the query_id 'q1' stands twice"),
    ],
)
def test_an_error_names_the_broken_line(row: object, message: str, tmp_path: Path) -> None:
    a_set(tmp_path, "deeds", [QUESTION, row])

    with pytest.raises(UnreadableEvalSet, match=r"deeds_queries\.jsonl") as caught:
        read_suite(tmp_path)

    assert message in str(caught.value)


def test_an_error_names_a_truncated_file(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds")
    docs = tmp_path / "deeds_docs.jsonl.gz"
    docs.write_bytes(docs.read_bytes()[:-12])

    with pytest.raises(UnreadableEvalSet, match=r"deeds_docs\.jsonl\.gz"):
        read_suite(tmp_path)


def test_an_error_about_a_missing_set_lists_the_existing_sets(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds")

    with pytest.raises(UnreadableEvalSet, match="no set 'wills'; there are deeds"):
        read_suite(tmp_path, ["deeds", "wills"])


def test_a_folder_without_sets_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableEvalSet, match="it has no set"):
        read_suite(tmp_path)
    with pytest.raises(UnreadableEvalSet, match="it is not a folder"):
        read_suite(tmp_path / "nowhere")
