"""Tokens of programs, on every database."""

from datetime import timedelta

from bot.ids import PersonId
from bot.programs.access_tokens import ProgramTokens
from storage.sql.database import SqlDatabase
from tests.contracts.sql.databases import SetClock
from tests.stored_rows import list_audit_entries

ANN, ROOT = PersonId("local:ann"), "operator"


async def test_a_token_stands_for_its_person_until_it_ends_or_is_revoked(
    database: SqlDatabase, clock: SetClock
) -> None:
    tokens = ProgramTokens(database)
    lasting = await tokens.create_token(ANN, lifetime=None, by=ROOT)
    ending = await tokens.create_token(ANN, lifetime=timedelta(days=1), by=ROOT)
    found_at_first = [await tokens.find_person(token.text) for token in (lasting, ending)]
    clock.forward(days=1)
    found_later = [await tokens.find_person(token.text) for token in (lasting, ending)]
    revoked = [await tokens.revoke_token(lasting.id, by=ROOT) for _ in range(2)]

    assert found_at_first == [ANN, ANN]
    assert found_later == [ANN, None]
    assert revoked == [True, False]
    assert await tokens.find_person(lasting.text) is None
    assert [token.id for token in await tokens.list_tokens()] == [ending.id]


async def test_each_change_of_a_token_is_audited_without_its_secret(database: SqlDatabase) -> None:
    tokens = ProgramTokens(database)
    token = await tokens.create_token(ANN, lifetime=None, by=ROOT)
    await tokens.revoke_token(token.id, by=ROOT)

    entries = await list_audit_entries(database)

    assert [(entry.action, entry.matter, entry.by) for entry in entries] == [
        ("token.revoke", token.id, ROOT),
        ("token.create", token.id, ROOT),
    ]
    assert token.text.rpartition("_")[2] not in str(entries)
