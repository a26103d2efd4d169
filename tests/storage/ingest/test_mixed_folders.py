"""Folders with documents of several kinds: their kinds, the fields of each kind, their folders and their sheets."""

from collections.abc import AsyncIterator
from pathlib import Path

import openpyxl
import pytest

from storage.embedded.index import EmbeddedIndex
from storage.search.conditions import MATCH_ALL
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.index import DocumentRequest, RecordPageRequest
from storage.search.plan import Clause, Search
from storage.search.schema import FieldOrigin, Schema
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for
from tests.storage.ingest.mixed_folders import MixedFolder
from tests.storage.ingest.runs import ingest_with_rules

TENANT, BUCKET = TenantId("test"), BucketId("shared")
KIND, FOLDER, SHEET = FieldName("kind"), FieldName("folder"), FieldName("sheet")


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path / "home", tenant=TENANT, analysers=analyser_for, embedder=None)
    yield opened
    await opened.close()


async def load_schema(index: EmbeddedIndex) -> Schema:
    return (await index.load_bucket_states())[BUCKET].schema


async def fetch_documents(index: EmbeddedIndex) -> dict[str, Document]:
    scoped = index.within_scope(Scope(tenant=TENANT, buckets=frozenset({BUCKET}), ignores_readers=True))
    search = Search(clauses=(Clause(bucket=BUCKET, condition=MATCH_ALL),))
    page_request = RecordPageRequest(search, cursor=None, limit=500, fields=frozenset())
    page = (await scoped.answer_requests(page_request))[page_request]
    request = DocumentRequest(tuple(record.doc_id for record in page.records))
    return {str(document.doc_id): document for document in (await scoped.answer_requests(request))[request]}


async def load_folder(index: EmbeddedIndex, folder: Path) -> tuple[Schema, dict[str, Document]]:
    await ingest_with_rules(index, [folder], bucket=BUCKET)
    return await load_schema(index), await fetch_documents(index)


