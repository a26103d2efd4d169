"""The plan of a comparison: a leg for each side, the same asked of all of them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.reasoner import Doubt, Planned, Reread
from agent.rules.atoms import Literal
from agent.rules.comparing import Masked, masked, without_ranges
from agent.rules.groups import group_of
from agent.rules.intent import wanted_of
from agent.rules.language import FUNCTIONS, MEASURES, OF_MONEY, SPENDING, SUPERLATIVES
from agent.rules.lexicon import Lexicon, Mention
from agent.rules.reading import Reading
from agent.rules.sides import Sides, sides_of
from agent.rules.tokens import tokens_of
from agent.wording import condition_words, listed
from storage.search.conditions import (
    Compare,
    Condition,
    Missing,
    Not,
    Op,
    all_of,
    conjuncts,
    contains_text,
    fields_of,
    titled,
)
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import (
    Clause,
    Combine,
    Compute,
    FindPassages,
    Function,
    Group,
    Leg,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    Summarise,
    Wanted,
)
from storage.search.schema import FieldType

_JOINED = re.compile(r"\band\b|[/&].*:|:.*[/&]", re.IGNORECASE)
_NUMERIC = (FieldType.NUMBER, FieldType.MONEY)
_RANGE = (Function.AVERAGE, Function.MINIMUM, Function.MAXIMUM)
_OF_DAYS = frozenset({"older", "newer", "earlier", "later"})
_GROUPED = (FieldType.CATEGORY, FieldType.LIST, FieldType.FLAG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How a text is read: its literals, and a reading per bucket, the best first."""

    literals: Callable[[str], Sequence[Literal]]
    readings: Callable[[str], Sequence[Reading]]
    asks_for_list: Callable[[str], bool]
    known: Mapping[BucketId, Lexicon]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A plan with a leg for each side. Not `sure`: the sides may be words that no title holds."""

    planned: Planned
    sure: bool


def compared(question: str, reader: Reader) -> Comparison | None:
    """The plan of a question that sets two to four things side by side; None for any other."""
    found = _found(question, reader)
    if found is None:
        return None
    asked, sides, whole = found
    best = whole[0]
    wanted = _wanted(asked, sides, best, reader.known[best.bucket])
    if isinstance(wanted, FindPassages) and not sides.known:
        return None  # what any text says of both is one question
    each = [_in_bucket(reader.readings(one), best.bucket, wanted) for one in sides.in_full()]
    frame = _Frame(sides=sides, topic=_topic(sides, best), wanted=wanted, known=reader.known, named=_is_named(each))
    legs = tuple(
        _leg(frame, LegId(chr(97 + at)), words, sides.sides[at], each[at])
        for at, words in enumerate(sides.questions(of_fields=_asks_fields(wanted)))
    )
    if len({leg.search for leg in legs}) < len(legs):
        return None  # the sides are one and the same set: nothing is compared
    doubts = tuple(
        Doubt(leg=leg.id, doubtful=_doubtful(leg), otherwise=_in_its_text(leg, reader.known[best.bucket]))
        for leg in legs
    )
    plan = Plan(question=question, legs=legs, combine=Combine.COMPARE)
    return Comparison(planned=Planned(plan=plan, doubts=doubts), sure=sides.known)


def _is_named(each: Sequence[Reading]) -> bool:
    """Whether something said of the sides tells which bucket they lie in."""
    return any(one.has_noun or (one.is_sure and (one.exact or one.asked)) for one in each)


def _found(question: str, reader: Reader) -> tuple[Masked, Sides, Sequence[Reading]] | None:
    """The sides, and the readings of the question without its comparing words."""
    asked = masked(question, reader.literals(question))
    if not asked.cues and not _may_join(question, reader):
        return None  # most questions: nothing is set beside anything
    attempts = [asked]
    if asked.explicit:
        attempts.append(without_ranges(asked))
    for one in attempts:
        readings = reader.readings(one.text)
        sides = _sides(one, readings, reader)
        if sides is not None:
            return one, sides, readings
    return None


def _may_join(question: str, reader: Reader) -> bool:
    """Whether things are named side by side, and not to list them; a colon sets a field before or behind them."""
    return _JOINED.search(question) is not None and (":" in question or not reader.asks_for_list(question))


def _sides(asked: Masked, readings: Sequence[Reading], reader: Reader) -> Sides | None:
    return sides_of(asked, readings, reader.literals(asked.text), reader.known)


def _in_bucket(readings: Sequence[Reading], bucket: BucketId, wanted: Wanted) -> Reading:
    """The reading in that bucket, unless a side that is only counted names documents of another."""
    shared = next(one for one in readings if one.bucket == bucket)
    counts = isinstance(wanted, Compute) and wanted.functions == (Function.COUNT,) and wanted.group is None
    return readings[0] if counts and readings[0].has_noun and not shared.has_noun else shared


# -- what is asked of each side


def _wanted(asked: Masked, sides: Sides, whole: Reading, lexicon: Lexicon) -> Wanted:
    """Numbers where they are asked for, values where fields are, what the text says where there are other words."""
    wanted = wanted_of(whole, lexicon)
    group = group_of(whole, lexicon)
    if group is not None and not isinstance(wanted, Compute):
        return _by_group(group, lexicon)
    names = sides.fields or graded_fields(asked.graded, lexicon)
    if isinstance(wanted, ListDocuments) and wanted.limit is not None and _same_end_of_each(whole):
        return wanted  # "the cheapest panel of A with the cheapest of B"
    if isinstance(wanted, Compute) and not (sides.names_fields and not _says_number(wanted, whole)):
        return wanted
    names = names or _of_money(sides, whole, lexicon)
    if names:
        return _of_fields(names, sides, lexicon)
    if _topic(sides, whole):
        return FindPassages()
    if sides.plural or sides.grouped:
        return ListDocuments()
    return ReadFields(fields=tuple((lexicon.bucket, name) for name in telling_fields(lexicon)))


def _same_end_of_each(whole: Reading) -> bool:
    """Whether more than one superlative is said, of one direction; each side has its own."""
    words = [token.word for token in whole.tokens]
    phrases = [*zip(words), *pairwise(words)]
    ends = [FUNCTIONS[phrase] for phrase in phrases if phrase in SUPERLATIVES]
    return len(ends) > 1 and len(set(ends)) == 1


def _by_group(group: Group, lexicon: Lexicon) -> Compute:
    """ "A and B by year": what was paid, where the documents tell of money; else how many there are."""
    amounts = [one.name for one in lexicon.schema.fields if one.type is FieldType.MONEY]
    if not amounts:
        return Compute(functions=(Function.COUNT,), group=group)
    return Compute(functions=(Function.SUM,), field=amounts[0], group=group)


def _of_money(sides: Sides, whole: Reading, lexicon: Lexicon) -> tuple[FieldName, ...]:
    """ "Spending at one shop and another" speaks of money, whatever the field is called."""
    speaks = {one.word for one in whole.tokens} & (OF_MONEY | SPENDING)
    amounts = tuple(one.name for one in lexicon.schema.fields if one.type is FieldType.MONEY)
    return amounts[:1] if speaks and (sides.grouped or sides.plural) else ()


def _says_number(wanted: Compute, whole: Reading) -> bool:
    """A superlative between the sides ("which has the longest …") asks for each side's own value."""
    return not set(wanted.functions) <= {Function.MINIMUM, Function.MAXIMUM}


