"""What is kept beside the inbox, on every database: conversations, clarifications, grants, audit, exports."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

import pytest

from storage.search.ids import BucketId, Subject
from storage.sql.accepting import Accepted, Duplicate, Groundless
from storage.sql.audit import Audit
from storage.sql.clarifications import (
    AlreadyUsed,
    Clarification,
    Clarifications,
    Expired,
    NewChoice,
    NewClarification,
    Unknown,
    Used,
)
from storage.sql.conversations import Conversations, ConversationState
from storage.sql.database import Database
from storage.sql.errors import ConstraintBroken, ValueRefused
from storage.sql.exports import ClaimedExport, Exports, ExportStatus, NewExport
from storage.sql.grants import Grants, LocalGroup, LocalGroups
from storage.sql.inbox import Inbox
from tests.contracts.sql.databases import SetClock
from tests.contracts.sql.test_inbox import a_turn

LEASE = timedelta(seconds=30)
RECEIPTS, MANUALS = BucketId("receipts"), BucketId("manuals")
EVERYONE, CHANNEL, ANN = Subject("everyone"), Subject("channel:slack:T1:C1"), Subject("user:local:ann")


async def test_a_conversation_that_was_never_saved_is_empty(database: Database) -> None:
    loaded = await Conversations(database).load("slack:1", "scope")

    assert loaded == ConversationState(conversation="slack:1", scope_key="scope")


async def test_a_conversation_is_loaded_as_it_was_last_saved(database: Database) -> None:
    conversations = Conversations(database)
    state = ConversationState(conversation="slack:1", scope_key="scope", summary={"turns": [1]}, last_plan={"legs": 1})

    await conversations.save(state)
    changed = replace(state, summary={"said": "NUL \0 \ud800"}, last_plan=None, clarifications_in_a_row=2)
    await conversations.save(changed)

    assert await conversations.load("slack:1", "scope") == changed


async def test_a_conversation_is_kept_apart_for_every_scope(database: Database) -> None:
    conversations = Conversations(database)
    await conversations.save(ConversationState(conversation="slack:1", scope_key="private", summary={"secret": 1}))

    assert (await conversations.load("slack:1", "channel")).summary == {}


async def test_any_mapping_is_json_and_comes_back_as_a_dict(database: Database) -> None:
    conversations = Conversations(database)
    summary: Mapping[str, object] = MappingProxyType({"inner": MappingProxyType({"n": 1})})

    await conversations.save(ConversationState(conversation="slack:1", scope_key="s", summary=summary))

    assert (await conversations.load("slack:1", "s")).summary == {"inner": {"n": 1}}


@pytest.mark.parametrize("value", [float("nan"), object()], ids=["not a number", "no JSON at all"])
async def test_what_json_cannot_hold_is_refused(database: Database, value: object) -> None:
    with pytest.raises(ValueRefused):
        await Conversations(database).save(ConversationState(conversation="c", scope_key="s", summary={"x": value}))


@pytest.mark.parametrize("key", ["lone \ud800 surrogate"])
async def test_an_id_that_is_no_text_is_refused(database: Database, key: str) -> None:
    with pytest.raises(ValueRefused):
        await Conversations(database).save(ConversationState(conversation=key, scope_key="s"))


# Clarifications


def a_choice(label: str = "Acme", count: int | None = 37) -> NewChoice:
    return NewChoice(label=label, count=count, kind="filter", payload={"eq": label})


def a_clarification(clock: SetClock, *choices: NewChoice, **changes: object) -> NewClarification:
    clarification = NewClarification(
        conversation="slack:1",
        turn="turn-1",
        scope_key="scope",
        audience={"shared": "channel:slack:T1:C1"},
        plan={"legs": [1]},
        question="Which vendor? \0",
        generation="g1",
        expires_at=clock.now + timedelta(hours=1),
        choices=choices or (a_choice("Acme"), a_choice("Bolt \ud800", 5), a_choice("Export", None)),
    )
    return replace(clarification, **changes)


@pytest.fixture
def clarifications(database: Database) -> Clarifications:
    return Clarifications(database)


async def test_a_clarification_comes_back_as_it_was_stored(clarifications: Clarifications, clock: SetClock) -> None:
    new = a_clarification(clock)

    stored = await clarifications.store(new)

    assert await clarifications.find(stored.id) == stored
    assert [(c.label, c.count, c.kind, c.payload) for c in stored.choices] == [
        (c.label, c.count, c.kind, c.payload) for c in new.choices
    ]
    assert (stored.plan, stored.question, stored.created_at) == (new.plan, new.question, clock.now)


async def test_ids_are_opaque_url_safe_and_all_different(clarifications: Clarifications, clock: SetClock) -> None:
    stored = [await clarifications.store(a_clarification(clock)) for _ in range(3)]

    ids = [identity for one in stored for identity in (one.id, *(choice.id for choice in one.choices))]
    assert len(set(ids)) == len(ids) == 12
    assert all(identity.replace("-", "").replace("_", "").isalnum() and len(identity) >= 22 for identity in ids)


async def test_a_choice_is_found_with_its_clarification(clarifications: Clarifications, clock: SetClock) -> None:
    stored = await clarifications.store(a_clarification(clock))

    offered = await clarifications.choice(stored.choices[1].id)

    assert offered is not None
    assert (offered.clarification, offered.choice) == (stored, stored.choices[1])
    assert await clarifications.choice("no such choice") is None


async def test_the_first_click_counts_and_the_second_learns_who_chose_what(
    clarifications: Clarifications, clock: SetClock
) -> None:
    stored = await clarifications.store(a_clarification(clock))
    first, second = stored.choices[0], stored.choices[1]
    clock.forward(minutes=1)
    chosen_at = clock.now

    won = await clarifications.use(first.id, by="ann", turn="turn-2")
    clock.forward(minutes=1)
    lost = await clarifications.use(second.id, by="bob", turn="turn-3")

    assert isinstance(won, Used)
    assert (won.choice, won.clarification.used_by) == (first, "ann")
    assert isinstance(lost, AlreadyUsed)
    assert (lost.by, lost.label, lost.at) == ("ann", "Acme", chosen_at)


async def test_the_same_choice_by_the_same_person_in_another_turn_is_used_already(
    clarifications: Clarifications, clock: SetClock
) -> None:
    choice = (await clarifications.store(a_clarification(clock))).choices[0]
    await clarifications.use(choice.id, by="ann", turn="turn-2")

    assert isinstance(await clarifications.use(choice.id, by="ann", turn="turn-3"), AlreadyUsed)


async def test_a_turn_that_is_tried_again_may_use_its_choice_again_even_when_late(
    clarifications: Clarifications, clock: SetClock
) -> None:
    choice = (await clarifications.store(a_clarification(clock))).choices[0]
    await clarifications.use(choice.id, by="ann", turn="turn-2")
    clock.forward(hours=2)

    assert isinstance(await clarifications.use(choice.id, by="ann", turn="turn-2"), Used)


async def test_twenty_clicks_at_once_have_one_winner(clarifications: Clarifications, clock: SetClock) -> None:
    stored = await clarifications.store(a_clarification(clock))

    async def click(number: int) -> Used | AlreadyUsed | Expired | Unknown:
        choice = stored.choices[number % 3]
        return await clarifications.use(choice.id, by=f"person-{number}", turn=f"turn-{number}")

    results = await asyncio.gather(*map(click, range(20)))

    [won] = [result for result in results if isinstance(result, Used)]
    lost = [result for result in results if isinstance(result, AlreadyUsed)]
    assert len(lost) == 19
    assert {(one.by, one.label) for one in lost} == {(won.clarification.used_by, won.choice.label)}


async def test_a_late_click_finds_it_expired(clarifications: Clarifications, clock: SetClock) -> None:
    stored = await clarifications.store(a_clarification(clock))
    clock.forward(hours=1)

    late = await clarifications.use(stored.choices[0].id, by="ann", turn="turn-2")

    assert late == Expired(stored)


async def test_a_click_on_nothing_is_unknown(clarifications: Clarifications) -> None:
    assert await clarifications.use("made up", by="ann", turn="turn-2") == Unknown()


async def test_the_newest_clarification_of_a_conversation_and_scope_is_the_open_one(
    clarifications: Clarifications, clock: SetClock
) -> None:
    await clarifications.store(a_clarification(clock))
    newest = await clarifications.store(a_clarification(clock, turn="turn-2"))
    await clarifications.store(a_clarification(clock, scope_key="private"))
    await clarifications.store(a_clarification(clock, conversation="slack:2"))

    assert await clarifications.open_in("slack:1", "scope") == newest
    assert await clarifications.open_in("slack:3", "scope") is None


async def test_once_used_or_expired_none_is_open(clarifications: Clarifications, clock: SetClock) -> None:
    """Not even an older one: a typed reply means the last thing that was asked."""
    await clarifications.store(a_clarification(clock))
    used = await clarifications.store(a_clarification(clock))
    await clarifications.use(used.choices[0].id, by="ann", turn="turn-2")
    await clarifications.store(a_clarification(clock, conversation="slack:2"))
    assert await clarifications.open_in("slack:1", "scope") is None

    clock.forward(hours=1)

    assert await clarifications.open_in("slack:2", "scope") is None


async def test_each_clarification_expires_once(clarifications: Clarifications, clock: SetClock) -> None:
    early = await clarifications.store(a_clarification(clock))
    used = await clarifications.store(a_clarification(clock))
    await clarifications.use(used.choices[0].id, by="ann", turn="turn-2")
    late = await clarifications.store(a_clarification(clock, expires_at=clock.now + timedelta(hours=2)))
    assert await clarifications.expire() == []

    clock.forward(hours=1)
    assert await clarifications.expire() == [early]
    assert await clarifications.expire() == []
    clock.forward(hours=1)
    assert await clarifications.expire() == [late]


async def test_offers_of_surfaces_that_others_reply_to_expire_there(
    database: Database, clarifications: Clarifications, clock: SetClock
) -> None:
    inbox = Inbox(database)
    turns = [await inbox.accept(a_turn(number, f"c{number}", surface=on)) for number, on in enumerate(["slack", "web"])]
    on_slack, on_web = [await clarifications.store(a_clarification(clock, turn=turn.turn)) for turn in accepted(turns)]
    clock.forward(hours=1)

    assert await clarifications.expire(but=["slack"]) == [on_web]
    assert await clarifications.expire(but=["web", "terminal"]) == [on_slack]


def accepted(found: Sequence[Accepted | Duplicate | Groundless]) -> list[Accepted]:
    return [one for one in found if isinstance(one, Accepted)]


async def test_what_is_withdrawn_counts_no_more_and_never_expires(
    clarifications: Clarifications, clock: SetClock
) -> None:
    withdrawn = await clarifications.store(a_clarification(clock))
    used = await clarifications.store(a_clarification(clock))
    await clarifications.use(used.choices[0].id, by="ann", turn="turn-2")
    other = await clarifications.store(a_clarification(clock, turn="turn-9"))

    await clarifications.withdraw(["turn-1"])

    assert isinstance(await clarifications.use(withdrawn.choices[0].id, by="ann", turn="turn-3"), Expired)
    assert isinstance(await clarifications.use(used.choices[0].id, by="ann", turn="turn-2"), Used)
    clock.forward(hours=1)
    assert await clarifications.expire() == [other]


async def test_a_clarification_may_offer_nothing(clarifications: Clarifications, clock: SetClock) -> None:
    stored: Clarification = await clarifications.store(replace(a_clarification(clock), choices=()))

    assert await clarifications.find(stored.id) == stored


# Grants, groups and their audit


async def test_nothing_is_granted_until_someone_grants_it(database: Database) -> None:
    grants = Grants(database)

    assert await grants.all() == []
    assert await grants.for_subjects([EVERYONE, ANN]) == []


async def test_grants_are_found_by_the_subjects_they_name(database: Database, clock: SetClock) -> None:
    grants = Grants(database)
    mine = await grants.grant(RECEIPTS, ANN, by="operator")
    shared = await grants.grant(MANUALS, CHANNEL, include_external=True, by="operator")
    await grants.grant(MANUALS, EVERYONE, by="operator")

    assert await grants.for_subjects([ANN, CHANNEL]) == [shared, mine]
    assert await grants.for_subjects([]) == []
    assert (mine.include_external, mine.granted_by, mine.granted_at) == (False, "operator", clock.now)
    assert [(grant.bucket, grant.subject) for grant in await grants.all()] == [
        (MANUALS, CHANNEL),
        (MANUALS, EVERYONE),
        (RECEIPTS, ANN),
    ]


async def test_a_revoked_grant_is_gone_and_revoking_it_again_says_so(database: Database) -> None:
    grants = Grants(database)
    await grants.grant(RECEIPTS, ANN, by="operator")

    assert await grants.revoke(RECEIPTS, ANN, by="root")
    assert not await grants.revoke(RECEIPTS, ANN, by="root")
    assert await grants.all() == []


async def test_every_change_of_a_grant_is_audited_with_what_was_and_what_is(
    database: Database, clock: SetClock
) -> None:
    grants = Grants(database)
    await grants.grant(RECEIPTS, CHANNEL, by="ann")
    await grants.grant(RECEIPTS, CHANNEL, by="bob")  # changes nothing
    await grants.grant(RECEIPTS, CHANNEL, include_external=True, by="bob")
    await grants.revoke(RECEIPTS, CHANNEL, by="cid")
    await grants.revoke(RECEIPTS, CHANNEL, by="cid")  # changes nothing

    closed = {"include_external": False, "granted_by": "ann"}
    opened = {"include_external": True, "granted_by": "bob"}
    entries = await Audit(database).entries()
    assert [(entry.action, entry.by, entry.before, entry.after) for entry in reversed(entries)] == [
        ("grant", "ann", None, closed),
        ("grant", "bob", closed, opened),
        ("revoke", "cid", opened, None),
    ]
    assert {(entry.matter, entry.at) for entry in entries} == {("receipts → channel:slack:T1:C1", clock.now)}


async def test_ten_grants_of_the_same_at_once_are_one_grant_and_one_entry(database: Database) -> None:
    grants = Grants(database)

    await asyncio.gather(*(grants.grant(RECEIPTS, ANN, by=f"admin-{n}") for n in range(10)))

    [entry] = await Audit(database).entries()
    [grant] = await grants.all()
    assert (entry.before, entry.by) == (None, grant.granted_by)


async def test_a_local_group_has_members_that_come_and_go(database: Database) -> None:
    groups = LocalGroups(database)
    assert await groups.create("sales", "Sales \0", by="operator")
    assert not await groups.create("sales", "Other", by="operator")
    await groups.create("admin", "Admins", by="operator")

    assert await groups.add("sales", "local:ann", by="operator")
    assert not await groups.add("sales", "local:ann", by="operator")
    await groups.add("sales", "local:bob", by="operator")
    assert await groups.remove("sales", "local:bob", by="operator")
    assert not await groups.remove("sales", "local:bob", by="operator")

    assert await groups.of("local:ann") == {"sales"}
    assert await groups.of("local:bob") == frozenset()
    assert await groups.all() == [
        LocalGroup(id="admin", title="Admins", members=frozenset()),
        LocalGroup(id="sales", title="Sales \0", members=frozenset({"local:ann"})),
    ]
    actions = [entry.action for entry in await Audit(database).entries()]
    assert sorted(actions) == ["group.add", "group.add", "group.create", "group.create", "group.remove"]


async def test_nobody_joins_a_group_that_is_not_there_and_nothing_is_audited(database: Database) -> None:
    with pytest.raises(ConstraintBroken):
        await LocalGroups(database).add("ghosts", "local:ann", by="operator")

    assert await Audit(database).entries() == []


async def test_the_audit_gives_the_newest_entries_first(database: Database) -> None:
    audit = Audit(database)
    for number in range(3):
        await audit.record("bucket.delete", f"bucket-{number}", by="operator", before={"documents": number})

    assert [entry.matter for entry in await audit.entries(limit=2)] == ["bucket-2", "bucket-1"]


# Exports


def an_export(clock: SetClock, person: str = "ann") -> NewExport:
    return NewExport(
        conversation="slack:1",
        turn="turn-1",
        person=person,
        audience={"private": person},
        request={"search": {}},
        expires_at=clock.now + timedelta(hours=1),
    )


@pytest.fixture
def exports(database: Database) -> Exports:
    return Exports(database)


async def claimed_export(exports: Exports, worker: str = "w1") -> ClaimedExport:
    claimed = await exports.claim(worker, LEASE)
    assert claimed is not None
    return claimed


async def test_an_export_is_queued_run_and_done(exports: Exports, clock: SetClock) -> None:
    queued = await exports.queue(an_export(clock))
    assert (queued.status, queued.rows, queued.created_at) == (ExportStatus.QUEUED, 0, clock.now)

    running = await claimed_export(exports)
    assert running.export == replace(queued, status=ExportStatus.RUNNING)
    assert await exports.finish(running, rows=1042, path="/exports/é.csv")

    done = await exports.find(queued.id)
    assert done == replace(queued, status=ExportStatus.DONE, rows=1042, path="/exports/é.csv")
    assert await exports.find("no such export") is None
    assert await exports.claim("w1", LEASE) is None


async def test_the_newest_export_of_a_turn_is_found(exports: Exports, clock: SetClock) -> None:
    await exports.queue(an_export(clock))
    newest = await exports.queue(an_export(clock))

    assert await exports.of_turn(newest.turn) == newest
    assert await exports.of_turn("no such turn") is None


async def test_an_export_left_behind_keeps_nobody_from_another(exports: Exports, clock: SetClock) -> None:
    left = await exports.queue(an_export(clock))
    another = await exports.queue(an_export(clock))
    assert await exports.claim("w1", LEASE, export=left.id)
    assert await exports.claim("w2", LEASE, export=another.id) is None
    clock.forward(seconds=31)

    assert await exports.claim("w2", LEASE, export=another.id)


async def test_a_person_has_one_running_at_a_time(exports: Exports, clock: SetClock) -> None:
    first = await exports.queue(an_export(clock))
    second = await exports.queue(an_export(clock))
    other = await exports.queue(an_export(clock, "bob"))

    running = await claimed_export(exports)
    assert running.export.id == first.id
    assert await exports.claim("w2", LEASE, export=second.id) is None
    assert (await claimed_export(exports, "w2")).export.id == other.id
    assert await exports.claim("w3", LEASE) is None

    await exports.fail(running, "the index went away")
    assert (await claimed_export(exports)).export.id == second.id
    failed = await exports.find(first.id)
    assert failed is not None
    assert (failed.status, failed.failure) == (ExportStatus.FAILED, "the index went away")


async def test_an_export_that_nobody_has_begun_can_be_withdrawn(exports: Exports, clock: SetClock) -> None:
    running = await exports.queue(an_export(clock))
    waiting = await exports.queue(an_export(clock))
    await exports.claim("w1", LEASE, export=running.id)

    assert await exports.withdraw(waiting.id, "no room")
    assert not await exports.withdraw(running.id, "no room")
    withdrawn = await exports.find(waiting.id)
    assert withdrawn == replace(waiting, status=ExportStatus.FAILED, failure="no room")


async def test_ten_workers_at_once_begin_one_export_of_a_person(exports: Exports, clock: SetClock) -> None:
    for _ in range(10):
        await exports.queue(an_export(clock))

    claims = await asyncio.gather(*(exports.claim(f"w{n}", LEASE) for n in range(10)))

    assert len([claimed for claimed in claims if claimed is not None]) == 1


async def test_an_export_left_behind_goes_on_where_it_stopped(exports: Exports, clock: SetClock) -> None:
    await exports.queue(an_export(clock))
    lost = await claimed_export(exports, "w1")
    assert await exports.advance(lost, rows=500, cursor={"after": "doc-500"}, lease=LEASE)
    clock.forward(seconds=29)
    assert await exports.claim("w2", LEASE) is None
    clock.forward(seconds=1)

    taken_over = await claimed_export(exports, "w2")

    assert (taken_over.export.rows, taken_over.export.cursor) == (500, {"after": "doc-500"})
    assert await exports.advance(lost, rows=600, cursor={}, lease=LEASE) is False
    assert await exports.finish(lost, rows=600, path="/old.csv") is False
    assert await exports.fail(lost, "late") is False
    assert await exports.finish(taken_over, rows=1042, path="/new.csv")


async def test_exports_expire_once_and_are_not_begun_afterwards(exports: Exports, clock: SetClock) -> None:
    done = await exports.queue(an_export(clock))
    await exports.finish(await claimed_export(exports), rows=1, path="/a.csv")
    running = await exports.queue(an_export(clock))
    claimed = await claimed_export(exports)
    queued = await exports.queue(an_export(clock))
    clock.forward(minutes=59, seconds=50)
    assert await exports.expire() == []
    assert await exports.advance(claimed, rows=1, cursor={}, lease=LEASE)
    clock.forward(seconds=10)

    gone = await exports.expire()

    assert [(export.id, export.status) for export in gone] == [
        (done.id, ExportStatus.EXPIRED),
        (queued.id, ExportStatus.EXPIRED),
    ]
    assert gone[0].path == "/a.csv"
    clock.forward(minutes=1)
    assert await exports.claim("w2", LEASE) is None
    assert [export.id for export in await exports.expire()] == [running.id]
    assert await exports.finish(claimed, rows=1, path="/late.csv") is False
