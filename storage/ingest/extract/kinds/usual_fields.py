"""The fields that documents of a kind usually have: a contract an end, an invoice a supplier.

They are found where the texts give them, by a label or in a sentence; no two documents need to use the same words.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import yaml

from storage.ingest.extract.candidates import CandidatesByField, ExtractionInput, ValueCandidate
from storage.ingest.extract.concepts import concept_of
from storage.ingest.extract.labels.label_fields import LabelledField, LabelledFields
from storage.ingest.extract.labels.labelled_texts import label_key_of
from storage.ingest.extract.labels.prose_values import says_little
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.schemas.inference import infer_schema
from storage.ingest.schemas.synonyms import add_synonyms
from storage.ingest.schemas.values import field_name_for
from storage.search.ids import BucketId, FieldName
from storage.search.schema import FieldType, Schema, SchemaField

_FIELDS_FILE = Path(__file__).with_name("usual_fields.yaml")
_SCRATCH_BUCKET = BucketId("documents")
_MIN_VALUES = 2  # documents with a value
_MIN_CONFIDENCE = 0.6  # of a value that counts
_MAX_FACET_VALUES = 50
_MIN_CURRENCY_CONFIDENCE, _MIN_CURRENCY_SHARE = 0.8, 0.9
_IS_NAME = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)*")  # "Total due", but not "Total due £"
_COMPOUND_LANGUAGE = "de"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsualField:
    """A field with its values in the surveyed documents, by their numbers."""

    field: SchemaField
    concept: str
    values_by_document: Mapping[int, ValueCandidate]
    kinds: frozenset[str] = frozenset()  # of the documents that have it; empty: all


@dataclass(frozen=True, slots=True, kw_only=True)
class _FieldEntry:
    concept: str
    type: FieldType
    unit: str
    share: float
    titles: Mapping[str, str]


def find_usual_fields(
    documents: Mapping[int, ExtractionInput],
    nouns: Mapping[int, str],
    language: str,
    kind_by_document: Mapping[int, str],
) -> Iterator[UsualField]:
    """Yields the usual fields that enough of the documents have.

    `nouns`: what each document is called. `kind_by_document`: its kind, where the bucket has documents of several.
    """
    for kind_nouns, entries in _load_entries():
        numbers = [number for number in documents if _is_called(nouns.get(number, ""), kind_nouns, language)]
        if len(numbers) < _MIN_VALUES:
            continue
        fields = {entry.concept: _field_for(entry, language) for entry in entries}
        schema = Schema(
            bucket=_SCRATCH_BUCKET,
            fields=(*fields.values(), *map(_currency_field_of, filter(_is_money, fields.values()))),
            language=language,
        )
        extractor = RuleExtractor()
        found = {number: extractor.extract_in_thread(documents[number], schema) for number in numbers}
        for entry in entries:
            field = fields[entry.concept]
            values = {
                number: candidates[0]
                for number, by_field in found.items()
                if (candidates := by_field.get(field.name)) and _is_certain(candidates[0], field)
            }
            distinct = {repr(candidate.value) for candidate in values.values()}
            varies = len(distinct) > 1 or (field.type is FieldType.FLAG and len(values) < len(numbers))
            if len(values) < max(_MIN_VALUES, entry.share * len(numbers)) or not varies:
                continue  # a value that all have tells nothing; a stamp that some have does
            if _is_money(field):
                field = replace(field, currency=_only_currency(field, found.values()), currency_field=None)
                if not field.currency:
                    continue
            is_facet = field.type is not FieldType.CATEGORY or len(distinct) <= _MAX_FACET_VALUES
            yield UsualField(
                field=replace(_with_synonyms(field, language), facet=is_facet),
                concept=entry.concept,
                values_by_document=values,
                kinds=frozenset(kind_by_document[number] for number in values if number in kind_by_document),
            )


def _is_certain(candidate: ValueCandidate, field: SchemaField) -> bool:
    """Whether a value counts; a slip without a letterhead begins with what was bought: "1 Chicken"."""
    is_name = field.type is not FieldType.CATEGORY or str(candidate.value)[:1].isalpha()
    return candidate.confidence >= _MIN_CONFIDENCE and is_name


def _is_money(field: SchemaField) -> bool:
    return field.type is FieldType.MONEY


def _currency_field_of(field: SchemaField) -> SchemaField:
    return SchemaField(name=field.currency_field or field.name, type=FieldType.CATEGORY, title="Currency")


def _only_currency(field: SchemaField, found: Iterable[CandidatesByField]) -> str:
    """Returns the currency of nearly all documents that show one; empty if they show none, or several."""
    name = field.currency_field
    firsts = [by_field[name][0] for by_field in found if name is not None and by_field.get(name)]
    counts = Counter(str(first.value) for first in firsts if first.confidence >= _MIN_CURRENCY_CONFIDENCE)
    code, count = counts.most_common(1)[0] if counts else ("", 0)
    return code if count >= _MIN_CURRENCY_SHARE * counts.total() else ""


def join_with_labels(
    usual: Iterable[UsualField], labelled: LabelledFields, taken_names: Collection[str]
) -> tuple[LabelledFields, list[UsualField]]:
    """Returns the fields of labels and the usual fields: of a concept the one that more documents have.

    A usual field takes the name of the commonest label that it stands for. `taken_names` are fields of the metadata.
    """
    kept = list[UsualField]()
    for each in usual:
        by_name = infer_schema(_SCRATCH_BUCKET, labelled.profiles).by_name
        same = [field for field in labelled.fields if _is_of_concept(by_name[field.name], each.concept)]
        covered = {document for field in same for document in field.values_by_document}
        if len(each.values_by_document) <= len(covered):
            continue
        dropped = {field.name for field in same}
        labelled = replace(
            labelled,
            fields=[field for field in labelled.fields if field.name not in dropped],
            profiles={name: profile for name, profile in labelled.profiles.items() if name not in dropped},
        )
        commonest = max(same, key=lambda field: len(field.values_by_document), default=None)
        named = (
            replace(each.field, name=commonest.name, title=commonest.title, synonyms=_words_for(each, same))
            if commonest and _IS_NAME.fullmatch(commonest.title)
            else each.field
        )
        names = {*taken_names, *(field.name for field in labelled.fields), *(other.field.name for other in kept)}
        if named.name not in names:
            kept.append(replace(each, field=named))
    return labelled, kept


def _words_for(usual: UsualField, same: Sequence[LabelledField]) -> tuple[str, ...]:
    """Returns the synonyms with the field's usual title and the labels that documents use."""
    labels = [label_key_of(label) for field in same for label in field.labels]
    said = (key for key in labels if key not in _nouns_of_documents() and not says_little(key))
    return tuple(dict.fromkeys((label_key_of(usual.field.title), *usual.field.synonyms, *said)))


