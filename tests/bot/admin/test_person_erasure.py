"""A person is erased beside a running application: from every table and from every file of the home."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.admin.person_erasure import REMOVED_TEXT, count_person_rows, erase_person
from bot.application import Application
from bot.ids import OPERATOR, ConversationId, PersonId, Subject, TurnId
from bot.settings import Settings
from bot.surface.inbound import ChannelAudience, OutsiderPresence, PrivateAudience, TextMessage
from bot.turns.feedback import FeedbackVerdict
from storage.sql.backup import list_stored_tables
from storage.sql.database import SqlDatabase
from storage.sql.stores.admins import AdminStore
from storage.sql.stores.attachments import AttachedFileStore, NewAttachedFile
from storage.sql.stores.conversations import ConversationStore
from storage.sql.stores.turns import turns
from tests.bot.conftest import ConversationDriver
from tests.builders import RECEIPTS

ANN, BOB = PersonId("slack:T1:U0ANN4711"), PersonId("slack:T1:U0BOB0815")
ANN_ALONE = PersonId("local:ann")
CHANNEL = ChannelAudience(channel=Subject("channel:slack:T1:C1"), outsiders=OutsiderPresence.NONE)
ANN_WORDS = ("the purple giraffe invoice of spring", "my secret reason about zebras", "content of the walrus letter")
BOB_QUESTION = "Which receipts are from the quiet harbour?"


def a_driver(bot: Application, person: PersonId, *, in_channel: bool = False) -> ConversationDriver:
    audience = CHANNEL if in_channel else PrivateAudience(person=person)
    conversation = "slack:T1:C1:1" if in_channel else f"slack:T1:D-{person[-4:]}"
    return ConversationDriver(bot, audience=audience, person=person, name="Ann Lee", conversation=conversation)


async def live_through_a_day(bot: Application) -> dict[str, TurnId]:
    """Ann and Bob use all that keeps something about them. Returns Bob's turns by place."""
    administration = bot.administration
    for subject in (f"user:{ANN}", f"user:{BOB}", CHANNEL.channel):
        await administration.grant_bucket(RECEIPTS, Subject(subject), by=OPERATOR)
    await bot.groups.create_group("buyers", "Buyers", by=OPERATOR)
    for person in (ANN, BOB):
        await bot.groups.add_group_member("buyers", person, by=OPERATOR)
    await bot.person_links.link_persons(ANN, ANN_ALONE, by=OPERATOR)
    await AdminStore(bot.database).add_admin(ANN, by=OPERATOR)
    await administration.add_admin(BOB, by=OPERATOR)
    turns_of_bob: dict[str, TurnId] = {}
    for person in (ANN, BOB):
        talk = a_driver(bot, person)
        asked = await talk.ask_question(f"List {ANN_WORDS[0]}" if person == ANN else BOB_QUESTION)
        await talk.click_choice(asked, "Bolt")
        await talk.ask_question("export")
        await bot.feedback.record_verdict(
            asked.turn, person, FeedbackVerdict.BAD, ANN_WORDS[1] if person == ANN else "no"
        )
        await AttachedFileStore(bot.database).store_attached_file(an_attached_file(bot, talk.conversation, person))
        turns_of_bob["alone"] = asked.turn
    in_channel = {person: a_driver(bot, person, in_channel=True) for person in (ANN, BOB)}
    await in_channel[BOB].ask_question(BOB_QUESTION)
    asked = await in_channel[ANN].ask_question(f"Show {ANN_WORDS[0]} please")
    await bot.feedback.record_verdict(asked.turn, BOB, FeedbackVerdict.GOOD)
    followed = await in_channel[BOB].ask_question("only the dear ones")
    await in_channel[ANN].click_choice(followed, "Bolt")
    await bot.feedback.record_verdict(followed.turn, ANN, FeedbackVerdict.BAD, ANN_WORDS[1])
    return turns_of_bob | {"in channel": followed.turn}


def an_attached_file(bot: Application, conversation: ConversationId, person: PersonId) -> NewAttachedFile:
    return NewAttachedFile(
        conversation=conversation,
        message="m1",
        file="F1",
        person=person,
        audience={"kind": "private", "person": person, "guest": False, "subjects": []},
        name=ANN_WORDS[2] if person == ANN else "bob.txt",
        kind="txt",
        link=None,
        size=3,
        digest="d",
        content=ANN_WORDS[2].encode() if person == ANN else b"bob",
        expires_at=bot.clock() + timedelta(days=7),
    )


