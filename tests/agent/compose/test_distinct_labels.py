"""No two choices of a reply have the same label."""

from agent.compose.choices.distinct_labels import compose_choices
from agent.refine.candidates import OfferedChoice
from agent.refine.choice_labels import ChoiceLabel, DocumentLabel, ListThemLabel
from storage.search.documents import FieldValue
from storage.search.ids import BucketId, DocId, FieldName, LegId
from storage.search.refinement import JustAnswer
from storage.search.schema import FieldType, Schema, SchemaField

CONCERTS = BucketId("concerts")
SCHEMA = Schema(
    bucket=CONCERTS,
    fields=(
        SchemaField(name=FieldName("hall"), type=FieldType.CATEGORY),
        SchemaField(name=FieldName("date"), type=FieldType.DATE),
    ),
)


def offer(label: ChoiceLabel, leg: str = "a") -> OfferedChoice:
    return OfferedChoice(label=label, count=1, leg=LegId(leg), effect=JustAnswer())


def concert(doc_id: str, **values: FieldValue) -> OfferedChoice:
    named = {FieldName(name): value for name, value in values.items()}
    return offer(DocumentLabel(title="Gala", doc_id=DocId(doc_id), bucket=CONCERTS, values=named))


def labels_of(*offered: OfferedChoice, questions: dict[LegId, str] | None = None) -> list[str]:
    return [choice.label for choice in compose_choices(offered, {CONCERTS: SCHEMA}, questions or {})]


def test_documents_with_one_title_are_told_apart_by_their_dates() -> None:
    labels = labels_of(
        concert("c.csv#1", hall="Main", date="2031-05-01"), concert("c.csv#2", hall="Main", date="2031-06-01")
    )

    assert labels == ["Gala · 2031-05-01", "Gala · 2031-06-01"]


def test_documents_of_one_date_are_told_apart_by_another_value() -> None:
    labels = labels_of(
        concert("c.csv#1", hall="Main", date="2031-05-01"), concert("c.csv#2", hall="Studio", date="2031-05-01")
    )

    assert labels == ["Gala · Main", "Gala · Studio"]


def test_documents_without_telling_values_are_told_apart_by_their_ids() -> None:
    assert labels_of(concert("c.csv#V1"), concert("2031/m-02.txt")) == ["Gala · V1", "Gala · m-02"]


def test_a_document_whose_title_is_its_own_keeps_it() -> None:
    assert labels_of(concert("c.csv#1", date="2031-05-01")) == ["Gala"]


def test_the_same_choice_of_two_parts_of_a_question_names_the_part() -> None:
    offered = (offer(ListThemLabel()), offer(ListThemLabel(), "b"))

    labels = labels_of(*offered, questions={LegId("a"): "rooms in Bath", LegId("b"): "rooms in York"})

    assert labels == ["List them: rooms in Bath", "List them: rooms in York"]
    assert labels_of(offer(ListThemLabel()), offer(ListThemLabel())) == ["List them", "List them (2)"]
