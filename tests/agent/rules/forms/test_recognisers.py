"""Which questions ask for steps, for yes or no, and for change over time."""

import pytest

from agent.rules.forms.recognisers import RECOGNISERS
from storage.search.ids import FieldName
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    CalendarPeriod,
    ChangeOverTime,
    CheckClaims,
    ComputeNumbers,
    FindPassages,
    FindSteps,
    GroupBy,
    ListDocuments,
    ReadFields,
)
from tests.agent.rules.reading.test_bucket_reading import BUCKET, answer_form_for

POSTAGE = FieldName("postage")


def change(function: AggregateFunction, field: FieldName | None, period: CalendarPeriod | None) -> ChangeOverTime:
    return ChangeOverTime(functions=(function,), field=field, group=GroupBy(field=FieldName("sent"), period=period))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I wrap glass bowls?", FindSteps(action="wrap")),
        ("how to wrap glass bowls", FindSteps(action="wrap")),
        ("What are the steps to wrap glass bowls?", FindSteps(action="wrap", allows_prose=True)),
        ("What are the wrapping steps for glass bowls?", FindSteps(allows_prose=True)),
        ("How should bowls be packed?", FindPassages()),
        ("Why do we wrap glass bowls?", FindPassages()),
    ],
)
def test_steps_are_found_where_a_procedure_is_asked_for(question: str, expected: AnswerForm) -> None:
    assert answer_form_for(question) == expected


@pytest.mark.parametrize(
    "question", ["Is parcel 12 insured?", "Does the wrapping of parcel 12 hold?", "Can bowls break?"]
)
def test_a_question_that_opens_with_a_verb_is_for_yes_or_no(question: str) -> None:
    assert answer_form_for(question) == CheckClaims()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Are there insured parcels? Show them.", ListDocuments()),
        ("Is BC-12?", ListDocuments()),
        ("Can you tell me the weight of parcel BC-12?", ReadFields(fields=((BUCKET, FieldName("weight")),))),
        ("Why is parcel 12 insured?", FindPassages()),
    ],
)
def test_a_question_that_asks_for_more_is_not_for_yes_or_no(question: str, expected: AnswerForm) -> None:
    assert answer_form_for(question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Parcels growth from month to month", change(AggregateFunction.COUNT, None, CalendarPeriod.MONTH)),
        ("How did postage of parcels develop?", change(AggregateFunction.SUM, POSTAGE, None)),
        ("Total postage by quarter, and the change", change(AggregateFunction.SUM, POSTAGE, CalendarPeriod.QUARTER)),
        ("Average postage over time", change(AggregateFunction.AVERAGE, POSTAGE, None)),
        (
            "How did postage of parcels change from Q1 2024 to Q2 2024?",
            change(AggregateFunction.SUM, POSTAGE, CalendarPeriod.QUARTER),
        ),
        (
            "How did postage of parcels change from Q1 2023 to Q1 2024?",
            change(AggregateFunction.SUM, POSTAGE, CalendarPeriod.QUARTER),
        ),
        (
            "How did postage of parcels change from March 2023 to March 2024?",
            change(AggregateFunction.SUM, POSTAGE, CalendarPeriod.MONTH),
        ),
        (
            "How has the number of parcels changed between 2022 and 2024?",
            change(AggregateFunction.COUNT, None, CalendarPeriod.YEAR),
        ),
        ("Number of parcels year over year", change(AggregateFunction.COUNT, None, CalendarPeriod.YEAR)),
    ],
)
def test_a_number_that_develops_is_set_beside_the_period_before(question: str, expected: AnswerForm) -> None:
    assert answer_form_for(question) == expected


def test_a_text_that_changes_is_no_number() -> None:
    assert not isinstance(answer_form_for("How did the wrapping of parcels change from 2022 to 2024?"), ChangeOverTime)


@pytest.mark.parametrize(
    "question", ["Total postage by quarter", "How many parcels per month?", "Total postage from 2022 to 2024"]
)
def test_a_number_by_period_is_no_change(question: str) -> None:
    assert isinstance(answer_form_for(question), ComputeNumbers)


def test_each_recogniser_has_a_name_of_its_own() -> None:
    assert len({recogniser.name for recogniser in RECOGNISERS}) == len(RECOGNISERS)
