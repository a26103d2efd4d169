"""Literals find their fields: by dimension, value range, and how near the field is spoken of."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agent.rules.atoms import Days, Literal, Quantity
from agent.rules.cover import Cover, covered_by, unit_fits
from agent.rules.lexicon import Lexicon, Mention, Partly, Valued
from agent.rules.units import converted
from storage.search.conditions import All, Compare, Condition, InRow, Not, Op
from storage.search.ids import FieldName
from storage.search.schema import Bare, Field, FieldType

_ALIKE = 0.35  # readings of a literal whose scores differ by less are an ambiguity


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another reading of one constraint: `instead` for `condition`, and all conditions as they then are."""

    condition: Condition
    instead: Condition
    conditions: tuple[Condition, ...] = ()


def literal_conditions(work: Cover, alike: list[Alternative], wider: list[Alternative]) -> Iterator[Condition]:
    taken: dict[tuple[FieldName, FieldName | None], list[Op]] = defaultdict(list)
    for literal, first, last in work.literals:
        ranked = sorted(
            (
                (
                    score
                    + _nearness(work, field, row, first, last)
                    - _repeated(taken[key_of(field, row)], literal)
                    - _miscounted(work, literal, field, last),
                    at,
                )
                for at, (field, row, score) in enumerate(candidates_for(literal, work.lexicon))
            ),
            key=lambda pair: (-pair[0], pair[1]),
        )
        candidates = candidates_for(literal, work.lexicon)
        field, row, _ = candidates[ranked[0][1]]
        taken[key_of(field, row)].append(literal.op)
        _use_mention(work, field, row, first, last)
        condition = _literal_condition(literal, field, row, work)
        under = any(at in work.negated for at in range(first, last))
        yield Not(condition) if under else condition
        for score, at in ranked[1:2]:
            other, other_row, _ = candidates[at]
            if ranked[0][0] - score < _ALIKE and not under:
                alike.append(
                    Alternative(condition=condition, instead=_literal_condition(literal, other, other_row, work))
                )
        if isinstance(literal, Quantity) and literal.bare and field.type is FieldType.NUMBER and not under:
            more = _literal_condition(replace(literal, op=Op.GTE, bare=False), field, row, work)
            if more != condition:
                wider.append(Alternative(condition=condition, instead=more))


def key_of(field: Field, row: FieldName | None) -> tuple[FieldName, FieldName | None]:
    return (field.name, None) if row is None else (row, field.name)


def _repeated(ops: Sequence[Op], literal: Literal) -> float:
    """A field is rarely compared twice, but for the two ends of a range."""
    ends = ({Op.GT, Op.GTE}, {Op.LT, Op.LTE})
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
    fields = [(one, None) for one in lexicon.schema.fields]
    fields += [(column, one.name) for one in lexicon.schema.fields for column in one.columns]
    return [
        (field, row, score - (0.7 if row else 0.0))
        for field, row in fields
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


def _use_mention(work: Cover, field: Field, row: FieldName | None, first: int, last: int) -> None:
    for at, link in enumerate(work.links):
        own = isinstance(link.meaning, Mention) and (link.meaning.field, link.meaning.column) == key_of(field, row)
        if own and min(abs(first - link.last), abs(link.first - last)) <= 6:
            work.used.add(at)


def _literal_condition(literal: Literal, field: Field, row: FieldName | None, work: Cover) -> Condition:
    words = work.question[slice(*covered_by(literal, work.lexicon))].strip()
    name = field.name
    condition = (
        _days_condition(literal, field, words) if isinstance(literal, Days) else _number(literal, field, words, work)
    )
    return condition if row is None else InRow(row=row, condition=condition, words=words or name)


def _days_condition(literal: Days, field: Field, words: str) -> Condition:
    first: float | str = literal.first.isoformat()
    last: float | str = literal.last.isoformat()
    if field.type is FieldType.NUMBER:
        first = last = float(literal.first.year)
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
