"""The erasure of a person, over every table that there is, also those that are added after this was written."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from sqlalchemy import JSON, Column, DateTime, Float, LargeBinary, Table, func, insert, select
from sqlalchemy.sql.sqltypes import Boolean, Integer, Numeric

from storage.sql.backup import list_stored_tables
from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.erasure.person_erasure import ErasureCounts, ErasureRequest, PersonErasure
from storage.sql.erasure.turn_expiry import TurnExpiry
from storage.sql.stores.conversations import ConversationState
from storage.sql.stores.turns import Turn
from storage.sql.tables import UtcTime

ANN: Final = "slack:T1:U0ANN4711"
REMOVED: Final = "[removed]"
KEY: Final = "key"  # in the columns with which rows refer to rows


def a_request(**changes: Any) -> ErasureRequest:
    def remove_turns(state: ConversationState, turns: object) -> ConversationState:
        return replace(state, summary={}, last_plan=None)

    def outcome_of(turn: Turn) -> JsonMapping:
        return {"text": REMOVED, "turn": turn.id}

    request = ErasureRequest(
        persons=frozenset({ANN}),
        pseudonym="forgotten:1",
        by="operator",
        removed_text=REMOVED,
        removed_body={"said": REMOVED},
        removed_outcome=outcome_of,
        text_of=lambda body: str(body.get("said", "")),
        without_turns=remove_turns,
    )
    return replace(request, **changes)


def value_for(table: Table, column: Column[Any]) -> Any:
    """A value in which the id stands, as far as the type has texts and the column is no reference."""
    referred = {key.column for other in list_stored_tables() for key in other.foreign_keys}
    if column.foreign_keys or column in referred:
        return KEY
    match column.type:
        case Boolean():
            return True
        case Integer() | Numeric() | Float():
            return 1
        case UtcTime() | DateTime():
            return datetime(2031, 5, 9, tzinfo=UTC)
        case LargeBinary():
            return b"content"
        case JSON():
            return {ANN: [f"<@{ANN.rpartition(':')[2]}>", {"by": f"user:{ANN}."}]}
        case _:
            return ANN if column.name == "person" else f"user:{ANN}"


def is_numbered(table: Table, column: Column[Any]) -> bool:
    """Whether the database itself gives the values."""
    return [*table.primary_key.columns] == [column] and isinstance(column.type, Integer)


async def fill_every_table(database: SqlDatabase) -> None:
    for table in list_stored_tables():
        row = {column.name: value_for(table, column) for column in table.columns if not is_numbered(table, column)}
        await database.run_write(lambda connection, table=table, row=row: connection.execute(insert(table).values(row)))


async def tables_with(database: SqlDatabase, text: str) -> list[str]:
    found: list[str] = []
    for table in list_stored_tables():
        rows = await database.run_read(lambda connection, table=table: connection.execute(select(table)).all())
        found += [table.name] if any(text in repr(tuple(row)) for row in rows) else []
    return found


async def test_no_table_holds_the_id_afterwards(database: SqlDatabase) -> None:
    await fill_every_table(database)
    filled = await tables_with(database, "U0ANN4711")

    await PersonErasure(database).erase_person(a_request())

    assert len(filled) > 20
    assert await tables_with(database, "U0ANN4711") == []


async def test_a_trial_counts_what_the_erasure_then_does_and_a_second_one_finds_nothing(database: SqlDatabase) -> None:
    await fill_every_table(database)
    store = PersonErasure(database)

    counted = await store.count_rows(a_request())
    still_there = await tables_with(database, ANN)
    erased, again = await store.erase_person(a_request()), await store.erase_person(a_request())

    assert counted == erased
    assert len(still_there) > 20
    assert (erased.deleted["turns"], erased.conversations) == (1, 1)
    assert again == ErasureCounts()


async def test_ids_that_only_begin_alike_stay(database: SqlDatabase) -> None:
    await fill_every_table(database)

    await PersonErasure(database).erase_person(a_request(persons=frozenset({"slack:T1:U0ANN47", "slack:T1:U0"})))

    assert len(await tables_with(database, ANN)) > 20


async def test_the_audit_keeps_its_entries_and_tells_of_the_erasure(database: SqlDatabase) -> None:
    await fill_every_table(database)
    [audit] = [table for table in list_stored_tables() if table.name == "audit"]

    await PersonErasure(database).erase_person(a_request())

    rows = await database.run_read(
        lambda connection: connection.execute(select(audit).order_by(audit.c.position)).all()
    )
    assert [row.action for row in rows] == ["user:forgotten:1", "person.forget"]
    assert (rows[0].by, rows[1].by, rows[1].matter) == ("user:forgotten:1", "operator", "forgotten:1")
    assert rows[1].after["deleted"]["feedback"] == 1


@pytest.mark.parametrize("table_name", ["turns", "attached_files", "exports", "feedback", "grants", "members"])
async def test_rows_of_the_person_are_deleted_not_renamed(database: SqlDatabase, table_name: str) -> None:
    await fill_every_table(database)
    [table] = [table for table in list_stored_tables() if table.name == table_name]

    await PersonErasure(database).erase_person(a_request())

    query = select(func.count()).select_from(table)
    assert await database.run_read(lambda connection: connection.execute(query).scalar_one()) == 0


async def test_turns_are_deleted_by_age_on_every_database(database: SqlDatabase) -> None:
    await fill_every_table(database)
    expiry = TurnExpiry(database, lambda state, _: state)
    received_at = datetime(2031, 5, 9, tzinfo=UTC)

    early = await expiry.delete_turns(received_at, 10)
    deleted = await expiry.delete_turns(received_at + timedelta(seconds=1), 10)

    assert (early, deleted, (await expiry.measure_turns()).count) == (0, 1, 0)
    assert {"feedback", "exports", "choices"} & set(await tables_with(database, KEY)) == set()
