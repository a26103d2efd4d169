"""Which questions set things side by side, and what is asked of each side."""

from collections.abc import Sequence

import pytest

from agent.rules.overview import as_summary
from agent.rules.parts import only_shows
from agent.telling import telling_sentences
from storage.search.documents import Document, Passage
from storage.search.ids import DocId, FieldName
from storage.search.plan import Combine, Compute, FindPassages, Function, Leg, ReadFields
from tests.agent.test_reading import planned

WEIGHT = FieldName("weight")


def legs_of(question: str) -> Sequence[Leg]:
    plan = planned(question).plan
    assert plan.combine is Combine.COMPARE, plan
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
def test_both_sides_are_found_however_they_are_set_against_each_other(question: str) -> None:
    first, second = legs_of(question)
    assert "Blue Van" in str(first.search) and "Redline Post" not in str(first.search)  # noqa: PT018
    assert "Redline Post" in str(second.search) and "Blue Van" not in str(second.search)  # noqa: PT018
    assert isinstance(first.wanted, Compute) and first.wanted.field == WEIGHT  # noqa: PT018
    assert first.wanted == second.wanted


def test_up_to_four_sides_stand_beside_each_other() -> None:
    legs = legs_of("Compare how many parcels came by Blue Van, Redline Post and Northern Star in 2024")
    assert [leg.id for leg in legs] == ["a", "b", "c"]
    assert all("2024-01-01" in str(leg.search) for leg in legs)
    assert {leg.wanted for leg in legs} == {Compute(functions=(Function.COUNT,))}


def test_years_are_sides_and_no_range() -> None:
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
def test_what_only_lists_or_counts_compares_nothing(question: str) -> None:
    assert planned(question).plan.combine is not Combine.COMPARE


def test_documents_named_by_number_are_looked_up_side_by_side() -> None:
    first, second = legs_of("What is the weight of parcel P-17 and of parcel P-18?")
    assert isinstance(first.wanted, ReadFields)
    assert ("P-17" in str(first.search), "P-18" in str(second.search)) == (True, True)


def test_words_that_name_nothing_known_stay_one_question() -> None:
    assert isinstance(planned("How do gloves and mittens differ in winter?").plan.legs[0].wanted, FindPassages)


@pytest.mark.parametrize(
    "question", ["What is parcel 7 about?", "tl;dr of parcel 7", "Main points of parcel 7", "Sum up parcel 7"]
)
def test_every_way_to_ask_for_a_summary_is_read_as_one(question: str) -> None:
    said = as_summary(question)
    assert len(said) == len(question)
    assert "summary" in said or "gist" in said


def test_showing_is_no_question_of_its_own() -> None:
    assert only_shows("Show them.")
    assert not only_shows("Show the heavy ones by Blue Van.")


def test_the_most_telling_sentences_come_in_order_each_once_with_their_heading() -> None:
    text = (
        "# Storage\n\nKeep the battery cold and the battery dry in the store.\n"
        "Keep the battery cold and the battery dry in the store.\n\n"
        "# Weather\n\nRain fell on many quiet streets over there yesterday.\n"
        "The battery store must stay dry in any weather.\n"
    )
    document = Document(doc_id=DocId("d"), title="d", text=text, passages=(Passage(start=0, end=len(text), page=1),))
    told = telling_sentences(document, 2)
    assert [(one.heading, one.quote.text[:20]) for one in told] == [
        ("Storage", "Keep the battery col"),
        ("Weather", "Rain fell on many qu"),
    ]
    assert telling_sentences(document, 1, {"streets", "rain", "quiet", "many"})[0].quote.text.startswith("Rain")
