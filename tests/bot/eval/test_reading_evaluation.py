"""Questions without documents, scored by what the reasoner reads from them."""

import asyncio
from typing import Any

import pytest

from bot.eval.eval_sets import EvalQuestion
from bot.eval.reading_evaluation import build_reading_column
from bot.eval.report import JudgedQuestion, ReportColumn
from bot.eval.tables import explain_worst_questions
from tests.bot.eval.results import a_condition, all_of

COLUMNS = ["boat", "harbour", "crew", "title", "built.in"]


def a_table_question(query: str, *conditions: Any, select: str = "boat", aggregate: str | None = None) -> EvalQuestion:
    gold = {"select": select, "aggregate": aggregate, "filter": all_of(*conditions)}
    return a_line(query, "constraint_extraction", gold, table_id="boats", fields=COLUMNS)


def a_line(query: str, kind: str, gold: object, **fields: object) -> EvalQuestion:
    return EvalQuestion.model_validate({"query_id": query, "query": query, "kind": kind, "gold": gold, **fields})


def build_column(*questions: EvalQuestion) -> ReportColumn:
    return asyncio.run(build_reading_column({"lone": questions}))


def judge_questions(*questions: EvalQuestion) -> tuple[JudgedQuestion, ...]:
    return build_column(*questions).judged_questions


def test_function_column_and_conditions_are_scored_separately() -> None:
    harbour, crew = a_condition("harbour", "eq", "Hull"), a_condition("crew", "gt", "4")

    all_right, wrong_column, wrong_function = judge_questions(
        a_table_question(
            "What is the average crew of boats with harbour Hull?", harbour, select="crew", aggregate="avg"
        ),
        a_table_question(
            "What is the boat with harbour Hull and a crew of more than 4?", harbour, crew, select="title"
        ),
        a_table_question("What is the boat with harbour Hull?", harbour, aggregate="count"),
    )

    assert all_right.score.measures == {"right": 1, "function": 1, "conditions": 1, "column": 1}
    assert wrong_column.score.measures == {"right": 0, "function": 1, "conditions": 1, "column": 0}
    assert wrong_function.score.measures == {"right": 0, "function": 0, "conditions": 1}
    assert (all_right.score.expected, wrong_function.score.expected, wrong_function.score.actual) == (
        "avg",
        "count",
        "value",
    )


def test_a_missing_condition_counts_as_wrong() -> None:
    [missed] = judge_questions(a_table_question("What is the boat?", a_condition("title", "eq", "Queen of the North")))

    assert (missed.score.right, missed.score.measures["conditions"]) == (0, 0)
    assert "filters []" in next(iter(explain_worst_questions(build_column(missed.question))))


@pytest.mark.parametrize(
    ("query", "steps", "right"),
    [
        ("Who owns the boat? When was it built?", ["Who owns the boat?", "When was it built?"], 1),
        ("Who owns the boat that is the oldest?", ["boats", "#1 that is oldest", "owner of #2"], 0),
    ],
)
def test_a_message_is_compared_with_its_steps(query: str, steps: list[str], right: float) -> None:
    [judged_question] = judge_questions(a_line(query, "decompose", {"steps": steps}))

    assert judged_question.score.right == right
    assert (judged_question.score.measures["steps"] == 1) == bool(right)
