"""Buckets with several tables: each table with columns of its own is a part of the bucket."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import openpyxl
import pytest

from storage.embedded.index import EmbeddedIndex
from storage.ingest.dry_run import DryRunIndex
from storage.search.ids import BucketId, DocId, FieldName, TenantId
from storage.search.schema import Schema
from storage.text.snowball_analyser import analyser_for
from tests.storage.ingest.runs import ingest_with_rules

BUCKET = BucketId("clinic")
PETS = "no,animal,born,owner_no\n" + "".join(f"P{n},Rex {n},203{n}-02-03,C{n}\n" for n in range(1, 7))
OWNERS = "owner_no,client,town\n" + "".join(f"C{n},Ann Lee {n},Wells\n" for n in range(1, 7))
BILLS = "bill,issued,total\n" + "".join(f"B{n},2031-05-0{n},{n}0.50\n" for n in range(1, 7))


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    opened = await EmbeddedIndex.open(tmp_path / "home", tenant=TenantId("test"), analysers=analyser_for, embedder=None)
    yield opened
    await opened.close()


def write_files(folder: Path, texts: Mapping[str, str]) -> Path:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


async def count_documents(index: EmbeddedIndex) -> dict[str, int]:
    return {str(bucket): size.document_count for bucket, size in (await index.load_bucket_sizes()).items()}


async def schema_of(index: EmbeddedIndex, bucket: str) -> Schema:
    return (await index.load_bucket_sizes())[BucketId(bucket)].schema


async def test_each_table_of_a_folder_is_a_part_with_its_own_fields(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"pets.csv": PETS, "owners.csv": OWNERS})

    report = await ingest_with_rules(index, [folder], bucket=BUCKET)

    assert await count_documents(index) == {"clinic": 0, "clinic/owners": 6, "clinic/pets": 6}
    assert list((await schema_of(index, "clinic/owners")).by_name) == ["owner_no", "client", "town"]
    assert "pet" in (await schema_of(index, "clinic/pets")).synonyms
    assert any("clinic/owners, clinic/pets" in remark for remark in report.remarks)


async def test_a_field_of_one_part_refers_to_the_documents_of_another(index: EmbeddedIndex, tmp_path: Path) -> None:
    await ingest_with_rules(index, [write_files(tmp_path, {"pets.csv": PETS, "owners.csv": OWNERS})], bucket=BUCKET)

    field = (await schema_of(index, "clinic/pets")).by_name[FieldName("owner_no")]
    assert field.references == "clinic/owners.owner_no"


async def test_texts_stay_in_the_bucket_and_a_table_beside_them_is_a_part(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"pets.csv": PETS, "rules.txt": "Dogs wait outside.", "b.md": "# B\n\nWords"})

    await ingest_with_rules(index, [folder], bucket=BUCKET)

    assert await count_documents(index) == {"clinic": 2, "clinic/pets": 6}
    assert not (await schema_of(index, "clinic")).fields


@pytest.mark.parametrize(
    "files",
    [
        {"pets.csv": PETS},
        {"a.txt": "Dogs wait outside.", "b.txt": "Cats too."},
        {"pets 2030.csv": PETS, "pets 2031.csv": PETS.replace("born", "born_on")},
        {"pets.jsonl": '{"doc_id": "d1", "text": "Rex", "metadata": {"animal": "dog"}}', "a.txt": "Dogs wait."},
    ],
    ids=["one table", "texts", "tables with nearly the same columns", "documents with metadata"],
)
async def test_other_buckets_have_no_parts(index: EmbeddedIndex, tmp_path: Path, files: dict[str, str]) -> None:
    await ingest_with_rules(index, [write_files(tmp_path / "in", files)], bucket=BUCKET)

    assert list(await count_documents(index)) == ["clinic"]


async def test_files_with_the_same_columns_are_one_part(index: EmbeddedIndex, tmp_path: Path) -> None:
    files = {"pet list 2030.csv": PETS, "pet list 2031.csv": PETS, "owners.csv": OWNERS}

    await ingest_with_rules(index, [write_files(tmp_path / "in", files)], bucket=BUCKET)

    assert await count_documents(index) == {"clinic": 0, "clinic/owners": 6, "clinic/pet list": 12}


async def test_tables_of_the_same_name_in_two_folders_are_parts_of_different_names(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    files = {"north/list.csv": PETS, "south/list.csv": OWNERS}

    await ingest_with_rules(index, [write_files(tmp_path / "in", files)], bucket=BUCKET)

    assert await count_documents(index) == {"clinic": 0, "clinic/list": 6, "clinic/list 2": 6}


async def test_sheets_with_different_columns_are_parts(index: EmbeddedIndex, tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.worksheets[0])
    for name, table in {"Pets": PETS, "Owners": OWNERS}.items():
        sheet = workbook.create_sheet(name)
        for line in table.splitlines():
            sheet.append(line.split(","))
    workbook.save(tmp_path / "registers.xlsx")

    await ingest_with_rules(index, [tmp_path / "registers.xlsx"], bucket=BUCKET)

    assert await count_documents(index) == {"clinic": 0, "clinic/Owners": 6, "clinic/Pets": 6}


async def test_plain_records_are_a_table(index: EmbeddedIndex, tmp_path: Path) -> None:
    records = '{"id": "S1", "drug": "Metacam", "stock": 5}\n{"id": "S2", "drug": "Synulox", "stock": 2}\n'

    await ingest_with_rules(
        index, [write_files(tmp_path / "in", {"drugs.jsonl": records, "owners.csv": OWNERS})], bucket=BUCKET
    )

    assert await count_documents(index) == {"clinic": 0, "clinic/drugs": 2, "clinic/owners": 6}


async def test_loading_the_folder_again_changes_nothing(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"pets.csv": PETS, "owners.csv": OWNERS, "a.txt": "Dogs wait outside."})
    await ingest_with_rules(index, [folder], bucket=BUCKET)

    again = await ingest_with_rules(index, [folder], bucket=BUCKET)
    alone = await ingest_with_rules(index, [folder / "owners.csv"], bucket=BUCKET)

    assert (again.summary_line, again.schema_changes, again.remarks) == (
        "added 0, replaced 0, skipped 13, failed 0",
        (),
        (),
    )
    assert alone.summary_line == "added 0, replaced 0, skipped 6, failed 0"


async def test_a_table_that_comes_later_is_a_part_and_the_rest_stays_where_it_is(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "in", {"pets.csv": PETS})
    await ingest_with_rules(index, [folder], bucket=BUCKET)

    write_files(folder, {"owners.csv": OWNERS})
    report = await ingest_with_rules(index, [folder], bucket=BUCKET)

    assert report.summary_line == "added 6, replaced 0, skipped 6, failed 0"
    assert await count_documents(index) == {"clinic": 6, "clinic/owners": 6}


async def test_the_rows_of_a_table_move_with_its_columns(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"pets.csv": PETS, "owners.csv": OWNERS, "bills.csv": BILLS})
    await ingest_with_rules(index, [folder], bucket=BUCKET)

    write_files(folder, {"bills.csv": OWNERS})
    would_do = await ingest_with_rules(DryRunIndex(index), [folder], bucket=BUCKET)
    report = await ingest_with_rules(index, [folder], bucket=BUCKET)

    assert report.summary_line == would_do.summary_line == "added 0, replaced 6, skipped 12, failed 0"
    assert await count_documents(index) == {"clinic": 0, "clinic/bills": 0, "clinic/owners": 12, "clinic/pets": 6}


async def test_a_bucket_that_has_the_columns_of_several_tables_stays_whole(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    records = [
        f'{{"doc_id": "m{n}", "text": "", "metadata": {{"bill": 1, "issued": 2, "town": "x", "client": "y"}}}}'
        for n in (1, 2)
    ]
    await ingest_with_rules(index, [write_files(tmp_path / "old", {"m.jsonl": "\n".join(records)})], bucket=BUCKET)

    await ingest_with_rules(
        index, [write_files(tmp_path / "new", {"bills.csv": BILLS, "owners.csv": OWNERS})], bucket=BUCKET
    )

    assert await count_documents(index) == {"clinic": 14}


async def test_a_bucket_with_a_given_schema_stays_whole(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"pets.csv": PETS, "owners.csv": OWNERS})

    await ingest_with_rules(index, [folder], schema=Schema(bucket=BUCKET))

    assert await count_documents(index) == {"clinic": 12}


async def test_of_too_many_different_tables_none_is_a_part(index: EmbeddedIndex, tmp_path: Path) -> None:
    files = {f"t{n}.csv": f"a{n},b{n},c{n}\n1,2,3\n" for n in range(13)}

    report = await ingest_with_rules(index, [write_files(tmp_path / "in", files)], bucket=BUCKET)

    assert await count_documents(index) == {"clinic": 13}
    assert any("tables with different columns" in remark for remark in report.remarks)


async def test_the_schema_of_a_part_has_a_file_in_the_folder_of_its_bucket(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "in", {"pets.csv": PETS, "owners.csv": OWNERS})

    await ingest_with_rules(index, [folder], bucket=BUCKET, schema_folder=tmp_path / "schemas")

    assert "bucket: clinic/pets" in (tmp_path / "schemas" / "clinic" / "pets.schema.yaml").read_text(encoding="utf-8")


async def test_names_that_a_file_system_or_a_reserved_bucket_would_refuse_are_changed(
    index: EmbeddedIndex, tmp_path: Path
) -> None:
    files = {"files.csv": PETS, "..csv": OWNERS, "\\.csv": BILLS}

    await ingest_with_rules(index, [write_files(tmp_path / "in", files)], bucket=BucketId("attached"))

    parts = sorted(await index.load_bucket_names())
    assert "attached/files" not in parts
    assert all(part.partition("/")[2].strip("./\\") for part in parts if "/" in part)
    assert DocId("files.csv#1") in await index.load_digests(BucketId("attached/files 2"))


async def test_a_table_that_is_called_by_what_it_is_as_a_whole_has_rows(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"budget 2031.csv": BILLS, "owners.csv": OWNERS})

    await ingest_with_rules(index, [folder], bucket=BUCKET)

    assert {"budget row", "row"} <= {*(await schema_of(index, "clinic/budget 2031")).synonyms}
    assert "row" not in (await schema_of(index, "clinic/owners")).synonyms
