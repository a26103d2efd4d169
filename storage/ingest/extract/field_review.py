"""What an owner sees of each field: in how many documents it was read, how surely, its values, examples, and doubts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from storage.ingest.extract.annotation import MIN_VALUE_CONFIDENCE
from storage.ingest.extract.labels.labelled_texts import label_key_of
from storage.search.documents import SURE_CONFIDENCE, Document, FieldAnnotation, FieldValue
from storage.search.ids import DocId, FieldName
from storage.search.numbers import to_json_number
from storage.search.schema import FieldOrigin, FieldType, Schema, SchemaField

LIKELY_CONFIDENCE = 0.7  # from which a value is likely, if it is not sure; below, it is doubtful
_MAX_EXAMPLES = 3
_MAX_COMMON_VALUES = 4
_MAX_VALUES = 10_000  # different ones that are counted
_MAX_EVIDENCE_CHARACTERS = 160
_MIN_SHARED = 3  # documents with one value for all, from which that is odd
_MIN_READ_SHARE = 0.5
_MAX_DOUBTFUL_SHARE = 0.2
_NAMED_TYPES = (FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewExample:
    """A value with its place: the page, or the line of a text without pages; neither where it appears in no text."""

    doc_id: DocId
    title: str
    value: str
    confidence: float
    evidence: str
    page: int | None
    line: int | None

    @property
    def place(self) -> str:
        if self.page is not None:
            return f"{self.doc_id}, page {self.page}"
        return f"{self.doc_id}, line {self.line}" if self.line is not None else str(self.doc_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldReview:
    """A field over the documents that were read for it. The shares of `sure`, `likely` and `doubtful` are of `read`."""

    field: FieldName
    label: str
    kinds: tuple[str, ...]  # empty: all
    documents: int  # that were read for it
    read: int  # of them with a value
    sure: int
    likely: int
    doubtful: int
    distinct_count: int
    common_values: tuple[tuple[str, int], ...]
    examples: tuple[ReviewExample, ...]
    doubts: tuple[str, ...]


@dataclass(slots=True)
class _FieldTally:
    documents: int = 0
    confidences: list[float] = field(default_factory=list[float])
    values: Counter[str] = field(default_factory=Counter[str])
    examples: list[ReviewExample] = field(default_factory=list[ReviewExample])
    least_sure: ReviewExample | None = None


class FieldReviewCollector:
    """Collects the reviews of a bucket's fields, document by document."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._tallies = {each.name: _FieldTally() for each in schema.fields if _is_read(each)}
        self.document_count = 0  # that were read for values
        self.kindless_count = 0  # of them without a kind

    def add_document(self, document: Document) -> None:
        """Counts a document; one whose values were given was not read."""
        if not document.annotations and any(
            self._schema.by_name[name].origin is None for name in document.values if name in self._schema.by_name
        ):
            return
        self.document_count += 1
        kind_field = self._schema.kind_field
        kind = document.values.get(kind_field.name) if kind_field is not None else None
        self.kindless_count += kind_field is not None and kind is None
        for each in self._schema.fields:
            if each.name in self._tallies and (not each.kinds or kind in each.kinds):
                self._add_field(document, each)

    def _add_field(self, document: Document, reviewed: SchemaField) -> None:
        tally = self._tallies[reviewed.name]
        tally.documents += 1
        taken = [
            annotation
            for annotation in document.annotations
            if annotation.field == reviewed.name and annotation.confidence >= MIN_VALUE_CONFIDENCE
        ]
        if not taken:
            return
        tally.confidences.append(min(annotation.confidence for annotation in taken))
        for value in dict.fromkeys(_texts_of(document.values.get(reviewed.name, taken[0].value), reviewed)):
            if value in tally.values or len(tally.values) < _MAX_VALUES:
                tally.values[value] += 1
        example = _example_of(document, min(taken, key=lambda annotation: annotation.confidence), reviewed)
        if tally.least_sure is None or example.confidence < tally.least_sure.confidence:
            tally.least_sure = example
        if len(tally.examples) < _MAX_EXAMPLES and all(example.value != other.value for other in tally.examples):
            tally.examples.append(example)

    def build_reviews(self) -> tuple[FieldReview, ...]:
        """Returns a review for each field that any document was read for, in the order of the schema."""
        return tuple(self._review_of(name, tally) for name, tally in self._tallies.items() if tally.documents)

    def _review_of(self, name: FieldName, tally: _FieldTally) -> FieldReview:
        reviewed, confidences = self._schema.by_name[name], tally.confidences
        sure = sum(confidence >= SURE_CONFIDENCE for confidence in confidences)
        likely = sum(LIKELY_CONFIDENCE <= confidence < SURE_CONFIDENCE for confidence in confidences)
        least = tally.least_sure
        others = [example for example in tally.examples if example != least]
        examples = () if least is None else (least, *others)[:_MAX_EXAMPLES]
        return FieldReview(
            field=name,
            label=reviewed.label,
            kinds=reviewed.kinds,
            documents=tally.documents,
            read=len(confidences),
            sure=sure,
            likely=likely,
            doubtful=len(confidences) - sure - likely,
            distinct_count=len(tally.values),
            common_values=tuple(tally.values.most_common(_MAX_COMMON_VALUES)),
            examples=examples,
            doubts=tuple(self._doubts_of(reviewed, tally, len(confidences) - sure - likely)),
        )

    def _doubts_of(self, reviewed: SchemaField, tally: _FieldTally, doubtful: int) -> Iterator[str]:
        read, documents = len(tally.confidences), tally.documents
        if read < _MIN_READ_SHARE * documents:
            yield f"{documents - read:,} of {documents:,} documents have no value"
        if doubtful > _MAX_DOUBTFUL_SHARE * read:
            yield f"{doubtful:,} of {read:,} values are less sure than {LIKELY_CONFIDENCE:g}"
        if len(tally.values) == 1 and read >= _MIN_SHARED and reviewed.type is not FieldType.FLAG:
            yield f"all {read:,} documents have the same value, {next(iter(tally.values))}"
        if reviewed.type in _NAMED_TYPES and (labels := self._labels_among(tally.values)):
            yield f"some values are the labels of fields: {', '.join(labels)}"

    def _labels_among(self, values: Mapping[str, int]) -> Sequence[str]:
        words = (word for each in self._schema.fields for word in (each.label, *each.labels))
        keys = {label_key_of(word) for word in words}
        return [value for value in values if label_key_of(value) in keys][:_MAX_EXAMPLES]


