"""Measures the extraction of values: precision, recall and F1 of each type, and how often each confidence is right.

    python -m tests.storage.ingest.extract.forms.measure forms [--held-out] [--inferred] [--groups] [--wrong N]
    python -m tests.storage.ingest.extract.forms.measure DATA SET… [--limit N] [--groups] [--wrong N]

The first measures invented forms; the second the sets of `parley eval` in DATA, with their metadata as the truth.
"""

import argparse
import asyncio
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, cast

from bot.eval.eval_sets import read_json_lines, read_suite
from storage.ingest.extract.annotation import BucketAnnotator
from storage.ingest.extract.candidates import ExtractionInput
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.labels.find_labels import find_labelled_texts
from storage.ingest.extract.labels.label_fields import fields_of_labels
from storage.ingest.extract.labels.labelled_texts import label_key_of
from storage.ingest.extract.labels.recurring_labels import LabelTally
from storage.ingest.extract.rule_extractor import RuleExtractor
from storage.ingest.schemas.inference import infer_schema
from storage.search.documents import Document, Passage
from storage.search.ids import BucketId, DocId, FieldName
from storage.search.schema import FieldType, Schema
from tests.storage.ingest.extract.forms.form_kinds import HELD_OUT_KINDS, TUNED_KINDS, FormKind
from tests.storage.ingest.extract.forms.form_layouts import (
    HELD_OUT_LAYOUTS,
    TUNED_LAYOUTS,
    FormDocument,
    make_documents,
    schema_of_kind,
)

