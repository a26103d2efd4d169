"""Messages as people write them, with the parcels of `test_bucket_reading`."""

import pytest

from agent.assumptions import CorrectedSpelling
from agent.rules.planning.plain_message import simplify_message
from storage.search.conditions import ComparisonOperator as Op
from storage.search.conditions import NotCondition, conjuncts_of
from storage.search.plan import AggregateFunction, ComputeNumbers, LegCombination
from tests.agent.rules.reading.test_bucket_reading import (
    answer_form_for,
    comparison_on,
    conditions_of_question,
    plan_question,
)

BLUE_VAN = comparison_on("carrier", Op.EQ, "Blue Van")


@pytest.mark.parametrize(
    "question",
    [
        "morning all, could you hunt down the parcels by Blue Van? cheers",
        "quick one - parcels by Blue Van, I'm seeing them tomorrow",
        "any chance someone could cobble together a table of the parcels by Blue Van for my boss",
        "Hey! I'm after parcels by Blue Van \N{PACKAGE} thx",
        "list the parcels by Blue Van because the customs people insist",
    ],
)
def test_words_around_a_request_constrain_nothing(question: str) -> None:
    planned = plan_question(question)
    assert conditions_of_question(question) == {BLUE_VAN}
    assert planned.plan.legs[0].search.clauses[0].required_terms == ()
    assert planned.plan.question == question


@pytest.mark.parametrize("question", ["parcels that arent by Blue Van", "which parcels werent sent by Blue Van"])
def test_a_negation_without_an_apostrophe_negates(question: str) -> None:
    assert NotCondition(BLUE_VAN) in conditions_of_question(question)


def test_a_misspelt_month_is_read_and_reported() -> None:
    planned = plan_question("parcels of Janaury 2024")
    assert conditions_of_question("parcels of Janaury 2024") == {
        comparison_on("sent", Op.BETWEEN, ("2024-01-01", "2024-01-31"))
    }
    assert CorrectedSpelling(written="Janaury", meant="january") in planned.assumptions


def test_a_quotation_is_never_changed() -> None:
    planned = plan_question('parcels that mention "thx u"')
    assert planned.plan.legs[0].search.clauses[0].required_terms == ("thx u",)


def test_a_plural_noun_before_a_date_names_the_documents() -> None:
    assert answer_form_for("how many parcels in 2024 were by Blue Van") == ComputeNumbers(
        functions=(AggregateFunction.COUNT,)
    )


@pytest.mark.parametrize(
    "question",
    [
        "How many parcels in 2024 were by Blue Van and how many by Redline Post?",
        "How many parcels of 2024 were by Blue Van, also how many by Redline Post",
        "how many parcels did Blue Van carry in 2024, oh and how many did Redline Post?",
    ],
)
def test_the_second_question_keeps_what_it_does_not_replace(question: str) -> None:
    legs = plan_question(question).plan.legs
    year = comparison_on("sent", Op.BETWEEN, ("2024-01-01", "2024-12-31"))
    conditions = [set(conjuncts_of(leg.search.clauses[0].condition)) for leg in legs]
    assert conditions == [{BLUE_VAN, year}, {comparison_on("carrier", Op.EQ, "Redline Post"), year}]


def test_a_condition_on_another_field_does_not_keep_what_the_first_question_says_of_the_documents() -> None:
    legs = plan_question("how many parcels are by Blue Van and how many are insured?").plan.legs
    assert [leg.search.clauses[0].condition for leg in legs] == [BLUE_VAN, comparison_on("insured", Op.EQ, value=True)]


def test_a_comparison_and_a_second_question_are_three_legs() -> None:
    plan = plan_question("what was the postage in 2023 vs 2024, and who was the biggest carrier?").plan
    assert plan.combination is LegCombination.SEQUENCE
    assert [len(plan.legs), plan.legs[2].answer_form.grouping is not None] == [3, True]
    assert plan.legs[0].answer_form == plan.legs[1].answer_form


def test_a_question_about_the_first_of_a_list_refers_to_it() -> None:
    planned = plan_question("which parcel is the heaviest and what's its width?")
    assert planned.plan.combination is LegCombination.SEQUENCE
    assert [reference.leg for reference in planned.references] == [planned.plan.legs[1].id]


def test_several_questions_about_the_first_of_a_list_refer_to_it() -> None:
    planned = plan_question("which parcel is the heaviest, what's its width and what's its length?")
    assert [reference.leg for reference in planned.references] == [leg.id for leg in planned.plan.legs[1:]]


@pytest.mark.parametrize(
    "question",
    [
        "weight and width of the parcels by Blue Van",
        "parcels which are insured and which are by Blue Van",
        "parcels by Blue Van and Redline Post",
        "which parcels are the heaviest and how many are there?",
    ],
)
def test_one_question_stays_whole(question: str) -> None:
    assert len(plan_question(question).plan.legs) == 1


@pytest.mark.parametrize("question", ["is that ok?", "is it allowed?", "is this alright"])
def test_what_a_question_for_leave_is_about_is_no_small_talk(question: str) -> None:
    message = simplify_message(f"my son is 15 and wants to help out in the warehouse, {question}", {})

    assert message.text.startswith("my son is 15")


def test_an_aside_before_a_question_that_says_what_is_meant_is_small_talk() -> None:
    message = simplify_message("my boss wants to know it today, which parcels are by Blue Van?", {})

    assert message.text.strip() == "which parcels are by Blue Van?"
