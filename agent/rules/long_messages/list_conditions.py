"""Reads a pasted list as one condition: the field whose values the entries are, or the ids of documents.

The question is planned with one entry in place of the list, so that words and grammar are read as usual; then the
condition on that entry becomes the condition on all of them.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from agent.assumptions import ListTaken
from agent.condition_walk import walk_conditions
from agent.decomposition import Decomposition, ExportRequest, LegAlternatives, PlannedQuestion
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.long_messages.list_entries import MAX_LIST_ENTRIES, ListEntry, PastedList
from storage.search.conditions import (
    DOC_ID_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    NotCondition,
    OrCondition,
    SemiJoinCondition,
    conjunction_of,
    conjuncts_of,
)
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import Clause, Leg, ListDocuments, Plan, ReadFields, Search

_MIN_KNOWN_SHARE = 0.5  # of the entries, to be read as values of a field
_WORD_PATTERN = re.compile(r"\S+")
_JOINING_MARKS = " ,;:.?!\n"
_MAX_BOUNDARY_WORDS = 8  # of a name at the end of the list that appears in a sentence with other words
_MAX_LINE_WORDS = 4  # of a line after the last value that may be another name, not a sentence
_MAX_NAMED_ENTRIES = 3  # of those that are not a value
_VALUE_OPERATORS = frozenset({ComparisonOperator.EQ, ComparisonOperator.IN})


@dataclass(frozen=True, slots=True)
class ListReading:
    """A message with its list in short form: `text` is what the rules read.

    `values`: of the field in each bucket, to which the entries lead; empty: the entries are ids of documents.
    `entry`: the entry that stands for the list in the text. `text_without_list`: the text without any entry, which is
    read first where the list is of ids of documents.
    """

    text: str
    text_without_list: str
    entry: str
    values: Mapping[BucketId, tuple[FieldName, tuple[str, ...]]]
    entries: tuple[str, ...]
    unknown_entries: tuple[str, ...]


def read_list(message: str, pasted_list: PastedList, lexicons: Mapping[BucketId, BucketLexicon]) -> ListReading | None:
    """Returns the reading of the list; None if its entries are neither values nor codes."""
    values = _EntryValues(pasted_list, lexicons)
    if not values.fields:
        return _read_document_ids(message, pasted_list) if pasted_list.is_of_codes else None
    entries = _bounded_entries(message, pasted_list, values)
    texts = tuple(dict.fromkeys(entry.text for entry in entries))
    entry = next(text for text in texts if values.knows_entry(text))
    return ListReading(
        text=f"{message[: entries[0].start]} {entry} {message[entries[-1].end :]}",
        text_without_list="",
        entry=entry,
        values={bucket: (name, values.values_of(texts, bucket)) for bucket, name in values.fields.items()},
        entries=texts,
        unknown_entries=tuple(text for text in texts if not values.knows_entry(text)),
    )


def _read_document_ids(message: str, pasted_list: PastedList) -> ListReading:
    entries = pasted_list.entries
    before, after = message[: entries[0].start], message[entries[-1].end :]
    return ListReading(
        text=f"{before} {entries[0].text} {after}",
        text_without_list=f"{before.rstrip(' :')} {after.lstrip(' ,;:')}".strip(),
        entry=entries[0].text,
        values={},
        entries=tuple(dict.fromkeys(entry.text for entry in entries)),
        unknown_entries=(),
    )


class _EntryValues:
    """The values that the entries of a list are, in the field of each bucket that knows most of them.

    `fields`: of the buckets that know as many entries as any bucket does, if that is enough.
    """

    def __init__(self, pasted_list: PastedList, lexicons: Mapping[BucketId, BucketLexicon]) -> None:
        self._lexicons = lexicons
        self._known: dict[BucketId, dict[str, Mapping[FieldName, tuple[str, ...]]]] = {}
        texts = list({entry.text: None for entry in pasted_list.entries})
        best: dict[BucketId, tuple[int, FieldName]] = {}
        for bucket, lexicon in lexicons.items():
            known = dict(zip(texts, lexicon.find_whole_values(texts), strict=True))
            self._known[bucket] = known
            counts = Counter(name for values in known.values() for name in values)
            for name, known_count in counts.most_common(1):
                best[bucket] = (known_count, name)
        most = max((count for count, _ in best.values()), default=0)
        self.fields = {
            bucket: name
            for bucket, (count, name) in best.items()
            if count == most and count >= _MIN_KNOWN_SHARE * len(texts)
        }

    def values_of(self, texts: Sequence[str], bucket: BucketId) -> tuple[str, ...]:
        found = (self._values_in(text, bucket) for text in texts)
        return tuple(dict.fromkeys(value for values in found for value in values))

    def knows_entry(self, text: str) -> bool:
        return any(self._values_in(text, bucket) for bucket in self.fields)

    def _values_in(self, text: str, bucket: BucketId) -> tuple[str, ...]:
        known = self._known[bucket]
        if text not in known:
            known[text] = self._lexicons[bucket].find_whole_values([text])[0]
        return known[text].get(self.fields[bucket], ())


def _bounded_entries(message: str, pasted_list: PastedList, values: _EntryValues) -> Sequence[ListEntry]:
    """Returns the entries from the first to the last value; lines after it belong to the list if they may be names.

    Of the text before and after, the words that are a value belong to the list: "… what we sold *to Acme*, …".
    """
    entries = pasted_list.entries
    positions = [index for index, entry in enumerate(entries) if values.knows_entry(entry.text)]
    last_position = positions[-1]
    if pasted_list.is_of_lines:
        while last_position + 1 < len(entries) and len(entries[last_position + 1].text.split()) <= _MAX_LINE_WORDS:
            last_position += 1
    first, last = entries[positions[0]], entries[last_position]
    before = _find_entries_before(message[: first.start], values)
    after = _find_entries_after(message, last.end, values)
    return [*before, *entries[positions[0] : last_position + 1], *after]


def _find_entries_before(text: str, values: _EntryValues) -> Sequence[ListEntry]:
    """Returns the values at the end of the text."""
    pieces = list(_WORD_PATTERN.finditer(text))[-_MAX_BOUNDARY_WORDS:]
    for piece in pieces:
        entry = ListEntry(text[piece.start() :].strip(_JOINING_MARKS), piece.start(), len(text))
        if values.knows_entry(entry.text):
            return [*_find_entries_before(text[: entry.start], values), entry]
    return []


def _find_entries_after(message: str, start: int, values: _EntryValues) -> Sequence[ListEntry]:
    """Returns the values that follow `message[:start]`, with "and" before them."""
    pieces = list(islice(_WORD_PATTERN.finditer(message, start), _MAX_BOUNDARY_WORDS))
    for piece in reversed(pieces):
        text = message[start : piece.end()].strip(_JOINING_MARKS).removeprefix("and ").removeprefix("or ")
        if values.knows_entry(text):
            return [ListEntry(text, start, piece.end()), *_find_entries_after(message, piece.end(), values)]
    return []


def asks_about_set(decomposition: Decomposition) -> bool:
    """Whether a question without its list is about a set of documents, so that the list restricts it."""
    if isinstance(decomposition, ExportRequest):
        return True
    return isinstance(decomposition, PlannedQuestion) and not any(
        leg.answer_form.reads_text or leg.answer_form.reads_values for leg in decomposition.plan.legs
    )


def names_entry(decomposition: Decomposition, reading: ListReading) -> bool:
    """Whether the plan looks for the document that has the entry of the list as its id."""
    return isinstance(decomposition, PlannedQuestion) and any(
        _is_id_of_entry(condition, reading)
        for leg in decomposition.plan.legs
        for clause in leg.search.clauses
        for _, condition in walk_conditions(clause.condition, clause.bucket)
    )


def apply_list(decomposition: Decomposition, reading: ListReading, buckets: Sequence[BucketId]) -> Decomposition:
    """Returns the decision with the condition on all entries. A question that says nothing else lists the documents.

    `buckets`: all that are visible.
    """
    assumption = ListTaken(
        entry_count=len(reading.entries),
        unknown_entries=reading.unknown_entries[:_MAX_NAMED_ENTRIES],
        unknown_count=len(reading.unknown_entries),
    )
    if isinstance(decomposition, ExportRequest):
        legs = tuple(_restrict_leg(leg, reading) for leg in decomposition.plan.legs)
        plan = replace(decomposition.plan, legs=legs)
        return replace(decomposition, plan=plan, assumptions=(assumption, *decomposition.assumptions))
    if not isinstance(decomposition, PlannedQuestion) or not _has_bucket(decomposition.plan, reading):
        chosen = tuple(reading.values) or tuple(buckets)
        leg = Leg(
            id=LegId("a"),
            question=reading.text,
            search=Search(clauses=tuple(Clause(bucket=bucket) for bucket in chosen), ranking_text=reading.text),
            answer_form=ListDocuments(),
        )
        decomposition = PlannedQuestion(plan=Plan(question=reading.text, legs=(leg,), language=decomposition.language))
    plan = replace(decomposition.plan, legs=tuple(_restrict_leg(leg, reading) for leg in decomposition.plan.legs))
    return replace(
        decomposition,
        plan=plan,
        alternatives=tuple(_keep_certain(alternatives, reading) for alternatives in decomposition.alternatives),
        assumptions=(assumption, *decomposition.assumptions),
        fallback=None,
    )


def _has_bucket(plan: Plan, reading: ListReading) -> bool:
    """Whether each leg is about documents that the list can restrict."""
    return not reading.values or all(
        any(clause.bucket in reading.values for clause in leg.search.clauses)
        or any(
            _widen_condition(clause.condition, clause.bucket, reading) != clause.condition
            for clause in leg.search.clauses
        )
        for leg in plan.legs
    )


def _keep_certain(alternatives: LegAlternatives, reading: ListReading) -> LegAlternatives:
    """Returns what is not understood; other readings would be of one entry."""
    unknown = tuple(words for words in alternatives.unknown_words if words.casefold() not in reading.entry.casefold())
    return LegAlternatives(leg=alternatives.leg, unknown_words=unknown, is_understood=alternatives.is_understood)


def _restrict_leg(leg: Leg, reading: ListReading) -> Leg:
    clauses = tuple(_restrict_clause(clause, reading) for clause in leg.search.clauses)
    kept = tuple(clause for clause in clauses if clause is not None)
    form = leg.answer_form
    if isinstance(form, ReadFields):
        buckets = {clause.bucket for clause in kept}
        form = replace(form, of_each=True, fields=tuple(field for field in form.fields if field[0] in buckets))
    return replace(leg, search=replace(leg.search, clauses=kept), answer_form=form)


def _restrict_clause(clause: Clause, reading: ListReading) -> Clause | None:
    """Returns the clause with the condition; None if the list is of values that its bucket does not have."""
    terms = tuple(term for term in clause.required_terms if term.casefold() not in reading.entry.casefold())
    if not reading.values:
        spellings = dict.fromkeys(spelling for entry in reading.entries for spelling in (entry, entry.upper()))
        condition = ComparisonCondition(
            field=DOC_ID_FIELD, op=ComparisonOperator.IN, value=tuple(spellings)[:MAX_LIST_ENTRIES]
        )
        kept = (part for part in conjuncts_of(clause.condition) if not _is_id_of_entry(part, reading))
        return replace(clause, condition=conjunction_of(*kept, condition), required_terms=terms)
    widened = _widen_condition(clause.condition, clause.bucket, reading)
    if widened == clause.condition:
        if clause.bucket not in reading.values:
            return None
        name, values = reading.values[clause.bucket]
        widened = conjunction_of(clause.condition, _condition_on(name, values, reading))
    return replace(clause, condition=widened, required_terms=terms)


def _is_id_of_entry(condition: Condition, reading: ListReading) -> bool:
    if not isinstance(condition, ComparisonCondition) or condition.field != DOC_ID_FIELD:
        return False
    members = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    return reading.entry in members


def _condition_on(name: FieldName, values: tuple[str, ...], reading: ListReading) -> ComparisonCondition:
    return ComparisonCondition(field=name, op=ComparisonOperator.IN, value=values, words=reading.entry)


def _widen_condition(condition: Condition, bucket: BucketId, reading: ListReading) -> Condition:
    """Returns the condition on documents of the bucket with all values in place of those of the entry."""
    match condition:
        case ComparisonCondition() if bucket in reading.values:
            name, values = reading.values[bucket]
            stands_for_list = _is_value_of_entry(condition, name, values) or _is_id_of_entry(condition, reading)
            return _condition_on(name, values, reading) if stands_for_list else condition
        case AndCondition(members):
            return AndCondition(tuple(_widen_condition(member, bucket, reading) for member in members))
        case OrCondition(members):
            return OrCondition(tuple(_widen_condition(member, bucket, reading) for member in members))
        case NotCondition(inner):
            return NotCondition(_widen_condition(inner, bucket, reading))
        case SemiJoinCondition(condition=inner):
            return replace(condition, condition=_widen_condition(inner, condition.bucket, reading))
        case _:
            return condition


def _is_value_of_entry(condition: ComparisonCondition, name: FieldName, values: tuple[str, ...]) -> bool:
    members = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    return condition.field == name and condition.op in _VALUE_OPERATORS and any(member in values for member in members)
