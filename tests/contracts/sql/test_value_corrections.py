"""The contract of the values that people have accepted or corrected."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from storage.sql.administration.value_correction_store import (
    KEPT_AFTER_DELETION,
    StoredCorrection,
    ValueCorrectionStore,
)
from storage.sql.database import SqlDatabase
from storage.sql.stores.audit import AuditLog
from tests.contracts.sql.databases import SetClock

NOW = datetime(2031, 5, 9, 12, tzinfo=UTC)


def a_correction(doc_id: str, field: str = "boat", *, value: str = "Tern", by: str = "local:ann") -> StoredCorrection:
    return StoredCorrection(
        doc_id=doc_id,
        field=field,
        bucket="letters",
        decision="corrected",
        content={"value": value, "wordings": [value]},
        reading={"value": None, "annotations": []},
        text_digest="d",
        decided_by=by,
        decided_at=NOW,
    )


@pytest.fixture
def store(database: SqlDatabase) -> ValueCorrectionStore:
    return ValueCorrectionStore(database)


async def test_a_correction_is_found_by_its_document(store: ValueCorrectionStore) -> None:
    many = [f"d-{number}" for number in range(1_200)]
    for doc_id in ("d-1", "d-1100", "other"):
        await store.save_correction(a_correction(doc_id))

    assert [correction.doc_id for correction in await store.list_for_documents(many)] == ["d-1", "d-1100"]
    assert await store.list_for_documents([]) == []


async def test_a_later_correction_replaces_the_value_and_keeps_what_was_read(store: ValueCorrectionStore) -> None:
    first = a_correction("d-1")
    await store.save_correction(first)
    second = replace(first, content={"value": None, "wordings": []}, reading={"value": "x", "annotations": []})

    await store.save_correction(second)

    (found,) = await store.list_for_documents(["d-1"])
    assert (found.content["value"], found.reading) == (None, first.reading)


async def test_a_withdrawn_correction_is_returned_once(store: ValueCorrectionStore) -> None:
    await store.save_correction(a_correction("d-1"))

    withdrawn = [await store.withdraw_correction("d-1", "boat", by="local:bob") for _ in range(2)]

    assert withdrawn == [a_correction("d-1"), None]


async def test_the_audit_names_who_decided_but_neither_the_document_nor_the_value(
    store: ValueCorrectionStore, database: SqlDatabase
) -> None:
    await store.save_correction(a_correction("secret-name", value="Zander"))
    await store.withdraw_correction("secret-name", "boat", by="local:bob")

    entries = await AuditLog(database).list_newest_entries(10)

    assert [(entry.action, entry.matter, entry.by) for entry in entries] == [
        ("value.withdrawn", "letters", "local:bob"),
        ("value.corrected", "letters", "local:ann"),
    ]
    assert "secret-name" not in repr(entries)
    assert "Zander" not in repr(entries)


async def test_a_correction_outlives_its_document_for_a_while(store: ValueCorrectionStore, clock: SetClock) -> None:
    for doc_id in ("gone", "back"):
        await store.save_correction(a_correction(doc_id))
    await store.note_deleted(["gone", "back"])
    await store.note_returned(["back"])
    clock.forward(days=KEPT_AFTER_DELETION.days - 1)
    await store.note_deleted([])
    in_time = [correction.doc_id for correction in await store.list_for_documents(["gone", "back"])]

    clock.forward(days=2)
    await store.note_deleted([])

    assert in_time == ["back", "gone"]
    assert [correction.doc_id for correction in await store.list_for_documents(["gone", "back"])] == ["back"]


async def test_a_bucket_goes_with_its_corrections(store: ValueCorrectionStore) -> None:
    await store.save_correction(a_correction("d-1"))

    await store.remove_bucket("letters")

    assert await store.list_newest("letters", 10) == []


async def test_the_newest_corrections_come_first(store: ValueCorrectionStore) -> None:
    for day in range(4):
        await store.save_correction(replace(a_correction(f"d-{day}"), decided_at=NOW + timedelta(days=day)))

    assert [correction.doc_id for correction in await store.list_newest("letters", 2)] == ["d-3", "d-2"]
