"""No question costs more model calls than its budget, whatever the model replies."""

from pathlib import Path

import pytest

from agent.model.options import ModelUse
from bot.demo.corpus import DemoCorpus
from tests.agent.model.plan_outputs import a_condition, a_part, a_plan_output
from tests.scenarios.seed_cases.cases import page_with, record_of, records_of
from tests.scenarios.seed_cases.model_stage import (
    MAX_COMPLEX_CALLS,
    MAX_SIMPLE_CALLS,
    ModelStage,
    cited_pages,
    labels_of,
    open_stage,
)
from tests.scenarios.seed_cases.scripted_replies import PlanReply, ScriptedSentence, UnusableText, WrittenReply
from tests.scenarios.truth import equal

pytestmark = pytest.mark.xdist_group("seed-cases")

FILTER_QUESTION = "How does one replace the air filter of the B-120?"
CLAUSE_QUESTION = "What does C-1018 say about termination?"
FAN_QUESTION = "After how many hours are the fans of the B-120 exchanged?"
COMPOUND = (
    "How many NPN transistors are there, how does one replace the air filter of the B-120, what does C-1018 say about"
    " termination, and after how many hours are the fans of the B-120 exchanged?"
)


def compound_plan() -> PlanReply:
    is_manual = a_condition("product", "is", "B-120", words="B-120")
    is_contract = a_condition("title", "contains", "C-1018", words="C-1018")
    return PlanReply(
        plan=a_plan_output(
            a_part(
                "count", "parts", a_condition("polarity", "is", "NPN", words="NPN"), id="a",
                question="How many NPN transistors are there?",
            ),
            a_part(
                "steps", "manuals", is_manual, id="b", question=FILTER_QUESTION, search_queries=["replace air filter"]
            ),
            a_part(
                "passages", "contracts", is_contract, id="c", question=CLAUSE_QUESTION,
                search_queries=["termination by notice"],
            ),
            a_part(
                "passages", "manuals", is_manual, id="d", question=FAN_QUESTION,
                search_queries=["exchange the fans after operating hours"],
            ),
            combine="side_by_side",
        )
    )  # fmt: skip


def written_answers() -> tuple[WrittenReply, ...]:
    steps = "To do so, unlock the frame, pull the filter out downwards and insert the new one, arrow inwards."
    clause = "Either party may terminate this contract by notice of 45 days in writing."
    hours = "Exchange the fans after 33000 operating hours."
    return (
        WrittenReply(
            question=FILTER_QUESTION,
            sentences=(
                ScriptedSentence(text="Unlock the frame.", proof=steps),
                ScriptedSentence(text="Pull the filter out downwards.", proof=steps),
                ScriptedSentence(text="Insert the new one, arrow inwards.", proof=steps),
            ),
            layout="steps",
        ),
        WrittenReply(
            question=CLAUSE_QUESTION,
            sentences=(ScriptedSentence(text="Either party may terminate it by notice of 45 days.", proof=clause),),
        ),
        WrittenReply(
            question=FAN_QUESTION,
            sentences=(ScriptedSentence(text="The fans are exchanged after 33000 operating hours.", proof=hours),),
        ),
    )


async def test_four_parts_of_which_three_are_text_take_four_calls(stage: ModelStage, demo_corpus: DemoCorpus) -> None:
    manual = record_of(demo_corpus, "manuals", equal("product", "B-120"))
    [contract] = [record for record in records_of(demo_corpus, "contracts") if "C-1018" in record["title"]]

    answered = await stage.open_dialogue("compound").say(
        COMPOUND, compound_plan(), *written_answers(), max_calls=MAX_COMPLEX_CALLS
    )

    assert answered["outcome"] == "answer"
    assert answered["legs"][0]["count"] == len(records_of(demo_corpus, "parts", equal("polarity", "NPN")))
    for text in ("Unlock the frame.", "by notice of 45 days", "after 33000 operating hours"):
        assert text in answered["text"]
    proofs = ((manual, "To do so, unlock"), (contract, "5. Termination"), (manual, "Exchange the fans"))
    assert {page_with(record, proof) for record, proof in proofs} <= set(cited_pages(answered))


