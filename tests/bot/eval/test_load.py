"""Sets of a folder, and what is told of a broken one."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.eval.load import UnreadableSet, read_suite
from storage.search.ids import BucketId, FieldName

DOCUMENT: dict[str, Any] = {"doc_id": "d1", "bucket": "deeds", "title": "A deed", "text": "A deed."}
QUESTION = {"query_id": "q1", "query": "Which?", "kind": "list", "gold": {"behaviour": "list", "doc_ids": ["d1"]}}
SCHEMA = "bucket: {0}\nfields:\n- name: {1}\n  type: category\n"


def write(folder: Path, name: str, *rows: object) -> Path:
    path = folder / name
    text = "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def a_set(folder: Path, name: str, questions: Sequence[Any] = (QUESTION,), **document: Any) -> None:
    write(folder, f"{name}_docs.jsonl.gz", DOCUMENT | document)
    write(folder, f"{name}_queries.jsonl", *questions)


def test_a_set_is_documents_and_questions_packed_or_not(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds")
    write(tmp_path, "riddles.jsonl", {"query_id": "r1", "query": "Why?", "kind": "clarify", "gold": {}})
    write(tmp_path, "notes.jsonl", {"doc_id": "d1"})

    suite = read_suite(tmp_path)

    (deeds,) = suite.sets
    assert (deeds.name, deeds.buckets, deeds.bucket, deeds.schema) == ("deeds", ("deeds",), None, None)
    assert [question.query_id for question in deeds.questions] == ["q1"]
    assert suite.unscored == {"riddles": 1}


def test_questions_without_documents_are_read_where_a_reading_can_be_judged(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds")
    for number in (1, 2):
        line = {"query_id": f"r{number}", "query": "Who and when?", "kind": "decompose", "gold": {"steps": ["who"]}}
        write(tmp_path, f"steps{number}.jsonl", line, line | {"query_id": "other"})

    every, only = read_suite(tmp_path, limit=1), read_suite(tmp_path, ["steps2"])

    assert {name: len(questions) for name, questions in every.read.items()} == {"steps1": 1, "steps2": 1}
    assert every.unscored == {}
    assert ([one.name for one in only.sets], {name: len(found) for name, found in only.read.items()}) == (
        [],
        {"steps2": 2},
    )


def test_documents_without_a_bucket_get_that_of_the_set(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds", bucket=None)

    (deeds,) = read_suite(tmp_path).sets

    assert (deeds.buckets, deeds.bucket) == (("deeds",), "deeds")


def test_the_folders_own_schema_wins_over_the_one_that_comes_with_it(tmp_path: Path) -> None:
    a_set(tmp_path, "contracts")
    a_set(tmp_path, "receipts")
    (tmp_path / "contracts.schema.yaml").write_text(SCHEMA.format("deeds", "notary"), encoding="utf-8")

    contracts, receipts = read_suite(tmp_path).sets

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
    assert not suite.is_inferred(BucketId("deeds"))


def test_a_set_that_is_not_wanted_still_shapes_its_bucket(tmp_path: Path) -> None:
    for name, field in (("one", "notary"), ("two", "seal")):
        a_set(tmp_path, name)
        (tmp_path / f"{name}.schema.yaml").write_text(SCHEMA.format(name, field), encoding="utf-8")
    (tmp_path / "two_queries.jsonl").write_text("{broken\n", encoding="utf-8")

    suite = read_suite(tmp_path, ["one"])
    schema = suite.schema_of(BucketId("deeds"))

    assert [one.name for one in suite.sets] == ["one"]
    assert schema is not None
    assert list(schema.by_name) == ["notary", "seal"]


def test_a_limit_picks_evenly(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds", [QUESTION | {"query_id": f"q{number}"} for number in range(6)])

    (deeds,) = read_suite(tmp_path, limit=3).sets

    assert [question.query_id for question in deeds.questions] == ["q0", "q2", "q4"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{broken", "line 2: it is not JSON"),
        ("[1]", "line 2: it is no JSON object"),
        ({"query_id": "q2", "query": "Which?", "kind": "list"}, "line 2: gold: Field required"),
        (QUESTION | {"query_id": "q2", "gold": {"doc_ids": "d1"}}, "line 2: gold.doc_ids"),
        (QUESTION, "line 2: the query_id 'q1' stands twice"),
    ],
)
def test_a_broken_line_is_named(row: object, said: str, tmp_path: Path) -> None:
    a_set(tmp_path, "deeds", [QUESTION, row])

    with pytest.raises(UnreadableSet, match=r"deeds_queries\.jsonl") as caught:
        read_suite(tmp_path)

    assert said in str(caught.value)


def test_a_file_cut_short_is_named(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds")
    docs = tmp_path / "deeds_docs.jsonl.gz"
    docs.write_bytes(docs.read_bytes()[:-12])

    with pytest.raises(UnreadableSet, match=r"deeds_docs\.jsonl\.gz"):
        read_suite(tmp_path)


def test_a_set_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    a_set(tmp_path, "deeds")

    with pytest.raises(UnreadableSet, match="no set 'wills'; there are deeds"):
        read_suite(tmp_path, ["deeds", "wills"])


def test_a_folder_without_sets_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSet, match="it has no set"):
        read_suite(tmp_path)
    with pytest.raises(UnreadableSet, match="it is no folder"):
        read_suite(tmp_path / "nowhere")
