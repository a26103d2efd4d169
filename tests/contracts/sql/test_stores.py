"""The stores besides the inbox, on every database: conversations, clarifications, grants, audit, exports."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

import pytest

from storage.search.ids import BucketId, Subject
from storage.sql.database import SqlDatabase
from storage.sql.errors import ConstraintBroken, ValueRefused
from storage.sql.group_commit import AcceptedTurn, DuplicateTurn, NothingToRevise
from storage.sql.stores.clarifications import (
    ChoiceAlreadyUsed,
    ChoiceUnknown,
    ChoiceUsed,
    ClarificationExpired,
    ClarificationStore,
    NewChoice,
    NewClarification,
    StoredClarification,
)
from storage.sql.stores.conversations import ConversationState, ConversationStore
from storage.sql.stores.exports import ClaimedExport, ExportStatus, ExportStore, NewExport
from storage.sql.stores.grants import GrantStore, LocalGroup, LocalGroupStore, PersonLinkStore
from storage.sql.stores.inbox import TurnInbox
from tests.contracts.sql.databases import SetClock
from tests.contracts.sql.test_inbox import a_turn
from tests.stored_rows import list_audit_entries

LEASE = timedelta(seconds=30)
RECEIPTS, MANUALS = BucketId("receipts"), BucketId("manuals")
EVERYONE, CHANNEL, ANN = Subject("everyone"), Subject("channel:slack:T1:C1"), Subject("user:local:ann")


async def test_linked_ids_are_one_person_until_they_are_unlinked(database: SqlDatabase) -> None:
    links = PersonLinkStore(database)

    assert await links.link_persons("slack:T1:U1", "teams:T:1", by="operator")
    assert await links.link_persons("local:ann", "local:annie", by="operator")
    assert await links.link_persons("local:ann", "teams:T:1", by="operator")
    assert not await links.link_persons("local:annie", "slack:T1:U1", by="operator")

    assert await links.find_linked_persons("local:annie") == {"local:ann", "slack:T1:U1", "teams:T:1"}
    assert await links.list_linked_persons() == [["local:ann", "local:annie", "slack:T1:U1", "teams:T:1"]]
    assert await links.unlink_person("teams:T:1", by="operator")
    assert not await links.unlink_person("teams:T:1", by="operator")
    assert await links.find_linked_persons("teams:T:1") == frozenset()
    assert await links.find_linked_persons("slack:T1:U1") == {"local:ann", "local:annie"}
    assert [entry.matter for entry in await list_audit_entries(database)] == [
        "teams:T:1",
        "local:ann",
        "local:ann",
        "slack:T1:U1",
    ]


async def test_the_newest_address_of_each_id_tells_whose_is_the_same(database: SqlDatabase) -> None:
    links = PersonLinkStore(database)
    for person, email_hash in (("slack:T1:U1", "h1"), ("teams:T:1", "h1"), ("teams:T:1", "h1"), ("teams:T:2", "h2")):
        await links.note_email(person, email_hash)
    assert await links.find_persons_of_same_email("slack:T1:U1") == {"teams:T:1"}
    assert await links.find_linked_persons("slack:T1:U1") == frozenset()
    assert await links.list_linked_persons() == []

    await links.note_email("slack:T1:U1", "h2")
    assert await links.find_persons_of_same_email("slack:T1:U1") == {"teams:T:2"}
    await links.note_email("slack:T1:U1", None)
    assert await links.find_persons_of_same_email("slack:T1:U1") == frozenset()
    assert await links.find_persons_of_same_email("teams:T:2") == frozenset()


async def test_two_ids_that_are_linked_at_once_have_one_link(database: SqlDatabase) -> None:
    links = PersonLinkStore(database)

    linked = await asyncio.gather(*[links.link_persons("local:a", "local:b", by="operator") for _ in range(5)])

    assert sorted(linked) == [False] * 4 + [True]
    assert await links.list_linked_persons() == [["local:a", "local:b"]]


async def test_a_conversation_that_was_never_saved_is_empty(database: SqlDatabase) -> None:
    loaded = await ConversationStore(database).load_state("slack:1", "scope")

    assert loaded == ConversationState(conversation="slack:1", scope_key="scope")


async def test_a_conversation_is_loaded_as_it_was_last_saved(database: SqlDatabase) -> None:
    conversations = ConversationStore(database)
    state = ConversationState(conversation="slack:1", scope_key="scope", summary={"turns": [1]}, last_plan={"legs": 1})

    await conversations.save_state(state)
    changed = replace(state, summary={"said": "NUL \0 \ud800"}, last_plan=None, clarifications_in_a_row=2)
    await conversations.save_state(changed)

    assert await conversations.load_state("slack:1", "scope") == changed


async def test_each_scope_of_a_conversation_has_its_own_state(database: SqlDatabase) -> None:
    conversations = ConversationStore(database)
    await conversations.save_state(
        ConversationState(conversation="slack:1", scope_key="private", summary={"secret": 1})
    )

    assert (await conversations.load_state("slack:1", "channel")).summary == {}


async def test_a_state_is_kept_when_rights_are_added_and_not_when_one_is_lost(database: SqlDatabase) -> None:
    conversations = ConversationStore(database)
    state = replace(await conversations.load_state("slack:1", "a", ["r1", "r2"]), summary={"turns": [1]})
    await conversations.save_state(state)

    more = await conversations.load_state("slack:1", "b", ["r1", "r2", "r3"])
    other = await conversations.load_state("slack:1", "c", ["r1", "r3"])

    assert more == ConversationState(
        conversation="slack:1", scope_key="b", summary={"turns": [1]}, rights=["r1", "r2", "r3"]
    )
    assert other == ConversationState(conversation="slack:1", scope_key="c", rights=["r1", "r3"])


async def test_the_newest_state_that_may_be_seen_is_loaded(database: SqlDatabase, clock: SetClock) -> None:
    conversations = ConversationStore(database)
    for turn, (scope_key, rights) in enumerate((("a", ["r1"]), ("b", ["r1", "r2"]), ("a", ["r1"]))):
        loaded = await conversations.load_state("slack:1", scope_key, rights)
        await conversations.save_state(replace(loaded, summary={"turns": [turn]}))
        clock.forward(seconds=1)

    assert (await conversations.load_state("slack:1", "b", ["r1", "r2"])).summary == {"turns": [2]}


async def test_a_state_of_an_earlier_version_is_loaded_under_its_own_scope_alone(database: SqlDatabase) -> None:
    conversations = ConversationStore(database)
    await conversations.save_state(ConversationState(conversation="slack:1", scope_key="a", summary={"turns": [1]}))

    assert (await conversations.load_state("slack:1", "a", ["r1"])).summary == {"turns": [1]}
    assert (await conversations.load_state("slack:1", "b", ["r1", "r2"])).summary == {}


async def test_a_summary_is_replaced_only_where_nobody_has_changed_it(database: SqlDatabase) -> None:
    conversations = ConversationStore(database)
    state = ConversationState(conversation="slack:1", scope_key="scope", summary={"turns": [1]}, last_plan={"legs": 1})
    assert not await conversations.replace_summary_if_unchanged(state, {"turns": [9]})
    await conversations.save_state(state)

    assert await conversations.replace_summary_if_unchanged(state, {"turns": [2]})
    assert not await conversations.replace_summary_if_unchanged(state, {"turns": [3]})

    assert await conversations.load_state("slack:1", "scope") == replace(state, summary={"turns": [2]})


async def test_any_mapping_is_stored_as_json_and_loaded_as_a_dict(database: SqlDatabase) -> None:
    conversations = ConversationStore(database)
    summary: Mapping[str, object] = MappingProxyType({"inner": MappingProxyType({"n": 1})})

    await conversations.save_state(ConversationState(conversation="slack:1", scope_key="s", summary=summary))

    assert (await conversations.load_state("slack:1", "s")).summary == {"inner": {"n": 1}}


@pytest.mark.parametrize("value", [float("nan"), object()], ids=["not a number", "no JSON at all"])
async def test_a_value_that_json_cannot_represent_is_refused(database: SqlDatabase, value: object) -> None:
    with pytest.raises(ValueRefused):
        await ConversationStore(database).save_state(
            ConversationState(conversation="c", scope_key="s", summary={"x": value})
        )


@pytest.mark.parametrize("key", ["lone \ud800 surrogate"])
async def test_an_id_with_invalid_unicode_is_refused(database: SqlDatabase, key: str) -> None:
    with pytest.raises(ValueRefused):
        await ConversationStore(database).save_state(ConversationState(conversation=key, scope_key="s"))


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
def clarifications(database: SqlDatabase) -> ClarificationStore:
    return ClarificationStore(database)


async def test_a_clarification_is_loaded_as_it_was_stored(clarifications: ClarificationStore, clock: SetClock) -> None:
    new = a_clarification(clock)

    stored = await clarifications.store_clarification(new)

    assert await clarifications.find_clarification(stored.id) == stored
    assert [(choice.label, choice.count, choice.kind, choice.payload) for choice in stored.choices] == [
        (choice.label, choice.count, choice.kind, choice.payload) for choice in new.choices
    ]
    assert (stored.plan, stored.question, stored.created_at) == (new.plan, new.question, clock.now)


async def test_ids_are_opaque_and_url_safe_and_unique(clarifications: ClarificationStore, clock: SetClock) -> None:
    stored = [await clarifications.store_clarification(a_clarification(clock)) for _ in range(3)]

    ids = [
        identity
        for clarification in stored
        for identity in (clarification.id, *(choice.id for choice in clarification.choices))
    ]
    assert len(set(ids)) == len(ids) == 12
    assert all(identity.replace("-", "").replace("_", "").isalnum() and len(identity) >= 22 for identity in ids)


async def test_a_choice_is_found_with_its_clarification(clarifications: ClarificationStore, clock: SetClock) -> None:
    stored = await clarifications.store_clarification(a_clarification(clock))

    offered = await clarifications.find_offered_choice(stored.choices[1].id)

    assert offered is not None
    assert (offered.clarification, offered.choice) == (stored, stored.choices[1])
    assert await clarifications.find_offered_choice("no such choice") is None


async def test_the_first_click_counts_and_the_second_gets_the_earlier_choice(
    clarifications: ClarificationStore, clock: SetClock
) -> None:
    stored = await clarifications.store_clarification(a_clarification(clock))
    first, second = stored.choices[0], stored.choices[1]
    clock.forward(minutes=1)
    chosen_at = clock.now

    first_use = await clarifications.use_choice(first.id, by="ann", turn="turn-2")
    clock.forward(minutes=1)
    second_use = await clarifications.use_choice(second.id, by="bob", turn="turn-3")

    assert isinstance(first_use, ChoiceUsed)
    assert (first_use.choice, first_use.clarification.used_by) == (first, "ann")
    assert isinstance(second_use, ChoiceAlreadyUsed)
    assert (second_use.used_by, second_use.used_label, second_use.used_at) == ("ann", "Acme", chosen_at)


async def test_a_repeated_choice_of_a_person_in_another_turn_is_already_used(
    clarifications: ClarificationStore, clock: SetClock
) -> None:
    choice = (await clarifications.store_clarification(a_clarification(clock))).choices[0]
    await clarifications.use_choice(choice.id, by="ann", turn="turn-2")

    assert isinstance(await clarifications.use_choice(choice.id, by="ann", turn="turn-3"), ChoiceAlreadyUsed)


async def test_a_retried_turn_may_use_its_choice_again_even_after_expiry(
    clarifications: ClarificationStore, clock: SetClock
) -> None:
    choice = (await clarifications.store_clarification(a_clarification(clock))).choices[0]
    await clarifications.use_choice(choice.id, by="ann", turn="turn-2")
    clock.forward(hours=2)

    assert isinstance(await clarifications.use_choice(choice.id, by="ann", turn="turn-2"), ChoiceUsed)


async def test_twenty_clicks_at_once_have_one_winner(clarifications: ClarificationStore, clock: SetClock) -> None:
    stored = await clarifications.store_clarification(a_clarification(clock))

    async def click(number: int) -> ChoiceUsed | ChoiceAlreadyUsed | ClarificationExpired | ChoiceUnknown:
        choice = stored.choices[number % 3]
        return await clarifications.use_choice(choice.id, by=f"person-{number}", turn=f"turn-{number}")

    results = await asyncio.gather(*map(click, range(20)))

    [winning_use] = [result for result in results if isinstance(result, ChoiceUsed)]
    later_uses = [result for result in results if isinstance(result, ChoiceAlreadyUsed)]
    assert len(later_uses) == 19
    assert {(later_use.used_by, later_use.used_label) for later_use in later_uses} == {
        (winning_use.clarification.used_by, winning_use.choice.label)
    }


async def test_a_click_after_the_expiry_gets_an_expired_clarification(
    clarifications: ClarificationStore, clock: SetClock
) -> None:
    stored = await clarifications.store_clarification(a_clarification(clock))
    clock.forward(hours=1)

    choice_use = await clarifications.use_choice(stored.choices[0].id, by="ann", turn="turn-2")

    assert choice_use == ClarificationExpired(stored)


async def test_a_click_with_an_invented_id_is_unknown(clarifications: ClarificationStore) -> None:
    assert await clarifications.use_choice("made up", by="ann", turn="turn-2") == ChoiceUnknown()


async def test_the_newest_clarification_of_a_conversation_and_scope_is_the_open_one(
    clarifications: ClarificationStore, clock: SetClock
) -> None:
    await clarifications.store_clarification(a_clarification(clock))
    newest = await clarifications.store_clarification(a_clarification(clock, turn="turn-2"))
    await clarifications.store_clarification(a_clarification(clock, scope_key="private"))
    await clarifications.store_clarification(a_clarification(clock, conversation="slack:2"))

    assert await clarifications.find_open_clarification("slack:1", "scope") == newest
    assert await clarifications.find_open_clarification("slack:3", "scope") is None


async def test_no_clarification_is_open_once_the_newest_is_used_or_expired(
    clarifications: ClarificationStore, clock: SetClock
) -> None:
    """An older clarification is not open either, because a typed reply answers the last question."""
    await clarifications.store_clarification(a_clarification(clock))
    used = await clarifications.store_clarification(a_clarification(clock))
    await clarifications.use_choice(used.choices[0].id, by="ann", turn="turn-2")
    await clarifications.store_clarification(a_clarification(clock, conversation="slack:2"))
    assert await clarifications.find_open_clarification("slack:1", "scope") is None

    clock.forward(hours=1)

    assert await clarifications.find_open_clarification("slack:2", "scope") is None


async def claim_expired(
    clarifications: ClarificationStore, *, exclude_surfaces: Collection[str] = ()
) -> list[StoredClarification]:
    return await clarifications.claim_expired_clarifications(LEASE, limit=100, exclude_surfaces=exclude_surfaces)


async def test_an_expiry_that_is_not_shown_within_the_lease_is_handed_out_again(
    clarifications: ClarificationStore, clock: SetClock
) -> None:
    """The process that was to show it may have been killed."""
    stored = await clarifications.store_clarification(a_clarification(clock))
    clock.forward(hours=1)
    assert await claim_expired(clarifications) == [stored]
    assert await claim_expired(clarifications) == []
    assert isinstance(
        await clarifications.use_choice(stored.choices[0].id, by="ann", turn="turn-2"), ClarificationExpired
    )

    clock.now += LEASE
    assert await claim_expired(clarifications) == [stored]
    await clarifications.note_expiry_shown(stored.id)

    clock.now += LEASE
    assert await claim_expired(clarifications) == []


async def test_two_processes_share_expired_clarifications(clarifications: ClarificationStore, clock: SetClock) -> None:
    stored = [await clarifications.store_clarification(a_clarification(clock)) for _ in range(9)]
    clock.forward(hours=1)

    claims = await asyncio.gather(*(clarifications.claim_expired_clarifications(LEASE, limit=3) for _ in range(4)))

    claimed = [clarification.id for claim in claims for clarification in claim]
    assert len(claimed) == len(set(claimed))
    assert max(map(len, claims)) == 3
    rest = await claim_expired(clarifications)
    assert {*claimed, *(clarification.id for clarification in rest)} == {clarification.id for clarification in stored}


async def test_each_clarification_expires_once(clarifications: ClarificationStore, clock: SetClock) -> None:
    early = await clarifications.store_clarification(a_clarification(clock))
    used = await clarifications.store_clarification(a_clarification(clock))
    await clarifications.use_choice(used.choices[0].id, by="ann", turn="turn-2")
    late = await clarifications.store_clarification(a_clarification(clock, expires_at=clock.now + timedelta(hours=2)))
    assert await claim_expired(clarifications) == []

    clock.forward(hours=1)
    assert await claim_expired(clarifications) == [early]
    assert await claim_expired(clarifications) == []
    await clarifications.note_expiry_shown(early.id)
    clock.forward(hours=1)
    assert await claim_expired(clarifications) == [late]


async def test_clarifications_of_excluded_surfaces_do_not_expire(
    database: SqlDatabase, clarifications: ClarificationStore, clock: SetClock
) -> None:
    inbox = TurnInbox(database)
    acceptances = [
        await inbox.accept_turn(a_turn(number, f"c{number}", surface=surface))
        for number, surface in enumerate(["slack", "web"])
    ]
    on_slack, on_web = [
        await clarifications.store_clarification(a_clarification(clock, turn=turn.turn_id))
        for turn in accepted_turns(acceptances)
    ]
    clock.forward(hours=1)

    assert await claim_expired(clarifications, exclude_surfaces=["slack"]) == [on_web]
    assert await claim_expired(clarifications, exclude_surfaces=["web", "terminal"]) == [on_slack]


def accepted_turns(acceptances: Sequence[AcceptedTurn | DuplicateTurn | NothingToRevise]) -> list[AcceptedTurn]:
    return [acceptance for acceptance in acceptances if isinstance(acceptance, AcceptedTurn)]


async def test_a_withdrawn_clarification_cannot_be_used_and_does_not_expire_again(
    clarifications: ClarificationStore, clock: SetClock
) -> None:
    withdrawn = await clarifications.store_clarification(a_clarification(clock))
    used = await clarifications.store_clarification(a_clarification(clock))
    await clarifications.use_choice(used.choices[0].id, by="ann", turn="turn-2")
    other = await clarifications.store_clarification(a_clarification(clock, turn="turn-9"))

    await clarifications.withdraw_unused_offers(["turn-1"])

    assert isinstance(
        await clarifications.use_choice(withdrawn.choices[0].id, by="ann", turn="turn-3"), ClarificationExpired
    )
    assert isinstance(await clarifications.use_choice(used.choices[0].id, by="ann", turn="turn-2"), ChoiceUsed)
    clock.forward(hours=1)
    assert await claim_expired(clarifications) == [other]


async def test_a_clarification_may_have_no_choices(clarifications: ClarificationStore, clock: SetClock) -> None:
    stored: StoredClarification = await clarifications.store_clarification(replace(a_clarification(clock), choices=()))

    assert await clarifications.find_clarification(stored.id) == stored


# Grants, groups and their audit


async def test_a_new_database_has_no_grants(database: SqlDatabase) -> None:
    grants = GrantStore(database)

    assert await grants.list_grants() == []
    assert await grants.list_for_subjects([EVERYONE, ANN]) == []


async def test_grants_are_found_by_subject(database: SqlDatabase, clock: SetClock) -> None:
    grants = GrantStore(database)
    personal = await grants.grant_bucket_access(RECEIPTS, ANN, by="operator")
    channel_grant = await grants.grant_bucket_access(MANUALS, CHANNEL, include_external=True, by="operator")
    await grants.grant_bucket_access(MANUALS, EVERYONE, by="operator")

    assert await grants.list_for_subjects([ANN, CHANNEL]) == [channel_grant, personal]
    assert await grants.list_for_subjects([]) == []
    assert (personal.include_external, personal.granted_by, personal.granted_at) == (False, "operator", clock.now)
    assert [(grant.bucket, grant.subject) for grant in await grants.list_grants()] == [
        (MANUALS, CHANNEL),
        (MANUALS, EVERYONE),
        (RECEIPTS, ANN),
    ]


async def test_revoking_a_grant_succeeds_once(database: SqlDatabase) -> None:
    grants = GrantStore(database)
    await grants.grant_bucket_access(RECEIPTS, ANN, by="operator")

    assert await grants.revoke_grant(RECEIPTS, ANN, by="root")
    assert not await grants.revoke_grant(RECEIPTS, ANN, by="root")
    assert await grants.list_grants() == []


async def test_every_change_of_a_grant_is_audited_with_its_values_before_and_after(
    database: SqlDatabase, clock: SetClock
) -> None:
    grants = GrantStore(database)
    await grants.grant_bucket_access(RECEIPTS, CHANNEL, by="ann")
    await grants.grant_bucket_access(RECEIPTS, CHANNEL, by="bob")  # changes nothing
    await grants.grant_bucket_access(RECEIPTS, CHANNEL, include_external=True, by="bob")
    await grants.revoke_grant(RECEIPTS, CHANNEL, by="cid")
    await grants.revoke_grant(RECEIPTS, CHANNEL, by="cid")  # changes nothing

    closed = {"include_external": False, "granted_by": "ann"}
    opened = {"include_external": True, "granted_by": "bob"}
    entries = await list_audit_entries(database)
    assert [(entry.action, entry.by, entry.before, entry.after) for entry in reversed(entries)] == [
        ("grant", "ann", None, closed),
        ("grant", "bob", closed, opened),
        ("revoke", "cid", opened, None),
    ]
    assert {(entry.matter, entry.at) for entry in entries} == {("receipts → channel:slack:T1:C1", clock.now)}


async def test_ten_equal_grants_at_once_make_one_grant_and_one_audit_entry(database: SqlDatabase) -> None:
    grants = GrantStore(database)

    await asyncio.gather(*(grants.grant_bucket_access(RECEIPTS, ANN, by=f"admin-{n}") for n in range(10)))

    [entry] = await list_audit_entries(database)
    [grant] = await grants.list_grants()
    assert (entry.before, entry.by) == (None, grant.granted_by)


async def test_members_are_added_to_and_removed_from_a_local_group(database: SqlDatabase) -> None:
    groups = LocalGroupStore(database)
    assert await groups.create_group("sales", "Sales \0", by="operator")
    assert not await groups.create_group("sales", "Other", by="operator")
    await groups.create_group("admin", "Admins", by="operator")

    assert await groups.add_group_member("sales", "local:ann", by="operator")
    assert not await groups.add_group_member("sales", "local:ann", by="operator")
    await groups.add_group_member("sales", "local:bob", by="operator")
    assert await groups.remove_group_member("sales", "local:bob", by="operator")
    assert not await groups.remove_group_member("sales", "local:bob", by="operator")

    assert await groups.group_ids_of_person("local:ann") == {"sales"}
    assert await groups.group_ids_of_person("local:bob") == frozenset()
    assert await groups.list_groups() == [
        LocalGroup(id="admin", title="Admins", members=frozenset()),
        LocalGroup(id="sales", title="Sales \0", members=frozenset({"local:ann"})),
    ]
    actions = [entry.action for entry in await list_audit_entries(database)]
    assert sorted(actions) == ["group.add", "group.add", "group.create", "group.create", "group.remove"]


async def test_adding_a_member_to_a_missing_group_fails_and_is_not_audited(database: SqlDatabase) -> None:
    with pytest.raises(ConstraintBroken):
        await LocalGroupStore(database).add_group_member("ghosts", "local:ann", by="operator")

    assert await list_audit_entries(database) == []


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
def exports(database: SqlDatabase) -> ExportStore:
    return ExportStore(database)


async def claim_export(exports: ExportStore, worker: str = "w1") -> ClaimedExport:
    claimed = await exports.claim_due_export(worker, LEASE)
    assert claimed is not None
    return claimed


async def test_an_export_is_queued_and_claimed_and_finished(exports: ExportStore, clock: SetClock) -> None:
    queued = await exports.queue_export(an_export(clock))
    assert (queued.status, queued.rows, queued.created_at) == (ExportStatus.QUEUED, 0, clock.now)

    running = await claim_export(exports)
    assert running.export == replace(queued, status=ExportStatus.RUNNING)
    assert await exports.finish_export(running, rows=1042, path="/exports/é.csv")

    done = await exports.find_export(queued.id)
    assert done == replace(queued, status=ExportStatus.DONE, rows=1042, path="/exports/é.csv")
    assert await exports.find_export("no such export") is None
    assert await exports.claim_due_export("w1", LEASE) is None


async def test_the_newest_export_of_a_turn_is_found(exports: ExportStore, clock: SetClock) -> None:
    await exports.queue_export(an_export(clock))
    newest = await exports.queue_export(an_export(clock))

    assert await exports.find_newest_of_turn(newest.turn) == newest
    assert await exports.find_newest_of_turn("no such turn") is None


async def test_an_abandoned_export_does_not_block_another_one_of_the_person(
    exports: ExportStore, clock: SetClock
) -> None:
    abandoned = await exports.queue_export(an_export(clock))
    another = await exports.queue_export(an_export(clock))
    assert await exports.claim_due_export("w1", LEASE, export_id=abandoned.id)
    assert await exports.claim_due_export("w2", LEASE, export_id=another.id) is None
    clock.forward(seconds=31)

    assert await exports.claim_due_export("w2", LEASE, export_id=another.id)


async def test_a_person_has_one_running_export_at_a_time(exports: ExportStore, clock: SetClock) -> None:
    first = await exports.queue_export(an_export(clock))
    second = await exports.queue_export(an_export(clock))
    other = await exports.queue_export(an_export(clock, "bob"))

    running = await claim_export(exports)
    assert running.export.id == first.id
    assert await exports.claim_due_export("w2", LEASE, export_id=second.id) is None
    assert (await claim_export(exports, "w2")).export.id == other.id
    assert await exports.claim_due_export("w3", LEASE) is None

    await exports.fail_export(running, "the index went away")
    assert (await claim_export(exports)).export.id == second.id
    failed = await exports.find_export(first.id)
    assert failed is not None
    assert (failed.status, failed.failure) == (ExportStatus.FAILED, "the index went away")


async def test_only_an_export_that_no_worker_has_claimed_can_be_withdrawn(
    exports: ExportStore, clock: SetClock
) -> None:
    running = await exports.queue_export(an_export(clock))
    waiting = await exports.queue_export(an_export(clock))
    await exports.claim_due_export("w1", LEASE, export_id=running.id)

    assert await exports.withdraw_export(waiting.id, "no room")
    assert not await exports.withdraw_export(running.id, "no room")
    withdrawn = await exports.find_export(waiting.id)
    assert withdrawn == replace(waiting, status=ExportStatus.FAILED, failure="no room")


async def test_ten_workers_at_once_claim_one_export_of_a_person(exports: ExportStore, clock: SetClock) -> None:
    for _ in range(10):
        await exports.queue_export(an_export(clock))

    claims = await asyncio.gather(*(exports.claim_due_export(f"w{n}", LEASE) for n in range(10)))

    assert len([claimed for claimed in claims if claimed is not None]) == 1


async def test_an_abandoned_export_continues_where_it_stopped(exports: ExportStore, clock: SetClock) -> None:
    await exports.queue_export(an_export(clock))
    lost_claim = await claim_export(exports, "w1")
    assert await exports.record_export_progress(lost_claim, rows=500, cursor={"after": "doc-500"}, lease=LEASE)
    clock.forward(seconds=29)
    assert await exports.claim_due_export("w2", LEASE) is None
    clock.forward(seconds=1)

    taken_over = await claim_export(exports, "w2")

    assert (taken_over.export.rows, taken_over.export.cursor) == (500, {"after": "doc-500"})
    assert await exports.record_export_progress(lost_claim, rows=600, cursor={}, lease=LEASE) is False
    assert await exports.finish_export(lost_claim, rows=600, path="/old.csv") is False
    assert await exports.fail_export(lost_claim, "late") is False
    assert await exports.finish_export(taken_over, rows=1042, path="/new.csv")


async def test_exports_expire_once_and_are_not_claimed_afterwards(exports: ExportStore, clock: SetClock) -> None:
    done = await exports.queue_export(an_export(clock))
    await exports.finish_export(await claim_export(exports), rows=1, path="/a.csv")
    running = await exports.queue_export(an_export(clock))
    claimed = await claim_export(exports)
    queued = await exports.queue_export(an_export(clock))
    clock.forward(minutes=59, seconds=50)
    assert await exports.expire_due_exports() == []
    assert await exports.record_export_progress(claimed, rows=1, cursor={}, lease=LEASE)
    clock.forward(seconds=10)

    expired = await exports.expire_due_exports()

    assert [(export.id, export.status) for export in expired] == [
        (done.id, ExportStatus.EXPIRED),
        (queued.id, ExportStatus.EXPIRED),
    ]
    assert expired[0].path == "/a.csv"
    clock.forward(minutes=1)
    assert await exports.claim_due_export("w2", LEASE) is None
    assert [export.id for export in await exports.expire_due_exports()] == [running.id]
    assert await exports.finish_export(claimed, rows=1, path="/late.csv") is False
    assert set(await exports.find_discarded([done.id, running.id, "deleted"])) == {done.id, running.id, "deleted"}
