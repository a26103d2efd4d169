"""What a button calls a document: its title, or what it says if the title is the name of a file or a number."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agent.compose.phrases.tables import list_named_fields
from agent.compose.phrases.values import format_value
from agent.compose.phrases.words import clean_quotation
from agent.refine.choice_labels import DocumentLabel
from storage.search.ids import BucketId
from storage.search.index import DocumentRecord
from storage.search.schema import FieldOrigin, FieldType, Schema, SchemaField

_CODE: Final = re.compile(r"(?=\S*\d)[\w./#-]+")  # "yd-04", "B4245", "2031/m-02.txt"
_PLATE: Final = re.compile(r"(?=.*\d)[A-Z0-9]{1,4}[ -][A-Z0-9]{1,5}(?:[ -][A-Z0-9]{1,4})?")  # "AB12 XYZ"
# Words in the labels of fields with what people call a thing that has a number.
_NAME_WORDS: Final = frozenset("name known nickname called alias".split())
_LABELLED: Final = re.compile(r"[^\W\d][^:]{0,39}:(?:\s|$)")  # "Guest: Ada Finch" is the value of a field
_MIN_TITLE_WORDS: Final = 2
_MAX_TITLE_CHARACTERS: Final = 60
_MAX_VALUE_CHARACTERS: Final = 40
# Words in the labels of fields that sort documents and name none of them.
_SORTING_WORDS: Final = frozenset(
    """status state stage phase type kind category class group priority level severity grade rating result outcome
    day month year period currency unit method channel art kategorie statut""".split()
)
_NAMING_TYPES: Final = (FieldType.CATEGORY, FieldType.TEXT)


def describe_document(label: DocumentLabel, schema: Schema | None) -> str:
    """Returns the title. For a code: the first line, else the first name and date among the values, and the code."""
    title = label.title or label.doc_id
    if not is_code(title):
        return title
    line = clean_quotation(label.first_line.strip()).strip(" =-#*")
    if _is_title_line(line, title):
        return line
    named = ", ".join(_naming_values(label, schema)) if schema is not None else ""
    return f"{named} ({title})" if named else title


def is_code(title: str) -> bool:
    """Whether a title is the name of a file or the number of a row, by which nobody chooses a document."""
    return _CODE.fullmatch(title) is not None or _PLATE.fullmatch(title) is not None


def _is_title_line(line: str, title: str) -> bool:
    is_short = len(line) <= _MAX_TITLE_CHARACTERS and len(line.split()) >= _MIN_TITLE_WORDS
    return is_short and _LABELLED.match(line) is None and "," not in line[:1] and title not in line.split()


def _naming_values(label: DocumentLabel, schema: Schema) -> Iterator[str]:
    """Yields the kind of the document, the first words that are not a code, and the first date, where they exist."""
    fields = [field for field in schema.fields if label.values.get(field.name) not in (None, ())]
    shown = {field.name: format_value(label.values[field.name], field) for field in fields}
    kinds = [field for field in fields if field.origin is FieldOrigin.KIND]
    names = [
        field
        for field in fields
        if field.type in _NAMING_TYPES
        and field.origin is None
        and not is_code(shown[field.name])
        and any(map(str.isalpha, shown[field.name]))
        and len(shown[field.name]) <= _MAX_VALUE_CHARACTERS
    ]
    dates = [field for field in fields if field.type is FieldType.DATE]
    yield from (shown[field.name] for field in (*kinds[:1], *names[:1], *dates[:1]))


def name_records(records: Sequence[DocumentRecord], schemas: Mapping[BucketId, Schema], question: str) -> list[str]:
    """Returns what each document of a list is called: the title, and before a code words that tell them apart.

    "Hotpot Hattie (SB2790)": nobody knows a booking by its number. Words of a field that the question names come first:
    "which *tenant* …".
    """
    titles = [record.title or str(record.doc_id) for record in records]
    buckets = {record.bucket for record in records}
    if len(buckets) != 1:
        return titles
    if not any(map(is_code, titles)):
        return _with_numbers(titles, records, schemas[next(iter(buckets))], question)
    if not all(map(is_code, titles)):
        return titles
    field = _find_naming_field(records, schemas[buckets.pop()], question)
    if field is None:
        return titles
    shown = (format_value(record.values[field.name], field) for record in records)
    return [f"{name} ({title})" for name, title in zip(shown, titles, strict=True)]


def _with_numbers(titles: list[str], records: Sequence[DocumentRecord], schema: Schema, question: str) -> list[str]:
    """ "Roof leak (20535)": adds the number in the first column to each title, if the question names this column."""
    first = next(iter(schema.fields), None)
    if first is None or first.type is not FieldType.NUMBER or first.unit:
        return titles
    if first.name not in list_named_fields(question, schema):
        return titles
    numbers = [record.values.get(first.name) for record in records]
    if any(not isinstance(number, float) or not number.is_integer() for number in numbers):
        return titles
    shown = [f"{number:.0f}" for number in numbers]
    if len(set(shown)) < len(shown):
        return titles
    return [title if number in title else f"{title} ({number})" for title, number in zip(titles, shown, strict=True)]


def _find_naming_field(records: Sequence[DocumentRecord], schema: Schema, question: str) -> SchemaField | None:
    """Returns the first field whose values are words, in each document other ones; None if there is none."""
    called = (field.name for field in schema.fields if _NAME_WORDS & set(field.label.casefold().split()))
    names = dict.fromkeys((*list_named_fields(question, schema), *called, *schema.by_name))
    for field in map(schema.by_name.__getitem__, names):
        values = [record.values.get(field.name) for record in records]
        if field.type not in _NAMING_TYPES or field.origin is not None or any(value in (None, ()) for value in values):
            continue
        if not _SORTING_WORDS.isdisjoint(field.label.casefold().split()):
            continue
        shown = [format_value(value, field) for value in values if value is not None]
        are_words = all(any(map(str.isalpha, text)) and not is_code(text) for text in shown)
        if are_words and len(set(shown)) == len(shown) and max(map(len, shown)) <= _MAX_VALUE_CHARACTERS:
            return field
    return None
