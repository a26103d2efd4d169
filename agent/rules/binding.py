"""Literals find their fields: by dimension, value range, and how near the field is spoken of."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TypeAlias

from agent.rules.atoms import Days, Literal, Quantity
from agent.rules.cover import Cover, covered_by, unit_fits
from agent.rules.language import COMPARATORS, FILLER, STOP
from agent.rules.lexicon import Lexicon, Link, Mention, Partly, Valued
from agent.rules.tokens import Token, is_plural
from agent.rules.units import converted
from storage.search.conditions import All, Any, Compare, Condition, InRow, Not, Op
from storage.search.ids import FieldName
from storage.search.schema import Bare, Field, FieldType
from storage.search.text import fold

_ALIKE = 0.35  # readings of a literal whose scores differ by less are an ambiguity
_POSSIBLE = 2.0  # readings that differ by less are possible, should the best lead nowhere
_FAR = 20  # times the most, or a part of the least, that a field holds
_BEYOND = 3.0  # what a number that far away takes from a field, where it lies within another
_NEAR = 6  # tokens from a literal within which a field is spoken of for it
_LONGEST_LABEL = 3  # words
_BETWEEN_LABEL_AND_VALUE = COMPARATORS | frozenset("of is are was were a an the to no not equal equals than".split())
_BEFORE_LABEL = frozenset("with whose a an the having has have of and or where its their for".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another reading of one constraint: `instead` for `condition`, and all conditions as they then are."""

    condition: Condition
    instead: Condition
    conditions: tuple[Condition, ...] = ()


Key: TypeAlias = tuple[FieldName, FieldName | None]


@dataclass(slots=True)
class Doubts:
    """Other readings of the literals of a question."""

    alike: list[Alternative] = field(default_factory=list[Alternative])  # score as well
    otherwise: list[Alternative] = field(
        default_factory=list[Alternative]
    )  # fit what was named by words that name no field
    wider: list[Alternative] = field(default_factory=list[Alternative])  # "at least" beside a bare value


def literal_conditions(work: Cover, doubts: Doubts) -> Iterator[Condition]:
    """A condition for each literal, on the field that fits best."""
    yield from _either_of(work, list(_bound(work, doubts)))


@dataclass(frozen=True, slots=True)
class _Bound:
    """A literal's condition, on the field it was bound to."""

    key: Key
    literal: Literal
    condition: Condition
    denied: bool


def _either_of(work: Cover, bound: Sequence[_Bound]) -> Iterator[Condition]:
    """Conditions on one field that cannot both hold are alternatives: "2018 and 2019", "under 1 or over 10"."""
    at = 0
    while at < len(bound):
        group = [bound[at]]
        while at + len(group) < len(bound) and _are_alternatives(work, group[-1], bound[at + len(group)]):
            group.append(bound[at + len(group)])
        together = Any(tuple(one.condition for one in group)) if len(group) > 1 else group[0].condition
        yield Not(together) if group[0].denied else together
        at += len(group)


def _are_alternatives(work: Cover, one: _Bound, other: _Bound) -> bool:
    if one.key != other.key or one.denied != other.denied:
        return False
    between = work.question[one.literal.end : other.literal.start].casefold().split()
    if "or" in between or between == ["/"]:
        return True
    days = isinstance(one.literal, Days) and isinstance(other.literal, Days)
    return days and one.literal.op is Op.EQ and other.literal.op is Op.EQ and set(between) <= {"and", ",", "in", "of"}


def _bound(work: Cover, doubts: Doubts) -> Iterator[_Bound]:
    taken: dict[Key, list[Op]] = defaultdict(list)
    for literal, first, last in work.literals:
        label = _label_of(work, literal, first)
        fitting = _ranked(work, literal, first, last, taken, label)
        (_, one, row), rest = fitting[0], fitting[1:]
        taken[key_of(one, row)].append(literal.op)
        is_named = _use_mention(work, one, row, first, last)
        condition = _literal_condition(literal, one, row, work)
        under = any(at in work.negated for at in range(first, last))
        yield _Bound(key_of(one, row), literal, condition, under)
        if label and not is_named:
            _take_label(work, label, one, row)
        elif not label and not is_named and (counted := _counted(work, literal, one, last)):
            _take_label(work, counted, one, row)
        if not under:
            _doubt(work, doubts, literal, condition, fitting[0], () if is_named else rest, labelled=bool(label))


_Fitting: TypeAlias = tuple[float, Field, FieldName | None]


