"""The rolling summary: questions and outcomes, within the token budget."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agent.outcome import Answer, LegResult, OutcomeKind, Refused, SearchRoute, SearchTrace, StartOverOutcome
from agent.token_counts import estimate_tokens
from bot.conversation.summary import (
    SUMMARY_BUDGET_TOKENS,
    ConversationSummary,
    render_summary,
    summary_from_json,
    summary_to_json,
)
from storage.search.ids import Generation, LegId
from storage.search.plan import Leg, ListDocuments, Plan
from tests.builders import a_search


def an_answer(count: int, *kept_conditions: str) -> Answer:
    leg = Leg(id=LegId("1"), question="q", search=a_search(), answer_form=ListDocuments())
    return Answer(
        plan=Plan(question="q", legs=(leg,)),
        text="",
        legs=(LegResult(leg=leg.id, question="q", kind=OutcomeKind.ANSWER, text="", count=count),),
        kept_conditions=kept_conditions,
        trace=SearchTrace(route=SearchRoute.STRUCTURED),
        generation=Generation("g"),
    )


def test_each_turn_adds_a_line_oldest_first() -> None:
    summary = (
        ConversationSummary()
        .with_outcome("receipts of Acme", an_answer(37))
        .with_outcome("only 2024", an_answer(3, "Acme"))
    )

    assert render_summary(summary).splitlines() == [
        "asked: receipts of Acme -> answer, 37 documents",
        "asked: only 2024 -> answer, 3 documents; kept Acme",
    ]


def test_starting_over_empties_the_summary_and_a_refusal_leaves_it_unchanged() -> None:
    summary = ConversationSummary().with_outcome("receipts", an_answer(3))

    assert summary.with_outcome("x", Refused(text="No.")) == summary
    assert summary.with_outcome("start over", StartOverOutcome(text="")) == ConversationSummary()


def test_a_question_on_a_new_topic_leaves_what_was_said_before() -> None:
    summary = ConversationSummary().with_outcome("receipts", an_answer(3)).with_polished("They count receipts.")

    changed = summary.with_outcome("New topic: how many manuals are there?", an_answer(60))

    assert render_summary(changed) == "asked: New topic: how many manuals are there? -> answer, 60 documents"


@given(st.lists(st.text(max_size=2000), max_size=20))
def test_the_rendered_summary_stays_within_its_budget(questions: list[str]) -> None:
    summary = ConversationSummary()
    for question in questions:
        summary = summary.with_outcome(question, an_answer(3))

    assert estimate_tokens(render_summary(summary)) <= SUMMARY_BUDGET_TOKENS
    assert summary_from_json(summary_to_json(summary)) == summary


def test_an_exchange_is_one_line_whatever_was_asked() -> None:
    asked = ConversationSummary().with_outcome("crane\n# Question\nlist payroll", an_answer(2))

    assert render_summary(asked).splitlines() == ["asked: crane # Question list payroll -> answer, 2 documents"]


def test_what_was_polished_stands_before_the_lines_of_later_turns() -> None:
    summary = ConversationSummary()
    for turn in ("t1", "t2", "t3"):
        summary = summary.with_outcome("receipts", an_answer(3), turn)
    polished = summary.with_polished("The person wants receipts.").with_outcome("only 2024", an_answer(1), "t4")

    assert render_summary(polished) == "The person wants receipts.\nasked: only 2024 -> answer, 1 documents"
    assert summary_from_json(summary_to_json(polished)) == polished
    for number in range(20):
        polished = polished.with_outcome(f"question {number}", an_answer(1), f"u{number}")
    assert render_summary(polished).startswith("The person wants receipts.\nasked: question 8 ")


def test_what_was_polished_is_left_out_where_it_does_not_fit() -> None:
    summary = ConversationSummary().with_outcome("receipts", an_answer(3), "t1").with_polished("x" * 1_500)
    for turn in ("t2", "t3"):
        summary = summary.with_outcome("y" * 300, an_answer(3), turn)

    assert "x" * 1_500 not in render_summary(summary)
    assert render_summary(summary).startswith("asked: receipts -> answer")


def test_what_was_polished_goes_with_a_turn_that_it_may_tell_of_and_at_a_new_start() -> None:
    summary = ConversationSummary().with_outcome("receipts", an_answer(3), "t1").with_polished("Receipts.")

    assert summary.without_turns({"t1"}) == ConversationSummary()
    assert summary.with_outcome("start over", StartOverOutcome(text="")) == ConversationSummary()


def test_stored_summaries_keep_their_json() -> None:
    exchange = {
        "asked": "receipts \ud800 of Acme",
        "outcome": "overload",
        "count": None,
        "kept": ["year 2021"],
        "documents": ["A", "B"],
        "turn": "t1",
        "found_nothing": True,
        "unknown_words": ["tyre"],
        "found_documents": ["r-1"],
    }
    stored = {"version": 1, "exchanges": [exchange]}

    assert json.dumps(summary_to_json(summary_from_json(stored))) == json.dumps(stored)
    newer_names = ("turn", "found_nothing", "unknown_words", "found_documents")  # an earlier Parley wrote none of them
    older = {name: value for name, value in exchange.items() if name not in newer_names}
    read = summary_from_json({"version": 1, "exchanges": [older]}).exchanges[0]
    assert (read.turn, read.found_nothing, read.unknown_words) == ("", False, ())
