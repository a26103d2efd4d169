"""Where apps are installed, on every database: found by workspace or organisation, tokens replaced by one at a time."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from storage.sql.audit import Audit
from storage.sql.database import Database
from storage.sql.installations import Installation, Installations, NewInstallation
from tests.contracts.sql.databases import SetClock

LEASE = timedelta(minutes=1)
T1 = NewInstallation(
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


async def found(database: Database, team: str | None, enterprise: str | None) -> str | None:
    installation = await Installations(database).find("slack", team=team, enterprise=enterprise)
    return None if installation is None else installation.account


async def installed(database: Database, new: NewInstallation = T1) -> Installation:
    await Installations(database).put(new)
    installation = await Installations(database).find("slack", team=new.team, enterprise=new.enterprise)
    assert installation is not None
    return installation


async def test_an_installation_is_found_as_it_was_put(database: Database) -> None:
    installation = await installed(database)

    assert {name: getattr(installation, name) for name in NewInstallation.__dataclass_fields__} == {
        name: getattr(T1, name) for name in NewInstallation.__dataclass_fields__
    }
    assert await Installations(database).all() == [installation]


@pytest.mark.parametrize(
    ("there", "team", "enterprise", "account"),
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
async def test_the_nearest_installation_is_found(
    database: Database, there: list[NewInstallation], team: str | None, enterprise: str | None, account: str | None
) -> None:
    for new in there:
        await Installations(database).put(new)

    assert await found(database, team, enterprise) == account


async def test_a_workspace_once_seen_in_an_organisation_is_found_by_itself(database: Database) -> None:
    await installed(database, ALL_OF_E1)
    for _ in range(2):
        await Installations(database).note_team("slack:E1", "slack:T3")
    await Installations(database).note_team("slack:E9", "slack:T4")

    assert [await found(database, team, None) for team in ("T3", "T4")] == ["slack:E1", None]


async def test_what_is_installed_again_replaces_what_was_there(database: Database) -> None:
    before = await installed(database)
    after = await installed(database, replace(T1, tokens="fresh", scopes=()))

    assert (after.tokens, after.scopes) == ("fresh", ())
    assert after.revision > before.revision


async def test_an_installation_is_dropped_once(database: Database, clock: SetClock) -> None:
    await installed(database, ALL_OF_E1)
    await Installations(database).note_team("slack:E1", "slack:T3")

    drops = [await Installations(database).drop("slack:E1", by="slack", until=clock()) for _ in range(2)]

    assert drops == [True, False]
    assert await found(database, "T3", "E1") is None


async def test_word_of_an_earlier_end_does_not_drop_what_was_installed_since(
    database: Database, clock: SetClock
) -> None:
    await installed(database)
    earlier = clock()
    clock.forward(minutes=1)
    await installed(database)

    assert not await Installations(database).drop("slack:T1", by="slack", until=earlier)
    assert await found(database, "T1", None) == "slack:T1"


async def test_the_audit_tells_of_both_and_of_no_token(database: Database, clock: SetClock) -> None:
    await installed(database)
    await Installations(database).drop("slack:T1", by="slack", until=clock())

    told = {"name": T1.name, "scopes": list(T1.scopes)}
    removed, added = await Audit(database).entries()
    assert (added.action, added.by, added.after) == ("installation.add", T1.installed_by, told)
    assert (removed.action, removed.by, removed.before) == ("installation.remove", "slack", told)


async def test_tokens_are_replaced_by_one_at_a_time(database: Database) -> None:
    installation = await installed(database)
    store = Installations(database)

    leases = await asyncio.gather(*(store.lease(installation, LEASE) for _ in range(5)))

    assert sorted(leases) == [False, False, False, False, True]
    assert await store.replace(installation, tokens="fresh", expires_at=None)
    assert not await store.replace(installation, tokens="fresher", expires_at=None)
    assert not await store.lease(installation, LEASE)
    [after] = await store.all()
    assert after.tokens == "fresh"
    assert await store.lease(after, LEASE)


async def test_a_lease_that_ran_out_is_given_to_others(database: Database, clock: SetClock) -> None:
    installation = await installed(database)
    store = Installations(database)
    await store.lease(installation, LEASE)
    clock.forward(minutes=1)

    assert await store.lease(installation, LEASE)


async def test_an_installation_that_was_begun_ends_once_and_in_time(database: Database, clock: SetClock) -> None:
    store = Installations(database)
    for state in ("soon", "late"):
        await store.begin(state, "browser", LEASE, most=9)

    soon = [await store.end("soon"), await store.end("soon")]
    clock.forward(minutes=1)

    assert soon == ["browser", None]
    assert [await store.end("late"), await store.end("never")] == [None, None]
