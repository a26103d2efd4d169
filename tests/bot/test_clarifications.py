"""Clicks and typed replies: each counts once, for whoever may read the answer, as long as the offer stands."""

from datetime import timedelta

import pytest

from bot.bootstrap import Bot
from bot.errors import RightsChanged
from bot.ids import ChoiceId, Subject
from bot.inbound import Clicked, Outsiders, Said, Shared
from bot.replies import Choices, Chosen
from bot.turns import TurnDone
from storage.embedded.index import EmbeddedIndex
from storage.search.errors import IndexUnavailable
from storage.search.ids import DocId
from tests.bot.conftest import Talk, choice_of, somebody
from tests.bot.fakes import LEG, Chat, Clock, ListingAgent
from tests.builders import RECEIPTS, a_document

CHANNEL = Shared(channel=Subject("channel:slack:T1:C1"), outsiders=Outsiders.NONE)


async def test_a_click_narrows_to_what_the_button_said_and_the_old_message_shows_it(bot: Bot, chat: Chat) -> None:
    talk = Talk(bot, name="Ann")
    asked = await talk.say("List every receipt")
    done = await talk.click(asked, "Bolt")

    assert done.result["outcome"] == "answer"
    assert done.result["count"] == 5
    assert done.result["filters"] == [{"field": "vendor", "op": "eq", "value": "Bolt"}]
    assert chat.of(asked.turn)[0].chosen == Chosen(label="Bolt", by="Ann")


async def test_the_second_click_changes_nothing_and_says_who_was_first(bot: Bot, chat: Chat) -> None:
    talk = Talk(bot, name="Ann")
    asked = await talk.say("List every receipt")
    await talk.click(asked, "Bolt")
    again = await talk.click(asked, "Acme")

    assert again.error == "A choice was already made here: Bolt, by Ann."
    assert chat.of(asked.turn)[0].chosen == Chosen(label="Bolt", by="Ann")


async def test_a_late_click_says_so(bot: Bot, clock: Clock) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    clock.advance(timedelta(hours=25))

    assert (await talk.click(asked, "Bolt")).error == "This choice has expired; please ask your question again."


async def test_an_offer_whose_time_is_over_says_so_in_its_message(bot: Bot, chat: Chat, clock: Clock) -> None:
    asked = await Talk(bot).say("List every receipt")
    clock.advance(timedelta(hours=25))
    await bot.turns.expire_clarifications()

    assert chat.of(asked.turn)[0].chosen == Chosen(label="This offer has expired; ask again for a new one.", by="")


async def test_a_forged_click_and_one_from_another_conversation_are_not_told_apart(bot: Bot) -> None:
    asked = await Talk(bot).say("List every receipt")
    forged = await bot.run(await Talk(bot).accepted(Clicked(ChoiceId("guess"))))
    elsewhere = await Talk(bot, conversation="c2").click(asked, "Bolt")

    assert forged.error == "I do not know this choice; please ask your question again."
    assert elsewhere.error == forged.error


async def test_a_private_question_is_answered_by_its_person_alone(bot: Bot) -> None:
    await bot.grants.grant(RECEIPTS, Subject("everyone"), by="test")
    mine = Talk(bot, audience=somebody("U1"), person="slack:T1:U1")
    asked = await mine.say("List every receipt")
    theirs = await Talk(bot, audience=somebody("U2"), person="slack:T1:U2").click(asked, "Bolt")

    assert theirs.error == "This question was put to somebody else, so only they may choose here."
    assert (await mine.click(asked, "Bolt")).result["count"] == 5


async def test_any_reader_of_the_channel_may_choose(bot: Bot, chat: Chat) -> None:
    await bot.grants.grant(RECEIPTS, CHANNEL.channel, by="test")
    asked = await Talk(bot, audience=CHANNEL, person="slack:T1:U1", name="Ann").say("List every receipt")
    done = await Talk(bot, audience=CHANNEL, person="slack:T1:U2", name="Ben").click(asked, "Bolt")

    assert done.result["count"] == 5
    assert chat.of(asked.turn)[0].chosen == Chosen(label="Bolt", by="Ben")


