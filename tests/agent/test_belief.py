"""Which meanings are believed, how people say ends, denials and alternatives, and which question is about text."""

from datetime import date

import pytest

from agent.reasoner import Respelled
from storage.search.conditions import Any, Condition, Not, Op, conjuncts
from storage.search.ids import FieldName
from storage.search.plan import Compute, FindPassages, Function, Group, ListDocuments
from tests.agent.test_reading import compare, conditions, planned, wanted

VAN = compare("carrier", Op.EQ, "Blue Van")


def year(number: int) -> Condition:
    return compare("sent", Op.BETWEEN, (str(date(number, 1, 1)), str(date(number, 12, 31))))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("parcels of 2 kg weight or more", {compare("weight", Op.GTE, 2.0)}),
        ("parcels with a minimum weight of 2 kg", {compare("weight", Op.GTE, 2.0)}),
        ("parcels of upwards of 2 kg", {compare("weight", Op.GTE, 2.0)}),
        ("parcels that don't even reach 2 kg", {compare("weight", Op.LT, 2.0)}),
        ("parcels of 2 kg and 30 cm length or more", {compare("weight", Op.GTE, 2.0), compare("length", Op.GTE, 30.0)}),
        ("parcels, but none by Blue Van", {Not(VAN)}),
        ("parcels, leaving out Blue Van", {Not(VAN)}),
        ("parcels that were not sent in 2024", {Not(year(2024))}),
        ("parcels sent in 2021 and 2023", {Any((year(2021), year(2023)))}),
        (
            "parcels under 1 kg or over 10 kg",
            {Any((compare("weight", Op.LT, 1.0), compare("weight", Op.GT, 10.0)))},
        ),
        ("parcels where the carrier is Blue Van", {VAN}),
        ("parcels carried by Blue Van", {VAN}),
    ],
)
def test_ends_denials_and_alternatives_are_read_however_they_are_said(question: str, expected: set[Condition]) -> None:
    assert conditions(question) == expected
    assert planned(question).plan.legs[0].search.clauses[0].required == ()


@pytest.mark.parametrize(
    "question",
    [
        "Why are parcels by Blue Van so often late?",
        "What colour are the socks of the neighbour who lives upstairs?",
        "How do I wash a copper kettle with vinegar and salt?",
    ],
)
def test_what_explains_too_little_of_a_question_makes_no_set_of_it(question: str) -> None:
    assert isinstance(wanted(question), FindPassages)


def test_a_lone_common_word_narrows_no_text() -> None:
    leg = planned("How do I wash a copper kettle with vinegar and salt?").plan.legs[0]

    assert [list(conjuncts(clause.condition)) for clause in leg.search.clauses] == [[]]


def test_the_most_of_a_kind_is_counted_by_group() -> None:
    expected = Compute(functions=(Function.COUNT,), group=Group(field=FieldName("carrier")), limit=1)

    assert wanted("Which carrier do we send the most parcels with?") == expected


@pytest.mark.parametrize("question", ["Are there any parcels by Blue Van?", "Do we have parcels over 5 kg?"])
def test_what_is_asked_to_exist_is_listed(question: str) -> None:
    assert isinstance(wanted(question), ListDocuments)


def test_a_misspelt_name_is_in_doubt_until_no_document_holds_it() -> None:
    plan = planned("parcels by Nothern Star")
    (doubt,) = plan.doubts

    assert isinstance(doubt.respelled, Respelled)
    assert doubt.respelled.words == (("nothern", "northern"),)
    assert set(conjuncts(doubt.respelled.leg.search.clauses[0].condition)) == {
        compare("carrier", Op.EQ, "Northern Star")
    }


def test_a_question_in_another_language_is_searched_for_its_words() -> None:
    plan = planned("Wie viele Pakete gibt es von Blue Van?").plan

    assert isinstance(plan.legs[0].wanted, FindPassages)
    assert "German" in plan.assumptions[0]