async def test_replies_that_cannot_be_used_do_not_make_it_more_calls(stage: ModelStage) -> None:
    driver = stage.open_dialogue("compound").driver
    stage.script[:] = [compound_plan(), UnusableText(), UnusableText(), UnusableText()]

    turn = await driver.ask_question(COMPOUND)

    assert (stage.asked_calls, turn.result["model_calls"]) == (MAX_COMPLEX_CALLS, MAX_COMPLEX_CALLS)
    assert turn.result["outcome"] == "answer"
    assert "45 days" in turn.result["text"]  # in the words of the document, as the rules quote it


async def test_a_plan_that_must_be_corrected_leaves_fewer_calls_for_texts(stage: ModelStage) -> None:
    driver = stage.open_dialogue("compound").driver
    stage.script[:] = [UnusableText(), compound_plan(), *written_answers()[:2]]

    turn = await driver.ask_question(COMPOUND)

    assert (stage.asked_calls, turn.result["model_calls"]) == (MAX_COMPLEX_CALLS, MAX_COMPLEX_CALLS)
    assert "Unlock the frame." in turn.result["text"]
    assert "“Exchange the fans after **33000** operating hours.”" in turn.result["text"]  # quoted by the rules


async def test_a_question_that_the_rules_link_completely_asks_no_model(
    demo_home: Path, demo_corpus: DemoCorpus
) -> None:
    async with open_stage(demo_home, ModelUse.NEEDED) as stage:
        listed = await stage.open_dialogue("linked").say("How many NPN transistors have the package TO-3?")

    expected = records_of(demo_corpus, "parts", equal("polarity", "NPN"), equal("package", "TO-3"))
    assert (listed["outcome"], listed["count"], listed["reasoner"]) == ("answer", len(expected), "rule")
    assert stage.server.chat_requests == []


async def test_a_german_question_is_asked_back_and_answered_in_german(
    stage: ModelStage, demo_corpus: DemoCorpus
) -> None:
    dialogue = stage.open_dialogue("German")
    tires = records_of(demo_corpus, "receipts", equal("category", "tires"))
    no_vendor = len([record for record in tires if "vendor" not in record])

    asked_back = await dialogue.say(
        "Welche Belege für Reifen haben wir?",
        PlanReply(
            plan=a_plan_output(
                a_part("list", "receipts", a_condition("category", "is", "tires", words="Reifen")), language="de"
            )
        ),
    )
    assert f"Ich finde **{len(tires):,} Receipts**".replace(",", ".") in asked_back["text"]
    labels = labels_of(asked_back)
    assert ("Ohne Vendor", no_vendor) in labels
    assert ("Alle als CSV exportieren", len(tires)) in labels
    assert [label for label, count in labels if count is None] == ["Einfach antworten"]
    assert sum(count or 0 for _, count in labels_of(asked_back, "filter", "more", "missing")) == len(tires)

    clicked = await dialogue.click("Redwood Tire & Wheel")
    assert "mit Category tires und Vendor Redwood Tire & Wheel, mehr als die 100" in clicked["text"]

    question = "Wie oft muss der Luftfilter des B-120 gewechselt werden?"
    manual = record_of(demo_corpus, "manuals", equal("product", "B-120"))
    proof = "Replace the air filter every 3 months"
    answered = await dialogue.say(
        question,
        PlanReply(
            plan=a_plan_output(
                a_part(
                    "passages", "manuals", a_condition("product", "is", "B-120", words="B-120"),
                    search_queries=["replace the air filter every months"],
                ),
                language="de",
            )
        ),
        WrittenReply(
            question=question,
            sentences=(ScriptedSentence(text="Der Luftfilter ist alle 3 Monate zu wechseln.", proof=proof),),
        ),
        max_calls=MAX_SIMPLE_CALLS,
    )  # fmt: skip
    assert answered["text"].startswith("Der Luftfilter ist alle 3 Monate zu wechseln.")
    assert cited_pages(answered) == [page_with(manual, proof)]