async def test_a_grant_revoked_before_the_click_is_said_and_leaks_nothing(bot: Bot) -> None:
    person = Talk(bot, audience=somebody("U1"), person="slack:T1:U1")
    await bot.grants.grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    asked = await person.say("List every receipt")
    await bot.grants.revoke(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    for label in ("Bolt", "Export all", "Just answer"):
        asked_again = asked if label == "Bolt" else await _asked_with_a_grant(bot, person)
        done = await person.click(asked_again, label)

        assert done.result["outcome"] == "refused"
        assert done.result["text"] == "What this choice leads to may no longer be seen here."
        assert done.result["count"] is None
        assert not done.result["files"]


async def _asked_with_a_grant(bot: Bot, person: Talk) -> TurnDone:
    await bot.grants.grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    asked = await person.say("List every receipt")
    await bot.grants.revoke(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    return asked


async def test_a_set_that_changed_since_is_counted_anew_and_said(bot: Bot, index: EmbeddedIndex) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    await index.put(RECEIPTS, [a_document("new", "one more", vendor="Bolt")])
    done = await talk.click(asked, "Bolt")

    assert done.result["count"] == 6
    assert done.result["text"].startswith("_now 6, was 5_")


@pytest.mark.parametrize("typed", ["Bolt", "bolt", "2", "2.", "the second one", "second", "#2", "Bolt · 5"])
async def test_a_typed_reply_names_a_choice(bot: Bot, chat: Chat, typed: str) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    done = await talk.say(typed)

    assert done.result["count"] == 5
    chosen = chat.of(asked.turn)[0].chosen
    assert chosen is not None
    assert chosen.label == "Bolt"


async def test_the_last_one_is_the_last_choice(bot: Bot) -> None:
    talk = Talk(bot)
    await talk.say("List every receipt")

    assert (await talk.say("the last one")).result["text"].startswith("I have forgotten")


async def test_a_label_that_is_a_number_wins_over_the_position(bot: Bot, index: EmbeddedIndex) -> None:
    await index.put(RECEIPTS, [a_document(f"n{n}", "x", vendor="1") for n in range(3)])
    talk = Talk(bot)
    await talk.say("List every receipt")

    assert (await talk.say("1")).result["filters"] == [{"field": "vendor", "op": "eq", "value": "1"}]


async def test_what_names_no_choice_is_a_new_question_with_the_last_plan(bot: Bot, agent: ListingAgent) -> None:
    talk = Talk(bot)
    await talk.say("List every receipt")
    await talk.say("something else")
    await talk.say("99")

    assert [context.asked_back for context in agent.seen] == [0, 1, 2]
    assert agent.seen[1].last is not None


async def test_just_answer_answers(bot: Bot) -> None:
    talk = Talk(bot)
    done = await talk.click(await talk.say("List every receipt"), "Just answer")

    assert done.result["outcome"] == "answer"
    assert done.result["count"] == 42


async def test_starting_over_forgets_the_last_plan(bot: Bot, agent: ListingAgent) -> None:
    talk = Talk(bot)
    await talk.click(await talk.say("List every receipt"), "Start over")
    await talk.say("List every receipt")

    assert agent.seen[-1].last is None
    assert agent.seen[-1].asked_back == 0


async def test_plans_before_the_last_are_remembered_and_gone_back_to(bot: Bot, agent: ListingAgent) -> None:
    talk = Talk(bot)
    for said in ("apples", "pears", "plums", "go back", "go back", "nuts"):
        await talk.say(said)

    remembered = [(*(plan.question for plan in context.earlier), context.last and context.last.question)
                  for context in agent.seen]  # fmt: skip
    assert remembered == [
        (None,),
        ("apples",),
        ("apples", "pears"),
        ("apples", "pears", "plums"),
        ("apples", "pears"),
        ("apples",),
    ]


async def test_a_click_can_be_taken_back_and_only_a_few_plans_are_kept(bot: Bot, agent: ListingAgent) -> None:
    talk = Talk(bot)
    await talk.click(await talk.say("List every receipt"), "Bolt")
    await talk.say("go back")
    assert [plan.question for plan in agent.seen[-1].earlier] == ["List every receipt"]
    for at in range(9):
        await talk.say(f"question {at}")
    assert len(agent.seen[-1].earlier) == 5


async def test_a_search_that_fails_does_not_use_the_choice_up(bot: Bot, agent: ListingAgent) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    agent.troubles = [IndexUnavailable("index:9200")]
    failed = await talk.click(asked, "Bolt")

    assert failed.error is not None
    assert (await talk.click(asked, "Bolt")).result["count"] == 5


async def test_a_private_turn_never_feeds_the_state_of_a_channel(bot: Bot, agent: ListingAgent) -> None:
    await bot.grants.grant(RECEIPTS, CHANNEL.channel, by="test")
    await bot.grants.grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    await Talk(bot, audience=somebody("U1"), person="slack:T1:U1").say("List every receipt")
    await Talk(bot, audience=CHANNEL, person="slack:T1:U1").say("and?")

    assert agent.seen[-1].last is None


async def test_a_choice_at_zero_is_offered_afresh_by_the_agent(bot: Bot, index: EmbeddedIndex) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    await index.delete([DocId(f"r{n:03}") for n in range(37, 42)])
    done = await talk.click(asked, "Bolt")

    assert done.result["count"] == 0
    assert done.result["text"].startswith("_now 0, was 5_")


async def test_two_clicks_at_once_are_one_choice(bot: Bot) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    turns = [await talk.accepted(Clicked(choice_of(asked, label))) for label in ("Acme", "Bolt")]
    done = [await bot.run(turn) for turn in turns]

    assert [one.error is None for one in done] == [True, False]


async def test_the_same_typed_reply_after_a_failure_still_names_the_choice(bot: Bot, agent: ListingAgent) -> None:
    talk = Talk(bot)
    await talk.say("List every receipt")
    agent.troubles = [IndexUnavailable("index:9200")]
    await talk.say("Bolt")

    assert (await bot.run(await talk.accepted(Said("Bolt")))).result["count"] == 5


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Search the web", "Searching the web is not possible here."),
        ("Ask in private", "Write to me in a direct message and ask there"),
    ],
)
async def test_a_way_that_leads_out_of_here_is_a_plain_sentence_and_no_dead_end(
    bot: Bot, label: str, said: str
) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    done = await talk.click(asked, label)

    assert done.result["outcome"] == "answer"
    assert done.result["text"].startswith(said)
    assert (await talk.click(asked, "Bolt")).result["count"] == 5


