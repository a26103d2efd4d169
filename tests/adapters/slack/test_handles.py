"""Turn actions in Slack: rating an answer, showing its steps or all of it, stopping its turn, choosing, saving."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.context import AgentContext
from agent.outcome import Answer, Outcome, SearchAttempt
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import Subject, TurnId
from bot.settings import load_settings
from storage.search.plan import Plan
from storage.sql.saved_search_store import SavedSearchStore
from tests.adapters.slack.story_office import StoryOffice, an_office, serve_slack
from tests.bot.conftest import wait_until_finished
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMessage, StoredFile
from tests.stored_rows import list_feedback_of_turn


class StallingAgent(ListingAgent):
    """An agent that never finishes the question "forever". Tests can replace its answers and kept conditions."""

    def __init__(self) -> None:
        super().__init__()
        self.is_searching, self.answer_text = asyncio.Event(), ""
        self.reported_kept_conditions: tuple[str, ...] = ()

    async def answer(self, question: str, context: AgentContext) -> Outcome:
        if question == "forever":
            context.report_attempt(SearchAttempt(tool="annotations_search", arguments={}, documents=42, ms=1.0))
            self.is_searching.set()
            await asyncio.Event().wait()
        return await super().answer(question, context)

    async def resume(self, plan: Plan, context: AgentContext) -> Outcome:
        outcome = await super().resume(plan, context)
        return (
            replace(outcome, text=self.answer_text or outcome.text, kept_conditions=self.reported_kept_conditions)
            if isinstance(outcome, Answer)
            else outcome
        )


@pytest.fixture
def agent() -> StallingAgent:
    return StallingAgent()


@pytest.fixture
async def office(tmp_path: Path, agent: StallingAgent) -> AsyncIterator[StoryOffice]:
    """37 receipts of Acme and 5 of Bolt; more than ten results lead to a clarification."""
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
        bot = await stack.enter_async_context(open_application(settings, agent=agent, reasoner=NO_REASONER))
        await bot.index.set_schema(a_receipt_schema())
        vendors = ["Acme"] * 37 + ["Bolt"] * 5
        receipts = [a_document(f"r{n:03}", f"receipt {n}", vendor=vendor) for n, vendor in enumerate(vendors)]
        await bot.index.put(RECEIPTS, receipts)
        await serve_slack(bot, slack, stack)
        yield await an_office(slack, bot)


async def post_answer(office: StoryOffice) -> SlackMessage:
    clarification = await office.ask("List every receipt")
    return await office.click(office.ada, clarification, "Bolt")


async def ratings_of(bot: Application, message: SlackMessage) -> Sequence[tuple[str, str, str]]:
    feedback = await list_feedback_of_turn(bot.database, (message.metadata or {})["event_payload"]["turn"])
    return [(entry.person.rpartition(":")[2], entry.verdict, entry.reason) for entry in feedback]


# Feedback


async def test_a_rating_is_stored_and_does_not_change_the_message(office: StoryOffice) -> None:
    answer = await post_answer(office)
    edits, message_count = answer.edits, len(office.slack.workspace.messages)

    delivered = await office.slack.rate_answer(office.ada, answer, good=True)

    assert delivered.statuses == [200]
    assert await ratings_of(office.bot, answer) == [("U1ADA", "good", "")]
    assert (answer.edits, len(office.slack.workspace.messages)) == (edits, message_count)


async def test_a_bad_rating_asks_for_a_reason_and_counts_at_once(office: StoryOffice) -> None:
    answer = await post_answer(office)

    await office.slack.rate_answer(office.ada, answer, good=False)
    before_reason = await ratings_of(office.bot, answer)
    await office.slack.submit_modal(office.ada, values={"reason": "These are <@U2BOB>'s & not mine"})

    assert before_reason == [("U1ADA", "bad", "")]
    assert await ratings_of(office.bot, answer) == [("U1ADA", "bad", "These are <@U2BOB>'s & not mine")]
    assert office.slack.modals_of(office.ada) == []


async def test_a_changed_rating_counts_once(office: StoryOffice) -> None:
    answer = await post_answer(office)
    for good in (False, True):
        await office.slack.rate_answer(office.ada, answer, good=good)
    await office.slack.rate_answer(office.bob, answer, good=False)

    assert await ratings_of(office.bot, answer) == [("U1ADA", "good", ""), ("U2BOB", "bad", "")]


async def test_a_rating_of_another_conversations_answer_is_refused_privately(office: StoryOffice) -> None:
    answer = await post_answer(office)
    direct = office.slack.workspace.direct_channel_of(office.bob.id)
    message, _ = await office.slack.post_as_person(office.bob, direct, "hello")
    turn = (answer.metadata or {})["event_payload"]["turn"]
    forged = {"type": "feedback_buttons", "action_id": "rate", "value": f"bad:{turn}"}

    await office.slack.deliver_action(office.bob, message, forged)

    assert await ratings_of(office.bot, answer) == []
    assert office.ephemeral_texts(office.bob) == ["I do not know this answer; please ask your question again."]


async def test_a_clarification_has_no_feedback_buttons(office: StoryOffice) -> None:
    clarification = await office.ask("List every receipt")

    assert "context_actions" not in [block["type"] for block in clarification.blocks]


# Steps


async def test_the_steps_of_an_answer_open_for_any_reader(office: StoryOffice) -> None:
    answer = await post_answer(office)
    message_count = len(office.slack.workspace.messages)

    await office.slack.click_button(office.bob, answer, "Show steps")

    [view] = office.slack.modals_of(office.bob)
    assert "Looked for documents" in view.visible_text()
    assert "5 documents found" in view.visible_text()
    assert len(office.slack.workspace.messages) == message_count


async def test_a_press_is_acknowledged_in_time_when_slack_is_slow(office: StoryOffice) -> None:
    answer = await post_answer(office)
    await office.slack.change_user_fields(office.bob)
    office.slack.plan_faults("users.info", Fault(hang=True))
    office.slack.plan_faults("views.open", Fault(hang=True))
    button = next(candidate for candidate in answer.block_buttons() if candidate["action_id"] == "steps")

    delivered = await office.slack.deliver_action(office.bob, answer, button)

    assert delivered.statuses == [200]


async def test_steps_are_not_shown_in_a_channel_that_lost_its_grant(office: StoryOffice) -> None:
    answer = await post_answer(office)
    channel = Subject(f"channel:slack:{TEAM}:{office.general.id}")
    await office.bot.grants.revoke_grant(RECEIPTS, channel, by="operator")

    await office.slack.click_button(office.bob, answer, "Show steps")

    assert office.slack.modals_of(office.bob) == []
    assert office.ephemeral_texts(office.bob) == [
        "Some of what this rests on may no longer be seen here, so I cannot show it."
    ]


async def restrict_receipt(office: StoryOffice, number: int) -> None:
    """Restrict a receipt to another reader."""
    vendor = "Acme" if number < 37 else "Bolt"
    restricted = a_document(f"r{number:03}", f"receipt {number}", vendor=vendor, readers=["user:local:somebody"])
    await office.bot.index.put(RECEIPTS, [restricted])


NO_LONGER_VISIBLE = "Some of what this rests on may no longer be seen here, so I cannot show it."


async def test_steps_are_not_shown_once_a_document_of_the_answer_is_restricted(office: StoryOffice) -> None:
    answer = await post_answer(office)
    await restrict_receipt(office, 38)

    await office.slack.click_button(office.bob, answer, "Show steps")

    assert office.slack.modals_of(office.bob) == []
    assert office.ephemeral_texts(office.bob) == [NO_LONGER_VISIBLE]


async def test_steps_are_shown_when_only_unrelated_documents_are_restricted(office: StoryOffice) -> None:
    answer = await post_answer(office)
    await restrict_receipt(office, 3)

    await office.slack.click_button(office.bob, answer, "Show steps")

    assert len(office.slack.modals_of(office.bob)) == 1


async def test_steps_of_a_count_are_not_shown_once_a_counted_document_is_restricted(office: StoryOffice) -> None:
    clarification = await office.ask("List every receipt")
    await restrict_receipt(office, 3)

    await office.slack.click_button(office.bob, clarification, "Show steps")

    assert office.slack.modals_of(office.bob) == []
    assert office.ephemeral_texts(office.bob) == [NO_LONGER_VISIBLE]


async def test_steps_are_not_shown_for_a_deleted_bucket(office: StoryOffice) -> None:
    answer = await post_answer(office)
    await office.bot.index.drop_bucket(RECEIPTS)

    await office.slack.click_button(office.bob, answer, "Show steps")

    assert office.ephemeral_texts(office.bob) == [NO_LONGER_VISIBLE]


# Stop


async def begin_endless_turn(office: StoryOffice, agent: StallingAgent, channel: SlackChannel) -> SlackMessage:
    """Ask a question that never ends and return its progress message, once it has a stop button."""
    message_count = len(office.text_answers())
    await office.slack.post_as_person(office.ada, channel, f"<@{BOT_USER}> forever")
    await office.slack.wait_until(
        lambda: (
            len(office.text_answers()) > message_count and bool(office.text_answers()[message_count].block_buttons())
        )
    )
    return office.text_answers()[message_count]


async def wait_until_stopped(office: StoryOffice, message: SlackMessage) -> None:
    await office.slack.wait_until(lambda: "Stopped" in message.visible_text())


async def test_the_stop_button_stops_the_turn_and_shows_the_progress_so_far(
    office: StoryOffice, agent: StallingAgent
) -> None:
    message = await begin_endless_turn(office, agent, office.general)

    await office.slack.click_button(office.bob, message, "Stop")
    await wait_until_stopped(office, message)

    assert message.visible_text() == "Stopped by Bob. Found till then: 42 documents in the fields."
    assert message.block_buttons() == []
    await office.slack.wait_until(lambda: office.slack.workspace.status_lines == {})


async def test_a_second_stop_is_answered_that_the_turn_has_ended(office: StoryOffice, agent: StallingAgent) -> None:
    message = await begin_endless_turn(office, agent, office.general)
    button = message.block_buttons()[0]
    await office.slack.deliver_action(office.bob, message, button)
    await wait_until_stopped(office, message)

    await wait_until_finished(office.bot, TurnId((message.metadata or {})["event_payload"]["turn"]))
    await office.slack.deliver_action(office.ada, message, button)

    assert office.ephemeral_texts(office.ada) == ["This has ended already, so there is nothing left to stop."]


async def test_slacks_own_stop_button_stops_the_turn_and_disappears(office: StoryOffice, agent: StallingAgent) -> None:
    message = await begin_endless_turn(office, agent, office.general)
    thread = message.thread_ts or ""
    sessions = office.slack.workspace.sessions
    await office.slack.wait_until(lambda: bool(sessions))

    delivered = await office.slack.press_stop(office.ada, office.general, thread)
    await wait_until_stopped(office, message)
    await office.slack.wait_until(lambda: sessions[(office.general.id, thread)].status == "active")

    assert delivered.statuses == [200]
    assert "Stopped by Ada." in message.visible_text()


# More choices than fit in a message


VENDOR_COUNT = 40


@pytest.fixture
async def office_with_many_vendors(office: StoryOffice) -> StoryOffice:
    """An office with forty vendors; the n-th vendor has n receipts."""
    names = [f"Vendor {n}" for n in range(1, VENDOR_COUNT + 1) for _ in range(n)]
    await office.bot.index.put(
        RECEIPTS, [a_document(f"v{number:04}", f"receipt {number}", vendor=name) for number, name in enumerate(names)]
    )
    return office


async def test_a_choice_in_the_overflow_menu_counts_like_a_button(office_with_many_vendors: StoryOffice) -> None:
    clarification = await office_with_many_vendors.ask("List every receipt")
    more_button = next(button for button in clarification.block_buttons() if button["action_id"] == "more")
    await office_with_many_vendors.slack.deliver_action(office_with_many_vendors.bob, clarification, more_button)
    view = office_with_many_vendors.slack.view_of(office_with_many_vendors.bob)
    [(_, menu)] = view.interactive_elements()
    label, value = menu["options"][-1]["text"]["text"], menu["options"][-1]["value"]

    message_count = len(office_with_many_vendors.text_answers())
    await office_with_many_vendors.slack.submit_modal(office_with_many_vendors.bob, values={"more": value})
    answer = await office_with_many_vendors.answer_after(message_count)

    assert more_button["text"]["text"] == f"{len(menu['options'])} more choices"
    assert [button["action_id"] for button in clarification.block_buttons()] == ["steps", "save"]
    assert f"{label.partition(' · ')[0]} — chosen by Bob" in clarification.visible_text()
    assert label.partition(" · ")[2] in answer.visible_text()


async def test_after_a_choice_the_overflow_menu_does_not_open(office_with_many_vendors: StoryOffice) -> None:
    clarification = await office_with_many_vendors.ask("List every receipt")
    more_button = next(button for button in clarification.block_buttons() if button["action_id"] == "more")
    await office_with_many_vendors.click(office_with_many_vendors.ada, clarification, "Vendor 40")

    await office_with_many_vendors.slack.deliver_action(office_with_many_vendors.bob, clarification, more_button)

    assert office_with_many_vendors.slack.modals_of(office_with_many_vendors.bob) == []
    assert office_with_many_vendors.ephemeral_texts(office_with_many_vendors.bob) == [
        "A choice was already made here: Vendor 40, by Ada."
    ]


# Invalid clicks


async def test_forged_and_foreign_clicks_are_refused_privately(office: StoryOffice) -> None:
    direct = office.slack.workspace.direct_channel_of(office.ada.id)
    await office.bot.grants.grant_bucket_access(RECEIPTS, Subject(f"user:slack:{TEAM}:{office.ada.id}"), by="operator")
    clarification = await office.say(office.ada, direct, "List every receipt")
    in_channel, _ = await office.slack.post_as_person(office.ada, office.general, "hello")
    button = clarification.block_buttons()[0]

    await office.slack.deliver_action(office.bob, in_channel, button)
    await office.slack.deliver_action(office.bob, clarification, {**button, "value": "forged"})
    await office.slack.deliver_action(office.bob, clarification, button)
    await office.slack.wait_until(lambda: len(office.ephemeral_texts(office.bob)) == 3)

    unknown = "I do not know this choice; please ask your question again."
    foreign = "This question was put to somebody else, so only they may choose here."
    assert sorted(office.ephemeral_texts(office.bob)) == sorted([unknown, unknown, foreign])
    assert clarification.block_buttons()[0] == button


# Answers that do not fit in a message


LONG_ANSWER = "\n\n".join(f"- receipt {n} of <!channel>" for n in range(2_000))


def files_in_threads(office: StoryOffice) -> list[StoredFile]:
    """Returns the files that are shared in a thread."""
    return [file for file in office.slack.workspace.files.values() if file.shared]


async def wait_for_shared_file(office: StoryOffice, count: int = 1) -> None:
    """Wait until the full text is in its thread and its turn is over."""
    await office.slack.wait_until(lambda: len(files_in_threads(office)) >= count)
    notice = next(message for message in reversed(office.text_answers()) if "in this file" in message.visible_text())
    await wait_until_finished(office.bot, TurnId((notice.metadata or {})["event_payload"]["turn"]))


def show_all_button(answer: SlackMessage) -> dict[str, Any]:
    return next(button for button in answer.block_buttons() if button["action_id"] == "whole")


async def test_the_full_answer_is_shared_as_a_file_on_request(office: StoryOffice, agent: StallingAgent) -> None:
    agent.answer_text = LONG_ANSWER
    answer = await post_answer(office)
    await office.slack.click_button(office.bob, answer, "Show all")
    await wait_for_shared_file(office)

    [file] = files_in_threads(office)
    text = (file.content or b"").decode()
    assert text.count("receipt") == 2_000
    assert "receipt 1999 of <!channel>" not in answer.visible_text()
    assert office.text_answers()[-1].thread_ts == answer.thread_ts

    await office.slack.click_button(office.ada, answer, "Show all")
    assert office.ephemeral_texts(office.ada) == ["All of it is in this thread already, as a file."]
    assert files_in_threads(office) == [file]


async def test_a_slow_upload_continues_after_the_press_and_happens_once(
    office: StoryOffice, agent: StallingAgent
) -> None:
    agent.answer_text = LONG_ANSWER
    answer = await post_answer(office)
    upload_may_finish = asyncio.Event()
    office.slack.plan_faults("upload", Fault(released_by=upload_may_finish))

    deliveries = [await office.slack.deliver_action(office.bob, answer, show_all_button(answer)) for _ in range(2)]
    await office.slack.wait_until(lambda: "on its way" in " ".join(office.ephemeral_texts(office.bob)))
    upload_may_finish.set()
    await wait_for_shared_file(office)

    assert [delivery.statuses for delivery in deliveries] == [[200], [200]]
    assert len(files_in_threads(office)) == 1


async def test_an_unconfirmed_upload_is_not_repeated(office: StoryOffice, agent: StallingAgent) -> None:
    agent.answer_text = LONG_ANSWER
    answer = await post_answer(office)
    office.slack.plan_faults(
        "files.completeUploadExternal", Fault(takes_effect=True), Fault(status=502, takes_effect=True)
    )

    await office.slack.click_button(office.bob, answer, "Show all")
    await wait_for_shared_file(office)

    assert len(files_in_threads(office)) == 1


async def test_a_refused_upload_is_reported_and_can_be_requested_again(
    office: StoryOffice, agent: StallingAgent
) -> None:
    agent.answer_text = LONG_ANSWER
    answer = await post_answer(office)
    office.slack.plan_faults("upload", Fault(status=400))
    await office.slack.click_button(office.bob, answer, "Show all")
    await office.slack.wait_until(
        lambda: any("could not be sent as a file" in message.visible_text() for message in office.text_answers())
    )
    notice = next(message for message in office.text_answers() if "could not be sent" in message.visible_text())
    await wait_until_finished(office.bot, TurnId((notice.metadata or {})["event_payload"]["turn"]))
    assert files_in_threads(office) == []

    await office.slack.click_button(office.bob, answer, "Show all")
    await wait_for_shared_file(office)

    assert len(files_in_threads(office)) == 1


async def test_the_full_answer_is_not_shared_in_a_channel_that_lost_its_grant(
    office: StoryOffice, agent: StallingAgent
) -> None:
    agent.answer_text = LONG_ANSWER
    answer = await post_answer(office)
    await office.bot.grants.revoke_grant(RECEIPTS, Subject(f"channel:slack:{TEAM}:{office.general.id}"), by="operator")

    await office.slack.click_button(office.bob, answer, "Show all")

    assert office.slack.workspace.files == {}
    assert len(office.ephemeral_texts(office.bob)) == 1


async def test_the_full_answer_is_not_shared_once_a_document_of_it_is_restricted(
    office: StoryOffice, agent: StallingAgent
) -> None:
    agent.answer_text = LONG_ANSWER
    answer = await post_answer(office)
    await restrict_receipt(office, 41)

    await office.slack.click_button(office.bob, answer, "Show all")

    assert office.slack.workspace.files == {}
    assert office.ephemeral_texts(office.bob) == [NO_LONGER_VISIBLE]


# Conditions kept by a follow-up


async def test_kept_conditions_are_shown_with_a_button_to_start_over(office: StoryOffice, agent: StallingAgent) -> None:
    agent.reported_kept_conditions = ("vendor = Bolt",)
    answer = await post_answer(office)
    assert "kept: vendor = Bolt" in answer.visible_text()

    start_over_reply = await office.click(office.bob, answer, "Start over")

    assert "I have forgotten what we talked about here." in start_over_reply.visible_text()
    assert "Start over — chosen by Bob" in answer.visible_text()
    assert [button["action_id"] for button in answer.block_buttons()] == ["steps", "save"]


async def test_without_kept_conditions_there_is_no_button_to_start_over(office: StoryOffice) -> None:
    answer = await post_answer(office)

    assert [button["action_id"] for button in answer.block_buttons()] == ["steps", "save"]


# Saving the search


async def test_an_answer_is_saved_as_a_search_of_the_person_who_presses(office: StoryOffice) -> None:
    answer = await post_answer(office)
    before = answer.visible_text()

    offer = await office.click(office.bob, answer, "Save this search")
    saved = await office.click(office.bob, offer, "Every Monday at 9:00")

    assert "When shall I ask this again by myself: “List every receipt”?" in offer.visible_text()
    assert "Every day at 9:00" not in offer.visible_text()  # the buttons have given way to the choice
    assert "5 documents" in saved.visible_text()
    assert answer.visible_text() == before
    (search,) = await SavedSearchStore(office.bot.database).list_searches()
    assert search.person.endswith(office.bob.id)
