"""What an owner sees of each field."""

from storage.ingest.extract.field_review import FieldReview, FieldReviewCollector
from storage.search.documents import Document, FieldAnnotation
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.schema import FieldOrigin, FieldType, Schema, SchemaField

KIND, DUE, OWNER = FieldName("kind"), FieldName("due"), FieldName("owner")
SCHEMA = Schema(
    bucket=BucketId("shared"),
    fields=(
        SchemaField(name=KIND, type=FieldType.CATEGORY, origin=FieldOrigin.KIND, values={"bill": (), "memo": ()}),
        SchemaField(name=DUE, type=FieldType.DATE, kinds=("bill",)),
        SchemaField(name=OWNER, type=FieldType.CATEGORY),
    ),
)


def a_document(number: int, kind: str | None, **values: tuple[str, float]) -> Document:
    text = "".join(f"{name}: {value}\n" for name, (value, _) in values.items())
    own = {name: value for name, (value, confidence) in values.items() if confidence >= 0.5}
    annotations = (
        FieldAnnotation(field=FieldName(name), value=value, confidence=confidence, start=0, end=len(text))
        for name, (value, confidence) in values.items()
    )
    return Document(
        doc_id=DocId(f"d{number}"),
        title=f"d{number}",
        text=text,
        source="d",
        values={**({KIND: kind} if kind else {}), **{FieldName(name): value for name, value in own.items()}},
        annotations=tuple(annotations),
    )


def reviews_of(*documents: Document) -> dict[str, FieldReview]:
    collector = FieldReviewCollector(SCHEMA)
    for document in documents:
        collector.add_document(document)
    return {str(review.field): review for review in collector.build_reviews()}


def test_a_field_is_counted_over_the_documents_of_its_kind() -> None:
    bills = [a_document(i, "bill", due=(f"2031-05-0{i}", 0.95)) for i in range(1, 4)]
    unread, memo = a_document(8, "bill", owner=("Ann", 0.6)), a_document(9, "memo", owner=("Bo", 0.75))

    reviews = reviews_of(*bills, unread, memo)

    assert (reviews["due"].read, reviews["due"].documents, reviews["due"].sure) == (3, 4, 3)
    owner = reviews["owner"]
    assert (owner.read, owner.documents, owner.likely, owner.doubtful) == (2, 5, 1, 1)


def test_examples_begin_with_the_least_sure_value_and_name_the_line() -> None:
    reviews = reviews_of(a_document(1, "bill", owner=("Ann", 0.95)), a_document(2, "bill", owner=("Bo", 0.55)))

    first, second = reviews["owner"].examples
    assert (first.value, first.place, first.evidence) == ("Bo", "d2, line 1", "owner: Bo")
    assert second.value == "Ann"


def test_doubts_say_what_is_odd() -> None:
    labels = [a_document(i, None, owner=("Due", 0.95)) for i in range(1, 4)]
    empty = [a_document(i, "memo") for i in range(4, 9)]

    assert reviews_of(*labels, *empty)["owner"].doubts == (
        "5 of 8 documents have no value",
        "all 3 documents have the same value, Due",
        "some values are the labels of fields: Due",
    )


def test_documents_without_a_kind_are_counted_and_given_values_are_not_reviewed() -> None:
    collector = FieldReviewCollector(SCHEMA)
    given = Document(doc_id=DocId("g"), title="g", text="g", source="g", values={OWNER: "Ann"})

    collector.add_document(given)
    collector.add_document(a_document(1, None, owner=("Ann", 0.9)))

    assert (collector.document_count, collector.kindless_count) == (1, 1)
