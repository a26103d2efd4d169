"""Comparisons: their sides, the answer form of each side, and requests for summaries."""

from collections.abc import Sequence

import pytest

from agent.retrieval.key_sentences import key_sentences_of
from agent.rules.followups.question_parts import only_asks_to_show
from agent.rules.words.overview_questions import normalize_summary_request
from storage.search.documents import Document, Passage
from storage.search.ids import DocId, FieldName
from storage.search.plan import AggregateFunction, ComputeNumbers, FindPassages, Leg, LegCombination, ReadFields
from tests.agent.rules.reading.test_bucket_reading import plan_question

WEIGHT = FieldName("weight")


def legs_of(question: str) -> Sequence[Leg]:
    plan = plan_question(question).plan
    assert plan.combination is LegCombination.COMPARE, plan
    return plan.legs


@pytest.mark.parametrize(
    "question",
    [
        "Compare the weight of parcels by Blue Van and Redline Post",
        "How do Blue Van and Redline Post parcels differ in weight?",
        "What is the difference in weight between Blue Van and Redline Post parcels?",
        "Blue Van parcels vs Redline Post parcels: weight",
        "Are the parcels of Blue Van heavier than those of Redline Post?",
        "Weight of parcels with Blue Van compared with Redline Post",
    ],
)
def test_both_sides_are_found_in_every_wording_of_a_comparison(question: str) -> None:
    first, second = legs_of(question)
    assert "Blue Van" in str(first.search) and "Redline Post" not in str(first.search)  # noqa: PT018
    assert "Redline Post" in str(second.search) and "Blue Van" not in str(second.search)  # noqa: PT018
    assert isinstance(first.answer_form, ComputeNumbers) and first.answer_form.field == WEIGHT  # noqa: PT018
    assert first.answer_form == second.answer_form


def test_a_comparison_may_have_three_sides() -> None:
    legs = legs_of("Compare how many parcels came by Blue Van, Redline Post and Northern Star in 2024")
    assert [leg.id for leg in legs] == ["a", "b", "c"]
    assert all("2024-01-01" in str(leg.search) for leg in legs)
    assert {leg.answer_form for leg in legs} == {ComputeNumbers(functions=(AggregateFunction.COUNT,))}


def test_two_years_are_sides_and_not_a_range() -> None:
    first, second = legs_of("How many parcels by Blue Van were sent in 2023 compared to 2024?")
    assert "2023-12-31" in str(first.search)
    assert "2024-01-01" in str(second.search)


@pytest.mark.parametrize(
    "question",
    [
        "List parcels by Blue Van or Redline Post",
        "How many parcels are by Blue Van and Redline Post?",
        "Parcels longer than 50 cm or heavier than 20 kg",
        "Which parcels are by Blue Van and heavier than 20 kg?",
        "Why do parcels by Blue Van differ from parcels by Redline Post?",
        "How do parcels by Blue Van differ from other parcels?",
        "How heavy are parcels by Blue Van compared to other services?",
    ],
)
def test_a_list_or_count_of_two_things_is_no_comparison(question: str) -> None:
    assert plan_question(question).plan.combination is not LegCombination.COMPARE


def test_documents_with_identifiers_are_compared_by_their_fields() -> None:
    first, second = legs_of("What is the weight of parcel P-17 and of parcel P-18?")
    assert isinstance(first.answer_form, ReadFields)
    assert ("P-17" in str(first.search), "P-18" in str(second.search)) == (True, True)


def test_unknown_words_as_sides_stay_one_question() -> None:
    assert isinstance(
        plan_question("How do gloves and mittens differ in winter?").plan.legs[0].answer_form, FindPassages
    )


@pytest.mark.parametrize(
    "question", ["What is parcel 7 about?", "tl;dr of parcel 7", "Main points of parcel 7", "Sum up parcel 7"]
)
def test_every_wording_of_a_summary_request_is_normalized(question: str) -> None:
    normalized = normalize_summary_request(question)
    assert len(normalized) == len(question)
    assert "summary" in normalized or "gist" in normalized


def test_a_request_to_show_is_no_question_of_its_own() -> None:
    assert only_asks_to_show("Show them.")
    assert not only_asks_to_show("Show the heavy ones by Blue Van.")


def test_key_sentences_keep_their_order_and_have_headings_and_no_duplicates() -> None:
    text = (
        "# Storage\n\nKeep the battery cold and the battery dry in the store.\n"
        "Keep the battery cold and the battery dry in the store.\n\n"
        "# Weather\n\nRain fell on many quiet streets over there yesterday.\n"
        "The battery store must stay dry in any weather.\n"
    )
    document = Document(doc_id=DocId("d"), title="d", text=text, passages=(Passage(start=0, end=len(text), page=1),))
    sentences = key_sentences_of(document, 2)
    assert [(sentence.heading, sentence.quote.text[:20]) for sentence in sentences] == [
        ("Storage", "Keep the battery col"),
        ("Weather", "Rain fell on many qu"),
    ]
    assert key_sentences_of(document, 1, {"streets", "rain", "quiet", "many"})[0].quote.text.startswith("Rain")
