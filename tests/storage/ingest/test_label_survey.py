"""Folders of files without metadata: their fields, values, evidence and titles after a run."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.ingest.files import SourceFile
from storage.ingest.label_survey import spread_sample
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, TenantId
from storage.search.index import DocumentRequest
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.storage.ingest.runs import ingest_with_rules

TENANT, BUCKET = TenantId("test"), BucketId("berths")


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path / "home", tenant=TENANT, analysers=analyser_for, embedder=None)
    yield opened
    await opened.close()


def write_berths(folder: Path, count: int) -> Path:
    folder.mkdir()
    for i in range(1, count + 1):
        lines = [f"Owner: Ann Poe {i}", f"Fee: EUR {i}00 per month", f"Start date: {i} May 2031"]
        texts = {
            "md": f"# Berth contract BC-{i}\n\n" + "\n".join(f"- **{line.replace(':', ':**')}" for line in lines),
            "txt": f"BERTH CONTRACT BC-{i}\n\n" + "\n".join(line.replace(": ", " ........ ") for line in lines),
            "html": f"<h1>Berth contract BC-{i}</h1><table>"
            + "".join("<tr><td>" + line.replace(": ", "</td><td>") + "</td></tr>" for line in lines)
            + "</table>",
        }
        suffix = ("md", "txt", "html")[i % 3]
        (folder / f"{i}.{suffix}").write_text(texts[suffix])
    return folder


async def fetch_document(index: EmbeddedIndex, doc_id: str) -> Document:
    request = DocumentRequest((DocId(doc_id),))
    scope = Scope(tenant=TENANT, buckets=frozenset({BUCKET}), ignores_readers=True)
    return (await index.within_scope(scope).answer_requests(request))[request][0]


async def load_schema(index: EmbeddedIndex) -> Schema:
    return (await index.load_bucket_states())[BUCKET].schema


async def test_labels_of_several_forms_become_fields_with_evidence(index: EmbeddedIndex, tmp_path: Path) -> None:
    report = await ingest_with_rules(index, [write_berths(tmp_path / "berths", 6)], bucket=BUCKET)

    schema = await load_schema(index)
    assert [field.label for field in schema.fields] == ["Owner", "Fee", "Start date", "Reference"]
    assert any("come from the texts of 6 documents" in remark for remark in report.remarks)
    for doc_id, number in (("3.md", 3), ("1.txt", 1), ("2.html", 2)):
        document = await fetch_document(index, doc_id)
        by_label = {schema.by_name[name].label: value for name, value in document.values.items()}
        assert by_label["Fee"] == 100.0 * number
        assert by_label["Start date"] == f"2031-05-0{number}"
        fee = next(each for each in document.annotations if schema.by_name[each.field].label == "Fee")
        assert f"EUR {number}00 per month" in document.text[fee.start : fee.end]


async def test_a_repeated_run_changes_nothing(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = write_berths(tmp_path / "berths", 6)
    await ingest_with_rules(index, [folder], bucket=BUCKET)
    schema = await load_schema(index)

    report = await ingest_with_rules(index, [folder], bucket=BUCKET)

    assert (report.skipped, report.added, report.replaced) == (6, 0, 0)
    assert await load_schema(index) == schema


async def test_a_bucket_with_fields_gets_no_more_fields_from_labels(index: EmbeddedIndex, tmp_path: Path) -> None:
    await ingest_with_rules(index, [write_berths(tmp_path / "berths", 6)], bucket=BUCKET)
    schema = await load_schema(index)
    more = tmp_path / "more"
    more.mkdir()
    for i in range(4):
        (more / f"more{i}.txt").write_text(f"Owner: Ann Poe\nColour: blue {i}")

    await ingest_with_rules(index, [more], bucket=BUCKET)

    assert await load_schema(index) == schema


async def test_a_bucket_that_had_one_file_gets_fields_once_labels_recur(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = write_berths(tmp_path / "berths", 4)
    await ingest_with_rules(index, [folder / "3.md"], bucket=BUCKET)
    assert (await load_schema(index)).fields == ()

    await ingest_with_rules(index, [folder], bucket=BUCKET)

    assert len((await load_schema(index)).fields) == 4
    assert (await fetch_document(index, "3.md")).values


async def test_a_given_schema_stays_as_it_is(index: EmbeddedIndex, tmp_path: Path) -> None:
    await ingest_with_rules(index, [write_berths(tmp_path / "berths", 4)], schema=Schema(bucket=BUCKET))

    assert (await load_schema(index)).fields == ()


def test_of_many_files_two_hundred_are_read_evenly_spread(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("x")
    files = [SourceFile(path=path, name=str(number)) for number in range(1000)]

    sample = [int(file.name) for file in spread_sample(files)]

    assert sample == list(range(0, 1000, 5))
