"""The rule extractor: each field's readers chosen by its type and its words, no model."""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import cast

from storage.ingest.extract import categories, dates, flags, names
from storage.ingest.extract.amounts import currencies, money
from storage.ingest.extract.candidates import Candidate, Candidates, Material
from storage.ingest.extract.categories import kinds_of
from storage.ingest.extract.clauses import Clauses, clauses_of, clauses_of_values
from storage.ingest.extract.days import days_in
from storage.ingest.extract.labelled import written_after
from storage.ingest.extract.numbers import numbers
from storage.ingest.extract.page import Page
from storage.ingest.extract.places import governing
from storage.ingest.extract.rows import Columns, columns_of, rows
from storage.ingest.extract.spans import said_of
from storage.ingest.extract.targets import Target, targets_of
from storage.ingest.extract.terms import term_ends
from storage.search.ids import FieldName
from storage.search.schema import Field, FieldType, Schema

Reader = Callable[[Page], Iterable[Candidate]]
_MOST = 200  # candidates of one field that are looked at
_BEGINNINGS = ("effective date", "agreement date")  # from which a term is reckoned
_KEPT = 5  # of a scalar field
_LIST_END = re.compile(r"[|\t]|\s{3,}|\.\s")
_MEMBER = 0.35  # below, a member of a list is not worth keeping


class RuleExtractor:
    """Implements `Extractor`. Keeps what it made ready for the schemas it was asked about last."""

    def __init__(self) -> None:
        self._ready: list[tuple[Schema, _Readers]] = []

    async def candidates(self, material: Material, schema: Schema) -> Candidates:
        return await asyncio.to_thread(self.read, material, schema)

    def read(self, material: Material, schema: Schema) -> Candidates:
        """The same, in this thread."""
        return self._readers(schema).read(Page(material))

    def _readers(self, schema: Schema) -> "_Readers":
        for known, readers in self._ready:
            if known is schema:
                return readers
        readers = _Readers(schema)
        self._ready = [(schema, readers), *self._ready[:7]]
        return readers


@dataclass(frozen=True, slots=True)
class _Derived:
    """A field whose value follows from that of a date field."""

    field: Field
    of: FieldName