async def test_by_meaning_goes_on_with_the_plan_that_ranks(bot: Bot, agent: ListingAgent) -> None:
    talk = Talk(bot)
    await talk.click(await talk.say("List every receipt"), "By meaning")
    await talk.say("and now?")

    last = agent.seen[-1].last
    assert last is not None
    assert last.leg(LEG).search.ranking == "by meaning"


async def test_a_click_that_is_forged_from_a_private_offer_says_nothing_of_it(bot: Bot) -> None:
    await bot.grants.grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    asked = await Talk(bot, audience=somebody("U1"), person="slack:T1:U1").say("List every receipt")
    theirs = await Talk(bot, audience=CHANNEL, person="slack:T1:U2", conversation="c9").click(asked, "Bolt")

    assert "Bolt" not in str(theirs.reply)
    assert theirs.error == "I do not know this choice; please ask your question again."


async def test_what_was_offered_is_not_shown_again_to_other_rights(bot: Bot) -> None:
    person = Talk(bot, audience=somebody("U1"), person="slack:T1:U1")
    await bot.grants.grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    asked = await person.say("List every receipt")
    offer = next(part for part in asked.reply.parts if isinstance(part, Choices))
    there = (offer.clarification, person.conversation, person.audience)

    assert "Bolt" in [button.label for button in (await bot.clarifications.offered(*there)).buttons]

    await bot.grants.revoke(RECEIPTS, Subject("user:slack:T1:U1"), by="test")

    with pytest.raises(RightsChanged):
        await bot.clarifications.offered(*there)


async def test_what_was_chosen_is_not_said_to_other_rights(bot: Bot) -> None:
    person = Talk(bot, audience=somebody("U1"), person="slack:T1:U1")
    await bot.grants.grant(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    asked = await person.say("List every receipt")
    await person.click(asked, "Bolt")
    await bot.grants.revoke(RECEIPTS, Subject("user:slack:T1:U1"), by="test")

    again = await person.click(asked, "Acme")

    assert again.error == "What may be seen here has changed since; please ask your question again."
