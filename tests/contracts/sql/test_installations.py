"""Installations, on every database: found by workspace or organisation, tokens replaced by one process at a time."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from storage.sql.database import SqlDatabase
from storage.sql.stores.installations import InstallationStore, NewStoredInstallation, StoredInstallation
from tests.contracts.sql.databases import SetClock
from tests.stored_rows import list_audit_entries

LEASE = timedelta(minutes=1)
T1 = NewStoredInstallation(
    account="slack:T1",
    team="T1",
    enterprise=None,
    name="One \0 <b>",
    bot_user="U1BOT",
    scopes=("chat:write", "users:read"),
    tokens="sealed",
    expires_at=None,
    installed_by="slack:T1:U1",
)
T2_OF_E1 = replace(T1, account="slack:T2", team="T2", enterprise="E1")
ALL_OF_E1 = replace(T1, account="slack:E1", team=None, enterprise="E1")


async def find_account(database: SqlDatabase, team: str | None, enterprise: str | None) -> str | None:
    installation = await InstallationStore(database).find_installation("slack", team=team, enterprise=enterprise)
    return None if installation is None else installation.account


async def install_app(database: SqlDatabase, new: NewStoredInstallation = T1) -> StoredInstallation:
    await InstallationStore(database).put_installation(new)
    installation = await InstallationStore(database).find_installation(
        "slack", team=new.team, enterprise=new.enterprise
    )
    assert installation is not None
    return installation


async def test_an_installation_is_found_as_it_was_stored(database: SqlDatabase) -> None:
    installation = await install_app(database)

    assert {name: getattr(installation, name) for name in NewStoredInstallation.__dataclass_fields__} == {
        name: getattr(T1, name) for name in NewStoredInstallation.__dataclass_fields__
    }
    assert await InstallationStore(database).list_installations() == [installation]


@pytest.mark.parametrize(
    ("installations", "team", "enterprise", "account"),
    [
        ([T1], "T1", None, "slack:T1"),
        ([T1], "T9", None, None),
        ([T1], None, None, None),
        ([T1, T2_OF_E1, ALL_OF_E1], "T2", "E1", "slack:T2"),
        ([T1, T2_OF_E1, ALL_OF_E1], "T3", "E1", "slack:E1"),
        ([T1, T2_OF_E1, ALL_OF_E1], None, "E1", "slack:E1"),
        ([T1, T2_OF_E1], None, "E1", "slack:T2"),
        ([T1, T2_OF_E1], "T3", "E1", None),
        ([replace(T2_OF_E1, account="other:T2")], None, "E1", None),
    ],
)
async def test_the_most_specific_installation_is_found(
    database: SqlDatabase,
    installations: list[NewStoredInstallation],
    team: str | None,
    enterprise: str | None,
    account: str | None,
) -> None:
    for new in installations:
        await InstallationStore(database).put_installation(new)

    assert await find_account(database, team, enterprise) == account


async def test_a_noted_workspace_of_an_organisation_is_found_without_the_organisation(database: SqlDatabase) -> None:
    await install_app(database, ALL_OF_E1)
    for _ in range(2):
        await InstallationStore(database).note_team("slack:E1", "slack:T3")
    await InstallationStore(database).note_team("slack:E9", "slack:T4")

    assert [await find_account(database, team, None) for team in ("T3", "T4")] == ["slack:E1", None]


async def test_a_new_installation_replaces_the_earlier_one(database: SqlDatabase) -> None:
    before = await install_app(database)
    after = await install_app(database, replace(T1, tokens="fresh", scopes=()))

    assert (after.tokens, after.scopes) == ("fresh", ())
    assert after.revision > before.revision


async def test_an_installation_is_removed_once(database: SqlDatabase, clock: SetClock) -> None:
    await install_app(database, ALL_OF_E1)
    await InstallationStore(database).note_team("slack:E1", "slack:T3")

    removals = [
        await InstallationStore(database).remove_installation("slack:E1", by="slack", installed_until=clock())
        for _ in range(2)
    ]

    assert removals == [True, False]
    assert await find_account(database, "T3", "E1") is None


async def test_a_late_removal_does_not_remove_a_newer_installation(database: SqlDatabase, clock: SetClock) -> None:
    await install_app(database)
    earlier = clock()
    clock.forward(minutes=1)
    await install_app(database)

    assert not await InstallationStore(database).remove_installation("slack:T1", by="slack", installed_until=earlier)
    assert await find_account(database, "T1", None) == "slack:T1"


async def test_the_audit_records_installing_and_removing_without_tokens(database: SqlDatabase, clock: SetClock) -> None:
    await install_app(database)
    await InstallationStore(database).remove_installation("slack:T1", by="slack", installed_until=clock())

    audit_values = {"name": T1.name, "scopes": list(T1.scopes)}
    removed, added = await list_audit_entries(database)
    assert (added.action, added.by, added.after) == ("installation.add", T1.installed_by, audit_values)
    assert (removed.action, removed.by, removed.before) == ("installation.remove", "slack", audit_values)


async def test_one_process_at_a_time_replaces_the_tokens(database: SqlDatabase) -> None:
    installation = await install_app(database)
    store = InstallationStore(database)

    leases = await asyncio.gather(*(store.lease_token_refresh(installation, LEASE) for _ in range(5)))

    assert sorted(leases) == [False, False, False, False, True]
    assert await store.replace_leased_tokens(installation, tokens="fresh", expires_at=None)
    assert not await store.replace_leased_tokens(installation, tokens="fresher", expires_at=None)
    assert not await store.lease_token_refresh(installation, LEASE)
    [after] = await store.list_installations()
    assert after.tokens == "fresh"
    assert await store.lease_token_refresh(after, LEASE)


async def test_an_expired_token_lease_can_be_taken_again(database: SqlDatabase, clock: SetClock) -> None:
    installation = await install_app(database)
    store = InstallationStore(database)
    await store.lease_token_refresh(installation, LEASE)
    clock.forward(minutes=1)

    assert await store.lease_token_refresh(installation, LEASE)


async def test_a_pending_installation_ends_once_and_before_its_expiry(database: SqlDatabase, clock: SetClock) -> None:
    store = InstallationStore(database)
    for state in ("soon", "late"):
        await store.begin_pending_installation(state, "browser", LEASE, max_pending=9)

    browsers = [await store.end_pending_installation("soon"), await store.end_pending_installation("soon")]
    clock.forward(minutes=1)

    assert browsers == ["browser", None]
    assert [await store.end_pending_installation("late"), await store.end_pending_installation("never")] == [None, None]