def _is_read(reviewed: SchemaField) -> bool:
    """Whether texts give the field its values."""
    return reviewed.origin in (None, FieldOrigin.KIND)


def _example_of(document: Document, annotation: FieldAnnotation, reviewed: SchemaField) -> ReviewExample:
    start, end = annotation.start, annotation.end or 0
    passages = [passage for passage in document.passages if start is not None and passage.start <= start]
    page = passages[-1].page if passages else None
    return ReviewExample(
        doc_id=document.doc_id,
        title=document.title,
        value=next(iter(_texts_of(annotation.value, reviewed)), ""),
        confidence=annotation.confidence,
        evidence=""
        if start is None
        else " ".join(document.text[start : min(end, start + _MAX_EVIDENCE_CHARACTERS)].split()),
        page=page,
        line=document.text.count("\n", 0, start) + 1 if start is not None and page is None else None,
    )


def _texts_of(value: FieldValue, reviewed: SchemaField) -> Iterator[str]:
    """Yields a value, or the members of a list, as people read them."""
    match value:
        case tuple():
            for member in cast(tuple[object, ...], value):
                yield str(dict(cast(Mapping[str, object], member))) if isinstance(member, Mapping) else str(member)
        case bool():
            yield "yes" if value else "no"
        case int() | float():
            number = to_json_number(float(value))
            shown = f"{number:.2f}" if reviewed.type is FieldType.MONEY else str(number)
            yield " ".join(filter(None, (reviewed.currency, shown, reviewed.unit)))
        case _:
            yield str(value)
