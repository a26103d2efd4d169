"""Only what is meant constrains: the words that ask, name the kind, must be in the text, or are not understood."""

import asyncio

import pytest

from agent.decomposition import LegAlternatives, PlannedQuestion
from agent.rules.reasoner import RuleReasoner
from storage.embedder import WordLlamaEmbedder
from storage.search.conditions import ComparisonCondition, ComparisonOperator, conjuncts_of
from storage.search.ids import FieldName
from storage.search.plan import Leg
from tests.agent.rules.reading.test_bucket_reading import QUESTION_CONTEXT, plan_question


def _plan_leg(question: str) -> tuple[Leg, LegAlternatives]:
    planned = plan_question(question)
    return planned.plan.legs[0], planned.alternatives[0]


@pytest.mark.parametrize(
    "question",
    [
        "Dig out the parcels by Blue Van",
        "put together a sheet with all parcels by Blue Van",
        "I am after each and every parcel by Blue Van",
        "could someone conjure up a rundown of the parcels by Blue Van",
        "which parcels by Blue Van are in the system",
        "all parcels by Blue Van in the whole depot",
        "The auditor rang me twice. Which parcels are by Blue Van?",
        "which parcels actually came by Blue Van, I wonder",
        "the parcels that somehow came by Blue Van",
    ],
)
def test_words_before_the_noun_of_the_set_are_the_request(question: str) -> None:
    leg, alternatives = _plan_leg(question)

    assert leg.search.clauses[0].required_terms == ()
    assert alternatives.unknown_words == ()
    assert [str(condition.value) for condition in _comparisons(leg)] == ["Blue Van"]


def _comparisons(leg: Leg) -> list[ComparisonCondition]:
    return [
        condition
        for condition in conjuncts_of(leg.search.clauses[0].condition)
        if isinstance(condition, ComparisonCondition)
    ]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("dented parcels by Blue Van", ("dented",)),
        ("list the dented parcels", ("dented",)),
        ("parcels by Blue Van that were rerouted", ("rerouted",)),
        ("which parcels over 500 g got soaked", ("soaked",)),
        ("parcels by Blue Van for the orchestra", ("orchestra",)),
        ("parcels by Blue Van not rerouted", ("rerouted",)),
        ("parcels by Blue Van, dented or soaked", ("dented", "soaked")),
    ],
)
def test_a_word_that_restricts_the_noun_and_fits_nothing_is_not_understood(
    question: str, words: tuple[str, ...]
) -> None:
    leg, alternatives = _plan_leg(question)

    assert (alternatives.unknown_words, leg.search.clauses[0].required_terms) == (words, ())


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("parcels about orchids", ("orchids",)),
        ("parcels mentioning orchids by Blue Van", ("orchids",)),
        ("parcels by Blue Van for Ottermoor", ("Ottermoor",)),
        ('parcels that say "do not bend"', ("do not bend",)),
        ("parcels by Blue Van for ZX-4411", ("ZX-4411",)),
    ],
)
def test_names_identifiers_and_what_is_mentioned_must_be_in_the_text(question: str, terms: tuple[str, ...]) -> None:
    leg, alternatives = _plan_leg(question)

    assert (leg.search.clauses[0].required_terms, alternatives.unknown_words) == (terms, ())


@pytest.mark.parametrize(
    "question",
    [
        "all parcels by Blue Van that we hold",
        "parcels by Blue Van we keep on file",
        "parcels by Blue Van all told",
        "parcels anywhere in the depot by Blue Van",
        "parcels by Blue Van, across all depots",
        "parcels by Blue Van that are still around too",
        "which things by Blue Van weigh over 500 g",
        "in how many cases was it Blue Van",
    ],
)
def test_phrases_that_leave_out_nothing_are_no_conditions(question: str) -> None:
    leg, alternatives = _plan_leg(question)

    assert leg.search.clauses[0].required_terms == ()
    assert alternatives.unknown_words == ()
    assert str(_comparisons(leg)[0].value) == "Blue Van"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("parcels by Blue Van in the depot", ("depot",)),
        ("parcels by Blue Van that our clerks keep frozen", ("clerks", "frozen")),
        ("how many people got parcels by Blue Van", ("people",)),
        ("can I bring a dog for the parcels by Blue Van", ("dog",)),
    ],
)
def test_words_that_may_restrict_are_still_asked_about(question: str, words: tuple[str, ...]) -> None:
    _, alternatives = _plan_leg(question)

    assert set(words) <= set(alternatives.unknown_words)


@pytest.mark.parametrize(
    "question",
    [
        "the parcels that they brought over there by Blue Van",
        "which parcels that came through were taken by Blue Van",
        "every time that parcels were put through by Blue Van",
        "I'm preparing the budget - which parcels are by Blue Van?",
        "Quick one before the audit: which parcels are by Blue Van?",
        "Which parcels are by Blue Van? Need to know whether the trolley squeaks.",
    ],
)
def test_everyday_words_and_reasons_restrict_nothing_beside_a_condition(question: str) -> None:
    leg, alternatives = _plan_leg(question)

    assert leg.search.clauses[0].required_terms == ()
    assert alternatives.unknown_words == ()
    assert str(_comparisons(leg)[0].value) == "Blue Van"


def test_an_everyday_word_that_alone_restricts_the_set_is_asked_about() -> None:
    _, alternatives = _plan_leg("which parcels were touched?")

    assert alternatives.unknown_words == ("touched",)


@pytest.mark.parametrize("question", ["which turnips weigh over 500 g", "every turnip over 500 g"])
def test_a_noun_of_a_list_that_means_something_else_is_not_understood(question: str) -> None:
    leg, alternatives = _plan_leg(question)

    assert leg.search.clauses[0].required_terms == ()
    assert alternatives.unknown_words in (("turnips",), ("turnip",))
    assert leg.answer_form.lists_documents


@pytest.mark.parametrize("question", ["which packages weigh over 500 g", "every package over 500 g"])
def test_a_noun_that_means_nearly_the_same_names_the_kind(question: str) -> None:
    reasoner = RuleReasoner(WordLlamaEmbedder())

    planned = asyncio.run(reasoner.decompose_question(question, QUESTION_CONTEXT))

    assert isinstance(planned, PlannedQuestion)
    assert planned.plan.legs[0].search.clauses[0].required_terms == ()
    assert planned.alternatives[0].unknown_words == ()
    assert planned.plan.legs[0].answer_form.lists_documents


@pytest.mark.parametrize("question", ["parcels by Blue Van at the Ashby depot", "parcels in the Blue Van network"])
def test_a_noun_beside_a_value_says_what_the_value_is(question: str) -> None:
    _, alternatives = _plan_leg(question)

    assert not {"network"} & set(alternatives.unknown_words)


@pytest.mark.parametrize("exclusion", ["leaving out any that", "except those that", "without the ones that"])
def test_a_negation_reaches_into_the_clause_of_its_pronoun(exclusion: str) -> None:
    leg, _ = _plan_leg(f"parcels by Blue Van, {exclusion} are insured")

    assert ComparisonCondition(field=FieldName("insured"), op=ComparisonOperator.EQ, value=False) in _comparisons(leg)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("how many carriers did the parcels to Lyon have altogether", ("carriers",)),
        ("which weight parcels are by Blue Van", ("weight",)),
        ("how many parcels by Blue Van", ()),
    ],
)
def test_a_named_field_that_a_set_makes_no_use_of_is_not_understood(question: str, words: tuple[str, ...]) -> None:
    _, alternatives = _plan_leg(question)

    assert alternatives.unknown_words == words
