"""Elliptic messages that take the rest of the last question, with the parcels of `test_bucket_reading`."""

import pytest

from storage.search.conditions import ComparisonOperator as Op
from storage.search.conditions import Condition, NotCondition
from storage.search.plan import AggregateFunction, ComputeNumbers
from tests.agent.rules.followups.test_follow_up_plan import conditions_of_plan, plan_conversation
from tests.agent.rules.reading.test_bucket_reading import comparison_on, plan_question

BLUE_VAN = comparison_on("carrier", Op.EQ, "Blue Van")
REDLINE = comparison_on("carrier", Op.EQ, "Redline Post")
IN_2023 = comparison_on("sent", Op.BETWEEN, ("2023-01-01", "2023-12-31"))
IN_2024 = comparison_on("sent", Op.BETWEEN, ("2024-01-01", "2024-12-31"))


@pytest.mark.parametrize(
    ("question", "message", "expected"),
    [
        ("how many parcels by Blue Van in 2024?", "and Redline Post?", [REDLINE, IN_2024]),
        ("how many parcels by Blue Van in 2024?", "same for Redline Post", [REDLINE, IN_2024]),
        ("how many parcels by Blue Van in 2024?", "and in 2023?", [BLUE_VAN, IN_2023]),
        ("how many parcels by Blue Van in 2024?", "and the year before?", [BLUE_VAN, IN_2023]),
        ("how many parcels by Blue Van in 2023?", "and the following year?", [BLUE_VAN, IN_2024]),
        ("how many parcels by Blue Van in 2024?", "not Blue Van, Redline Post", [REDLINE, IN_2024]),
        ("how many parcels not by Blue Van in 2024?", "and Redline Post?", [NotCondition(REDLINE), IN_2024]),
        ("how many parcels by Blue Van over 5 kg?", "and over 8?", [BLUE_VAN, comparison_on("weight", Op.GT, 8.0)]),
    ],
)
def test_the_thing_that_the_message_names_replaces_its_counterpart(
    question: str, message: str, expected: list[Condition]
) -> None:
    plan = plan_conversation(question, message)[-1]

    assert set(conditions_of_plan(plan)) == set(expected)
    assert plan.legs[0].answer_form == ComputeNumbers(functions=(AggregateFunction.COUNT,))


def test_another_field_replaces_the_one_that_was_asked_for() -> None:
    plan = plan_conversation("average weight of parcels by Blue Van", "same for length")[-1]

    assert conditions_of_plan(plan) == [BLUE_VAN]
    assert plan.legs[0].answer_form.computed_field == "length"


def test_an_elliptic_choice_takes_the_rest_of_the_question_before_it() -> None:
    legs = plan_question("which parcels weigh less than 2 kg, and which more than 20?").plan.legs

    conditions = [clause.condition for leg in legs for clause in leg.search.clauses]
    assert conditions == [comparison_on("weight", Op.LT, 2.0), comparison_on("weight", Op.GT, 20.0)]
