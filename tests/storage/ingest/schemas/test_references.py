"""Fields that refer to documents are recognised by what the documents hold, in whichever order they were loaded."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path

import pytest

from storage.embedded.index import EmbeddedIndex
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.pipeline import ingest_files
from storage.ingest.schemas.schema_file import add_references, parse_schema, schema_to_yaml
from storage.search.errors import InvalidSchema
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for
from tests.builders import TENANT

TABLES = {
    "stables": "stable,keeper,opened\nHill End,Ada Moor,1999\nLow Ford,Ben Lund,2004\nOld Mill,Cy Nash,1987\n",
    "horses": (
        "name,stable,sire,coat\nArrow,hill end,,bay\nBolt,Low Ford,Arrow,grey\nComet,Low Ford,Arrow,bay\n"
        "Dusk,OLD MILL,Bolt,grey\nEmber,Hill End,Bolt,bay\n"
    ),
    "races": "race,winners,field\nR1,Arrow; Dusk,3\nR2,Dusk; Bolt,4\nR3,Arrow; Ember,5\nR4,Bolt; Arrow,3\n",
}


async def _ingest_tables(
    folder: Path, order: Sequence[str], schemas: Path | None = None, tables: Mapping[str, str] = TABLES
) -> Mapping[str, str]:
    """Returns the references of all fields that have one, after loading the tables one by one."""
    index = await EmbeddedIndex.open(folder, tenant=TENANT, analysers=analyser_for, embedder=None)
    try:
        for name in order:
            path = folder / f"{name}.csv"
            path.write_text(tables[name])
            await ingest_files(index, [path], extractor=RuleExtractor(), bucket=BucketId(name), schema_folder=schemas)
        states = await index.load_bucket_states()
    finally:
        await index.close()
    return {
        f"{bucket}.{field.name}": field.references
        for bucket, state in states.items()
        for field in state.schema.fields
        if field.references
    }


@pytest.mark.parametrize("order", list(permutations(TABLES)), ids=" ".join)
async def test_values_that_name_documents_are_references_in_any_order(tmp_path: Path, order: Sequence[str]) -> None:
    assert await _ingest_tables(tmp_path, order) == {
        "horses.stable": "stables.stable",
        "horses.sire": "horses.name",
        "races.winners": "horses.name",
    }


async def test_a_field_in_which_documents_name_themselves_refers_to_nothing(tmp_path: Path) -> None:
    boats = "name,called,harbour\nGull,Gull,Sund\nTern,Tern,Sund\nSkua,Skua,Vik\nRook,Tern,Vik\n"

    assert await _ingest_tables(tmp_path, ["boats"], tables={"boats": boats}) == {}


async def test_schema_files_get_the_references_and_keep_all_else(tmp_path: Path) -> None:
    await _ingest_tables(tmp_path, ["races", "horses", "stables"], tmp_path / "schemas")

    path = tmp_path / "schemas" / "races.schema.yaml"
    text = path.read_text()
    assert parse_schema(text, path).by_name[FieldName("winners")].references == "horses.name"
    assert text.count("references: horses.name") == 1
    assert "# 4 of 4 documents" in text


def test_a_reference_that_a_person_wrote_stays() -> None:
    fields = tuple(
        SchemaField(name=FieldName(name), type=FieldType.CATEGORY, references=references)
        for name, references in (("on", "none"), ("sire: of", ""))
    )
    linked = Schema(
        bucket=BucketId("horses"),
        fields=(fields[0], SchemaField(name=fields[1].name, type=FieldType.CATEGORY, references="horses.name")),
    )

    text = add_references(schema_to_yaml(Schema(bucket=BucketId("horses"), fields=fields)), linked)

    assert parse_schema(text, Path("horses.yaml")) == linked


@pytest.mark.parametrize(("field_type", "references"), [("number", "horses.name"), ("category", "horses")])
def test_a_reference_names_a_field_of_a_bucket_and_holds_text(field_type: str, references: str) -> None:
    field = SchemaField(name=FieldName("sire"), type=FieldType(field_type), references=references)

    with pytest.raises(InvalidSchema):
        Schema(bucket=BucketId("horses"), fields=(field,))


async def test_numbers_under_the_name_of_a_role_refer_to_employees(tmp_path: Path) -> None:
    staff = "PersNo,Surname,ReportsTo\n1031,Moor,\n1052,Lund,1031\n1077,Nash,1031\n1090,Roth,1052\n"
    jobs = "JobNo,MechanicNo,Minutes\nJ-1,1052,1031\nJ-2,1077,1052\nJ-3,1090,1077\n"

    references = await _ingest_tables(tmp_path, ["employees", "jobs"], tables={"employees": staff, "jobs": jobs})

    assert references == {"employees.ReportsTo": "employees.PersNo", "jobs.MechanicNo": "employees.PersNo"}


async def test_small_numbers_refer_to_what_their_field_is_named_after(tmp_path: Path) -> None:
    numbers = range(1, 7)
    tables = {
        "shop_stock": "id,item\n" + "".join(f"{number},Lamp {number}\n" for number in numbers),
        "volunteers": "Volunteer No,name\n" + "".join(f"{number},Ada {chr(70 + number)}.\n" for number in numbers),
        "shifts": "shift,volunteer_id,Driver No\n" + "".join(f"S{n},{n},{7 - n}\n" for n in numbers),
    }

    found = await _ingest_tables(tmp_path, list(tables), tables=tables)

    assert found["shifts.volunteer_id"] == "volunteers.Volunteer No"
    assert found["shifts.Driver No"] == "volunteers.Volunteer No"
