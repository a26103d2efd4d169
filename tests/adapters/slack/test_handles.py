"""What people do about an answer in Slack: rate it, look at its steps, stop it while it is worked on."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.context import Context
from agent.outcome import Answer, Attempt, Outcome
from bot.bootstrap import Bot, build_bot
from bot.ids import Subject, TurnId
from bot.settings import load_settings
from storage.search.plan import Plan
from storage.sql.feedback import FeedbackStore, Given
from tests.bot.conftest import finished
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.scenarios.test_slack_story import Office, an_office, serve
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, Channel, Message, StoredFile


class PatientAgent(ListingAgent):
    """Looks forever, when asked to; `text` takes the place of what it answers, `kept` is what it says it kept."""

    def __init__(self) -> None:
        super().__init__()
        self.looking, self.text = asyncio.Event(), ""
        self.kept: tuple[str, ...] = ()

    async def answer(self, question: str, context: Context) -> Outcome:
        if question == "forever":
            context.attempted(Attempt(tool="annotations_search", arguments={}, documents=42, ms=1.0))
            self.looking.set()
            await asyncio.Event().wait()
        return await super().answer(question, context)

    async def resume(self, plan: Plan, context: Context) -> Outcome:
        outcome = await super().resume(plan, context)
        return (
            replace(outcome, text=self.text or outcome.text, kept=self.kept) if isinstance(outcome, Answer) else outcome
        )


@pytest.fixture
def agent() -> PatientAgent:
    return PatientAgent()


@pytest.fixture
async def office(tmp_path: Path, agent: PatientAgent) -> AsyncIterator[Office]:
    """37 receipts of Acme and 5 of Bolt; more than ten are asked back."""
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackServer())
        environ = {
            "PARLEY_TENANT": TENANT,
            "PARLEY_EMBEDDER": "none",
            "PARLEY_OVERLOAD_LIMIT": "10",
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": slack.api_url,
        }
        settings = load_settings(tmp_path / "home", environ).settings
        bot = await stack.enter_async_context(build_bot(settings, agent=agent, reasoner=NO_REASONER))
        await bot.index.set_schema(a_receipt_schema())
        vendors = ["Acme"] * 37 + ["Bolt"] * 5
        receipts = [a_document(f"r{n:03}", f"receipt {n}", vendor=vendor) for n, vendor in enumerate(vendors)]
        await bot.index.put(RECEIPTS, receipts)
        await serve(bot, slack, stack)
        yield await an_office(slack, bot)


async def an_answer(office: Office) -> Message:
    asked = await office.ask("List every receipt")
    return await office.click(office.ada, asked, "Bolt")


async def given(bot: Bot, message: Message) -> Sequence[tuple[str, str, str]]:
    found: list[Given] = await FeedbackStore(bot.database).of_turn((message.metadata or {})["event_payload"]["turn"])
    return [(one.person.rpartition(":")[2], one.verdict, one.reason) for one in found]


# Feedback


async def test_a_thumb_is_kept_and_changes_nothing_in_the_message(office: Office) -> None:
    answer = await an_answer(office)
    edits, said = answer.edits, len(office.slack.workspace.messages)

    delivered = await office.slack.rate(office.ada, answer, good=True)

    assert delivered.statuses == [200]
    assert await given(office.bot, answer) == [("U1ADA", "good", "")]
    assert (answer.edits, len(office.slack.workspace.messages)) == (edits, said)


async def test_a_thumb_down_asks_why_and_counts_before_the_reason_comes(office: Office) -> None:
    answer = await an_answer(office)

    await office.slack.rate(office.ada, answer, good=False)
    before = await given(office.bot, answer)
    await office.slack.submit(office.ada, values={"reason": "These are <@U2BOB>'s & not mine"})

    assert before == [("U1ADA", "bad", "")]
    assert await given(office.bot, answer) == [("U1ADA", "bad", "These are <@U2BOB>'s & not mine")]
    assert office.slack.modals_of(office.ada) == []


async def test_whoever_changes_their_mind_is_counted_once(office: Office) -> None:
    answer = await an_answer(office)
    for good in (False, True):
        await office.slack.rate(office.ada, answer, good=good)
    await office.slack.rate(office.bob, answer, good=False)

    assert await given(office.bot, answer) == [("U1ADA", "good", ""), ("U2BOB", "bad", "")]


async def test_a_thumb_for_an_answer_of_another_conversation_is_told_to_its_giver_alone(office: Office) -> None:
    answer = await an_answer(office)
    direct = office.slack.workspace.direct(office.bob.id)
    own, _ = await office.slack.say(office.bob, direct, "hello")
    turn = (answer.metadata or {})["event_payload"]["turn"]
    forged = {"type": "feedback_buttons", "action_id": "rate", "value": f"bad:{turn}"}

    await office.slack.deliver_action(office.bob, own, forged)

    assert await given(office.bot, answer) == []
    assert office.whispers(office.bob) == ["I do not know this answer; please ask your question again."]


async def test_a_question_back_is_not_rated(office: Office) -> None:
    asked = await office.ask("List every receipt")

    assert "context_actions" not in [block["type"] for block in asked.blocks]


# Steps


async def test_the_steps_of_an_answer_open_for_whoever_asks(office: Office) -> None:
    answer = await an_answer(office)
    said = len(office.slack.workspace.messages)

    await office.slack.click(office.bob, answer, "Show steps")

    [view] = office.slack.modals_of(office.bob)
    assert "annotations_search" in view.words()
    assert "5 documents found" in view.words()
    assert len(office.slack.workspace.messages) == said


async def test_a_slow_slack_takes_no_press_beyond_what_slack_waits_for(office: Office) -> None:
    answer = await an_answer(office)
    await office.slack.change_user(office.bob)
    office.slack.fail("users.info", Fault(hang=True))
    office.slack.fail("views.open", Fault(hang=True))
    button = next(one for one in answer.buttons() if one["action_id"] == "steps")

    delivered = await office.slack.deliver_action(office.bob, answer, button)

    assert delivered.statuses == [200]


async def test_steps_are_not_shown_to_a_channel_that_lost_its_grant(office: Office) -> None:
    answer = await an_answer(office)
    channel = Subject(f"channel:slack:{TEAM}:{office.general.id}")
    await office.bot.grants.revoke(RECEIPTS, channel, by="operator")

    await office.slack.click(office.bob, answer, "Show steps")

    assert office.slack.modals_of(office.bob) == []
    assert office.whispers(office.bob) == [
        "Some of what this rests on may no longer be seen here, so I cannot show it."
    ]


async def only_for_somebody_else(office: Office, number: int) -> None:
    """The receipt as it was, but for its readers."""
    vendor = "Acme" if number < 37 else "Bolt"
    other = a_document(f"r{number:03}", f"receipt {number}", vendor=vendor, readers=["user:local:somebody"])
    await office.bot.index.put(RECEIPTS, [other])


NO_LONGER = "Some of what this rests on may no longer be seen here, so I cannot show it."


async def test_steps_are_not_shown_once_a_document_of_the_answer_is_for_others(office: Office) -> None:
    answer = await an_answer(office)
    await only_for_somebody_else(office, 38)

    await office.slack.click(office.bob, answer, "Show steps")

    assert office.slack.modals_of(office.bob) == []
    assert office.whispers(office.bob) == [NO_LONGER]


async def test_steps_are_shown_while_the_documents_that_changed_are_others(office: Office) -> None:
    answer = await an_answer(office)
    await only_for_somebody_else(office, 3)

    await office.slack.click(office.bob, answer, "Show steps")

    assert len(office.slack.modals_of(office.bob)) == 1


async def test_steps_of_a_count_are_not_shown_once_one_of_the_counted_is_for_others(office: Office) -> None:
    asked = await office.ask("List every receipt")
    await only_for_somebody_else(office, 3)

    await office.slack.click(office.bob, asked, "Show steps")

    assert office.slack.modals_of(office.bob) == []
    assert office.whispers(office.bob) == [NO_LONGER]


async def test_steps_are_not_shown_of_a_bucket_that_is_no_more(office: Office) -> None:
    answer = await an_answer(office)
    await office.bot.index.drop_bucket(RECEIPTS)

    await office.slack.click(office.bob, answer, "Show steps")

    assert office.whispers(office.bob) == [NO_LONGER]


# Stop


async def at_work(office: Office, agent: PatientAgent, place: Channel) -> Message:
    """The placeholder of a question that takes long, once it can be stopped."""
    before = len(office.words())
    await office.slack.say(office.ada, place, f"<@{BOT_USER}> forever")
    await office.slack.until(lambda: len(office.words()) > before and bool(office.words()[before].buttons()))
    return office.words()[before]


async def stopped(office: Office, message: Message) -> None:
    await office.slack.until(lambda: "Stopped" in message.words())


async def test_the_button_stops_the_work_and_says_what_was_found(office: Office, agent: PatientAgent) -> None:
    message = await at_work(office, agent, office.general)

    await office.slack.click(office.bob, message, "Stop")
    await stopped(office, message)

    assert message.words() == "Stopped by Bob. Found till then: 42 documents in the fields."
    assert message.buttons() == []
    await office.slack.until(lambda: office.slack.workspace.shown == {})


async def test_a_second_stop_is_told_that_it_is_over(office: Office, agent: PatientAgent) -> None:
    message = await at_work(office, agent, office.general)
    button = message.buttons()[0]
    await office.slack.deliver_action(office.bob, message, button)
    await stopped(office, message)

    await finished(office.bot, TurnId((message.metadata or {})["event_payload"]["turn"]))
    await office.slack.deliver_action(office.ada, message, button)

    assert office.whispers(office.ada) == ["This has ended already, so there is nothing left to stop."]


async def test_slacks_own_stop_button_stops_the_work_and_goes(office: Office, agent: PatientAgent) -> None:
    message = await at_work(office, agent, office.general)
    thread = message.thread_ts or ""
    sessions = office.slack.workspace.sessions
    await office.slack.until(lambda: bool(sessions))

    delivered = await office.slack.stop(office.ada, office.general, thread)
    await stopped(office, message)
    await office.slack.until(lambda: sessions[(office.general.id, thread)].status == "active")

    assert delivered.statuses == [200]
    assert "Stopped by Ada." in message.words()


# More choices than a message has room for


MANY = 40


@pytest.fixture
async def crowded(office: Office) -> Office:
    """With forty vendors, the n-th of n receipts."""
    names = [f"Vendor {n}" for n in range(1, MANY + 1) for _ in range(n)]
    await office.bot.index.put(
        RECEIPTS, [a_document(f"v{at:04}", f"receipt {at}", vendor=name) for at, name in enumerate(names)]
    )
    return office


async def test_the_others_open_in_a_menu_and_one_of_them_is_as_good_as_a_button(crowded: Office) -> None:
    asked = await crowded.ask("List every receipt")
    more = next(button for button in asked.buttons() if button["action_id"] == "more")
    await crowded.slack.deliver_action(crowded.bob, asked, more)
    view = crowded.slack.view_of(crowded.bob)
    [(_, menu)] = view.elements()
    label, value = menu["options"][-1]["text"]["text"], menu["options"][-1]["value"]

    before = len(crowded.words())
    await crowded.slack.submit(crowded.bob, values={"more": value})
    answer = await crowded.answer_after(before)

    assert more["text"]["text"] == f"{len(menu['options'])} more choices"
    assert [button["action_id"] for button in asked.buttons()] == ["steps"]
    assert f"{label.partition(' · ')[0]} — chosen by Bob" in asked.words()
    assert label.partition(" · ")[2] in answer.words()


async def test_after_a_choice_the_others_open_for_nobody(crowded: Office) -> None:
    asked = await crowded.ask("List every receipt")
    more = next(button for button in asked.buttons() if button["action_id"] == "more")
    await crowded.click(crowded.ada, asked, "Vendor 40")

    await crowded.slack.deliver_action(crowded.bob, asked, more)

    assert crowded.slack.modals_of(crowded.bob) == []
    assert crowded.whispers(crowded.bob) == ["A choice was already made here: Vendor 40, by Ada."]


# Clicks that do not count


async def test_a_forged_click_and_a_foreign_one_are_told_to_their_clicker_alone(office: Office) -> None:
    direct = office.slack.workspace.direct(office.ada.id)
    await office.bot.grants.grant(RECEIPTS, Subject(f"user:slack:{TEAM}:{office.ada.id}"), by="operator")
    asked = await office.say(office.ada, direct, "List every receipt")
    in_channel, _ = await office.slack.say(office.ada, office.general, "hello")
    button = asked.buttons()[0]

    await office.slack.deliver_action(office.bob, in_channel, button)
    await office.slack.deliver_action(office.bob, asked, {**button, "value": "forged"})
    await office.slack.deliver_action(office.bob, asked, button)
    await office.slack.until(lambda: len(office.whispers(office.bob)) == 3)

    unknown = "I do not know this choice; please ask your question again."
    foreign = "This question was put to somebody else, so only they may choose here."
    assert sorted(office.whispers(office.bob)) == sorted([unknown, unknown, foreign])
    assert asked.buttons()[0] == button


# More than a message has room for


LONG = "\n\n".join(f"- receipt {n} of <!channel>" for n in range(2_000))


def files(office: Office) -> list[StoredFile]:
    """Those that are in a thread."""
    return [file for file in office.slack.workspace.files.values() if file.shared]


async def shown(office: Office, count: int = 1) -> None:
    """All of it is in its thread, and the turn that brought it there is over."""
    await office.slack.until(lambda: len(files(office)) >= count)
    last = next(one for one in reversed(office.words()) if "in this file" in one.words())
    await finished(office.bot, TurnId((last.metadata or {})["event_payload"]["turn"]))


def whole_button(answer: Message) -> dict[str, Any]:
    return next(one for one in answer.buttons() if one["action_id"] == "whole")


async def test_what_a_message_has_no_room_for_comes_as_a_file_when_asked_for(
    office: Office, agent: PatientAgent
) -> None:
    agent.text = LONG
    answer = await an_answer(office)
    await office.slack.click(office.bob, answer, "Show all")
    await shown(office)

    [file] = files(office)
    text = (file.content or b"").decode()
    assert text.count("receipt") == 2_000
    assert "receipt 1999 of <!channel>" not in answer.words()
    assert office.words()[-1].thread_ts == answer.thread_ts

    await office.slack.click(office.ada, answer, "Show all")
    assert office.whispers(office.ada) == ["All of it is in this thread already, as a file."]
    assert files(office) == [file]


async def test_a_slow_upload_is_waited_for_beyond_the_press_and_done_once(office: Office, agent: PatientAgent) -> None:
    agent.text = LONG
    answer = await an_answer(office)
    is_free = asyncio.Event()
    office.slack.fail("upload", Fault(late=is_free))

    presses = [await office.slack.deliver_action(office.bob, answer, whole_button(answer)) for _ in range(2)]
    await office.slack.until(lambda: "on its way" in " ".join(office.whispers(office.bob)))
    is_free.set()
    await shown(office)

    assert [one.statuses for one in presses] == [[200], [200]]
    assert len(files(office)) == 1


async def test_a_file_whose_arrival_was_not_confirmed_is_not_sent_again(office: Office, agent: PatientAgent) -> None:
    agent.text = LONG
    answer = await an_answer(office)
    office.slack.fail("files.completeUploadExternal", Fault(done=True), Fault(status=502, done=True))

    await office.slack.click(office.bob, answer, "Show all")
    await shown(office)

    assert len(files(office)) == 1


async def test_a_file_that_slack_does_not_take_ends_in_a_word_and_can_be_asked_for_again(
    office: Office, agent: PatientAgent
) -> None:
    agent.text = LONG
    answer = await an_answer(office)
    office.slack.fail("upload", Fault(status=400))
    await office.slack.click(office.bob, answer, "Show all")
    await office.slack.until(lambda: any("could not be sent as a file" in one.words() for one in office.words()))
    told = next(one for one in office.words() if "could not be sent" in one.words())
    await finished(office.bot, TurnId((told.metadata or {})["event_payload"]["turn"]))
    assert files(office) == []

    await office.slack.click(office.bob, answer, "Show all")
    await shown(office)

    assert len(files(office)) == 1


async def test_the_whole_is_not_shown_to_a_channel_that_lost_its_grant(office: Office, agent: PatientAgent) -> None:
    agent.text = LONG
    answer = await an_answer(office)
    await office.bot.grants.revoke(RECEIPTS, Subject(f"channel:slack:{TEAM}:{office.general.id}"), by="operator")

    await office.slack.click(office.bob, answer, "Show all")

    assert office.slack.workspace.files == {}
    assert len(office.whispers(office.bob)) == 1


async def test_the_whole_is_not_shown_once_a_document_of_it_is_for_others(office: Office, agent: PatientAgent) -> None:
    agent.text = LONG
    answer = await an_answer(office)
    await only_for_somebody_else(office, 41)

    await office.slack.click(office.bob, answer, "Show all")

    assert office.slack.workspace.files == {}
    assert office.whispers(office.bob) == [NO_LONGER]


# What a follow-up kept


async def test_what_was_kept_is_shown_with_a_button_to_start_over(office: Office, agent: PatientAgent) -> None:
    agent.kept = ("vendor = Bolt",)
    answer = await an_answer(office)
    assert "kept: vendor = Bolt" in answer.words()

    forgotten = await office.click(office.bob, answer, "Start over")

    assert "I have forgotten what we talked about here." in forgotten.words()
    assert "Start over — chosen by Bob" in answer.words()
    assert [button["action_id"] for button in answer.buttons()] == ["steps"]


async def test_where_nothing_was_kept_there_is_nothing_to_start_over(office: Office) -> None:
    answer = await an_answer(office)

    assert [button["action_id"] for button in answer.buttons()] == ["steps"]