def _ranked(
    work: Cover, literal: Literal, first: int, last: int, taken: Mapping[Key, Sequence[Op]], label: Sequence[int]
) -> list[_Fitting]:
    """The fields that the literal may belong to, the likeliest first."""
    said = {work.tokens[at].stem for at in label}
    candidates = candidates_for(literal, work.lexicon)
    within = any(_lies_within(literal, one, row, work.lexicon) for one, row, _ in candidates)
    fitting = [
        (
            score
            - (_BEYOND if within and _lies_beyond(literal, one, row, work.lexicon) else 0.0)
            + _nearness(work, one, row, first, last)
            + 0.5 * len(said & work.lexicon.stems_of(row or one.name))
            - _repeated(taken.get(key_of(one, row), ()), literal)
            - _miscounted(work, literal, one, last),
            one,
            row,
        )
        for one, row, score in candidates
    ]
    return sorted(fitting, key=lambda one: -one[0])


def _lies_within(literal: Literal, field: Field, row: FieldName | None, lexicon: Lexicon) -> bool:
    """Whether some document's value is as low, and some as high, as the number."""
    ends = _ends(literal, field, row, lexicon)
    return ends is not None and ends[1] <= ends[0] <= ends[2]


def _lies_beyond(literal: Literal, field: Field, row: FieldName | None, lexicon: Lexicon) -> bool:
    """ "Between 200k and 250k" is no number of bedrooms: the number is far from all that the field holds."""
    ends = _ends(literal, field, row, lexicon)
    return ends is not None and (ends[0] > _FAR * max(ends[2], 1.0) or ends[0] * _FAR < ends[1])


def _ends(literal: Literal, field: Field, row: FieldName | None, lexicon: Lexicon) -> tuple[float, float, float] | None:
    """The number in the field's unit, with the least and the most that the field holds; None for days."""
    vocabulary = lexicon.vocabulary(*key_of(field, row))
    low, high = (vocabulary.low, vocabulary.high) if vocabulary else (None, None)
    if isinstance(literal, Days) or not isinstance(low, float) or not isinstance(high, float):
        return None
    in_unit = converted(literal.low, literal.unit, field.unit) if literal.unit and field.unit else None
    return (float(literal.low) if in_unit is None else in_unit, low, high)


def _doubt(
    work: Cover,
    doubts: Doubts,
    literal: Literal,
    condition: Condition,
    best: _Fitting,
    rest: Sequence[_Fitting],
    *,
    labelled: bool,
) -> None:
    def read_as(other: _Fitting) -> Alternative:
        return Alternative(condition=condition, instead=_literal_condition(literal, other[1], other[2], work))

    doubts.alike += [read_as(one) for one in rest[:1] if best[0] - one[0] < _ALIKE]
    possible = labelled or (isinstance(literal, Quantity) and bool(literal.unit) and not literal.currency)
    doubts.otherwise += [read_as(one) for one in rest if possible and _ALIKE <= best[0] - one[0] < _POSSIBLE]
    if isinstance(literal, Quantity) and literal.bare and best[1].type is FieldType.NUMBER:
        more = _literal_condition(replace(literal, op=Op.GTE, bare=False), best[1], best[2], work)
        doubts.wider += [Alternative(condition=condition, instead=more)] if more != condition else []


def _label_of(work: Cover, literal: Literal, first: int) -> list[int]:
    """The tokens right before a measure that no link covers: "with a *drain current* of at least 8 A"."""
    if isinstance(literal, Days) or (literal.bare and not (literal.unit or literal.currency)):
        return []
    covered = {at for link in work.links if not _is_soft(link) for at in range(link.first, link.last)}
    covered |= {at for _, begin, end in work.literals for at in range(begin, end)}
    at = first - 1
    while at >= 0 and at not in covered and work.tokens[at].word in _BETWEEN_LABEL_AND_VALUE:
        at -= 1
    label: list[int] = []
    while at >= 0 and at not in covered and len(label) < _LONGEST_LABEL and _may_label(work.tokens[at]):
        label.insert(0, at)
        at -= 1
    introduced = at >= 0 and (work.tokens[at].word in _BEFORE_LABEL or work.tokens[at].word in COMPARATORS)
    return label if introduced else []


def _counted(work: Cover, literal: Literal, field: Field, last: int) -> list[int]:
    """ "More than 1000 *participants*": what a number without a unit counts, where nothing else is called so."""
    if isinstance(literal, Days) or literal.currency or literal.bare or not literal.unit:
        return []
    if field.type is not FieldType.NUMBER or field.unit or last >= len(work.tokens):
        return []
    token = work.tokens[last]
    covered = any(link.first <= last < link.last for link in work.links)
    said = not covered and token.word == fold(literal.unit) and is_plural(token)
    return [last] if said and not token.is_name and _may_label(token) else []