class _Readers:
    """A schema made ready."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        targets = targets_of(schema)
        self._dates = [one for one in targets if one.field.type is FieldType.DATE]
        self._currencies = {one.field.currency_field for one in targets if one.field.currency_field}
        self._terms = [one for one in self._dates if one.concept and one.concept.reckoned]
        self._begins = [one.field.name for name in _BEGINNINGS for one in self._dates if _is_about(one, name)]
        self._derived = [found for one in targets if (found := self._derivation(one))]
        derived = {one.field.name for one in self._derived}
        self._readers = [(one.field, self._reader(one)) for one in targets if one.field.name not in derived]

    def read(self, page: Page) -> Candidates:
        found = {field.name: _ranked(field, islice(reader(page), _MOST)) for field, reader in self._readers}
        for target in self._terms:
            begins = next((found[one][0] for one in self._begins if found.get(one)), None)
            said = (one for one in found[target.field.name] if not begins or str(one.value) > str(begins.value))
            ends = (*said, *term_ends(page, target, begins))
            found[target.field.name] = _ranked(target.field, ends)
        for one in self._derived:
            found[one.field.name] = tuple(_part_of(day, one.field) for day in found.get(one.of, ()))
        return {name: candidates for name, candidates in found.items() if candidates}

    def _derivation(self, target: Target) -> _Derived | None:
        concept = target.concept
        if concept is None or concept.of != "date" or not self._dates:
            return None
        said = target.field.description.casefold()
        named = [one for one in self._dates if one.field.label.casefold() in said]
        agreed = [one for one in self._dates if one.concept and one.concept.name in ("agreement date", "purchase date")]
        return _Derived(target.field, (named or agreed or self._dates)[0].field.name)

    def _reader(self, target: Target) -> Reader:
        match target.field.type:
            case FieldType.NUMBER:
                return _number_reader(target)
            case FieldType.MONEY:
                return lambda page: money(page, target)
            case FieldType.DATE:
                alone = len(self._dates) == 1
                return lambda page: dates.dates(page, target, day_first=_day_first(page), alone=alone)
            case FieldType.CATEGORY | FieldType.TEXT:
                return self._text_reader(target)
            case FieldType.FLAG:
                clauses = clauses_of(target.field)
                return lambda page: flags.flags(page, target, clauses)
            case FieldType.LIST:
                return _list_reader(target)
            case FieldType.ROWS:
                shape: Columns = columns_of(target.field)
                return lambda page: rows(page, shape)

    def _text_reader(self, target: Target) -> Reader:
        if target.field.name in self._currencies:
            return currencies
        kinds, concept = kinds_of(target.field), target.concept
        place = concept.place if concept else ""

        def read(page: Page) -> Iterator[Candidate]:
            if kinds:
                yield from categories.of_kinds(page, target, kinds)
                return
            if concept and concept.name == "governing law":
                yield from (_sole(one) for one in governing(page, target, None))
            if concept and concept.near and concept.beside:
                yield from said_of(page, target)
                return
            yield from categories.written(page, target)
            if target.own:
                yield from names.called(page, target.own)
            if concept and concept.shapes:
                yield from categories.shaped(page, concept.shapes)
            if place == "title" or (concept and concept.name == "seller"):
                yield from names.titled(page, self._schema, cut=place == "title")
            if place == "heading":
                yield from names.heading(page)
            if place == "head":
                yield from names.at_head(page)

        return read


def _is_about(target: Target, concept: str) -> bool:
    return target.concept is not None and target.concept.name == concept


def _number_reader(target: Target) -> Reader:
    if target.concept and target.concept.name == "page count":
        return lambda page: [Candidate(value=float(page.pages), confidence=0.95)] if page.pages else []
    return lambda page: numbers(page, target)


def _list_reader(target: Target) -> Reader:
    concept = target.concept
    if concept and concept.name == "parties":
        return names.parties
    if concept and concept.name == "governing law":
        kinds = kinds_of(target.field)
        return lambda page: governing(page, target, kinds)
    known = clauses_of_values(target.field)
    if known:
        return lambda page: _clause_members(page, known)
    return lambda page: _members(page, target)


def _clause_members(page: Page, known: Mapping[str, Clauses]) -> Iterator[Candidate]:
    for value, clauses in known.items():
        for found in clauses.found_in(page):
            yield Candidate(value=(value,), confidence=found.confidence, start=found.start, end=found.end)


def _members(page: Page, target: Target) -> Iterator[Candidate]:
    """`Tags: red, green; blue`."""
    for _, place in written_after(page, target):
        line = page.line_at(place.start)
        rest = _LIST_END.search(page.text, place.start, line.end)
        text = page.text[place.start : rest.start() if rest else line.end]
        for member in text.rstrip(". ").replace(";", ",").split(","):
            if member.strip():
                confidence = place.confidence - 0.15
                yield Candidate(value=(member.strip(),), confidence=confidence, start=place.start, end=place.end)
        return


def _sole(one: Candidate) -> Candidate:
    member = cast(tuple[str, ...], one.value)[0]
    return Candidate(value=member, confidence=one.confidence, start=one.start, end=one.end)


def _part_of(day: Candidate, field: Field) -> Candidate:
    iso = str(day.value)
    is_month = field.type is not FieldType.NUMBER
    value = iso[:7] if is_month else float(iso[:4])
    return Candidate(value=value, confidence=day.confidence, start=day.start, end=day.end)


@lru_cache(maxsize=4)
def _day_first(page: Page) -> bool | None:
    """Whether dates of numbers begin with the day, by those that leave no doubt; else by where their money is spent."""
    for day in days_in(page.low, 0, 20_000):
        digits = page.low[day.start : day.end].replace("/", "-").replace(".", "-").split("-")
        if day.sure and len(digits) == 3 and digits[0].strip().isdigit() and len(digits[0].strip()) <= 2:
            return int(digits[0]) > 12
    best = max(currencies(page), key=lambda one: one.confidence, default=None)
    return False if best is not None and best.value == "USD" else None


def _ranked(field: Field, found: Iterable[Candidate]) -> Sequence[Candidate]:
    """Most confident first, each value once; of those alike the one that stands first."""
    best = dict[str, Candidate]()
    kept = list[Candidate]()
    for one in found:
        if field.type is FieldType.ROWS:
            kept.append(one)
            continue
        key = repr(one.value)
        before = best.get(key)
        if before is None or one.confidence > before.confidence or (before.start is None and one.start is not None):
            best[key] = _better(one, before)
    if field.type is FieldType.ROWS:
        return tuple(kept)
    ranked = sorted(best.values(), key=lambda one: -one.confidence)
    if field.type is FieldType.LIST:
        return tuple(one for one in ranked if one.confidence >= _MEMBER)
    return tuple(ranked[:_KEPT])


def _better(one: Candidate, before: Candidate | None) -> Candidate:
    """With the evidence of either and the higher confidence."""
    if before is None or one.start is not None:
        confidence = max(one.confidence, before.confidence if before else 0.0)
        return Candidate(value=one.value, confidence=confidence, start=one.start, end=one.end)
    return Candidate(value=one.value, confidence=one.confidence, start=before.start, end=before.end)
