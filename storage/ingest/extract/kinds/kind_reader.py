"""Reads what a document is by the kinds of its bucket: from headings, banners, folder and file names, and labels."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from storage.ingest.extract.document_text import DocumentText, TextSpan
from storage.ingest.extract.kinds.kind_phrases import (
    KindPhrase,
    file_stem_of,
    folder_names_of,
    forms_of_kind,
    kind_phrase_in,
    kind_phrase_of_name,
    named_kinds_of_text,
    singular_phrase_of,
)
from storage.ingest.extract.kinds.label_match import kind_by_labels, kind_of_correspondence
from storage.ingest.extract.labels.find_labels import find_labelled_texts
from storage.ingest.extract.labels.kind_labels import WRITTEN_KIND_KEYS
from storage.ingest.extract.labels.labelled_texts import LabelledText, label_key_of
from storage.ingest.schemas.names import words_in_name
from storage.search.schema import Schema, SchemaField

ROW_WORD = "row"  # a row of a budget is a "budget row"
_LABEL_CONFIDENCE, _HEADING_CONFIDENCE, _PATH_CONFIDENCE, _LABEL_SET_CONFIDENCE = 0.95, 0.9, 0.8, 0.75
_DISPUTED_CONFIDENCE = 0.6  # of a heading where the folder or the file name gives another kind


@dataclass(frozen=True, slots=True, kw_only=True)
class KindReading:
    """The kind of a document. `span` is its evidence in the text, if it appears there."""

    kind: str
    confidence: float
    span: TextSpan | None = None


class KindReader:
    """Reads the kinds that the schema lists. A word that two kinds share gives neither."""

    def __init__(self, schema: Schema) -> None:
        kinds = schema.kind_field.values if schema.kind_field is not None else dict[str, tuple[str, ...]]()
        self._kind_by_words = _kinds_by_words(kinds)
        self._keys_by_kind = {
            kind: {label_key_of(field.labels[0]) for field in schema.fields if kind in field.kinds and field.labels}
            for kind in kinds
        }
        self._first_key_by_key = {
            label_key_of(label): label_key_of(field.labels[0]) for field in schema.fields for label in field.labels
        }

    def read_kind(self, document: DocumentText, path: str) -> KindReading | None:
        """Returns the kind of a document; None if nothing gives one for certain. `path` is that of its file."""
        by_path = self.kind_of_path(path)
        for named in named_kinds_of_text(document):
            if kind := self.kind_of_phrase(named.phrase):
                reading = KindReading(kind=kind, confidence=_HEADING_CONFIDENCE, span=named.span)
                return reading if by_path in (None, kind) else replace(reading, confidence=_DISPUTED_CONFIDENCE)
        texts = find_labelled_texts(document)
        if reading := next(self._written_kinds(texts), None):
            return reading
        if by_path is not None:
            return KindReading(kind=by_path, confidence=_PATH_CONFIDENCE)
        if kind := self._kind_by_words.get(kind_of_correspondence(texts) or ""):
            return KindReading(kind=kind, confidence=_PATH_CONFIDENCE)
        kind = kind_by_labels(self._field_keys_of(texts), self._keys_by_kind)
        return None if kind is None else KindReading(kind=kind, confidence=_LABEL_SET_CONFIDENCE)

    def kind_of_phrase(self, phrase: KindPhrase) -> str | None:
        """Returns the kind with the longest words at the end of the phrase."""
        words = phrase.words.split()
        endings = (" ".join(words[first:]) for first in range(len(words)))
        if phrase.noun:
            return next((self._kind_by_words[ending] for ending in endings if ending in self._kind_by_words), None)
        return self._kind_by_words.get(phrase.words)

    def kind_of_path(self, path: str) -> str | None:
        """Returns the kind that the innermost folder with a kind, else the name of the file, gives."""
        kinds = (self.kind_of_name(name) for name in (*reversed(folder_names_of(path)), file_stem_of(path)))
        return next((kind for kind in kinds if kind is not None), None)

    def kind_of_name(self, name: str) -> str | None:
        if whole := self._kind_by_words.get(singular_phrase_of(" ".join(words_in_name(name)))):
            return whole
        phrase = kind_phrase_of_name(name)
        return None if phrase is None else self.kind_of_phrase(phrase)

    def is_named_like_kind(self, folder: str) -> bool:
        """Whether a folder is called by a kind, or by what the rows of its tables are rows of: `budgets`."""
        phrase = kind_phrase_of_name(folder)
        has_rows = phrase is not None and f"{phrase.words} {ROW_WORD}" in self._kind_by_words
        return has_rows or self.kind_of_name(folder) is not None

    def kind_of_table(self, path: str) -> str | None:
        """Returns the kind of the rows of a table: "supplier" in `suppliers.csv`, "budget row" in `budget.xlsx`."""
        kinds = (self._kind_by_words.get(words) for words in row_kinds_of_path(path))
        return next((kind for kind in kinds if kind is not None), None)

    def _written_kinds(self, texts: list[LabelledText]) -> Iterator[KindReading]:
        for labelled in texts:
            is_written = labelled.key in WRITTEN_KIND_KEYS
            phrase = kind_phrase_in(labelled.text if is_written else labelled.label)
            if phrase is None or not (is_written or labelled.stands_alone):
                continue
            span = None if labelled.start is None or labelled.end is None else TextSpan(labelled.start, labelled.end)
            if kind := self.kind_of_phrase(phrase):
                yield KindReading(kind=kind, confidence=_LABEL_CONFIDENCE, span=span)

    def _field_keys_of(self, texts: list[LabelledText]) -> set[str]:
        keys = (self._first_key_by_key.get(labelled.key) for labelled in texts)
        return {key for key in keys if key is not None}


def row_kinds_of_path(path: str) -> Iterator[str]:
    """Yields what the rows of a table can be called by the names of its file and folders, the file first.

    A file in the plural holds one of them in each row. All else that has a known noun is one document in many rows.
    """
    stem = words_in_name(file_stem_of(path))
    words = [word for word in stem if word.isalpha()]
    if words and singular_phrase_of(" ".join(words)) != " ".join(words):
        yield singular_phrase_of(" ".join(words))
    for name in (file_stem_of(path), *reversed(folder_names_of(path))):
        if phrase := kind_phrase_of_name(name):
            yield f"{phrase.words} {ROW_WORD}"
            yield f"{phrase.noun} {ROW_WORD}"


def _kinds_by_words(kinds: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    words_by_kind = {
        kind: {
            singular_phrase_of(form) for word in (kind, *synonyms) for form in (word, *forms_of_kind(word.casefold()))
        }
        for kind, synonyms in kinds.items()
    }
    counts = Counter(words for all_words in words_by_kind.values() for words in all_words)
    by_words = {words: kind for kind, all_words in words_by_kind.items() for words in all_words if counts[words] == 1}
    return {**by_words, **{singular_phrase_of(kind): kind for kind in kinds}}


def fields_of_kind(schema: Schema, kind: str | None) -> tuple[SchemaField, ...]:
    """Returns the fields that a document of the kind can have from its text; of no kind: those of all documents."""
    return tuple(field for field in schema.fields if field.origin is None and (not field.kinds or kind in field.kinds))


def schema_of_kind(schema: Schema, kind: str | None) -> Schema:
    """Returns the schema with these fields only, for an extractor."""
    fields = fields_of_kind(schema, kind)
    names = {field.name for field in fields}
    order = schema.order if schema.order is not None and schema.order.field in names else None
    kept = tuple(
        replace(field, kinds=(), currency_field=field.currency_field if field.currency_field in names else None)
        for field in fields
    )
    return replace(schema, fields=kept, order=order)
