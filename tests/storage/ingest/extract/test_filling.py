"""Documents filled from their text on the way into the embedded index, and what there is to review of them."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.ingest.extract.reviewing import review
from storage.ingest.pipeline import ingest
from storage.ingest.rehearsal import Rehearsal
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import Fetch
from storage.search.schema import Field, FieldType, Schema
from storage.search.scope import Scope

TENANT, SLIPS, VENDOR = TenantId("test"), BucketId("slips"), FieldName("vendor")
SCHEMA = Schema(
    bucket=SLIPS,
    fields=(
        Field(name=FieldName("vendor"), type=FieldType.CATEGORY, synonyms=("shop",)),
        Field(name=FieldName("total"), type=FieldType.MONEY, currency="EUR"),
        Field(name=FieldName("date"), type=FieldType.DATE),
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
    path.write_text("".join(json.dumps(one) + "\n" for one in slips))
    return path


async def fetched(index: EmbeddedIndex, *doc_ids: str) -> list[Document]:
    request = Fetch(tuple(map(DocId, doc_ids)))
    scope = Scope(tenant=TENANT, buckets=frozenset({SLIPS}), all_readers=True)
    return list((await index.within(scope).ask(request))[request])


async def test_values_come_from_the_text_with_confidence_and_evidence(index: EmbeddedIndex, tmp_path: Path) -> None:
    slips = write(tmp_path / "slips.jsonl", a_slip("a", "Blue Door Ltd", vendor="hidden"))

    await ingest(index, [slips], schema=SCHEMA, ignore_metadata=True)

    (document,) = await fetched(index, "a")
    assert document.values == {"vendor": "Blue Door Ltd", "total": 12.5, "date": "2031-05-09"}
    evidence = {one.field: document.text[one.start : one.end] for one in document.annotations}
    assert evidence == {"vendor": "Blue Door Ltd", "total": "TOTAL: 12.50", "date": "2031-05-09"}
    assert all(0.5 <= one.confidence <= 1 for one in document.annotations)


async def test_what_the_user_gave_is_left_alone(index: EmbeddedIndex, tmp_path: Path) -> None:
    given, bare = a_slip("given", "Blue Door Ltd", vendor="My own word"), a_slip("bare", "Blue Door Ltd")

    await ingest(index, [write(tmp_path / "slips.jsonl", given, bare)], schema=SCHEMA)

    kept, filled = await fetched(index, "given", "bare")
    assert (kept.values, kept.annotations) == ({"vendor": "My own word"}, ())
    assert filled.values[VENDOR] == "Blue Door Ltd"


async def test_spellings_of_one_name_become_one_and_stay_so_in_later_runs(index: EmbeddedIndex, tmp_path: Path) -> None:
    first = write(
        tmp_path / "first.jsonl",
        a_slip("a", "BLUE DOOR BAKERY"),
        a_slip("b", "Blue Door Bakery Ltd"),
        a_slip("c", "Blue Door Bakery Ltd"),
    )
    await ingest(index, [first], schema=SCHEMA)
    assert [one.values[VENDOR] for one in await fetched(index, "a", "b", "c")] == ["Blue Door Bakery Ltd"] * 3

    again = await ingest(index, [first], schema=SCHEMA)
    assert again.last_line == "added 0, replaced 0, skipped 3, failed 0"
    rehearsed = await ingest(Rehearsal(index), [first], schema=SCHEMA)
    assert rehearsed.last_line == again.last_line

    more = [a_slip(f"m{number}", "BLUE DO0R BAKERY") for number in range(9)]
    await ingest(index, [write(tmp_path / "more.jsonl", *more)], bucket=SLIPS)
    (late,) = await fetched(index, "m8")
    assert late.values[VENDOR] == "Blue Door Bakery Ltd"
    assert [one.value for one in late.annotations if one.field == "vendor"] == ["BLUE DO0R BAKERY"]


async def test_a_field_described_as_printed_keeps_every_spelling(index: EmbeddedIndex, tmp_path: Path) -> None:
    printed = Field(name=FieldName("shop"), type=FieldType.CATEGORY, title="Shop as printed")
    one_name = Field(name=VENDOR, type=FieldType.CATEGORY, description="The shop, however it is printed")
    slips = write(tmp_path / "s.jsonl", a_slip("a", "Blue Door"), a_slip("b", "Blue Door"), a_slip("c", "BLUE DOOR"))

    await ingest(index, [slips], schema=Schema(bucket=SLIPS, fields=(printed, one_name)))

    (document,) = await fetched(index, "c")
    assert document.values == {"shop": "BLUE DOOR", "vendor": "Blue Door"}


async def test_a_review_lists_the_least_sure_first_and_the_names_brought_together(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    doubtful = {"doc_id": "d", "title": "d", "text": "Blue Door Bakery\n9.99\n"}
    slips = write(tmp_path / "s.jsonl", a_slip("a", "BLUE DOOR BAKERY"), a_slip("b", "BLUE DOOR BAKERY"), doubtful)
    await ingest(index, [slips], schema=SCHEMA)

    found = await review(index, SCHEMA, below=0.75, limit=2)

    assert [one.confidence for one in found.doubts] == sorted(one.confidence for one in found.doubts)
    assert (found.doubts[0].doc_id, found.doubts[0].field) == ("d", "total")
    assert found.doubts[0].evidence == "9.99"
    assert found.fields[FieldName("date")].read == 2
    assert found.fields[FieldName("total")].below >= 1
    (name,) = found.names
    assert (name.name, name.spellings) == ("BLUE DOOR BAKERY", (("BLUE DOOR BAKERY", 2), ("Blue Door Bakery", 1)))