async def tables_with(database: SqlDatabase, texts: Iterable[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for table in list_stored_tables():
        rows = await database.run_read(lambda connection, table=table: connection.execute(select(table)).all())
        found += [(table.name, text) for text in texts if any(text in repr(tuple(row)) for row in rows)]
    return found


def files_with(home: Path, texts: Iterable[str]) -> list[tuple[str, str]]:
    contents = {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    return sorted((name, text) for name, content in contents.items() for text in texts if text.encode() in content)


async def test_no_table_and_no_file_holds_the_id_or_the_words_afterwards(bot: Application, settings: Settings) -> None:
    await live_through_a_day(bot)
    sought = (ANN, "U0ANN4711", *ANN_WORDS)
    bot.log.info("turn", user="U0ANN4711")  # as a chat product names people
    before = {name for name, _ in files_with(settings.home, sought)}

    report = await erase_person(bot.database, settings, {ANN})

    assert {"logs/parley.log"} < before
    assert await tables_with(bot.database, sought) == []
    assert files_with(settings.home, sought) == []
    assert (report.export_files, report.counts.conversations, report.counts.marked) == (1, 1, 2)
    assert report.linked == (ANN_ALONE,)


async def test_what_others_wrote_and_were_answered_stays(bot: Application, settings: Settings) -> None:
    turn_ids = await live_through_a_day(bot)
    before = {place: await bot.load_finished_turn(turn) for place, turn in turn_ids.items()}

    await erase_person(bot.database, settings, {ANN})

    after = {place: await bot.load_finished_turn(turn) for place, turn in turn_ids.items()}
    assert after == before
    query = select(turns.c.person, turns.c.body).where(turns.c.conversation == "slack:T1:C1:1", turns.c.is_question)
    rows = await bot.database.run_read(lambda connection: connection.execute(query.order_by(turns.c.position)).all())
    assert [(row.person == BOB, row.body["said"]) for row in rows] == [
        (True, BOB_QUESTION),
        (False, REMOVED_TEXT),
        (True, "only the dear ones"),
    ]
    assert len(list(settings.exports_path.iterdir())) == 1
    assert [group.members for group in await bot.groups.list_groups()] == [frozenset({BOB})]


async def test_the_conversation_with_others_goes_on(bot: Application, settings: Settings) -> None:
    await live_through_a_day(bot)
    await erase_person(bot.database, settings, {ANN})

    followed = await a_driver(bot, BOB, in_channel=True).ask_question("List every receipt")
    again = await a_driver(bot, ANN).ask_question("List every receipt")

    states = await ConversationStore(bot.database).list_states("slack:T1:C1:1")
    assert followed.error is None
    assert [ANN_WORDS[0] in repr(state) for state in states] == [False] * len(states)
    assert again.result["outcome"] == "refused"  # the grant is gone


async def test_a_trial_changes_nothing_and_counts_the_same(bot: Application, settings: Settings) -> None:
    await live_through_a_day(bot)
    kept = await tables_with(bot.database, (ANN, *ANN_WORDS))

    trial = await count_person_rows(bot.database, settings, {ANN})
    kept_after = await tables_with(bot.database, (ANN, *ANN_WORDS))
    report = await erase_person(bot.database, settings, {ANN})

    assert kept == kept_after
    assert replace(trial, is_trial=False, remaining=()) == replace(report, remaining=())


async def test_what_remains_countable_is_said_before_and_afterwards(bot: Application, settings: Settings) -> None:
    """Marks are named only where there are some."""
    await live_through_a_day(bot)
    marks = "marks in conversations with others still count as questions in reports, with their time and their ending"

    trial = await count_person_rows(bot.database, settings, {ANN})
    report = await erase_person(bot.database, settings, {ANN})
    again = await count_person_rows(bot.database, settings, {ANN})

    assert [marks in erasure.remaining for erasure in (trial, report, again)] == [True, True, False]
    assert [any("sums of costs by month" in said for said in erasure.remaining) for erasure in (trial, report)] == [
        True,
        True,
    ]


@pytest.mark.parametrize("step", ["erase_person", "overwrite_deleted_rows"])
async def test_an_interrupted_erasure_is_run_again(
    bot: Application, settings: Settings, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    await live_through_a_day(bot)
    place = (
        "storage.sql.erasure.person_erasure.PersonErasure"
        if step == "erase_person"
        else "storage.sql.database.SqlDatabase"
    )

    async def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(f"{place}.{step}", interrupt)
        with pytest.raises(KeyboardInterrupt):
            await erase_person(bot.database, settings, {ANN})
    await erase_person(bot.database, settings, {ANN})

    sought = (ANN, "U0ANN4711", *ANN_WORDS)
    assert (await tables_with(bot.database, sought), files_with(settings.home, sought)) == ([], [])


async def test_a_question_in_progress_ends_without_a_reply(bot: Application, settings: Settings) -> None:
    turn = await a_driver(bot, ANN).accept_body(TextMessage("List every receipt"))

    await erase_person(bot.database, settings, {ANN})

    query = select(turns.c.id).where(turns.c.id == turn)
    assert await bot.database.run_read(lambda connection: connection.execute(query).all()) == []
