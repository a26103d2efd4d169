"""Saved searches in a conversation: kept, reported once, paused without rights, listed and stopped."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest

from bot.application import Application
from bot.bootstrap import open_application
from bot.errors import NotYourSavedSearch
from bot.ids import EVERYONE, ConversationId, MessageId, PersonId, Subject, TurnId
from bot.metrics.operation_measurements import JobMeasurement, OperationMeasurement
from bot.saved_searches.due_searches import DueSearches
from bot.saved_searches.saved_searches import MAX_SEARCHES_OF_PERSON
from bot.settings import Settings
from bot.surface.inbound import ButtonClick, ChannelAudience, Inbound, OutsiderPresence, SearchSaveRequest
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import ChoicesPart, FilePart, Reply, TextPart, TurnAction, TurnActionsPart
from bot.turns.delivery import TURN_LEASE
from bot.turns.turn_processor import FinishedTurn
from storage.embedded.index import EmbeddedIndex
from storage.search.errors import IndexUnavailable
from storage.search.ids import DocId
from storage.sql.database import SqlDatabase
from storage.sql.saved_search_store import SavedSearchStatus, SavedSearchStore
from storage.sql.stores.inbox import TurnInbox
from tests.bot.conftest import ConversationDriver, private_audience_of
from tests.bot.fakes import NO_REASONER, Clock, FakeChat, FakeChatThread, ListingAgent
from tests.builders import RECEIPTS, a_document

TELL_ME = "Tell me when a new receipt arrives"
EVERY_MONDAY = "Every Monday 9:00: list the receipts"


def text_of(reply: Reply) -> str:
    return "\n\n".join(part.markdown for part in reply.parts if isinstance(part, TextPart))


def posted_texts(chat: FakeChat) -> list[str]:
    return [text_of(message.reply) for message in chat.messages.values()]


async def work_off_inbox(bot: Application) -> None:
    """Does what a worker does with the turns that are due."""
    inbox = TurnInbox(bot.database)
    while claimed := await inbox.claim_due_turns("w1", TURN_LEASE):
        for turn in claimed:
            await bot.turn_processor.process_turn(turn)


async def tick(bot: Application, clock: Clock, **passed: float) -> int:
    """Lets time pass, then does what the periodic job and a worker do."""
    clock.advance(timedelta(**passed))
    started = await bot.due_searches.start_due_runs()
    await work_off_inbox(bot)
    return started


async def put_receipts(index: EmbeddedIndex, *doc_ids: str, vendor: str = "Acme") -> None:
    await index.put(
        RECEIPTS, [a_document(id_, f"text of {id_}", title=f"Receipt {id_}", vendor=vendor) for id_ in doc_ids]
    )


async def save_search_of_ann(bot: Application) -> Subject:
    """Ann, who may see the receipts now, saves a search in her private chat. Returns her as the subject of grants."""
    ann = private_audience_of("ANN")
    subject = Subject(f"user:{ann.person}")
    await bot.grants.grant_bucket_access(RECEIPTS, subject, by="operator")
    await ConversationDriver(bot, person=ann.person, audience=ann).ask_question(TELL_ME)
    return subject


def due_searches_of_replica(bot: Application, accept_failures: Sequence[BaseException] = ()) -> DueSearches:
    """Another process. After it has stored a turn, it raises the failures, one per turn."""
    failures = list(accept_failures)

    async def accept(inbound: Inbound) -> TurnId | None:
        turn = await bot.turn_processor.accept_inbound(inbound)
        if failures:
            raise failures.pop(0)
        return turn

    return DueSearches(
        database=bot.database,
        index=bot.index,
        access=bot.access,
        surfaces=bot.surfaces,
        accept=accept,
        worker="another",
        log=bot.log,
    )


async def test_the_confirmation_says_what_is_watched_and_how_many_there_are_now(bot: Application) -> None:
    reply = text_of((await ConversationDriver(bot).ask_question(TELL_ME)).reply)

    assert "List every receipt" in reply
    assert "42 documents" in reply
    assert "stop watching 1" in reply


async def test_what_is_new_changed_and_gone_is_reported_once(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    await ConversationDriver(bot).ask_question(TELL_ME)
    chat.messages.clear()
    assert await tick(bot, clock, minutes=6) == 0

    await put_receipts(index, "n1", "n2", "r000")
    await index.delete([DocId("r001"), DocId("r002"), DocId("r003")])
    await tick(bot, clock, minutes=6)

    (report,) = posted_texts(chat)
    assert "**2 new**, **1 changed**, **3 gone** since the last time; 41 documents now" in report
    assert "- Receipt n1\n- Receipt n2" in report
    assert "Changed:\n\n- Receipt r000" in report
    assert "r001" not in report
    assert await tick(bot, clock, minutes=6) == 0
    assert len(chat.messages) == 1


async def test_a_run_is_observed_as_a_background_job(bot: Application, clock: Clock) -> None:
    await ConversationDriver(bot).ask_question(EVERY_MONDAY)
    reported = list[OperationMeasurement]()
    bot.operations.add_observer(reported.append)

    await tick(bot, clock, days=3)

    runs = [(run.name, run.outcome) for run in reported if isinstance(run, JobMeasurement)]
    assert runs == [("report_saved_search", "ok")]


async def test_a_rewrite_without_a_difference_is_no_news(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    await put_receipts(index, "n1")
    await ConversationDriver(bot).ask_question(TELL_ME)
    chat.messages.clear()

    await index.delete([DocId("n1")])
    await put_receipts(index, "n1")
    started = await tick(bot, clock, minutes=6)

    assert started == 1
    assert not chat.messages
    assert await tick(bot, clock, minutes=6) == 0


async def test_a_scheduled_search_reports_at_its_time_also_without_news(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    confirmation = text_of((await ConversationDriver(bot).ask_question(EVERY_MONDAY)).reply)
    chat.messages.clear()
    assert "Monday 12 May 2031 at 09:00" in confirmation
    assert await tick(bot, clock, days=2) == 0

    await put_receipts(index, "n1")
    assert await tick(bot, clock, days=1) == 1  # Monday 12:00, too late to be on time
    clock.advance(datetime(2031, 5, 19, 9, 0, 30, tzinfo=clock().tzinfo) - clock())
    await tick(bot, clock)

    late, punctual = posted_texts(chat)
    assert "**1 new** since the last time; 43 documents now" in late
    assert "This was due on Monday 12 May 2031 at 09:00, when I was not running" in late
    assert "Nothing has changed since the last time: 43 documents" in punctual
    assert "not running" not in punctual


async def test_what_was_missed_while_nothing_ran_is_reported_once(
    bot: Application, clock: Clock, chat: FakeChat
) -> None:
    await ConversationDriver(bot).ask_question(EVERY_MONDAY)
    chat.messages.clear()

    await tick(bot, clock, days=24)
    await tick(bot, clock, minutes=1)

    (report,) = posted_texts(chat)
    assert "I was not running on Monday 12 May 2031 at 09:00, when this was due, and missed 4 times" in report


async def test_of_two_replicas_one_posts(bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat) -> None:
    talk = ConversationDriver(bot)
    for _ in range(3):
        await talk.ask_question(TELL_ME)
    chat.messages.clear()
    await put_receipts(index, "n1")
    clock.advance(timedelta(minutes=6))

    counts = await asyncio.gather(bot.due_searches.start_due_runs(), due_searches_of_replica(bot).start_due_runs())
    await work_off_inbox(bot)

    assert sum(counts) == 3
    assert len(chat.messages) == 3


async def test_a_replica_killed_after_it_started_a_run_leaves_one_report(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    await ConversationDriver(bot).ask_question(TELL_ME)
    chat.messages.clear()
    await put_receipts(index, "n1")
    clock.advance(timedelta(minutes=6))
    with pytest.raises(KeyboardInterrupt):
        await due_searches_of_replica(bot, [KeyboardInterrupt()]).start_due_runs()

    await work_off_inbox(bot)
    await tick(bot, clock, minutes=2)
    await tick(bot, clock, minutes=6)

    assert len(chat.messages) == 1


EVERY_DAY = "Every day at 9:00: list the receipts"
DAILY_SEARCHES = {
    "en": (
        EVERY_DAY,
        "_The run before had not ended on Sunday 11 May 2031 at 09:00, when this was due. I missed 3 times;"
        " this is about all._",
    ),
    "de": ("Jeden Tag um 9 Uhr: alle Belege", "war der Lauf davor noch nicht zu Ende, und ich habe 3 Male verpasst"),
    "fr": ("Tous les jours à 9 h : tous les reçus", "La recherche précédente n'était pas terminée"),
    "es": ("Cada día a las 9: todos los recibos", "La ejecución anterior no había terminado"),
}


async def test_a_change_while_a_run_is_open_waits_for_its_end_and_is_reported_once(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    await ConversationDriver(bot).ask_question(TELL_ME)
    chat.messages.clear()
    replica = due_searches_of_replica(bot)
    for number in range(4):  # no worker has time
        await put_receipts(index, f"n{number}")
        clock.advance(timedelta(minutes=6))
        starts = await asyncio.gather(bot.due_searches.start_due_runs(), replica.start_due_runs())
        assert sum(starts) == (number == 0)

    await work_off_inbox(bot)
    (first,) = posted_texts(chat)
    await put_receipts(index, "n9")
    starts = await asyncio.gather(bot.due_searches.start_due_runs(), replica.start_due_runs())
    await work_off_inbox(bot)

    assert "**4 new**" in first
    assert sum(starts) == 1
    assert "**1 new**" in posted_texts(chat)[1]
    assert await tick(bot, clock, minutes=6) == 0
    assert len(chat.messages) == 2


@pytest.mark.parametrize("language", DAILY_SEARCHES)
async def test_what_fell_due_while_a_run_was_open_is_one_run_that_says_what_was_missed(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat, language: str
) -> None:
    every_day, sentence = DAILY_SEARCHES[language]
    await ConversationDriver(bot).ask_question(every_day)
    chat.messages.clear()
    clock.advance(timedelta(days=1) - (clock() - clock().replace(hour=9, minute=0)))
    assert await bot.due_searches.start_due_runs() == 1
    for _ in range(3):  # no worker has time
        clock.advance(timedelta(days=1))
        assert await bot.due_searches.start_due_runs() == 0

    await work_off_inbox(bot)
    await tick(bot, clock, minutes=1)
    await tick(bot, clock, minutes=1)

    punctual, held = posted_texts(chat)
    assert sentence not in punctual
    assert sentence in held


async def test_what_fell_due_once_while_a_run_was_open_says_so(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    await ConversationDriver(bot).ask_question(EVERY_DAY)
    chat.messages.clear()
    clock.advance(timedelta(days=1))
    await bot.due_searches.start_due_runs()

    clock.advance(timedelta(hours=22))
    await work_off_inbox(bot)
    await tick(bot, clock, minutes=1)

    assert "This was due on Sunday 11 May 2031 at 09:00, when the run before it had not ended" in posted_texts(chat)[1]


async def test_a_replica_killed_after_it_started_a_run_loses_nothing_that_fell_due_before_the_run_ended(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    await ConversationDriver(bot).ask_question(EVERY_DAY)
    chat.messages.clear()
    clock.advance(timedelta(days=1) - (clock() - clock().replace(hour=9, minute=0)))
    with pytest.raises(KeyboardInterrupt):
        await due_searches_of_replica(bot, [KeyboardInterrupt()]).start_due_runs()
    clock.advance(timedelta(days=2))
    await work_off_inbox(bot)

    await tick(bot, clock, minutes=1)
    await tick(bot, clock, minutes=1)

    first, second = posted_texts(chat)
    assert "missed" not in first
    assert "I missed 2 times" in second


async def test_a_worker_cut_off_right_after_posting_leaves_one_message_and_one_report(
    settings: Settings, clock: Clock, database: SqlDatabase, index: EmbeddedIndex
) -> None:
    chat = ForgetfulChat()
    async with open_cut_off_application(settings, clock, database, index, chat) as bot:
        await ConversationDriver(bot).ask_question(TELL_ME)
        chat.messages.clear()
        await put_receipts(index, "n1")
        chat.cut_offs = [OutboxFailed("cut off", retry=True)]

        await tick(bot, clock, minutes=6)
        unrecorded = await SavedSearchStore(database).find_search(1)
        await tick(bot, clock, minutes=1)
        await tick(bot, clock, minutes=6)

    assert unrecorded is not None
    assert "n1" not in unrecorded.seen
    (report,) = posted_texts(chat)
    assert "**1 new**" in report


async def test_a_worker_killed_right_after_posting_leaves_one_message_and_one_report(
    settings: Settings, clock: Clock, database: SqlDatabase, index: EmbeddedIndex
) -> None:
    chat = ForgetfulChat()
    async with open_cut_off_application(settings, clock, database, index, chat) as bot:
        await ConversationDriver(bot).ask_question(TELL_ME)
        chat.messages.clear()
        await put_receipts(index, "n1")
        chat.cut_offs = [KilledWorker()]
        with pytest.raises(KilledWorker):
            await tick(bot, clock, minutes=6)

    async with open_cut_off_application(settings, clock, database, index, chat) as bot:
        await tick(bot, clock, seconds=1)
        unrecorded = await SavedSearchStore(database).find_search(1)
        await tick(bot, clock, minutes=1)
        await tick(bot, clock, minutes=6)

    assert unrecorded is not None
    assert "n1" not in unrecorded.seen
    (report,) = posted_texts(chat)
    assert "**1 new**" in report


async def test_news_that_could_not_be_posted_are_part_of_the_next_report(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    await ConversationDriver(bot).ask_question(EVERY_MONDAY)
    chat.messages.clear()
    await put_receipts(index, "n1")
    chat.failures = [OutboxFailed("the channel is archived", retry=False)] * 2
    await tick(bot, clock, days=3)
    chat.failures = []

    await tick(bot, clock, days=7)

    (report,) = posted_texts(chat)
    assert "**1 new**" in report


async def test_a_failure_of_the_index_is_not_posted_and_loses_nothing(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat, agent: ListingAgent
) -> None:
    await ConversationDriver(bot).ask_question(TELL_ME)
    chat.messages.clear()
    await put_receipts(index, "n1")
    agent.failures = [IndexUnavailable("down")] * 2

    await tick(bot, clock, minutes=6)
    nothing_yet = posted_texts(chat)
    await tick(bot, clock, minutes=1)
    await tick(bot, clock, minutes=1)

    assert nothing_yet == []
    (report,) = posted_texts(chat)
    assert "**1 new**" in report


async def test_without_the_right_it_pauses_with_one_sentence_and_says_nothing_else(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    subject = await save_search_of_ann(bot)
    chat.messages.clear()

    await bot.grants.revoke_grant(RECEIPTS, subject, by="operator")
    await put_receipts(index, "n1", vendor="Unheard-of")
    await tick(bot, clock, minutes=6)
    await put_receipts(index, "n2")
    await tick(bot, clock, minutes=6)
    await tick(bot, clock, days=1)

    assert posted_texts(chat) == [
        "I have paused saved search 1, “List every receipt”, because what it reads may no longer be seen here."
    ]
    search = await SavedSearchStore(bot.database).find_search(1)
    assert search is not None
    assert search.status is SavedSearchStatus.PAUSED


async def test_the_list_of_searches_does_not_count_what_may_no_longer_be_seen(bot: Application) -> None:
    ann = private_audience_of("ANN")
    subject = await save_search_of_ann(bot)
    talk = ConversationDriver(bot, person=ann.person, audience=ann)
    before = text_of((await talk.ask_question("my saved searches")).reply)

    await bot.grants.revoke_grant(RECEIPTS, subject, by="operator")
    after = text_of((await talk.ask_question("my saved searches")).reply)
    unknown = text_of((await talk.ask_question("stop watching 99")).reply)

    assert "“List every receipt”, on change; 42 documents" in before
    assert "“List every receipt”, on change" in after
    assert "42" not in after + unknown


async def test_a_person_without_rights_learns_nothing_when_saving(bot: Application) -> None:
    bob = private_audience_of("BOB")

    reply = await ConversationDriver(bot, person=bob.person, audience=bob).ask_question(TELL_ME)

    assert "42" not in text_of(reply.reply)
    assert "Nothing was saved" in text_of(reply.reply)
    assert await SavedSearchStore(bot.database).list_searches() == []


async def test_documents_of_other_readers_are_no_news(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    await save_search_of_ann(bot)
    chat.messages.clear()

    await index.put(RECEIPTS, [a_document("secret", "text", title="Secret", readers=["user:slack:T1:BOB"])])
    await tick(bot, clock, minutes=6)

    assert not chat.messages


async def test_saved_searches_are_listed_and_stopped_in_words(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    talk = ConversationDriver(bot)
    await talk.ask_question(TELL_ME)
    await talk.ask_question(EVERY_MONDAY)

    listed = text_of((await talk.ask_question("What are you watching for me?")).reply)
    unclear = text_of((await talk.ask_question("stop telling me")).reply)
    stopped = text_of((await talk.ask_question("stop watching 1")).reply)
    only_one = text_of((await talk.ask_question("stop watching")).reply)
    chat.messages.clear()
    await put_receipts(index, "n1")
    await tick(bot, clock, days=10)

    assert "- **1** “List every receipt”, on change; 42 documents" in listed
    assert "every Monday at 09:00" in listed
    assert unclear == listed
    assert stopped == "I have stopped saved search 1 (“List every receipt”)."
    assert "I have stopped saved search 2" in only_one
    assert not chat.messages


async def test_a_channel_does_not_learn_what_a_person_watches_elsewhere(bot: Application) -> None:
    ann = private_audience_of("ANN")
    channel = ChannelAudience(channel=Subject("channel:slack:T1:C1"), outsiders=OutsiderPresence.NONE)
    await bot.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="operator")
    alone = ConversationDriver(bot, person=ann.person, audience=ann, conversation="alone")
    in_channel = ConversationDriver(bot, person=ann.person, audience=channel, conversation="channel")
    await alone.ask_question(TELL_ME)
    await in_channel.ask_question(EVERY_MONDAY)

    in_channel_list = text_of((await in_channel.ask_question("my saved searches")).reply)
    not_stopped = text_of((await in_channel.ask_question("stop watching 1")).reply)
    alone_list = text_of((await alone.ask_question("my saved searches")).reply)

    assert "every receipt" not in in_channel_list
    assert not_stopped == in_channel_list
    assert "**1**" in alone_list
    assert "**2**" in alone_list


async def test_other_people_cannot_stop_a_search(bot: Application) -> None:
    await ConversationDriver(bot).ask_question(TELL_ME)

    reply = await ConversationDriver(bot, person="local:eve").ask_question("stop watching 1")

    assert "You have no saved searches here" in text_of(reply.reply)
    assert len(await SavedSearchStore(bot.database).list_searches()) == 1


async def test_a_person_has_a_limited_number_of_searches(bot: Application) -> None:
    talk = ConversationDriver(bot)
    for _ in range(MAX_SEARCHES_OF_PERSON):
        await talk.ask_question(TELL_ME)

    assert f"You have {MAX_SEARCHES_OF_PERSON} saved searches already" in text_of(
        (await talk.ask_question(TELL_ME)).reply
    )


class KilledWorker(BaseException):
    """The worker ends here, and gives nothing back."""


class ForgetfulChat(FakeChat):
    """Posts, and is cut off before it can say so: raises one of `cut_offs` per message."""

    def __init__(self) -> None:
        super().__init__()
        self.cut_offs: list[BaseException] = []

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> FakeChatThread:
        return ForgetfulThread(self, conversation)


class ForgetfulThread(FakeChatThread):
    async def post_message(self, reply: Reply) -> MessageId:
        message = await super().post_message(reply)
        if isinstance(self.chat, ForgetfulChat) and self.chat.cut_offs:
            raise self.chat.cut_offs.pop(0)
        return message


@asynccontextmanager
async def open_cut_off_application(
    settings: Settings, clock: Clock, database: SqlDatabase, index: EmbeddedIndex, chat: ForgetfulChat
) -> AsyncGenerator[Application]:
    """A process that posts in this chat; after it another may be opened."""
    async with open_application(
        settings,
        clock=clock,
        database=database,
        index=index,
        agent=ListingAgent(),
        reasoner=NO_REASONER,
        outboxes={"slack": chat},
    ) as bot:
        yield bot


async def test_a_paused_search_is_resumed_by_an_operator_and_reports_all_since_its_last_report(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    subject = await save_search_of_ann(bot)
    await bot.grants.revoke_grant(RECEIPTS, subject, by="operator")
    await put_receipts(index, "n1")
    await tick(bot, clock, minutes=6)
    chat.messages.clear()

    await bot.grants.grant_bucket_access(RECEIPTS, subject, by="operator")
    await bot.saved_search_administration.resume_search(1)
    await tick(bot, clock, minutes=6)

    (report,) = posted_texts(chat)
    assert "**1 new** since the last time; 43 documents now" in report


async def test_an_operator_makes_the_search_of_a_chat_due_and_it_reports_there(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    await ConversationDriver(bot).ask_question(EVERY_MONDAY)
    chat.messages.clear()
    await put_receipts(index, "n1")

    turn = await bot.saved_search_administration.start_run(1, silent_surfaces=["terminal"])
    await tick(bot, clock, seconds=1)

    assert turn is None
    (report,) = posted_texts(chat)
    assert "**1 new**" in report


# -- saved by a button


async def press_save(talk: ConversationDriver, answered: FinishedTurn) -> FinishedTurn:
    return await talk.bot.run_turn(await talk.accept_body(SearchSaveRequest(answered.turn)))


async def test_a_search_is_saved_by_a_press_and_a_schedule(bot: Application, chat: FakeChat) -> None:
    talk = ConversationDriver(bot)
    answered = await talk.ask_question("all receipts")
    assert any(TurnAction.SAVE in part.handles for part in answered.reply.parts if isinstance(part, TurnActionsPart))

    offered = await press_save(talk, answered)
    saved = await talk.click_choice(offered, "Every Monday at 9:00")
    again = await talk.click_choice(offered, "Every day at 9:00")

    assert "When shall I ask this again by myself: “all receipts”?" in text_of(offered.reply)
    labels = [choice["label"] for choice in offered.result["choices"]]
    assert labels == ["When documents change", "Every day at 9:00", "Every Monday at 9:00"]
    assert "saved this as search **1**: “all receipts”. It finds **42 documents**" in text_of(saved.reply)
    assert "next on Monday 12 May 2031 at 09:00" in text_of(saved.reply)
    assert "A choice was already made here: Every Monday at 9:00" in str(again.reply)
    (search,) = await SavedSearchStore(bot.database).list_searches()
    assert search.plan is None  # the question means the same by itself


async def test_what_was_refined_by_clicks_is_saved_as_it_was_refined(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    talk = ConversationDriver(bot)
    refined = await talk.click_choice(await talk.ask_question("all receipts"), "Bolt")
    saved = await talk.click_choice(await press_save(talk, refined), "When documents change")
    assert "“all receipts (vendor = Bolt)”. It finds **5 documents** now" in text_of(saved.reply)
    chat.messages.clear()

    await put_receipts(index, "n1", vendor="Acme")
    await tick(bot, clock, minutes=6)
    assert not chat.messages
    await put_receipts(index, "n2", vendor="Bolt")
    await tick(bot, clock, minutes=6)

    (report,) = posted_texts(chat)
    assert "**1 new** since the last time; 6 documents now" in report
    assert "Receipt n2" in report


async def test_the_last_search_is_saved_by_words_too(bot: Application) -> None:
    talk = ConversationDriver(bot)
    nothing = await talk.ask_question("Save this search")
    await talk.click_choice(await talk.ask_question("all receipts"), "Bolt")

    offered = await talk.ask_question("save this search, please")
    saved = await talk.ask_question("Every day at 9:00")

    assert "Nothing was saved" in text_of(nothing.reply)
    assert offered.result["choices"]
    assert "It finds **5 documents** now" in text_of(saved.reply)


async def test_a_press_from_elsewhere_or_by_other_readers_saves_nothing(bot: Application) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="test")
    ann, bob = private_audience_of("ann"), private_audience_of("bob")
    answered = await ConversationDriver(bot, audience=ann, person=ann.person).ask_question("all receipts")

    by_other = await press_save(ConversationDriver(bot, audience=bob, person=bob.person), answered)
    elsewhere = await press_save(ConversationDriver(bot, audience=ann, person=ann.person, conversation="c2"), answered)

    assert "This was said to somebody else" in str(by_other.reply)
    assert not by_other.result["choices"]
    assert not elsewhere.result["choices"]


async def test_who_presses_in_a_channel_has_a_search_of_their_own_that_others_cannot_stop(bot: Application) -> None:
    channel = Subject("channel:slack:T1:C1")
    await bot.grants.grant_bucket_access(RECEIPTS, channel, by="test")
    audience = ChannelAudience(channel=channel, outsiders=OutsiderPresence.NONE)
    ann = ConversationDriver(bot, audience=audience, person="slack:T1:ann")
    bob = ConversationDriver(bot, audience=audience, person="slack:T1:bob")
    offered = await press_save(bob, await ann.ask_question("all receipts"))

    await bob.click_choice(offered, "When documents change")
    refused = await ann.ask_question("stop watching 1")

    assert "You have no saved searches here" in text_of(refused.reply)
    (search,) = await SavedSearchStore(bot.database).list_searches(person="slack:T1:bob")
    with pytest.raises(NotYourSavedSearch):
        await bot.personal_searches.stop_search(search.position, by=PersonId("slack:T1:ann"))


async def test_a_bucket_that_was_revoked_before_the_schedule_was_chosen_saves_nothing(bot: Application) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, EVERYONE, by="test")
    ann = private_audience_of("ann")
    talk = ConversationDriver(bot, audience=ann, person=ann.person)
    offered = await press_save(talk, await talk.ask_question("all receipts"))
    await bot.grants.revoke_grant(RECEIPTS, EVERYONE, by="test")

    await talk.click_choice(offered, "When documents change")

    assert await SavedSearchStore(bot.database).list_searches() == []


# -- the export under a report


async def test_a_report_that_does_not_show_all_offers_the_export_with_its_count(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    talk = ConversationDriver(bot)
    await talk.ask_question(TELL_ME)
    chat.messages.clear()
    await put_receipts(index, *[f"n{number}" for number in range(6)])
    await tick(bot, clock, minutes=6)

    (message,) = chat.messages.values()
    (choices,) = [part for part in message.reply.parts if isinstance(part, ChoicesPart)]
    (button,) = choices.buttons
    exported = await bot.run_turn(await talk.accept_body(ButtonClick(button.id)))

    assert (button.label, button.count) == ("Export all as CSV", 48)
    assert "and 1 more" in text_of(message.reply)
    (file,) = [part for part in exported.reply.parts if isinstance(part, FilePart)]
    assert file.rows == 48


async def test_a_report_that_shows_all_offers_no_export(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    await ConversationDriver(bot).ask_question(TELL_ME)
    chat.messages.clear()
    await put_receipts(index, *[f"n{number}" for number in range(5)])
    await tick(bot, clock, minutes=6)

    (message,) = chat.messages.values()
    assert not [part for part in message.reply.parts if isinstance(part, ChoicesPart)]


# -- German


async def test_a_search_in_german_is_confirmed_and_reported_in_german(
    bot: Application, index: EmbeddedIndex, clock: Clock, chat: FakeChat
) -> None:
    talk = ConversationDriver(bot)
    confirmation = text_of((await talk.ask_question("Jeden Montag um 9 Uhr: alle Belege von Acme mit Betrag")).reply)
    chat.messages.clear()
    await put_receipts(index, "n1")
    clock.advance(datetime(2031, 5, 12, 9, 0, 30, tzinfo=clock().tzinfo) - clock())
    await tick(bot, clock)

    (report,) = posted_texts(chat)
    assert "Ich habe das als Suche **1** gespeichert" in confirmation
    assert "**42 Dokumente**" in confirmation
    assert "Jeden Montag um 09:00 (UTC, das nächste Mal Montag, 12. Mai 2031 um 09:00)" in confirmation
    assert "**1 neu** seit dem letzten Mal; jetzt 43 Dokumente." in report
    assert "Neu:\n\n- Receipt n1" in report
    stopped = text_of((await talk.ask_question("Beobachte 1 nicht mehr")).reply)
    assert "Ich habe die gespeicherte Suche 1" in stopped


# -- French and Spanish


@pytest.mark.parametrize(
    ("every_monday", "saved", "due", "news", "stop", "stopped"),
    [
        (
            "Tous les lundis à 9 h : tous les reçus de Acme avec montant",
            "J'ai enregistré ceci comme recherche **1**",
            "Chaque lundi à 09:00",
            "**1 nouveaux**",
            "arrête de surveiller 1",
            "J'ai arrêté la recherche enregistrée 1",
        ),
        (
            "Cada lunes a las 9: todos los recibos de Acme con importe",
            "He guardado esto como búsqueda **1**",
            "Cada lunes a las 09:00",
            "**1 nuevos**",
            "deja de vigilar 1",
            "He detenido la búsqueda guardada 1",
        ),
    ],
)
async def test_a_search_is_confirmed_reported_and_stopped_in_its_language(
    bot: Application,
    index: EmbeddedIndex,
    clock: Clock,
    chat: FakeChat,
    every_monday: str,
    saved: str,
    due: str,
    news: str,
    stop: str,
    stopped: str,
) -> None:
    talk = ConversationDriver(bot)
    confirmation = text_of((await talk.ask_question(every_monday)).reply)
    chat.messages.clear()
    await put_receipts(index, "n1")
    clock.advance(datetime(2031, 5, 12, 9, 0, 30, tzinfo=clock().tzinfo) - clock())
    await tick(bot, clock)

    (report,) = posted_texts(chat)
    assert (saved in confirmation, due in confirmation, stop in confirmation) == (True, True, True)
    assert (news in report, "Receipt n1" in report, stop in report) == (True, True, True)
    assert stopped in text_of((await talk.ask_question(stop)).reply)
