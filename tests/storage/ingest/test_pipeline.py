"""Whole runs into the real embedded index."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.ingest import schema_file
from storage.ingest.pipeline import ingest
from storage.ingest.report import Progress
from storage.search.conditions import Compare, Op
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, Subject, TenantId
from storage.search.index import Count, Fetch
from storage.search.plan import Clause, Search
from storage.search.schema import Field, FieldType, Schema
from storage.search.scope import Scope

TENANT = TenantId("test")
B = BucketId("b")


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path / "home", tenant=TENANT, analysers=analyser_for, embedder=None)
    yield opened
    await opened.close()


def a_record(doc_id: str, text: str = "some text", **rest: Any) -> dict[str, Any]:
    return {"doc_id": doc_id, "title": doc_id.title(), "text": text} | rest


def write(path: Path, *documents: Mapping[str, Any] | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in documents))
    return path


async def fetched(index: EmbeddedIndex, *doc_ids: str, bucket: BucketId = B) -> list[Document]:
    request = Fetch(tuple(DocId(one) for one in doc_ids))
    scope = Scope(tenant=TENANT, buckets=frozenset({bucket}), all_readers=True)
    return list((await index.within(scope).ask(request))[request])


async def test_a_folder_of_mixed_files_becomes_documents_of_a_new_bucket(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder / "a/data.jsonl", a_record("d1", metadata={"power_w": 5}), a_record("d2", metadata={"power_w": 7}))
    (folder / "note.md").write_text("# A note\n\nwords")
    (folder / "parts.csv").write_text("id,power_w\nx,9\n")
    (folder / "broken.pdf").write_bytes(b"no pdf")

    report = await ingest(index, [folder], bucket=B)

    assert report.last_line == "added 4, replaced 0, skipped 0, failed 1"
    assert [(one.where, one.reason) for one in report.failures] == [("broken.pdf", "it is broken, or no PDF")]
    found = await fetched(index, "d1", "d2", "note.md", "parts.csv#x")
    assert [one.values.get(FieldName("power_w")) for one in found] == [5.0, 7.0, None, 9.0]
    assert (report.buckets, [one.is_new for one in report.schemas]) == ((B,), [True])


GERMAN = "Der Vertrag ist von den Parteien unterschrieben und gilt bis zum Ende des Jahres für alle Waren der Firma. "


async def test_the_language_of_a_new_bucket_is_that_of_its_texts(index: EmbeddedIndex, tmp_path: Path) -> None:
    records = write(tmp_path / "in.jsonl", a_record("d1", GERMAN * 3), a_record("d2", GERMAN * 3))
    (tmp_path / "seite.md").write_text(GERMAN * 3, encoding="utf-8")

    await ingest(index, [records], bucket=B)
    await ingest(index, [tmp_path / "seite.md"], bucket=BucketId("pages"))
    await ingest(index, [write(tmp_path / "more.jsonl", a_record("d3", "The rest is in English. " * 20))], bucket=B)

    assert [state.schema.language for state in (await index.buckets()).values()] == ["de", "de"]


async def test_dates_with_a_few_misfits_stay_dates_and_the_misfits_stay_in_the_text(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    good = [a_record(f"d{day}", metadata={"due": f"2031-05-{day:02}"}) for day in range(1, 10)]
    path = write(tmp_path / "x.jsonl", *good, a_record("odd", metadata={"due": "when it is done"}))

    report = await ingest(index, [path], bucket=B, schema_folder=tmp_path)

    odd, first = await fetched(index, "odd", "d1")
    assert (odd.values, first.values) == ({}, {"due": "2031-05-01"})
    assert "Due: when it is done" in odd.text
    assert [(one.field, one.count, one.examples) for one in report.unfitting] == [("due", 1, ("when it is done",))]
    assert "# 10 of 10 documents; 2031-05-01 to 2031-05-09\n- name: due" in (tmp_path / "b.schema.yaml").read_text()


async def test_the_same_again_changes_nothing_and_a_change_replaces(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", a_record("d1"), a_record("d2"))
    await ingest(index, [path], bucket=B)
    before = (await index.buckets())[B].generation

    again = await ingest(index, [path], bucket=B)
    assert again.last_line == "added 0, replaced 0, skipped 2, failed 0"
    assert (await index.buckets())[B].generation == before

    write(path, a_record("d1"), a_record("d2", "other text"))
    assert (await ingest(index, [path], bucket=B)).last_line == "added 0, replaced 1, skipped 1, failed 0"


async def test_of_documents_with_one_id_the_last_counts_and_a_second_run_skips_it(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "x.jsonl", a_record("d", "one"), a_record("d", "two"), a_record("e"), a_record("d", "three")
    )
    report = await ingest(index, [path], bucket=B)
    assert report.last_line == "added 2, replaced 0, skipped 0, failed 0"
    assert [one.where for one in report.superseded] == ["x.jsonl, line 1", "x.jsonl, line 2"]
    assert (await fetched(index, "d"))[0].text == "three"
    assert (await ingest(index, [path], bucket=B)).skipped == 2


async def test_a_document_names_its_bucket_unless_one_is_given(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", a_record("d1", bucket="one"), a_record("d2", bucket="two"), a_record("d3"))
    report = await ingest(index, [path])
    assert report.buckets == ("one", "two")
    assert [(one.doc_id, one.reason) for one in report.failures] == [
        ("d3", "it names no bucket; give one with --bucket")
    ]
    other = write(tmp_path / "y.jsonl", a_record("e1", bucket="one"), a_record("e2", bucket="../two"))
    assert (await ingest(index, [other], bucket=B)).buckets == (B,)
    assert "no name for a bucket" in (await ingest(index, [other])).failures[0].reason


async def test_an_id_of_another_bucket_fails_without_naming_it(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", a_record("d1"), a_record("d2"))
    await ingest(index, [path], bucket=BucketId("secret"))
    write(path, a_record("d1"), a_record("d3"))
    report = await ingest(index, [path], bucket=B)
    assert (report.added, report.failed) == (1, 1)
    (failure,) = report.failures
    assert (failure.where, failure.doc_id) == ("x.jsonl, line 1", "d1")
    assert "secret" not in failure.reason


async def test_a_value_that_does_not_fit_is_said_and_stays_findable(index: EmbeddedIndex, tmp_path: Path) -> None:
    schema = Schema(bucket=B, fields=(Field(name=FieldName("width"), type=FieldType.NUMBER, title="Width", unit="mm"),))
    path = write(
        tmp_path / "x.jsonl",
        a_record("d1", metadata={"width": "2 cm"}),
        a_record("d2", "a text", metadata={"width": "roughly thirty", "colour": "red"}),
    )
    report = await ingest(index, [path], schema=schema)
    (unfitting,) = report.unfitting
    assert (unfitting.field, unfitting.count, unfitting.examples) == ("width", 1, ("roughly thirty",))
    assert [(one.key, one.count) for one in report.ignored] == [("colour", 1)]
    first, second = await fetched(index, "d1", "d2")
    assert first.values == {"width": 20.0}
    assert (second.values, second.text) == ({}, "a text\n\nWidth: roughly thirty")
    assert [second.text[one.start : one.end] for one in second.passages] == [second.text]


async def test_a_bucket_that_is_there_is_widened_and_never_narrowed(index: EmbeddedIndex, tmp_path: Path) -> None:
    await ingest(index, [write(tmp_path / "x.jsonl", a_record("d1", metadata={"size": 3}))], bucket=B)
    other = write(tmp_path / "y.jsonl", a_record("d2", metadata={"size": "large", "colour": "red"}))
    report = await ingest(index, [other], bucket=B)
    (changed,) = report.schemas
    assert (changed.is_new, changed.added) == (False, ("colour",))
    assert (await index.buckets())[B].schema.by_name[FieldName("size")].type is FieldType.NUMBER
    assert [(one.field, one.count) for one in report.unfitting] == [("size", 1)]


async def test_schemas_are_written_for_editing_and_never_over_a_file(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", a_record("d1", metadata={"size_mm": 3}))
    report = await ingest(index, [path], bucket=B, schema_folder=tmp_path)
    written = report.schemas[0].path
    assert written is not None
    assert written == tmp_path / "b.schema.yaml"
    assert schema_file.read(written) == (await index.buckets())[B].schema

    before = written.read_text()
    write(path, a_record("d1", metadata={"size_mm": 3, "colour": "red"}))
    again = await ingest(index, [path], bucket=B, schema_folder=tmp_path)
    assert again.schemas[0].path is None
    assert "was left as it is" in again.remarks[0]
    assert written.read_text() == before


async def test_ignored_metadata_is_not_read_and_that_is_said(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", a_record("d1", metadata={"size": 3}), a_record("d2", "", metadata={"size": 4}))
    report = await ingest(index, [path], bucket=B, ignore_metadata=True)
    assert "metadata was ignored" in report.remarks[0]
    assert (await index.buckets())[B].schema.fields == ()
    assert [(one.values, one.text) for one in await fetched(index, "d1", "d2")] == [({}, "some text"), ({}, "")]


async def test_a_document_without_text_is_told_by_its_metadata(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", a_record("d1", "", metadata={"vceo_v": 45, "tags": ["a", "b"]}))
    await ingest(index, [path], bucket=B)
    assert (await fetched(index, "d1"))[0].text == "Vceo: 45\nTags: a; b"


async def test_readers_narrow_and_pages_and_conditions_hold(index: EmbeddedIndex, tmp_path: Path) -> None:
    text = "First page.\nSecond page."
    document = a_record("d1", text, page_starts=[0, 12], readers=["user:local:ann"], metadata={"year": 2031})
    await ingest(index, [write(tmp_path / "x.jsonl", document)], bucket=B)
    (found,) = await fetched(index, "d1")
    assert [(found.text[one.start : one.end], one.page) for one in found.passages] == [
        ("First page.", 1),
        ("Second page.", 2),
    ]
    condition = Compare(field=FieldName("year"), op=Op.EQ, value=2031.0)
    count = Count(Search(clauses=(Clause(bucket=B, condition=condition),)))
    for subject, seen in [("user:local:ann", 1), ("user:local:bob", 0)]:
        scope = Scope(tenant=TENANT, buckets=frozenset({B}), subjects=frozenset({Subject(subject)}))
        assert (await index.within(scope).ask(count))[count] == seen


async def test_progress_goes_from_looking_to_the_end(index: EmbeddedIndex, tmp_path: Path) -> None:
    write(tmp_path / "in/x.jsonl", *(a_record(f"d{i}") for i in range(450)))
    (tmp_path / "in/y.txt").write_text("words")
    seen: list[Progress] = []
    await ingest(index, [tmp_path / "in"], bucket=B, progress=seen.append)
    assert seen[0].looking
    last = seen[-1]
    assert (last.looking, last.files, last.of_files, last.documents) == (False, 2, 2, 451)
    assert last.bytes == last.of_bytes > 0
    for looking in (True, False):
        read = [one.bytes for one in seen if one.looking is looking]
        assert read == sorted(read)


async def test_a_run_that_is_cancelled_ends_and_the_next_one_finishes_it(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", *(a_record(f"d{i}") for i in range(3000)))
    has_begun = asyncio.Event()

    def begun(progress: Progress) -> None:
        if not progress.looking:
            has_begun.set()

    run = asyncio.create_task(ingest(index, [path], bucket=B, progress=begun))
    await has_begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    report = await ingest(index, [path], bucket=B)
    assert report.added + report.skipped == 3000
