"""The link filter, the wordings of bounds, negations and alternatives, and questions about text."""

from datetime import date

import pytest

from agent.assumptions import ForeignLanguage
from agent.decomposition import SpellingCorrection
from storage.search.conditions import ComparisonOperator, Condition, NotCondition, OrCondition, conjuncts_of
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, ComputeNumbers, FindPassages, GroupBy, ListDocuments
from tests.agent.rules.reading.test_bucket_reading import (
    answer_form_for,
    comparison_on,
    conditions_of_question,
    plan_question,
)

BY_BLUE_VAN = comparison_on("carrier", ComparisonOperator.EQ, "Blue Van")


def sent_in_year(number: int) -> Condition:
    return comparison_on("sent", ComparisonOperator.BETWEEN, (str(date(number, 1, 1)), str(date(number, 12, 31))))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("parcels of 2 kg weight or more", {comparison_on("weight", ComparisonOperator.GTE, 2.0)}),
        ("parcels with a minimum weight of 2 kg", {comparison_on("weight", ComparisonOperator.GTE, 2.0)}),
        ("parcels of upwards of 2 kg", {comparison_on("weight", ComparisonOperator.GTE, 2.0)}),
        ("parcels that don't even reach 2 kg", {comparison_on("weight", ComparisonOperator.LT, 2.0)}),
        (
            "parcels of 2 kg and 30 cm length or more",
            {
                comparison_on("weight", ComparisonOperator.GTE, 2.0),
                comparison_on("length", ComparisonOperator.GTE, 30.0),
            },
        ),
        ("parcels, but none by Blue Van", {NotCondition(BY_BLUE_VAN)}),
        ("parcels, leaving out Blue Van", {NotCondition(BY_BLUE_VAN)}),
        ("parcels that were not sent in 2024", {NotCondition(sent_in_year(2024))}),
        ("parcels sent in 2021 and 2023", {OrCondition((sent_in_year(2021), sent_in_year(2023)))}),
        (
            "parcels under 1 kg or over 10 kg",
            {
                OrCondition(
                    (
                        comparison_on("weight", ComparisonOperator.LT, 1.0),
                        comparison_on("weight", ComparisonOperator.GT, 10.0),
                    )
                )
            },
        ),
        ("parcels where the carrier is Blue Van", {BY_BLUE_VAN}),
        ("parcels carried by Blue Van", {BY_BLUE_VAN}),
    ],
)
def test_bounds_negations_and_alternatives_are_read_in_many_wordings(question: str, expected: set[Condition]) -> None:
    assert conditions_of_question(question) == expected
    assert plan_question(question).plan.legs[0].search.clauses[0].required_terms == ()


@pytest.mark.parametrize(
    "question",
    [
        "Why are parcels by Blue Van so often late?",
        "What colour are the socks of the neighbour who lives upstairs?",
        "How do I wash a copper kettle with vinegar and salt?",
    ],
)
def test_links_that_cover_too_little_of_a_question_give_no_conditions(question: str) -> None:
    assert answer_form_for(question).reads_text


def test_a_single_common_word_gives_no_condition() -> None:
    leg = plan_question("How do I wash a copper kettle with vinegar and salt?").plan.legs[0]

    assert [list(conjuncts_of(clause.condition)) for clause in leg.search.clauses] == [[]]


def test_a_superlative_of_a_count_is_counted_by_group() -> None:
    expected = ComputeNumbers(functions=(AggregateFunction.COUNT,), group=GroupBy(field=FieldName("carrier")), limit=1)

    assert answer_form_for("Which carrier do we send the most parcels with?") == expected


@pytest.mark.parametrize("question", ["Are there any parcels by Blue Van?", "Do we have parcels over 5 kg?"])
def test_a_question_about_existence_gets_a_list(question: str) -> None:
    assert isinstance(answer_form_for(question), ListDocuments)


def test_a_misspelt_name_has_a_spelling_correction() -> None:
    result = plan_question("parcels by Nothern Star")
    (alternatives,) = result.alternatives

    assert isinstance(alternatives.spelling_correction, SpellingCorrection)
    assert alternatives.spelling_correction.corrections == (("nothern", "northern"),)
    assert set(conjuncts_of(alternatives.spelling_correction.leg.search.clauses[0].condition)) == {
        comparison_on("carrier", ComparisonOperator.EQ, "Northern Star")
    }


def test_a_question_in_a_language_without_a_pack_is_searched_by_its_words() -> None:
    planned = plan_question("Quanti pacchi ci sono di Blue Van?")

    assert isinstance(planned.plan.legs[0].answer_form, FindPassages)
    assert planned.assumptions == (ForeignLanguage(language="it"),)