def _is_soft(link: Link) -> bool:
    return isinstance(link.meaning, Mention) and link.meaning.soft


def _may_label(token: Token) -> bool:
    return not token.quoted and not token.word.isdigit() and token.word not in STOP | FILLER | COMPARATORS


def _take_label(work: Cover, label: Sequence[int], one: Field, row: FieldName | None) -> None:
    words = work.question[work.tokens[label[0]].start : work.tokens[label[-1]].end]
    work.spent.update(label)
    if not {work.tokens[at].stem for at in label} <= work.lexicon.stems_of(row or one.name):
        work.assumed.append(f"took “{words}” to mean {one.label}")


def key_of(field: Field, row: FieldName | None) -> Key:
    return (field.name, None) if row is None else (row, field.name)


def _repeated(ops: Sequence[Op], literal: Literal) -> float:
    """A field is rarely compared twice, but for the two ends of a range."""
    ends = ({Op.GT, Op.GTE}, {Op.LT, Op.LTE})
    if isinstance(literal, Days) and literal.op is Op.EQ and all(op is Op.EQ for op in ops):
        return 0.0  # "in 2018 and 2019"
    fits = any(literal.op in ends[side] and all(op in ends[1 - side] for op in ops) for side in (0, 1))
    return 0.0 if not ops or fits else 1.5


def _miscounted(work: Cover, literal: Literal, field: Field, last: int) -> float:
    """ "4 winter tires" counts things: no money, nothing in kilograms, unless a currency, unit or field is named."""
    if not isinstance(literal, Quantity) or literal.currency:
        return 0.0
    things = any(link.first == last and isinstance(link.meaning, (Valued, Partly)) for link in work.links)
    measured = field.type is FieldType.MONEY or (field.unit and not (literal.unit and unit_fits(literal, work.lexicon)))
    return 1.0 if things and measured else 0.0


def candidates_for(literal: Literal, lexicon: Lexicon) -> list[tuple[Field, FieldName | None, float]]:
    """The fields a literal may belong to, in the schema's order, each with how well its dimension and range fit."""
    return [
        (field, row, score - (0.7 if row else 0.0))
        for field, row in lexicon.measured
        if (score := _fit(literal, field, row, lexicon)) is not None
    ]


def _fit(literal: Literal, field: Field, row: FieldName | None, lexicon: Lexicon) -> float | None:
    vocabulary = lexicon.vocabulary(*key_of(field, row))
    filled = vocabulary.documents / max(lexicon.documents, 1) if vocabulary else 0.0
    if isinstance(literal, Days):
        if field.type is FieldType.DATE:
            natural = lexicon.schema.natural_order
            return 1.0 + 0.3 * filled + (0.5 if natural and natural.field == field.name and row is None else 0.0)
        if field.type is FieldType.NUMBER and literal.year_only and not field.unit and vocabulary:
            low, high = vocabulary.low, vocabulary.high
            if isinstance(low, float) and isinstance(high, float) and 1800 <= low <= high <= 2200:
                return 2.0 + 0.3 * filled
        return None
    if field.type is FieldType.MONEY:
        return _money_fit(literal, field, filled, lexicon)
    if field.type is not FieldType.NUMBER or literal.currency:
        return None
    score = 0.3 * filled
    if literal.unit and unit_fits(literal, lexicon):
        value = converted(literal.low, literal.unit, field.unit) if field.unit else None
        if value is None:
            return None
        score += 3.0
    else:
        value = float(literal.low)
        score += 0.5 if not field.unit else 0.0
    low, high = (vocabulary.low, vocabulary.high) if vocabulary else (None, None)
    inside = isinstance(low, float) and isinstance(high, float) and low <= value <= high
    return score + (1.0 if inside else 0.0)


def _money_fit(literal: Quantity, field: Field, filled: float, lexicon: Lexicon) -> float | None:
    if literal.unit and unit_fits(literal, lexicon):
        return None
    if literal.currency and field.currency and field.currency != literal.currency:
        return None
    return 0.3 * filled + (3.0 if literal.currency else 1.0)