def _asks_fields(wanted: Wanted) -> bool:
    """Values are asked for, or the range that stands in for them; not a sum or a count in so many words."""
    if not isinstance(wanted, Compute):
        return isinstance(wanted, ReadFields)
    return wanted.functions == _RANGE or (wanted.group is not None and wanted.functions == (Function.COUNT,))


def graded_fields(words: Sequence[str], lexicon: Lexicon) -> tuple[FieldName, ...]:
    """ "Which is heavier" speaks of weight, "which is older" of the day."""
    for word in words:
        measure = MEASURES.get(word)
        tokens = tokens_of(measure, lexicon.analyser) if measure else ()
        found = [one.meaning for one in lexicon.links(tokens) if isinstance(one.meaning, Mention)]
        if found:
            return (found[0].field,)
        dates = [one.name for one in lexicon.schema.fields if one.type is FieldType.DATE]
        if word in _OF_DAYS and dates:
            natural = lexicon.schema.natural_order
            return (natural.field if natural is not None and natural.field in dates else dates[0],)
    return ()


def _of_fields(names: Sequence[FieldName], sides: Sides, lexicon: Lexicon) -> Wanted:
    """Of groups: the range of a number, or how often each value occurs; of documents: the values."""
    field = lexicon.field(names[0])
    if sides.grouped and len(names) == 1 and field.type is FieldType.MONEY:
        return Compute(functions=(Function.SUM,), field=field.name)
    several = sides.plural or sides.grouped
    if several and len(names) == 1 and field.type in _NUMERIC:
        return Compute(functions=_RANGE, field=field.name)
    if several and len(names) == 1 and field.type in _GROUPED:
        return Compute(functions=(Function.COUNT,), group=Group(field=field.name))
    return ReadFields(fields=tuple((lexicon.bucket, name) for name in names))


def _topic(sides: Sides, whole: Reading) -> tuple[str, ...]:
    """The words that all sides share and that mean no field."""
    own = " ".join(sides.sides)
    return tuple(one for one in (*whole.leftovers, *whole.quoted) if one not in own)


# -- the set of each side


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """What all legs share."""

    sides: Sides
    topic: tuple[str, ...]
    wanted: Wanted
    known: Mapping[BucketId, Lexicon]
    named: bool  # the bucket is known


