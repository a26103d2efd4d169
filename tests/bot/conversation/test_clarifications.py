"""Clicks and typed replies: each choice counts once, for readers of the answer, until the offer expires."""

from datetime import timedelta

import pytest

from bot.application import Application
from bot.conversation.clarifications import ClarificationOffers
from bot.errors import RightsChanged
from bot.ids import ChoiceId, Subject
from bot.surface.inbound import ButtonClick, ChannelAudience, OutsiderPresence, TextMessage
from bot.surface.replies import ChoicesPart, ChosenPart
from bot.turns.turn_processor import FinishedTurn
from storage.embedded.index import EmbeddedIndex
from storage.search.errors import IndexUnavailable
from storage.search.ids import DocId
from tests.bot.conftest import ConversationDriver, choice_of, private_audience_of
from tests.bot.fakes import LEG, Clock, FakeChat, ListingAgent
from tests.builders import RECEIPTS, a_document

CHANNEL = ChannelAudience(channel=Subject("channel:slack:T1:C1"), outsiders=OutsiderPresence.NONE)


async def test_a_click_gives_the_count_of_its_button_and_updates_the_old_message(
    bot: Application, chat: FakeChat
) -> None:
    talk = ConversationDriver(bot, name="Ann")
    question_turn = await talk.ask_question("List every receipt")
    click_turn = await talk.click_choice(question_turn, "Bolt")

    assert click_turn.result["outcome"] == "answer"
    assert click_turn.result["count"] == 5
    assert click_turn.result["filters"] == [{"field": "vendor", "op": "eq", "value": "Bolt"}]
    assert chat.messages_of_turn(question_turn.turn)[0].chosen == ChosenPart(label="Bolt", by="Ann")


async def test_a_second_click_changes_nothing_and_names_the_first_clicker(bot: Application, chat: FakeChat) -> None:
    talk = ConversationDriver(bot, name="Ann")
    question_turn = await talk.ask_question("List every receipt")
    await talk.click_choice(question_turn, "Bolt")
    second_click_turn = await talk.click_choice(question_turn, "Acme")

    assert second_click_turn.error == "A choice was already made here: Bolt, by Ann."
    assert chat.messages_of_turn(question_turn.turn)[0].chosen == ChosenPart(label="Bolt", by="Ann")


async def test_a_click_on_an_expired_choice_is_refused(bot: Application, clock: Clock) -> None:
    talk = ConversationDriver(bot)
    question_turn = await talk.ask_question("List every receipt")
    clock.advance(timedelta(hours=25))

    assert (
        await talk.click_choice(question_turn, "Bolt")
    ).error == "This choice has expired; please ask your question again."


async def test_the_message_of_an_expired_offer_shows_the_expiry(bot: Application, chat: FakeChat, clock: Clock) -> None:
    question_turn = await ConversationDriver(bot).ask_question("List every receipt")
    clock.advance(timedelta(hours=25))
    await bot.turn_processor.expire_clarifications()

    assert chat.messages_of_turn(question_turn.turn)[0].chosen == ChosenPart(
        label="This offer has expired; ask again for a new one.", by=""
    )


async def test_an_expiry_is_shown_by_another_process_if_the_first_is_killed(
    bot: Application, chat: FakeChat, clock: Clock
) -> None:
    question_turn = await ConversationDriver(bot).ask_question("List every receipt")
    clock.advance(timedelta(hours=25))
    killed_process = ClarificationOffers(bot.database, bot.access)
    assert [offer.turn for offer in await killed_process.claim_expired_offers()] == [question_turn.turn]
    await bot.turn_processor.expire_clarifications()
    assert chat.messages_of_turn(question_turn.turn)[0].chosen is None

    clock.advance(timedelta(minutes=10))
    await bot.turn_processor.expire_clarifications()

    assert chat.messages_of_turn(question_turn.turn)[0].chosen is not None


async def test_a_forged_click_and_a_click_from_another_conversation_get_the_same_error(bot: Application) -> None:
    question_turn = await ConversationDriver(bot).ask_question("List every receipt")
    forged_turn = await bot.run_turn(await ConversationDriver(bot).accept_body(ButtonClick(ChoiceId("guess"))))
    other_turn = await ConversationDriver(bot, conversation="c2").click_choice(question_turn, "Bolt")

    assert forged_turn.error == "I do not know this choice; please ask your question again."
    assert other_turn.error == forged_turn.error