_DAYS_BY_UNIT = {"day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}  # as contracts count them
_DURATION_TOLERANCE = 0.02  # between days counted in these ways and in exact months
_CONFIDENCE_STEPS = (0.0, 0.5, 0.7, 0.9)


@dataclass(slots=True)
class ValueCounts:
    """Counts of values: right, wrong, and stated but not read or read wrongly."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.right + self.missed, 1)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(2 * self.right + self.wrong + self.missed, 1)


@dataclass(slots=True)
class ExtractionScores:
    """What was read, by type, by layout or field, and by confidence."""

    by_type: dict[str, ValueCounts] = field(default_factory=lambda: defaultdict(ValueCounts))
    by_group: dict[str, ValueCounts] = field(default_factory=lambda: defaultdict(ValueCounts))
    by_confidence: dict[float, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    wrong_values: list[str] = field(default_factory=list[str])

    def add_value(self, kind: str, group: str, gold: object, value: object, where: str) -> None:
        right, wrong, missed = _compare_values(gold, value)
        for counts in (self.by_type[kind], self.by_group[group]):
            counts.right += right
            counts.wrong += wrong
            counts.missed += missed
        if wrong or missed:
            self.wrong_values.append(f"{where} [{group}] {kind}: stated {gold!r}, read {value!r}")

    def add_confidence(self, confidence: float, *, is_right: bool) -> None:
        step = max(step for step in _CONFIDENCE_STEPS if step <= confidence)
        self.by_confidence[step][is_right] += 1


def _compare_values(gold: object, value: object) -> tuple[int, int, int]:
    """Right, wrong and missed values; of a list its members."""
    if isinstance(gold, (tuple, list)) or isinstance(value, (tuple, list)):
        stated = {_plain(member) for member in _members_of(cast(object, gold))}
        read = {_plain(member) for member in _members_of(cast(object, value))}
        return len(stated & read), len(read - stated), len(stated - read)
    if value is None or gold is None:
        return 0, int(value is not None), int(gold is not None)
    is_right = _plain(gold) == _plain(value)
    return int(is_right), int(not is_right), int(not is_right)


def _members_of(value: object) -> Sequence[object]:
    if isinstance(value, (tuple, list)):
        return cast(Sequence[object], value)
    return () if value is None else (value,)


def _plain(value: object) -> object:
    if isinstance(value, (int, float)):
        return round(float(value), 6)
    return " ".join(str(value).casefold().split()).strip(" .,")


# -- reading


async def read_values(schema: Schema, inputs: Sequence[tuple[str, ExtractionInput]]) -> list[Document]:
    """The documents with their values, as ingestion stores them."""
    annotator = BucketAnnotator(schema, RuleExtractor(), {})
    documents = [_document_of(name, document) for name, document in inputs]
    filled = await annotator.fill_documents(documents)
    changed = set(annotator.settle_names())
    return [annotator.with_settled_names(each) if each.doc_id in changed else each for each in filled]


def _document_of(name: str, document: ExtractionInput) -> Document:
    return Document(
        doc_id=DocId(name),
        title=document.title,
        text=document.text,
        passages=tuple(document.passages),
    )


def _infer_schema(kind: FormKind, documents: Iterable[FormDocument]) -> Schema:
    """The schema of the labels that recur in the documents."""
    tally = LabelTally()
    for each in documents:
        tally.add_document(find_labelled_texts(DocumentText(each.document)))
    labelled = fields_of_labels(tally)
    return labelled.add_details(infer_schema(BucketId("papers"), labelled.profiles))


# -- forms


def measure_forms(kinds: Iterable[FormKind], seed: int, *, is_held_out: bool, is_inferred: bool) -> ExtractionScores:
    scores = ExtractionScores()
    layouts = HELD_OUT_LAYOUTS if is_held_out else TUNED_LAYOUTS
    for kind in kinds:
        forms = make_documents(kind, layouts, Random(f"{seed} {kind.noun}"), 3)
        schema = _infer_schema(kind, forms) if is_inferred else schema_of_kind(kind)
        documents = asyncio.run(read_values(schema, [(str(i), form.document) for i, form in enumerate(forms)]))
        names = _names_by_field(kind, schema) if is_inferred else {each.name: [each.name] for each in kind.fields}
        for form, document in zip(forms, documents, strict=True):
            _score_form(kind, form, document, schema, names, scores)
    return scores


def _names_by_field(kind: FormKind, schema: Schema) -> Mapping[str, list[str]]:
    """The inferred fields with a label of each field."""
    keys = {each.name: set(map(label_key_of, each.labels)) for each in kind.fields}
    return {
        name: [each.name for each in schema.fields if own & set(map(label_key_of, (*each.labels, each.title)))]
        for name, own in keys.items()
    }


def _score_form(
    kind: FormKind,
    form: FormDocument,
    document: Document,
    schema: Schema,
    names: Mapping[str, list[str]],
    scores: ExtractionScores,
) -> None:
    for each in kind.fields:
        given = [name for name in names[each.name] if FieldName(name) in document.values]
        read_unit = schema.by_name[FieldName(given[0])].unit if given else ""
        value = document.values[FieldName(given[0])] if given else None
        gold = form.gold.get(each.name)
        value = _in_unit_of_gold(value, read_unit, gold, each.unit)
        where = f"{kind.noun} {document.doc_id} {each.name}"
        scores.add_value(_type_name_of(each.type, each.unit), form.layout, gold, value, where)
        for annotation in document.annotations:
            if annotation.field in names[each.name]:
                unit = schema.by_name[annotation.field].unit
                stated = _in_unit_of_gold(annotation.value, unit, gold, each.unit)
                scores.add_confidence(annotation.confidence, is_right=_is_right(gold, stated))


def _type_name_of(kind: FieldType, unit: str) -> str:
    return "duration" if unit in _DAYS_BY_UNIT else kind.value


def _in_unit_of_gold(value: object, unit: str, gold: object, gold_unit: str) -> object:
    """A duration in the unit of the true one, which it equals if they differ by how long a month is only."""
    is_duration = unit in _DAYS_BY_UNIT and gold_unit in _DAYS_BY_UNIT
    if not is_duration or not isinstance(value, (int, float)) or not isinstance(gold, (int, float)):
        return value
    converted = value * _DAYS_BY_UNIT[unit] / _DAYS_BY_UNIT[gold_unit]
    return gold if abs(converted - gold) <= _DURATION_TOLERANCE * abs(gold) else converted


def _is_right(gold: object, value: object) -> bool:
    if isinstance(value, tuple):
        stated = {_plain(member) for member in _members_of(gold)}
        return {_plain(member) for member in cast(tuple[object, ...], value)} <= stated
    return gold is not None and _plain(gold) == _plain(value)


# -- sets


def measure_set(folder: Path, name: str, limit: int | None, scores: ExtractionScores) -> None:
    """The values of a set's documents against their metadata."""
    suite = read_suite(folder, [name], 1)
    eval_set = suite.selected_sets[0]
    schema = eval_set.schema
    assert schema is not None
    records = [data for _, data in read_json_lines(eval_set.documents_path)]
    step = max(1, len(records) // limit) if limit else 1
    records = records[::step][: limit or None]
    inputs = [(str(data["doc_id"]), _input_of_record(data)) for data in records]
    documents = asyncio.run(read_values(schema, inputs))
    types = {each.name: each.type for each in schema.fields}
    for data, document in zip(records, documents, strict=True):
        metadata = _metadata_of(data)
        for each in schema.fields:
            if each.type is FieldType.ROWS or not _is_stated_somewhere(records, each.name):
                continue
            gold, value = metadata.get(each.name), document.values.get(each.name)
            group = f"{name} {each.name}"
            scores.add_value(
                _type_name_of(types[each.name], each.unit), group, gold or None, value or None, str(document.doc_id)
            )
            for annotation in document.annotations:
                if annotation.field == each.name:
                    scores.add_confidence(annotation.confidence, is_right=_is_right(gold, annotation.value))


def _is_stated_somewhere(records: Sequence[Mapping[str, Any]], name: str) -> bool:
    return any(_metadata_of(record).get(name) not in (None, "", []) for record in records)


def _metadata_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], record.get("metadata") or {})


