"""The rolling summary: what was asked and came of it, never more than the budget."""

from hypothesis import given
from hypothesis import strategies as st

from agent.outcome import Answer, LegResult, OutcomeKind, Refused, Route, StartedOver, Trace
from bot.summary import BUDGET_TOKENS, Summary, rendered, summary_from_json, summary_to_json, tokens
from storage.search.ids import Generation, LegId
from storage.search.plan import Leg, ListDocuments, Plan
from tests.builders import a_search


def an_answer(count: int, *kept: str) -> Answer:
    leg = Leg(id=LegId("1"), question="q", search=a_search(), wanted=ListDocuments())
    return Answer(
        plan=Plan(question="q", legs=(leg,)),
        text="",
        legs=(LegResult(leg=leg.id, question="q", kind=OutcomeKind.ANSWER, text="", count=count),),
        kept=kept,
        trace=Trace(route=Route.STRUCTURED),
        generation=Generation("g"),
    )


def test_each_turn_adds_a_line_oldest_first() -> None:
    summary = Summary().with_outcome("receipts of Acme", an_answer(37)).with_outcome("only 2024", an_answer(3, "Acme"))

    assert rendered(summary).splitlines() == [
        "asked: receipts of Acme -> answer, 37 documents",
        "asked: only 2024 -> answer, 3 documents; kept Acme",
    ]


def test_starting_over_empties_it_and_a_refusal_leaves_it() -> None:
    summary = Summary().with_outcome("receipts", an_answer(3))

    assert summary.with_outcome("x", Refused(text="No.")) == summary
    assert summary.with_outcome("start over", StartedOver(text="")) == Summary()


@given(st.lists(st.text(max_size=2000), max_size=20))
def test_it_never_renders_to_more_than_its_budget(questions: list[str]) -> None:
    summary = Summary()
    for question in questions:
        summary = summary.with_outcome(question, an_answer(3))

    assert tokens(rendered(summary)) <= BUDGET_TOKENS
    assert summary_from_json(summary_to_json(summary)) == summary