async def test_only_the_asker_may_choose_in_a_private_question(bot: Application) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, Subject("everyone"), by="test")
    asker = ConversationDriver(bot, audience=private_audience_of("U1"), person="slack:T1:U1")
    question_turn = await asker.ask_question("List every receipt")
    other_turn = await ConversationDriver(bot, audience=private_audience_of("U2"), person="slack:T1:U2").click_choice(
        question_turn, "Bolt"
    )

    assert other_turn.error == "This question was put to somebody else, so only they may choose here."
    assert (await asker.click_choice(question_turn, "Bolt")).result["count"] == 5


async def test_any_reader_of_the_channel_may_choose(bot: Application, chat: FakeChat) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, CHANNEL.channel, by="test")
    question_turn = await ConversationDriver(bot, audience=CHANNEL, person="slack:T1:U1", name="Ann").ask_question(
        "List every receipt"
    )
    click_turn = await ConversationDriver(bot, audience=CHANNEL, person="slack:T1:U2", name="Ben").click_choice(
        question_turn, "Bolt"
    )

    assert click_turn.result["count"] == 5
    assert chat.messages_of_turn(question_turn.turn)[0].chosen == ChosenPart(label="Bolt", by="Ben")


async def test_a_click_after_a_revoked_grant_is_refused_and_shows_nothing(bot: Application) -> None:
    person = ConversationDriver(bot, audience=private_audience_of("U1"), person="slack:T1:U1")
    await bot.grants.grant_bucket_access(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    question_turn = await person.ask_question("List every receipt")
    await bot.grants.revoke_grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    for label in ("Bolt", "Export all", "Just answer"):
        offering_turn = question_turn if label == "Bolt" else await _ask_with_a_grant(bot, person)
        click_turn = await person.click_choice(offering_turn, label)

        assert click_turn.result["outcome"] == "refused"
        assert click_turn.result["text"] == "What this choice leads to may no longer be seen here."
        assert click_turn.result["count"] is None
        assert not click_turn.result["files"]


async def _ask_with_a_grant(bot: Application, person: ConversationDriver) -> FinishedTurn:
    await bot.grants.grant_bucket_access(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    question_turn = await person.ask_question("List every receipt")
    await bot.grants.revoke_grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    return question_turn


async def test_a_set_that_has_changed_is_counted_again_with_a_note(bot: Application, index: EmbeddedIndex) -> None:
    talk = ConversationDriver(bot)
    question_turn = await talk.ask_question("List every receipt")
    await index.put(RECEIPTS, [a_document("new", "one more", vendor="Bolt")])
    click_turn = await talk.click_choice(question_turn, "Bolt")

    assert click_turn.result["count"] == 6
    assert click_turn.result["text"].startswith("_now 6, was 5_")


async def test_a_typed_number_beyond_the_last_choice_says_so_and_the_offer_stays_open(bot: Application) -> None:
    talk = ConversationDriver(bot)
    question_turn = await talk.ask_question("List every receipt")
    count = len(question_turn.result["choices"])
    too_high_turn = await talk.ask_question(str(count + 1))

    assert too_high_turn.error == (
        f"There is no choice {count + 1}; the last one is {count}. Type its number, or ask something else."
    )
    assert (await talk.ask_question("2")).result["count"] == 5


@pytest.mark.parametrize("typed", ["Bolt", "bolt", "2", "2.", "the second one", "second", "#2", "Bolt · 5"])
async def test_a_typed_reply_names_a_choice(bot: Application, chat: FakeChat, typed: str) -> None:
    talk = ConversationDriver(bot)
    question_turn = await talk.ask_question("List every receipt")
    reply_turn = await talk.ask_question(typed)

    assert reply_turn.result["count"] == 5
    chosen = chat.messages_of_turn(question_turn.turn)[0].chosen
    assert chosen is not None
    assert chosen.label == "Bolt"


async def test_the_reply_the_last_one_selects_the_last_choice(bot: Application) -> None:
    talk = ConversationDriver(bot)
    await talk.ask_question("List every receipt")

    assert (await talk.ask_question("the last one")).result["text"].startswith("I have forgotten")


async def test_a_label_that_is_a_number_wins_over_the_position(bot: Application, index: EmbeddedIndex) -> None:
    await index.put(RECEIPTS, [a_document(f"n{n}", "x", vendor="1") for n in range(3)])
    talk = ConversationDriver(bot)
    await talk.ask_question("List every receipt")

    assert (await talk.ask_question("1")).result["filters"] == [{"field": "vendor", "op": "eq", "value": "1"}]


async def test_a_message_that_names_no_choice_is_a_new_question_with_the_last_plan(
    bot: Application, agent: ListingAgent
) -> None:
    talk = ConversationDriver(bot)
    await talk.ask_question("List every receipt")
    await talk.ask_question("something else")
    await talk.ask_question("2019")

    assert [context.clarifications_in_a_row for context in agent.contexts] == [0, 1, 2]
    assert agent.contexts[1].last_plan is not None


async def test_the_choice_just_answer_gives_an_answer(bot: Application) -> None:
    talk = ConversationDriver(bot)
    click_turn = await talk.click_choice(await talk.ask_question("List every receipt"), "Just answer")

    assert click_turn.result["outcome"] == "answer"
    assert click_turn.result["count"] == 42


async def test_starting_over_forgets_the_last_plan(bot: Application, agent: ListingAgent) -> None:
    talk = ConversationDriver(bot)
    await talk.click_choice(await talk.ask_question("List every receipt"), "Start over")
    await talk.ask_question("List every receipt")

    assert agent.contexts[-1].last_plan is None
    assert agent.contexts[-1].clarifications_in_a_row == 0


async def test_the_agent_is_told_the_summary_of_this_conversation_alone(bot: Application, agent: ListingAgent) -> None:
    talk = ConversationDriver(bot)
    await talk.ask_question("apples")
    await talk.ask_question("pears")
    await talk.ask_question("start over")
    await talk.ask_question("plums")
    await ConversationDriver(bot, conversation="c2").ask_question("nuts")

    assert [context.conversation_summary for context in agent.contexts] == [
        "",
        "asked: apples -> overload, 42 documents",
        "",
        "",
    ]


async def test_a_person_can_go_back_to_earlier_plans(bot: Application, agent: ListingAgent) -> None:
    talk = ConversationDriver(bot)
    for message in ("apples", "pears", "plums", "go back", "go back", "nuts"):
        await talk.ask_question(message)

    plans_per_turn = [
        (*(plan.question for plan in context.earlier_plans), context.last_plan and context.last_plan.question)
        for context in agent.contexts
    ]
    assert plans_per_turn == [
        (None,),
        ("apples",),
        ("apples", "pears"),
        ("apples", "pears", "plums"),
        ("apples", "pears"),
        ("apples",),
    ]


async def test_a_person_can_go_back_before_a_click_and_few_plans_are_kept(
    bot: Application, agent: ListingAgent
) -> None:
    talk = ConversationDriver(bot)
    await talk.click_choice(await talk.ask_question("List every receipt"), "Bolt")
    await talk.ask_question("go back")
    assert [plan.question for plan in agent.contexts[-1].earlier_plans] == ["List every receipt"]
    for number in range(9):
        await talk.ask_question(f"question {number}")
    assert len(agent.contexts[-1].earlier_plans) == 5


async def test_a_failed_search_leaves_the_choice_open(bot: Application, agent: ListingAgent) -> None:
    talk = ConversationDriver(bot)
    question_turn = await talk.ask_question("List every receipt")
    agent.failures = [IndexUnavailable("index:9200")]
    failed_turn = await talk.click_choice(question_turn, "Bolt")

    assert failed_turn.error is not None
    assert (await talk.click_choice(question_turn, "Bolt")).result["count"] == 5


async def test_a_private_turn_does_not_change_the_state_of_a_channel(bot: Application, agent: ListingAgent) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, CHANNEL.channel, by="test")
    await bot.grants.grant_bucket_access(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    await ConversationDriver(bot, audience=private_audience_of("U1"), person="slack:T1:U1").ask_question(
        "List every receipt"
    )
    await ConversationDriver(bot, audience=CHANNEL, person="slack:T1:U1").ask_question("and?")

    assert agent.contexts[-1].last_plan is None


async def test_a_choice_that_now_finds_nothing_gives_the_count_zero_with_a_note(
    bot: Application, index: EmbeddedIndex
) -> None:
    talk = ConversationDriver(bot)
    question_turn = await talk.ask_question("List every receipt")
    await index.delete([DocId(f"r{n:03}") for n in range(37, 42)])
    click_turn = await talk.click_choice(question_turn, "Bolt")

    assert click_turn.result["count"] == 0
    assert click_turn.result["text"].startswith("_now 0, was 5_")


async def test_only_one_of_two_simultaneous_clicks_counts(bot: Application) -> None:
    talk = ConversationDriver(bot)
    question_turn = await talk.ask_question("List every receipt")
    turns = [await talk.accept_body(ButtonClick(choice_of(question_turn, label))) for label in ("Acme", "Bolt")]
    click_turns = [await bot.run_turn(turn) for turn in turns]

    assert [click_turn.error is None for click_turn in click_turns] == [True, False]


async def test_the_same_typed_reply_after_a_failure_still_names_the_choice(
    bot: Application, agent: ListingAgent
) -> None:
    talk = ConversationDriver(bot)
    await talk.ask_question("List every receipt")
    agent.failures = [IndexUnavailable("index:9200")]
    await talk.ask_question("Bolt")

    assert (await bot.run_turn(await talk.accept_body(TextMessage("Bolt")))).result["count"] == 5


@pytest.mark.parametrize(
    ("label", "beginning"),
    [
        ("Search the web", "Searching the web is not possible here."),
        ("Ask in private", "Write to me in a direct message and ask there"),
    ],
)
async def test_a_choice_that_only_gives_advice_leaves_the_other_choices_open(
    bot: Application, label: str, beginning: str
) -> None:
    talk = ConversationDriver(bot)
    question_turn = await talk.ask_question("List every receipt")
    click_turn = await talk.click_choice(question_turn, label)

    assert click_turn.result["outcome"] == "answer"
    assert click_turn.result["text"].startswith(beginning)
    assert (await talk.click_choice(question_turn, "Bolt")).result["count"] == 5


async def test_a_follow_up_after_search_by_meaning_keeps_the_ranking_plan(
    bot: Application, agent: ListingAgent
) -> None:
    talk = ConversationDriver(bot)
    await talk.click_choice(await talk.ask_question("List every receipt"), "By meaning")
    await talk.ask_question("and now?")

    last_plan = agent.contexts[-1].last_plan
    assert last_plan is not None
    assert last_plan.leg_by_id(LEG).search.ranking_text == "by meaning"


async def test_a_forged_click_on_a_private_offer_shows_nothing_of_the_offer(bot: Application) -> None:
    await bot.grants.grant_bucket_access(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    question_turn = await ConversationDriver(
        bot, audience=private_audience_of("U1"), person="slack:T1:U1"
    ).ask_question("List every receipt")
    other_turn = await ConversationDriver(bot, audience=CHANNEL, person="slack:T1:U2", conversation="c9").click_choice(
        question_turn, "Bolt"
    )

    assert "Bolt" not in str(other_turn.reply)
    assert other_turn.error == "I do not know this choice; please ask your question again."


async def test_an_offer_is_not_shown_again_after_rights_changed(bot: Application) -> None:
    person = ConversationDriver(bot, audience=private_audience_of("U1"), person="slack:T1:U1")
    await bot.grants.grant_bucket_access(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    question_turn = await person.ask_question("List every receipt")
    offer = next(part for part in question_turn.reply.parts if isinstance(part, ChoicesPart))
    conversation_and_audience = (offer.clarification, person.conversation, person.audience)

    assert "Bolt" in [
        button.label for button in (await bot.clarifications.load_offered_choices(*conversation_and_audience)).buttons
    ]

    await bot.grants.revoke_grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")

    with pytest.raises(RightsChanged):
        await bot.clarifications.load_offered_choices(*conversation_and_audience)


async def test_an_earlier_choice_is_not_named_after_rights_changed(bot: Application) -> None:
    person = ConversationDriver(bot, audience=private_audience_of("U1"), person="slack:T1:U1")
    await bot.grants.grant_bucket_access(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    question_turn = await person.ask_question("List every receipt")
    await person.click_choice(question_turn, "Bolt")
    await bot.grants.revoke_grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")

    second_click_turn = await person.click_choice(question_turn, "Acme")

    assert second_click_turn.error == "What may be seen here has changed since; please ask your question again."
