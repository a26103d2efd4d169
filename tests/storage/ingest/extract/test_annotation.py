"""Documents that get values from their text before the embedded index, and the review of these values."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.ingest.dry_run import DryRunIndex
from storage.ingest.extract.review_list import review_extraction
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import DocumentRequest
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.storage.ingest.runs import ingest_with_rules

TENANT, SLIPS, VENDOR = TenantId("test"), BucketId("slips"), FieldName("vendor")
SCHEMA = Schema(
    bucket=SLIPS,
    fields=(
        SchemaField(name=FieldName("vendor"), type=FieldType.CATEGORY, synonyms=("shop",)),
        SchemaField(name=FieldName("total"), type=FieldType.MONEY, currency="EUR"),
        SchemaField(name=FieldName("date"), type=FieldType.DATE),
    ),
)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path / "home", tenant=TENANT, analysers=analyser_for, embedder=None)
    yield opened
    await opened.close()


def a_slip(doc_id: str, shop: str, total: str = "12.50", **metadata: Any) -> dict[str, Any]:
    text = f"{shop}\nDate: 2031-05-09\nTOTAL: {total}\nCASH {total}"
    return {"doc_id": doc_id, "title": doc_id, "text": text, "metadata": metadata}


def write(path: Path, *slips: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(slip) + "\n" for slip in slips))
    return path


async def fetched(index: EmbeddedIndex, *doc_ids: str) -> list[Document]:
    request = DocumentRequest(tuple(map(DocId, doc_ids)))
    scope = Scope(tenant=TENANT, buckets=frozenset({SLIPS}), ignores_readers=True)
    return list((await index.within_scope(scope).answer_requests(request))[request])


async def test_values_come_from_the_text_with_confidence_and_evidence(index: EmbeddedIndex, tmp_path: Path) -> None:
    slips = write(tmp_path / "slips.jsonl", a_slip("a", "Blue Door Ltd", vendor="hidden"))

    await ingest_with_rules(index, [slips], schema=SCHEMA, ignore_metadata=True)

    (document,) = await fetched(index, "a")
    assert document.values == {"vendor": "Blue Door Ltd", "total": 12.5, "date": "2031-05-09"}
    evidence = {
        annotation.field: document.text[annotation.start : annotation.end] for annotation in document.annotations
    }
    assert evidence == {"vendor": "Blue Door Ltd", "total": "TOTAL: 12.50", "date": "Date: 2031-05-09"}
    assert all(0.5 <= annotation.confidence <= 1 for annotation in document.annotations)


async def test_values_of_the_user_are_kept(index: EmbeddedIndex, tmp_path: Path) -> None:
    given, bare = a_slip("given", "Blue Door Ltd", vendor="My own word"), a_slip("bare", "Blue Door Ltd")

    await ingest_with_rules(index, [write(tmp_path / "slips.jsonl", given, bare)], schema=SCHEMA)

    kept, filled = await fetched(index, "given", "bare")
    assert (kept.values, kept.annotations) == ({"vendor": "My own word"}, ())
    assert filled.values[VENDOR] == "Blue Door Ltd"


async def test_spellings_of_a_name_are_joined_and_stay_joined_in_later_runs(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    first = write(
        tmp_path / "first.jsonl",
        a_slip("a", "BLUE DOOR BAKERY"),
        a_slip("b", "Blue Door Bakery Ltd"),
        a_slip("c", "Blue Door Bakery Ltd"),
    )
    await ingest_with_rules(index, [first], schema=SCHEMA)
    assert [document.values[VENDOR] for document in await fetched(index, "a", "b", "c")] == ["Blue Door Bakery Ltd"] * 3

    again = await ingest_with_rules(index, [first], schema=SCHEMA)
    assert again.summary_line == "added 0, replaced 0, skipped 3, failed 0"
    rehearsed = await ingest_with_rules(DryRunIndex(index), [first], schema=SCHEMA)
    assert rehearsed.summary_line == again.summary_line

    more = [a_slip(f"m{number}", "BLUE DO0R BAKERY") for number in range(9)]
    await ingest_with_rules(index, [write(tmp_path / "more.jsonl", *more)], bucket=SLIPS)
    (late,) = await fetched(index, "m8")
    assert late.values[VENDOR] == "Blue Door Bakery Ltd"
    assert [annotation.value for annotation in late.annotations if annotation.field == "vendor"] == ["BLUE DO0R BAKERY"]


async def test_a_field_described_as_printed_keeps_every_spelling(index: EmbeddedIndex, tmp_path: Path) -> None:
    printed = SchemaField(name=FieldName("shop"), type=FieldType.CATEGORY, title="Shop as printed")
    one_name = SchemaField(name=VENDOR, type=FieldType.CATEGORY, description="The shop, however it is printed")
    slips = write(tmp_path / "s.jsonl", a_slip("a", "Blue Door"), a_slip("b", "Blue Door"), a_slip("c", "BLUE DOOR"))

    await ingest_with_rules(index, [slips], schema=Schema(bucket=SLIPS, fields=(printed, one_name)))

    (document,) = await fetched(index, "c")
    assert document.values == {"shop": "BLUE DOOR", "vendor": "Blue Door"}


async def test_a_review_lists_the_least_confident_values_first_and_joined_names(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    doubtful = {"doc_id": "d", "title": "d", "text": "Blue Door Bakery\n9.99\n"}
    slips = write(tmp_path / "s.jsonl", a_slip("a", "BLUE DOOR BAKERY"), a_slip("b", "BLUE DOOR BAKERY"), doubtful)
    await ingest_with_rules(index, [slips], schema=SCHEMA)

    review = await review_extraction(index, SCHEMA, below_confidence=0.75, limit=2)

    assert [value.confidence for value in review.uncertain_values] == sorted(
        value.confidence for value in review.uncertain_values
    )
    assert (review.uncertain_values[0].doc_id, review.uncertain_values[0].field) == ("d", "total")
    assert review.uncertain_values[0].evidence == "9.99"
    assert review.counts_by_field[FieldName("date")].read == 2
    assert review.counts_by_field[FieldName("total")].below >= 1
    (name,) = review.joined_names
    assert (name.name, name.spellings) == ("BLUE DOOR BAKERY", (("BLUE DOOR BAKERY", 2), ("Blue Door Bakery", 1)))
