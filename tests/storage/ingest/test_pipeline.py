"""Complete ingestion runs into the real embedded index."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.ingest.pipeline import ingest_files
from storage.ingest.report import IngestProgress
from storage.ingest.schemas import schema_file
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, Subject, TenantId
from storage.search.index import CountRequest, DocumentRequest
from storage.search.plan import Clause, Search
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.stand_ins.labels import LabelExtractor
from tests.storage.ingest.runs import ingest_with_rules

TENANT = TenantId("test")
BUCKET = BucketId("b")


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    embedded_index = await EmbeddedIndex.open(tmp_path / "home", tenant=TENANT, analysers=analyser_for, embedder=None)
    yield embedded_index
    await embedded_index.close()


def a_record(doc_id: str, text: str = "some text", **rest: Any) -> dict[str, Any]:
    return {"doc_id": doc_id, "title": doc_id.title(), "text": text} | rest


def write_jsonl(path: Path, *documents: Mapping[str, Any] | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in documents))
    return path


async def fetch_documents(index: EmbeddedIndex, *doc_ids: str, bucket: BucketId = BUCKET) -> list[Document]:
    request = DocumentRequest(tuple(DocId(doc_id) for doc_id in doc_ids))
    scope = Scope(tenant=TENANT, buckets=frozenset({bucket}), ignores_readers=True)
    return list((await index.within_scope(scope).answer_requests(request))[request])


async def test_a_folder_of_mixed_files_becomes_documents_of_a_new_bucket(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write_jsonl(
        folder / "a/data.jsonl", a_record("d1", metadata={"power_w": 5}), a_record("d2", metadata={"power_w": 7})
    )
    (folder / "note.md").write_text("# A note\n\nwords")
    (folder / "parts.csv").write_text("id,power_w\nx,9\n")
    (folder / "broken.pdf").write_bytes(b"no pdf")

    report = await ingest_with_rules(index, [folder], bucket=BUCKET)

    assert report.summary_line == "added 4, replaced 0, skipped 0, failed 1"
    assert [(failure.where, failure.reason) for failure in report.failures] == [
        ("broken.pdf", "it is broken, or no PDF")
    ]
    documents = await fetch_documents(index, "d1", "d2", "note.md", "parts.csv#x")
    assert [document.values.get(FieldName("power_w")) for document in documents] == [5.0, 7.0, None, 9.0]
    assert (report.buckets, [change.is_new for change in report.schema_changes]) == ((BUCKET,), [True])


GERMAN = "Der Vertrag ist von den Parteien unterschrieben und gilt bis zum Ende des Jahres für alle Waren der Firma. "


async def test_the_language_of_a_new_bucket_is_that_of_its_texts(index: EmbeddedIndex, tmp_path: Path) -> None:
    records = write_jsonl(tmp_path / "in.jsonl", a_record("d1", GERMAN * 3), a_record("d2", GERMAN * 3))
    (tmp_path / "seite.md").write_text(GERMAN * 3, encoding="utf-8")

    await ingest_with_rules(index, [records], bucket=BUCKET)
    await ingest_with_rules(index, [tmp_path / "seite.md"], bucket=BucketId("pages"))
    await ingest_with_rules(
        index, [write_jsonl(tmp_path / "more.jsonl", a_record("d3", "The rest is in English. " * 20))], bucket=BUCKET
    )

    assert [state.schema.language for state in (await index.load_bucket_states()).values()] == ["de", "de"]


async def test_dates_with_a_few_misfits_stay_dates_and_the_misfits_stay_in_the_text(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    dated = [a_record(f"d{day}", metadata={"due": f"2031-05-{day:02}"}) for day in range(1, 10)]
    path = write_jsonl(tmp_path / "x.jsonl", *dated, a_record("odd", metadata={"due": "when it is done"}))

    report = await ingest_with_rules(index, [path], bucket=BUCKET, schema_folder=tmp_path)

    undated, first = await fetch_documents(index, "odd", "d1")
    assert (undated.values, first.values) == ({}, {"due": "2031-05-01"})
    assert "Due: when it is done" in undated.text
    assert [(unfitting.field, unfitting.count, unfitting.examples) for unfitting in report.unfitting_values] == [
        ("due", 1, ("when it is done",))
    ]
    assert "# 10 of 10 documents; 2031-05-01 to 2031-05-09\n- name: due" in (tmp_path / "b.schema.yaml").read_text()


async def test_a_repeated_run_changes_nothing_and_a_changed_document_is_replaced(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", a_record("d1"), a_record("d2"))
    await ingest_with_rules(index, [path], bucket=BUCKET)
    generation = (await index.load_bucket_states())[BUCKET].generation

    repeated = await ingest_with_rules(index, [path], bucket=BUCKET)
    assert repeated.summary_line == "added 0, replaced 0, skipped 2, failed 0"
    assert (await index.load_bucket_states())[BUCKET].generation == generation

    write_jsonl(path, a_record("d1"), a_record("d2", "other text"))
    assert (
        await ingest_with_rules(index, [path], bucket=BUCKET)
    ).summary_line == "added 0, replaced 1, skipped 1, failed 0"


async def test_the_last_of_several_documents_with_the_same_id_is_kept(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "x.jsonl", a_record("d", "one"), a_record("d", "two"), a_record("e"), a_record("d", "three")
    )
    report = await ingest_with_rules(index, [path], bucket=BUCKET)
    assert report.summary_line == "added 2, replaced 0, skipped 0, failed 0"
    assert [superseded.where for superseded in report.superseded] == ["x.jsonl, line 1", "x.jsonl, line 2"]
    assert (await fetch_documents(index, "d"))[0].text == "three"
    assert (await ingest_with_rules(index, [path], bucket=BUCKET)).skipped == 2


async def test_the_given_bucket_wins_over_the_bucket_that_a_document_names(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", a_record("d1", bucket="one"), a_record("d2", bucket="two"), a_record("d3"))
    report = await ingest_with_rules(index, [path])
    assert report.buckets == ("one", "two")
    assert [(failure.doc_id, failure.reason) for failure in report.failures] == [
        ("d3", "it names no bucket; give one with --bucket")
    ]
    other = write_jsonl(tmp_path / "y.jsonl", a_record("e1", bucket="one"), a_record("e2", bucket="../two"))
    assert (await ingest_with_rules(index, [other], bucket=BUCKET)).buckets == (BUCKET,)
    assert "not a name for a bucket" in (await ingest_with_rules(index, [other])).failures[0].reason


async def test_an_id_of_another_bucket_fails_without_naming_that_bucket(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", a_record("d1"), a_record("d2"))
    await ingest_with_rules(index, [path], bucket=BucketId("secret"))
    write_jsonl(path, a_record("d1"), a_record("d3"))
    report = await ingest_with_rules(index, [path], bucket=BUCKET)
    assert (report.added, report.failed) == (1, 1)
    (failure,) = report.failures
    assert (failure.where, failure.doc_id) == ("x.jsonl, line 1", "d1")
    assert "secret" not in failure.reason


async def test_a_value_that_does_not_fit_is_reported_and_appended_to_the_text(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    schema = Schema(
        bucket=BUCKET, fields=(SchemaField(name=FieldName("width"), type=FieldType.NUMBER, title="Width", unit="mm"),)
    )
    path = write_jsonl(
        tmp_path / "x.jsonl",
        a_record("d1", metadata={"width": "2 cm"}),
        a_record("d2", "a text", metadata={"width": "roughly thirty", "colour": "red"}),
    )
    report = await ingest_with_rules(index, [path], schema=schema)
    (unfitting,) = report.unfitting_values
    assert (unfitting.field, unfitting.count, unfitting.examples) == ("width", 1, ("roughly thirty",))
    assert [(ignored.key, ignored.count) for ignored in report.ignored_keys] == [("colour", 1)]
    first, second = await fetch_documents(index, "d1", "d2")
    assert first.values == {"width": 20.0}
    assert (second.values, second.text) == ({}, "a text\n\nWidth: roughly thirty")
    assert [second.text[passage.start : passage.end] for passage in second.passages] == [second.text]


async def test_an_existing_schema_gets_new_fields_and_keeps_its_types(index: EmbeddedIndex, tmp_path: Path) -> None:
    await ingest_with_rules(
        index, [write_jsonl(tmp_path / "x.jsonl", a_record("d1", metadata={"size": 3}))], bucket=BUCKET
    )
    other = write_jsonl(tmp_path / "y.jsonl", a_record("d2", metadata={"size": "large", "colour": "red"}))
    report = await ingest_with_rules(index, [other], bucket=BUCKET)
    (changed,) = report.schema_changes
    assert (changed.is_new, changed.added_fields) == (False, ("colour",))
    assert (await index.load_bucket_states())[BUCKET].schema.by_name[FieldName("size")].type is FieldType.NUMBER
    assert [(unfitting.field, unfitting.count) for unfitting in report.unfitting_values] == [("size", 1)]


async def test_a_schema_file_is_written_and_never_overwritten(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", a_record("d1", metadata={"size_mm": 3}))
    report = await ingest_with_rules(index, [path], bucket=BUCKET, schema_folder=tmp_path)
    schema_path = report.schema_changes[0].path
    assert schema_path is not None
    assert schema_path == tmp_path / "b.schema.yaml"
    assert schema_file.read_schema_file(schema_path) == (await index.load_bucket_states())[BUCKET].schema

    text_before = schema_path.read_text()
    write_jsonl(path, a_record("d1", metadata={"size_mm": 3, "colour": "red"}))
    repeated = await ingest_with_rules(index, [path], bucket=BUCKET, schema_folder=tmp_path)
    assert repeated.schema_changes[0].path is None
    assert "was left as it is" in repeated.remarks[0]
    assert schema_path.read_text() == text_before


async def test_values_without_metadata_are_those_of_the_given_extractor(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", a_record("d1", "Shop: Blue Door"))
    schema = Schema(bucket=BUCKET, fields=(SchemaField(name=FieldName("shop"), type=FieldType.CATEGORY),))
    extractor = LabelExtractor()

    await ingest_files(index, [path], extractor=extractor, schema=schema)

    (document,) = await fetch_documents(index, "d1")
    assert (document.values, extractor.titles) == ({"shop": "Blue Door"}, ["D1"])


async def test_ignored_metadata_is_not_read_and_a_remark_says_so(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "x.jsonl", a_record("d1", metadata={"size": 3}), a_record("d2", "", metadata={"size": 4})
    )
    report = await ingest_with_rules(index, [path], bucket=BUCKET, ignore_metadata=True)
    assert "metadata was ignored" in report.remarks[0]
    assert (await index.load_bucket_states())[BUCKET].schema.fields == ()
    assert [(document.values, document.text) for document in await fetch_documents(index, "d1", "d2")] == [
        ({}, "some text"),
        ({}, ""),
    ]


async def test_a_document_without_text_gets_its_metadata_as_text(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", a_record("d1", "", metadata={"vceo_v": 45, "tags": ["a", "b"]}))
    await ingest_with_rules(index, [path], bucket=BUCKET)
    assert (await fetch_documents(index, "d1"))[0].text == "Vceo: 45\nTags: a; b"


async def test_readers_pages_and_values_of_a_document_are_stored(index: EmbeddedIndex, tmp_path: Path) -> None:
    text = "First page.\nSecond page."
    document = a_record("d1", text, page_starts=[0, 12], readers=["user:local:ann"], metadata={"year": 2031})
    await ingest_with_rules(index, [write_jsonl(tmp_path / "x.jsonl", document)], bucket=BUCKET)
    (stored,) = await fetch_documents(index, "d1")
    assert [(stored.text[passage.start : passage.end], passage.page) for passage in stored.passages] == [
        ("First page.", 1),
        ("Second page.", 2),
    ]
    condition = ComparisonCondition(field=FieldName("year"), op=ComparisonOperator.EQ, value=2031.0)
    count = CountRequest(Search(clauses=(Clause(bucket=BUCKET, condition=condition),)))
    for subject, visible_count in [("user:local:ann", 1), ("user:local:bob", 0)]:
        scope = Scope(tenant=TENANT, buckets=frozenset({BUCKET}), subjects=frozenset({Subject(subject)}))
        assert (await index.within_scope(scope).answer_requests(count))[count] == visible_count


async def test_progress_is_reported_for_both_passes_up_to_the_end(index: EmbeddedIndex, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "in/x.jsonl", *(a_record(f"d{i}") for i in range(450)))
    (tmp_path / "in/y.txt").write_text("words")
    updates: list[IngestProgress] = []
    await ingest_with_rules(index, [tmp_path / "in"], bucket=BUCKET, progress=updates.append)
    assert updates[0].is_first_pass
    last = updates[-1]
    assert (last.is_first_pass, last.files_done, last.files_total, last.documents) == (False, 2, 2, 451)
    assert last.bytes_done == last.bytes_total > 0
    for is_first_pass in (True, False):
        bytes_done = [update.bytes_done for update in updates if update.is_first_pass is is_first_pass]
        assert bytes_done == sorted(bytes_done)


async def test_a_cancelled_run_ends_and_the_next_run_loads_the_rest(index: EmbeddedIndex, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", *(a_record(f"d{i}") for i in range(3000)))
    has_begun = asyncio.Event()

    def note_start(progress: IngestProgress) -> None:
        if not progress.is_first_pass:
            has_begun.set()

    run = asyncio.create_task(ingest_with_rules(index, [path], bucket=BUCKET, progress=note_start))
    await has_begun.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    report = await ingest_with_rules(index, [path], bucket=BUCKET)
    assert report.added + report.skipped == 3000


async def test_keys_beyond_the_bound_of_a_bucket_get_no_field_and_a_remark_names_them(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    documents = [a_record(f"d{i}", metadata={f"k{i}_{j}": j for j in range(900)}) for i in range(3)]
    file = write_jsonl(tmp_path / "many.jsonl", *documents)

    report = await ingest_with_rules(index, [file], bucket=BUCKET)
    assert (report.added, len(report.schema_changes[0].schema.fields)) == (3, 2_000)
    assert any("700 further keys, such as 'k2_200', are none" in remark for remark in report.remarks)


async def test_the_text_of_a_record_with_other_keys_than_the_fields_is_not_read_for_them(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    wide = [a_record(f"d{i}", metadata={f"total {i} {j}": j for j in range(1_000)}) for i in range(2)]
    later = [a_record("own", text="Total 0 1: 7", metadata={"later": 1}), a_record("none", text="Total 0 1: 7")]
    file = write_jsonl(tmp_path / "many.jsonl", *wide, *later)

    await ingest_with_rules(index, [file], bucket=BUCKET)
    own, none = await fetch_documents(index, "own", "none")

    assert (own.values, none.values) == ({}, {"total 0 1": 7})