def _is_of_concept(field: SchemaField, concept: str) -> bool:
    found = concept_of(field)
    return found is not None and found.name == concept


def _is_called(noun: str, kind_nouns: Collection[str], language: str) -> bool:
    last = noun.split()[-1] if noun else ""
    is_compound = language == _COMPOUND_LANGUAGE and any(last.endswith(each) for each in kind_nouns)
    return noun in kind_nouns or last in kind_nouns or is_compound


def _field_for(entry: _FieldEntry, language: str) -> SchemaField:
    title = entry.titles.get(language, entry.titles["en"])
    name = field_name_for(title)
    currency_field = FieldName(f"{name} currency") if entry.type is FieldType.MONEY else None
    return SchemaField(name=name, type=entry.type, title=title, unit=entry.unit, currency_field=currency_field)


def _with_synonyms(field: SchemaField, language: str) -> SchemaField:
    """Returns the field with what people call it; "invoice" is the document, and not its date."""
    schema = Schema(bucket=_SCRATCH_BUCKET, fields=(field,), language=language)
    named = add_synonyms(schema, lambda _: False).fields[0]
    return replace(named, synonyms=tuple(word for word in named.synonyms if word not in _nouns_of_documents()))


@lru_cache(maxsize=1)
def _nouns_of_documents() -> frozenset[str]:
    return frozenset[str]().union(*(nouns for nouns, _ in _load_entries()))


@lru_cache(maxsize=1)
def _load_entries() -> Sequence[tuple[frozenset[str], Sequence[_FieldEntry]]]:
    kinds = cast(Sequence[Mapping[str, Any]], yaml.safe_load(_FIELDS_FILE.read_text(encoding="utf-8")))
    return [
        (
            frozenset(kind["documents"]),
            [
                _FieldEntry(
                    concept=entry["concept"],
                    type=FieldType(entry["type"]),
                    unit=entry.get("unit", ""),
                    share=entry["share"],
                    titles=entry["titles"],
                )
                for entry in kind["fields"]
            ],
        )
        for kind in kinds
    ]
