"""Facts about the fields of a bucket, from its schema and the values of its visible documents."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from agent.english.function_words import PEOPLE_NOUNS
from agent.rules.lexicon.end_fields import EndFields
from agent.rules.lexicon.field_roles import FieldRoles
from agent.rules.lexicon.span_links import FieldMention, LinkMeaning
from agent.rules.lexicon.value_phrase_index import FieldKey
from storage.search.analyser import fold_text
from storage.search.conditions import TITLE_FIELD
from storage.search.ids import BucketId, FieldName
from storage.search.index import FieldVocabulary
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.noun_classes import PERSON_NOUNS

_MEASURABLE_TYPES = (FieldType.NUMBER, FieldType.MONEY, FieldType.DATE)
_MIN_RECORD_FIELDS = 4  # fields of a bucket whose documents are records
_TITLE = SchemaField(name=TITLE_FIELD, type=FieldType.TEXT)
_MAX_DOCUMENTS_PER_VALUE = 1.1  # documents per value, on average, up to which a field identifies documents
_MAX_STEP_OF_NUMBERS = 3.0  # of a running number, from one document to the next on average
_MAX_CATEGORY_VALUES = 50  # values that a categorical field may have even where there are few documents


class BucketFields:
    """The fields of one bucket: their values, what they measure, and what they say of the documents."""

    def __init__(self, schema: Schema, vocabulary: Iterable[FieldVocabulary], document_count: int) -> None:
        self.schema, self.document_count = schema, document_count
        self.bucket: BucketId = schema.bucket
        self.vocabularies: Mapping[FieldName, FieldVocabulary] = {entry.field: entry for entry in vocabulary}
        self._counts_by_field: dict[FieldName, Mapping[str, int]] = {}
        self._folded_by_field: dict[FieldKey, Sequence[str]] = {}

    def get_field(self, name: FieldName, column: FieldName | None = None) -> SchemaField:
        """Returns the field or column; the title of the documents counts as a text field."""
        field = _TITLE if name == TITLE_FIELD else self.schema.by_name[name]
        return field if column is None else next(candidate for candidate in field.columns if candidate.name == column)

    @cached_property
    def roles(self) -> FieldRoles:
        """The fields with values by what they hold."""
        return FieldRoles(self.schema, self.vocabularies, self.is_identifying)

    @cached_property
    def measurable_fields(self) -> Sequence[tuple[SchemaField, FieldName | None]]:
        """The fields that a number, amount or date may belong to, then such columns with their rows field."""
        fields = [(field, None) for field in self.schema.fields]
        columns = [(column, field.name) for field in self.schema.fields for column in field.columns]
        return [pair for pair in (*fields, *columns) if pair[0].type in _MEASURABLE_TYPES]

    @cached_property
    def field_units(self) -> frozenset[str]:
        """The units of its number fields."""
        return frozenset(field.unit for field, _ in self.measurable_fields if field.unit)

    def vocabulary_of(self, name: FieldName, column: FieldName | None = None) -> FieldVocabulary | None:
        return self.vocabularies.get(name if column is None else FieldName(f"{name}.{column}"))

    def is_known_of_all(self, name: FieldName) -> bool:
        """Whether every document has a value of the field."""
        vocabulary = self.vocabulary_of(name)
        return vocabulary is not None and vocabulary.document_count >= self.document_count

    def count_documents_with(self, name: FieldName, value: str) -> int:
        """Returns how many documents have the value according to the vocabulary."""
        return self._value_counts(name).get(value, 0)

    def _value_counts(self, name: FieldName) -> Mapping[str, int]:
        if name not in self._counts_by_field:
            vocabulary = self.vocabulary_of(name)
            self._counts_by_field[name] = (
                {value.value: value.count for value in vocabulary.values} if vocabulary else {}
            )
        return self._counts_by_field[name]

    def folded_values_of(self, name: FieldName, column: FieldName | None = None) -> Sequence[str]:
        """Returns the values of a field, folded for comparison."""
        key = (name, column)
        if key not in self._folded_by_field:
            vocabulary = self.vocabulary_of(name, column)
            self._folded_by_field[key] = [fold_text(value.value) for value in vocabulary.values] if vocabulary else []
        return self._folded_by_field[key]

    def is_categorical(self, name: FieldName, column: FieldName | None = None) -> bool:
        """Whether the field classifies documents instead of naming each of them."""
        if name == TITLE_FIELD:
            return False
        vocabulary = self.vocabulary_of(name, column)
        return vocabulary is not None and len(vocabulary.values) <= max(
            _MAX_CATEGORY_VALUES, vocabulary.document_count / 10
        )

    @property
    def holds_records(self) -> bool:
        """Whether the documents are records with several fields, and not texts with a few labels."""
        return len(self.schema.fields) >= _MIN_RECORD_FIELDS

    @cached_property
    def has_end_dates(self) -> bool:
        """Whether a date that some documents lack says when they ended: "left on", "retired", "deceased"."""
        return any(field.type is FieldType.DATE for field in self.end_fields.own_fields)

    @cached_property
    def end_fields(self) -> EndFields:
        """The fields that say whether something is over."""
        nouns = (word for noun in (self.schema.title, *self.schema.synonyms) for word in fold_text(noun).split())
        return EndFields(self.schema, self.vocabularies, self.document_count, frozenset(nouns))

    def is_identifying(self, name: FieldName) -> bool:
        """Whether nearly every document has its own value, even where there are few documents.

        What names documents elsewhere, as a neighbour or an owner, is not a name of the document itself.
        """
        vocabulary = self.vocabulary_of(name)
        return (
            vocabulary is not None
            and name not in self.schema.references
            and len(vocabulary.values) > 1
            and vocabulary.document_count <= _MAX_DOCUMENTS_PER_VALUE * len(vocabulary.values)
        )

    @cached_property
    def running_number(self) -> SchemaField | None:
        """The first column, if it holds whole numbers that run up by about one a document: of tickets, of orders."""
        field = next(iter(self.schema.fields), None)
        vocabulary = None if field is None else self.vocabulary_of(field.name)
        if field is None or vocabulary is None or field.type is not FieldType.NUMBER or field.unit:
            return None
        low, high = vocabulary.low, vocabulary.high
        if not (isinstance(low, (int, float)) and isinstance(high, (int, float)) and self.is_known_of_all(field.name)):
            return None
        is_whole = float(low).is_integer() and float(high).is_integer()
        steps = (high - low + 1) / max(self.document_count, 1)
        return field if is_whole and self.document_count > 1 and 1 <= steps <= _MAX_STEP_OF_NUMBERS else None

    def is_flag(self, meaning: LinkMeaning) -> bool:
        """Whether the meaning is a mention of a flag field."""
        is_mention = isinstance(meaning, FieldMention)
        return is_mention and self.get_field(meaning.field, meaning.column).type is FieldType.FLAG

    def _is_count_field(self, meaning: LinkMeaning) -> bool:
        """ "How many *tickets were sold*": whether the meaning is a number field without a unit."""
        is_plain_mention = isinstance(meaning, FieldMention) and meaning.column is None and not meaning.is_hint
        field = self.get_field(meaning.field) if is_plain_mention and isinstance(meaning, FieldMention) else None
        return field is not None and field.type is FieldType.NUMBER and not field.unit

    @cached_property
    def person_field(self) -> FieldName | None:
        """The first categorical field for a person: the assignee, the agent."""
        for field in self.schema.fields:
            words = {word for name in (field.label, *field.plain_synonyms) for word in fold_text(name).split()}
            if field.type is FieldType.CATEGORY and words & PERSON_NOUNS and not self.is_identifying(field.name):
                return field.name
        return None

    @property
    def sole_person_field(self) -> FieldName | None:
        """The field for a person, unless question phrases show that several fields answer "who …"."""
        answering = [
            field for field in self.schema.fields if any(phrase.startswith("who ") for phrase in field.question_phrases)
        ]
        return self.person_field if len(answering) <= 1 else None

    @cached_property
    def _counts_people(self) -> bool:
        """Whether a number in the documents is a number of people."""
        return any(
            field.type is FieldType.NUMBER and bool(PEOPLE_NOUNS & set(fold_text(field.label).split()))
            for field in self.schema.fields
        )