def _nearness(work: Cover, field: Field, row: FieldName | None, first: int, last: int) -> float:
    """How close the field is spoken of: the nearest mention, before the literal rather than after it."""
    best = 0.0
    for link in (*work.links, *work.measures):
        if isinstance(link.meaning, Mention) and (link.meaning.field, link.meaning.column) == key_of(field, row):
            distance = first - link.last if link.last <= first else link.first - last + 0.5
            best = max(best, 4.0 / (1.0 + 0.35 * max(distance, 0)))
    return best


def _use_mention(work: Cover, field: Field, row: FieldName | None, first: int, last: int) -> bool:
    """Whether the field alone was spoken of by its name near the literal; what spoke of it is used up."""
    named = False
    key = key_of(field, row)
    shared = {
        (one.first, one.last)
        for one in work.measures
        if isinstance(one.meaning, Mention) and (one.meaning.field, one.meaning.column) == key
    }
    for at, link in enumerate(work.links):
        own = isinstance(link.meaning, Mention) and (link.meaning.field, link.meaning.column) == key
        other = (link.first, link.last) in shared and isinstance(link.meaning, Mention)
        if (own or other) and min(abs(first - link.last), abs(link.first - last)) <= _NEAR:
            work.used.add(at)
            named = named or (own and not other and not _is_soft(link))
    return named


def _literal_condition(literal: Literal, field: Field, row: FieldName | None, work: Cover) -> Condition:
    words = work.question[slice(*covered_by(literal, work.lexicon))].strip()
    if isinstance(literal, Quantity) and literal.apart is not None:
        words = f"{work.question[slice(*literal.apart)]} {words}"
        work.spent.update(
            at for at, token in enumerate(work.tokens) if literal.apart[0] <= token.start < literal.apart[1]
        )
    name = field.name
    if isinstance(literal, Days) and literal.yearless:
        literal = _in_its_year(literal, field, row, work.lexicon)
    condition = (
        _days_condition(literal, field, words) if isinstance(literal, Days) else _number(literal, field, words, work)
    )
    return condition if row is None else InRow(row=row, condition=condition, words=words or name)


def _in_its_year(literal: Days, field: Field, row: FieldName | None, lexicon: Lexicon) -> Days:
    """ "In December", of concerts to come: the next year or the last, where the field has no day in this one."""
    vocabulary = lexicon.vocabulary(*key_of(field, row))
    low, high = (vocabulary.low, vocabulary.high) if vocabulary else (None, None)
    if not isinstance(low, str) or not isinstance(high, str):
        return literal
    for years in (0, 1, -1):
        first, last = _years_on(literal.first, years), _years_on(literal.last, years)
        if first.isoformat() <= high and last.isoformat() >= low:
            return replace(literal, first=first, last=last)
    return literal


def _years_on(day: date, years: int) -> date:
    """The same day of another year; of a leap day, the one before."""
    leaps = (day.month, day.day) == (2, 29) and years
    return day.replace(year=day.year + years, day=28 if leaps else day.day)


def _days_condition(literal: Days, field: Field, words: str) -> Condition:
    first: float | str = literal.first.isoformat()
    last: float | str = literal.last.isoformat()
    if field.type is FieldType.NUMBER:
        first, last = float(literal.first.year), float(literal.last.year)
    match literal.op:
        case Op.GT:
            op, value = Op.GT, last
        case Op.GTE:
            op, value = Op.GTE, first
        case Op.LT:
            op, value = Op.LT, first
        case Op.LTE:
            op, value = Op.LTE, last
        case _ if first == last:
            op, value = Op.EQ, first
        case _:
            return Compare(field=field.name, op=Op.BETWEEN, value=(first, last), words=words)
    return Compare(field=field.name, op=op, value=value, words=words)


def _number(literal: Quantity, field: Field, words: str, work: Cover) -> Condition:
    def value_of(number: float | None, fallback: float) -> float:
        return fallback if number is None else number

    unit = literal.unit if field.unit and literal.unit else ""
    low = value_of(converted(literal.low, unit, field.unit) if unit else None, float(literal.low))
    op = literal.op
    if literal.bare and field.bare is not Bare.EXACTLY:
        op = Op.GTE if field.bare is Bare.AT_LEAST else Op.LTE
    if literal.high is not None:
        high = value_of(converted(literal.high, unit, field.unit) if unit else None, float(literal.high))
        compared = Compare(field=field.name, op=Op.BETWEEN, value=(min(low, high), max(low, high)), words=words)
    else:
        compared = Compare(field=field.name, op=op, value=low, words=words)
    if literal.currency and field.currency_field is not None:
        currency = Compare(field=field.currency_field, op=Op.EQ, value=literal.currency, words=literal.currency)
        return All((compared, currency))
    return compared
