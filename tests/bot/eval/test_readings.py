"""Questions that bring no documents, judged by what the reasoner makes of them."""

from typing import Any

import pytest

from bot.eval.load import Question
from bot.eval.readings import read_column
from bot.eval.report import Judged
from bot.eval.tables import explanations
from tests.bot.eval.results import a_condition, all_of

COLUMNS = ["boat", "harbour", "crew", "title", "built.in"]


def of_table(query: str, *conditions: Any, select: str = "boat", aggregate: str | None = None) -> Question:
    gold = {"select": select, "aggregate": aggregate, "filter": all_of(*conditions)}
    return a_line(query, "constraint_extraction", gold, table_id="boats", fields=COLUMNS)


def a_line(query: str, kind: str, gold: object, **more: object) -> Question:
    return Question.model_validate({"query_id": query, "query": query, "kind": kind, "gold": gold, **more})


def judged(*questions: Question) -> tuple[Judged, ...]:
    return read_column({"lone": questions}).judged


def test_function_column_and_conditions_are_judged_each() -> None:
    harbour, crew = a_condition("harbour", "eq", "Hull"), a_condition("crew", "gt", "4")

    whole, column, function = judged(
        of_table("What is the average crew of boats with harbour Hull?", harbour, select="crew", aggregate="avg"),
        of_table("What is the boat with harbour Hull and a crew of more than 4?", harbour, crew, select="title"),
        of_table("What is the boat with harbour Hull?", harbour, aggregate="count"),
    )

    assert whole.score.measures == {"right": 1, "function": 1, "conditions": 1, "column": 1}
    assert column.score.measures == {"right": 0, "function": 1, "conditions": 1, "column": 0}
    assert function.score.measures == {"right": 0, "function": 0, "conditions": 1}
    assert (whole.score.expected, function.score.expected, function.score.got) == ("avg", "count", "value")


def test_a_condition_that_is_missed_counts_as_wrong() -> None:
    [missed] = judged(of_table("What is the boat?", a_condition("title", "eq", "Queen of the North")))

    assert (missed.score.right, missed.score.measures["conditions"]) == (0, 0)
    assert "filters []" in next(iter(explanations(read_column({"lone": [missed.question]}))))


@pytest.mark.parametrize(
    ("query", "steps", "right"),
    [
        ("Who owns the boat? When was it built?", ["Who owns the boat?", "When was it built?"], 1),
        ("Who owns the boat that is the oldest?", ["boats", "#1 that is oldest", "owner of #2"], 0),
    ],
)
def test_a_message_is_held_against_its_steps(query: str, steps: list[str], right: float) -> None:
    [one] = judged(a_line(query, "decompose", {"steps": steps}))

    assert one.score.right == right
    assert (one.score.measures["steps"] == 1) == bool(right)