def write_texts(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def kinds_of_fields(schema: Schema) -> dict[str, tuple[str, ...]]:
    return {field.label: field.kinds for field in schema.fields}


@pytest.mark.parametrize(("has_subfolders", "has_titles"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("seed", [1, 2])
async def test_each_document_has_its_kind_and_only_the_fields_of_its_kind(
    index: EmbeddedIndex, tmp_path: Path, seed: int, has_subfolders: bool, has_titles: bool
) -> None:
    mixed = MixedFolder(seed=seed, has_subfolders=has_subfolders, has_titles=has_titles)

    schema, documents = await load_folder(index, mixed.write_into(tmp_path / "shared"))

    expected = mixed.truth  # a letter that no word calls so is one by its salutation
    assert {path: documents[path].values.get(KIND) for path in expected} == expected
    for path, kind in expected.items():
        fields = [schema.by_name[name] for name in documents[path].values] if kind else []
        assert all(not field.kinds or kind in field.kinds for field in fields)
        labels = {field.label for field in fields}
        assert {label for label, _ in mixed.facts[path].items()} <= labels | {"Date"} or kind is None


async def test_a_field_has_the_kinds_in_which_its_label_recurs(index: EmbeddedIndex, tmp_path: Path) -> None:
    schema, _ = await load_folder(index, MixedFolder().write_into(tmp_path / "shared"))

    kinds = kinds_of_fields(schema)
    assert kinds["Purchased"] == ("asset sheet",)
    assert kinds["Supplier"] == ("invoice",)
    assert set(kinds["Date"]) == {"invoice", "minutes", "letter"}
    assert "Planned" not in kinds  # the table of the budget is a part of its own


async def test_the_words_of_a_kind_are_its_plural_its_synonyms_and_what_a_sheet_describes(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    schema, _ = await load_folder(index, MixedFolder().write_into(tmp_path / "shared"))

    words = schema.by_name[KIND].values
    assert words["asset sheet"] == ("asset sheets", "asset", "assets")
    assert {"invoices", "bill", "Rechnung".lower()} <= set(words["invoice"])
    assert schema.item == "document"


async def test_the_date_of_an_invoice_is_no_purchase_of_an_asset(index: EmbeddedIndex, tmp_path: Path) -> None:
    mixed = MixedFolder()

    _, documents = await load_folder(index, mixed.write_into(tmp_path / "shared"))

    purchased = {path for path, document in documents.items() if FieldName("Purchased") in document.values}
    assert purchased == {path for path, kind in mixed.truth.items() if kind == "asset sheet"}


async def test_labels_name_the_kind_where_nothing_else_does(index: EmbeddedIndex, tmp_path: Path) -> None:
    titled = {f"{i}.txt": f"INVOICE I-{i}\n\nSupplier: Acme {i}\nNet: EUR {i}0\nDue: {i} May 2031" for i in range(1, 6)}
    others = {f"m{i}.txt": f"Memo to staff {i}\n\nTopic: parking {i}\nAuthor: Ann {i}" for i in range(1, 4)}
    bare = {"bare.txt": "Supplier: Acme 9\nNet: EUR 90\nDue: 9 May 2031", "odd.txt": "Net: EUR 3\n\nWe owe this."}

    _, documents = await load_folder(index, write_texts(tmp_path / "shared", {**titled, **others, **bare}))

    assert documents["bare.txt"].values[KIND] == "invoice"
    assert KIND not in documents["odd.txt"].values  # one label proves nothing


async def test_a_folder_of_one_kind_has_no_kinds(index: EmbeddedIndex, tmp_path: Path) -> None:
    texts = {f"{i}.txt": f"BERTH REPORT B-{i}\n\nOwner: Ann {i}\nFee: EUR {i}00" for i in range(1, 6)}

    schema, _ = await load_folder(index, write_texts(tmp_path / "berths", texts))

    assert [field.label for field in schema.fields] == ["Owner", "Fee", "Reference"]
    assert schema.kind_field is None


async def test_folders_are_a_field_where_they_vary_and_recur(index: EmbeddedIndex, tmp_path: Path) -> None:
    texts = {f"{place}/{i}.txt": f"Owner: Ann {i}\nFee: EUR {i}0" for place in ("north", "south") for i in range(1, 4)}

    schema, documents = await load_folder(index, write_texts(tmp_path / "berths", texts))

    assert schema.by_name[FOLDER].origin is FieldOrigin.FOLDER
    assert documents["north/1.txt"].values[FOLDER] == ("north",)
    assert documents["north/1.txt"].values[FieldName("Owner")] == "Ann 1"


@pytest.mark.parametrize("places", [["all"] * 6, [str(i) for i in range(6)]])
async def test_one_folder_for_all_or_one_for_each_is_no_field(
    index: EmbeddedIndex, tmp_path: Path, places: list[str]
) -> None:
    texts = {f"{place}/{i}.txt": f"Owner: Ann {i}\nFee: EUR {i}0" for i, place in enumerate(places)}

    schema, _ = await load_folder(index, write_texts(tmp_path / "berths", texts))

    assert FOLDER not in schema.by_name


def write_workbook(path: Path, *sheets: str) -> Path:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.worksheets[0])
    for name in sheets:
        sheet = workbook.create_sheet(name)
        for row in (["Item", "Cost"], ["Rent", 10], ["Heat", 20]):
            sheet.append(row)
    path.parent.mkdir(exist_ok=True)
    workbook.save(path)
    return path


async def test_the_names_of_sheets_are_a_field(index: EmbeddedIndex, tmp_path: Path) -> None:
    schema, documents = await load_folder(index, write_workbook(tmp_path / "costs" / "a.xlsx", "North", "South"))

    assert schema.by_name[SHEET].origin is FieldOrigin.SHEET
    assert documents["a.xlsx#South#1"].values[SHEET] == "South"


@pytest.mark.parametrize("sheets", [["North"], ["Sheet1", "Sheet2"]])
async def test_a_single_sheet_and_names_of_the_program_are_no_field(
    index: EmbeddedIndex, tmp_path: Path, sheets: list[str]
) -> None:
    schema, _ = await load_folder(index, write_workbook(tmp_path / "costs" / "a.xlsx", *sheets))

    assert SHEET not in schema.by_name


async def test_a_later_run_reads_kinds_and_folders_by_the_schema(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = MixedFolder().write_into(tmp_path / "shared")
    schema, _ = await load_folder(index, folder)
    later = {"archive/memos/late.txt": "INVOICE INV-9\n\nSupplier: Acme Tools\nTotal: EUR 10.00"}

    after, documents = await load_folder(index, write_texts(folder, later))

    assert after == schema
    late = documents[str(DocId("archive/memos/late.txt"))]
    assert late.values[KIND] == "invoice"
    assert late.values[FOLDER] == ("archive", "memos")


async def test_a_letterhead_is_no_kind_and_a_heading_below_it_is(index: EmbeddedIndex, tmp_path: Path) -> None:
    cards = {
        f"c{i}.txt": f"ORLO HARBOUR TRUST\nBERTH CARD\n\nBerth: B{i}\nDepth: {i} m\nKeeper: Ann {i}"
        for i in range(1, 5)
    }
    notices = {f"n{i}.txt": "Orlo Harbour Trust * 4 Quay Lane\n\nNOTICE\n\nThe gate is shut." for i in range(1, 5)}

    schema, documents = await load_folder(index, write_texts(tmp_path / "shared", {**cards, **notices}))

    assert schema.kind_field is not None
    assert set(schema.kind_field.values) == {"berth card", "notice"}
    assert all(KIND in document.values for document in documents.values())


async def test_documents_that_the_name_of_the_bucket_calls_otherwise_have_no_kinds(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    agreements = {f"a{i}.txt": f"Agreement A-{i}\n\nTenant: Ann {i}" for i in range(1, 5)}
    sheets = {f"s{i}.txt": f"CONTRACT SHEET\n\nTenant: Bob {i}" for i in range(1, 5)}

    folder = write_texts(tmp_path / "leases", {**agreements, **sheets})
    await ingest_with_rules(index, [folder], bucket=BucketId("leases"))

    schema = (await index.load_bucket_states())[BucketId("leases")].schema
    assert schema.kind_field is None
    assert "Document type" not in {field.label for field in schema.fields}


async def test_other_documents_in_the_folder_of_a_kind_are_of_that_kind(index: EmbeddedIndex, tmp_path: Path) -> None:
    rooms = {f"rooms/r{i}.txt": f"ROOM CARD R{i}\n\nSeats: {i}" for i in range(1, 5)}
    bare = {"rooms/hall.txt": "The hall is upstairs."}
    memos = {f"m{i}.txt": f"Memo {i}\n\nThe lift is out of order." for i in range(1, 5)}

    _, documents = await load_folder(index, write_texts(tmp_path / "shared", {**rooms, **bare, **memos}))

    assert documents["rooms/hall.txt"].values[KIND] == "room card"
