"""Documents that a question names: what no other document says may be quoted as theirs."""

from collections.abc import Iterator, Sequence

from agent.decision import Under
from agent.outcome import FoundPassage
from agent.prune import spotters_of
from agent.reasoner import Material
from agent.rerank import Weighted
from agent.rules.tokens import is_identifier
from agent.wording import listed, value_words
from storage.search.conditions import TITLE, All, Compare, Condition, Op, conjuncts
from storage.search.index import Hit, Record
from storage.search.plan import Clause
from storage.search.schema import FieldType, Schema

_NAMING = (FieldType.CATEGORY, FieldType.LIST, FieldType.TEXT)
_WHOLE = (Op.EQ, Op.HAS, Op.IN)
_KINDS = 2.5  # documents that a value has on average, from which its field sorts them into kinds
_IDENTIFYING = 1.1  # documents a value of a field has on average, at most, for it to tell documents apart
_TOLD = 6  # values of a document that are told, where it does not say what was asked
_SHORT = 60  # characters of one


def confines(under: Under) -> bool:
    """Whether the documents asked about are named for sure: by an identifier, by a value that tells documents apart, by
    two names at once, or by a name that only one of them has.

    One of many names that a document holds (a party, a heading) names it for others as well: those may be quoted that
    speak of all the names (`speaking_of`).
    """
    clauses = under.leg.search.clauses
    if any(is_identifier(word) for clause in clauses for word in clause.required):
        return True
    if len(clauses) != 1 or not under.count:
        return False  # no document is named so: the words may have been no names
    names = [one for one in _names(clauses[0], under.material) if _calls(one, clauses[0], under.material)]
    alone = under.count == 1 and any(map(_is_written_as_name, names))
    return alone or len(names) > 1 or any(_identifies(one, clauses[0], under.material) for one in names)


def speaking_of(under: Under, found: Sequence[FoundPassage]) -> list[FoundPassage]:
    """Those of the passages, of whatever document, that mention every name the question's documents are called by; a
    kind of document need not be mentioned by those that are of it.
    """
    material = under.material
    said = [
        one.words
        for clause in under.leg.search.clauses
        for one in _names(clause, material)
        if _is_written_as_name(one) and _share(one, clause, material) < _KINDS
    ]
    if not said:
        return list(found)
    stems = {
        bucket: {term.text for words in said for term in analyser.terms(words)}
        for bucket, analyser in material.analysers.items()
    }
    weighed = [Weighted(word=stem, stem=stem, weight=1.0, known=True) for stem in set[str]().union(*stems.values())]
    spotters = spotters_of(weighed, material.analysers)

    def mentions(hit: Hit) -> bool:
        return stems[hit.bucket] <= spotters[hit.bucket].found(f"{hit.title}\n{hit.text}").keys()

    return [one for one in found if mentions(one.hit)]


def _names(clause: Clause, material: Material) -> Iterator[Compare]:
    """The conditions that may name something: values of fields that hold words, and words of the title."""
    by_name = material.schemas[clause.bucket].by_name
    for one in _compared(clause.condition):
        field = by_name.get(one.field)
        if one.field == TITLE or (field is not None and field.type in _NAMING and one.op in _WHOLE):
            yield one


def _compared(condition: Condition) -> Iterator[Compare]:
    for one in conjuncts(condition):
        if isinstance(one, Compare):
            yield one
        elif isinstance(one, All):
            yield from _compared(one)


def _calls(one: Compare, clause: Clause, material: Material) -> bool:
    """Whether it is what the document itself is called by, rather than what it holds or is of."""
    field = material.schemas[clause.bucket].by_name.get(one.field)
    is_own = field is None or field.type is not FieldType.LIST
    return is_own and _share(one, clause, material) < _KINDS


def _share(one: Compare, clause: Clause, material: Material) -> float:
    """How many documents a value of the field has, on average."""
    values = _values(one, clause, material)
    return sum(values.values()) / len(values) if values else 0.0


def _identifies(one: Compare, clause: Clause, material: Material) -> bool:
    values = _values(one, clause, material)
    alone = one.op is Op.IN or values.get(str(one.value), 0) == 1
    return alone and bool(values) and _share(one, clause, material) <= _IDENTIFYING


def _values(one: Compare, clause: Clause, material: Material) -> dict[str, int]:
    fields = material.vocabulary.fields
    found = next((own for own in fields if own.bucket == clause.bucket and own.field == one.field), None)
    return {value.value: value.count for value in found.values} if found else {}


def _is_written_as_name(one: Compare) -> bool:
    return any(c.isupper() or c.isdigit() for c in one.words)


def says_nothing_of(under: Under, record: Record, asked: Sequence[str]) -> str:
    """That the document is there, does not say what was asked, and what is known of it instead. Raw text."""
    schema = under.material.schemas[record.bucket]
    about = listed([f"“{word}”" for word in asked]) if asked else "that"
    text = f"{record.title} is there, but says nothing about {about}."
    told = list(_told(record, schema))
    return f"{text} Known of it: {'; '.join(told)}." if told else text


def _told(record: Record, schema: Schema) -> Iterator[str]:
    left = _TOLD
    for field in schema.fields:
        value = record.values.get(field.name)
        if value is None or field.type in (FieldType.ROWS, FieldType.TEXT) or not left:
            continue
        words = value_words(value, field)
        if len(words) <= _SHORT:
            left -= 1
            yield f"{field.label} {words}"
