"""Questions in German over documents in English, as the rules plan them."""

from agent.assumptions import UnknownWords
from agent.decomposition import PlannedQuestion
from storage.search.conditions import ComparisonOperator, conjuncts_of
from storage.search.plan import AggregateFunction, ComputeNumbers, ListDocuments
from tests.agent.rules.linking.test_link_filter import comparison_on, plan_question


def _plan_german(question: str) -> PlannedQuestion:
    planned = plan_question(question)
    assert planned.plan.language == "de"
    return planned


def test_a_german_question_is_planned_like_an_english_one() -> None:
    (leg,) = _plan_german("Wie viele Pakete gibt es von Blue Van?").plan.legs

    assert isinstance(leg.answer_form, ComputeNumbers)
    assert leg.answer_form.functions == (AggregateFunction.COUNT,)
    assert set(conjuncts_of(leg.search.clauses[0].condition)) == {
        comparison_on("carrier", ComparisonOperator.EQ, "Blue Van")
    }


def test_the_plan_keeps_the_question_as_it_was_written() -> None:
    planned = _plan_german("zeig mir alle pakete von Blue Van")

    assert planned.plan.question == "zeig mir alle pakete von Blue Van"
    assert isinstance(planned.plan.legs[0].answer_form, ListDocuments)


def test_a_german_word_that_restricts_and_is_not_understood_is_asked_about_as_it_was_written() -> None:
    planned = _plan_german("welche quietschenden Pakete haben wir?")
    unknown = {word for alternatives in planned.alternatives for word in alternatives.unknown_words}
    told = {word for text in planned.assumptions if isinstance(text, UnknownWords) for word in text.words}

    assert "quietschenden" in unknown | told | set(planned.plan.legs[0].search.clauses[0].required_terms)