def _input_of_record(data: Mapping[str, Any]) -> ExtractionInput:
    starts = cast(Sequence[int], data.get("page_starts") or ())
    passages = tuple(Passage(start=0, end=0, page=number) for number in ((len(starts),) if starts else ()))
    return ExtractionInput(title=str(data.get("title") or ""), text=str(data["text"]), passages=passages)


# -- the report


def describe_scores(scores: ExtractionScores, *, has_groups: bool) -> Iterator[str]:
    yield from _describe_counts("type", scores.by_type)
    if has_groups:
        yield from _describe_counts("layout or field", scores.by_group)
    yield "\n| confidence | values | right |\n|---|---|---|"
    for step, counts in sorted(scores.by_confidence.items()):
        total = counts.total()
        yield f"| from {step:.1f} | {total} | {counts[True] / total:.2f} |"


def _describe_counts(title: str, counts_by_name: Mapping[str, ValueCounts]) -> Iterator[str]:
    counted = counts_by_name.values()
    every = ValueCounts(
        sum(counts.right for counts in counted),
        sum(counts.wrong for counts in counted),
        sum(counts.missed for counts in counted),
    )
    yield f"\n| {title} | right | wrong | missed | precision | recall | F1 |\n|---|---|---|---|---|---|---|"
    for name, counts in (*sorted(counts_by_name.items()), ("all", every)):
        yield (
            f"| {name} | {counts.right} | {counts.wrong} | {counts.missed} "
            f"| {counts.precision:.2f} | {counts.recall:.2f} | {counts.f1:.2f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="`forms`, or a folder with sets")
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--held-out", action="store_true", help="the kinds and layouts that no rule was tuned to")
    parser.add_argument("--inferred", action="store_true", help="with fields made of the labels that recur")
    parser.add_argument("--limit", type=int, help="documents of each set")
    parser.add_argument("--groups", action="store_true", help="by layout, or by field of a set")
    parser.add_argument("--wrong", type=int, default=0, help="show so many wrong values")
    options = parser.parse_args()
    started = time.process_time()
    if options.data == "forms":
        kinds = HELD_OUT_KINDS if options.held_out else TUNED_KINDS
        scores = measure_forms(kinds, options.seed, is_held_out=options.held_out, is_inferred=options.inferred)
    else:
        scores = ExtractionScores()
        for name in options.sets:
            measure_set(Path(options.data), name, options.limit, scores)
    sys.stdout.write("\n".join(describe_scores(scores, has_groups=options.groups)))
    sys.stdout.write(f"\n{time.process_time() - started:.1f} s of processor time\n")
    for line in Random(options.seed).sample(scores.wrong_values, min(options.wrong, len(scores.wrong_values))):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