def _leg(frame: _Frame, leg_id: LegId, question: str, side: str, reading: Reading) -> Leg:
    own = tuple(one for one in reading.leftovers if one in side)
    match frame.wanted:
        case Compute() | ListDocuments() | Summarise():
            clause = Clause(bucket=reading.bucket, condition=reading.condition, required=(*own, *reading.quoted))
            search = Search(clauses=(clause,), ranking=frame.sides.topic or question)
            return Leg(id=leg_id, question=question, search=search, wanted=frame.wanted)
        case FindPassages():
            return _text_leg(frame, leg_id, question, reading, own)
        case ReadFields():
            return _document_leg(frame, leg_id, question, reading, own)


def _text_leg(frame: _Frame, leg_id: LegId, question: str, reading: Reading, own: Sequence[str]) -> Leg:
    """What the side's documents say; anywhere, where nothing known names them."""
    if reading.exact and reading.conditions:
        condition = all_of(reading.condition, *_titles(own, identifiers=True))
        clauses = (Clause(bucket=reading.bucket, condition=condition, required=reading.quoted),)
        search = Search(clauses=clauses, ranking=" ".join(frame.topic) or question)
    else:
        clauses = tuple(Clause(bucket=bucket, required=reading.quoted) for bucket in frame.known)
        search = Search(clauses=clauses, ranking=question)
    return Leg(id=leg_id, question=question, search=search, wanted=FindPassages())


def _document_leg(frame: _Frame, leg_id: LegId, question: str, reading: Reading, own: Sequence[str]) -> Leg:
    """The values of a document that conditions name, or words of its title: in any bucket, where none is known."""
    assert isinstance(frame.wanted, ReadFields)  # noqa: S101 - as `_leg` calls it
    asked = {name for _, name in frame.wanted.fields}
    told = reading.conditions if frame.named else ()
    conditions = [one for one in told if not _is_asked(one, asked, frame.known[reading.bucket])]
    titles = _titles(own, identifiers=reading.exact and bool(conditions))
    buckets = [reading.bucket] if frame.named else sorted(frame.known)
    clauses = tuple(
        Clause(bucket=bucket, condition=all_of(*conditions, *titles), required=reading.quoted) for bucket in buckets
    )
    fields = frame.wanted.fields
    if not frame.named:
        fields = tuple((bucket, name) for bucket in buckets for name in telling_fields(frame.known[bucket]))
    search = Search(clauses=clauses, ranking=frame.sides.topic or question)
    return Leg(id=leg_id, question=question, search=search, wanted=ReadFields(fields=fields))


def _titles(words: Sequence[str], *, identifiers: bool) -> list[Condition]:
    """The words as parts of the title; only `identifiers`, where something else names the document."""
    return [titled(word) for word in words if not identifiers or any(c.isdigit() for c in word)]


def telling_fields(lexicon: Lexicon) -> tuple[FieldName, ...]:
    """What documents are set side by side by, where no field is named."""
    return tuple(one.name for one in lexicon.schema.fields if one.type is not FieldType.ROWS)


def _is_asked(condition: Condition, asked: set[FieldName], lexicon: Lexicon) -> bool:
    """What is asked is no condition: "do they differ in outdoor use", "do they have the same law"."""
    names = fields_of(condition)
    by_name = lexicon.schema.by_name
    flags = all(name in by_name and by_name[name].type is FieldType.FLAG for name in names)
    speaks_of = isinstance(condition, Not) and isinstance(condition.condition, Missing)
    return bool(names & asked) and (flags or speaks_of)


def _in_its_text(leg: Leg, lexicon: Lexicon) -> tuple[Reread, ...]:
    """A document named by a list's members too may be called something that its kind does not say: then it says so."""
    if not isinstance(leg.wanted, ReadFields) or leg.search.buckets != (lexicon.bucket,):
        return ()
    clause = leg.search.clauses[0]
    told = [*conjuncts(clause.condition)]
    named = [one for one in told if isinstance(one, Compare) and one.op is Op.HAS]
    kinds = [
        one
        for one in told
        if isinstance(one, Compare) and one.op in (Op.EQ, Op.IN) and one.words and one.field in lexicon.schema.by_name
    ]
    if len(named) < 2 or not kinds:
        return ()
    said = [contains_text(one.words) for one in kinds]
    condition = all_of(*(one for one in told if one not in kinds), *said)
    words = listed([condition_words(one, lexicon.schema) for one in said])
    clauses = (Clause(bucket=clause.bucket, condition=condition, required=clause.required),)
    return (Reread(words=f"one that {words}", search=Search(clauses=clauses, ranking=leg.search.ranking)),)


def _doubtful(leg: Leg) -> tuple[str, ...]:
    """Required words that need not be meant: no names, no identifiers."""
    words = {word for clause in leg.search.clauses for word in clause.required}
    return tuple(sorted(word for word in words if word.islower() and not any(c.isdigit() for c in word)))
