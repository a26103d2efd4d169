"""Combinations of the conditions that a question puts on rows, of which some rows meet all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from agent.english.table_words import EXCEPT_PHRASES
from agent.tables.readings.asked_table import AskedTable
from agent.tables.row_conditions import (
    between_conditions,
    condition_of_link,
    conditions_of_comparison,
    day_conditions,
    empty_conditions,
    ordinal_conditions,
    outcome_conditions,
    position_conditions,
)
from agent.tables.row_queries import CellCondition, data_rows_of
from agent.tables.table_links import ValueLink
from agent.tables.typed_tables import ColumnKind

_MAX_PRODUCT = 400  # combinations that are looked at
_PLACE_PENALTY = 0.05  # for each place behind the likeliest column of a phrase
_MAX_ALTERNATIVES = 12  # combinations of conditions that are tried


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionSet:
    """A combination of conditions, and the tokens that they explain.

    `penalty`: of the quality of readings with it, for conditions on columns that are less likely meant.
    """

    conditions: tuple[CellCondition, ...]
    tokens: frozenset[int]
    penalty: float


def combine_conditions(asked: AskedTable, exclude: frozenset[int] = frozenset()) -> Iterator[ConditionSet]:
    """Yields the combinations of conditions that leave rows, the likeliest first."""
    groups = [group for group in _condition_groups(asked) if not any(c.tokens & exclude for c in group)]
    rows = set(data_rows_of(asked.table))
    found = list[ConditionSet]()
    for combination in islice(product(*([*group, None] for group in groups)), _MAX_PRODUCT):
        chosen = [condition for condition in combination if condition is not None]
        merged = _merge_alternatives(chosen)
        left = rows.intersection(*(condition.rows for condition in merged)) if merged else rows
        if left:
            tokens = frozenset[int]().union(*(condition.tokens for condition in merged))
            places = [
                group.index(condition)
                for group, condition in zip(groups, combination, strict=True)
                if condition is not None
            ]
            penalty = _PLACE_PENALTY * sum(places)
            found.append(ConditionSet(conditions=tuple(merged), tokens=tokens, penalty=penalty))
    found.sort(key=lambda conditions: -sum(asked.question.tokens[token].is_value for token in conditions.tokens))
    yield from found[:_MAX_ALTERNATIVES]
    if found and found[-1] not in found[:_MAX_ALTERNATIVES]:
        yield found[-1]


def _condition_groups(asked: AskedTable) -> list[list[CellCondition]]:
    """Returns a list for each phrase: the conditions that it may be, best first."""
    compared = {token for comparison in asked.comparisons for token in comparison.tokens}
    groups = list[list[CellCondition]]()
    for comparison in asked.comparisons:
        found = conditions_of_comparison(comparison, asked.question, asked.table, asked.links)
        if found:
            groups.append(found[:2])
        else:
            compared -= comparison.tokens
    for condition in list(between_conditions(asked.question, asked.table, asked.links))[:1]:
        groups.append([condition])
        compared |= condition.tokens
    cue = frozenset[int]() if asked.count_index is None else frozenset((asked.count_index, asked.count_index + 1))
    by_span = dict[tuple[int, int], list[ValueLink]]()
    for link in asked.links.values:
        if not link.tokens & (compared | cue) and not _is_part_of_day(asked, link):
            by_span.setdefault((link.start, link.end), []).append(link)
    linked = set(compared)
    for links in by_span.values():
        ordered = sorted(links, key=lambda link: _weigh_link(asked, link), reverse=True)
        is_wide = asked.count_index is not None
        groups.append(
            [_negate(asked, condition_of_link(link, asked.question, is_wide=is_wide)) for link in ordered[:3]]
        )
        linked |= set(links[0].tokens)
    for condition in (
        *day_conditions(asked.question, asked.table, asked.links),
        *ordinal_conditions(asked.question, asked.table, asked.links),
        *outcome_conditions(asked.question, asked.table, asked.links),
        *empty_conditions(asked.question, asked.table, asked.links),
    ):
        if not condition.tokens & linked:
            groups.append([_negate(asked, condition)])
            linked |= set(condition.tokens)
    if asked.count_index is not None:
        for condition in position_conditions(asked.question, asked.table, asked.links):
            for group in groups:
                if group[0].tokens <= condition.tokens:
                    group.insert(0, condition)
    return groups


def _is_part_of_day(asked: AskedTable, link: ValueLink) -> bool:
    """Whether the link is a month or a year in a column of days, which `day_conditions` finds."""
    is_day = asked.table.columns[link.column].kind is ColumnKind.DAY
    return is_day and not link.is_whole and link.end - link.start == 1


def _weigh_link(asked: AskedTable, link: ValueLink) -> float:
    """Prefers whole cells, columns that are named beside the phrase, and columns that are not asked for."""
    weight = 1.0 if link.is_whole else 0.6
    for offset in (1, 2, 3):
        for token in (link.start - offset, link.end - 1 + offset):
            weight += 0.5 * asked.links.columns_at(token).get(link.column, 0.0) / offset
    if asked.targets[0].column.index == link.column and asked.targets[0].quality > 0.6:
        weight -= 0.6
    return weight - 0.001 * len(link.rows)


def _negate(asked: AskedTable, condition: CellCondition) -> CellCondition:
    """Turns the condition around behind "other than" and "not"."""
    start = min(condition.tokens)
    for phrase in (*EXCEPT_PHRASES, ("not", "in"), ("not",), ("not", "at")):
        if asked.words[max(start - len(phrase), 0) : start] == phrase:
            return _complement(asked, condition, range(start - len(phrase), start))
    return condition


def _complement(asked: AskedTable, condition: CellCondition, tokens: range) -> CellCondition:
    rows = frozenset(range(len(asked.table.rows))) - condition.rows
    return replace(condition, rows=rows, tokens=condition.tokens | frozenset(tokens))


def _merge_alternatives(conditions: Sequence[CellCondition]) -> list[CellCondition]:
    """Joins conditions on one column that "or", "and" or nothing but a comma joins, if no row meets them all."""
    merged = list[CellCondition]()
    for condition in sorted(conditions, key=lambda each: min(each.tokens)):
        rival = next((other for other in merged if other.column == condition.column), None)
        if rival is not None and not rival.rows & condition.rows:
            merged.remove(rival)
            condition = CellCondition(
                column=condition.column,
                rows=rival.rows | condition.rows,
                words=f"{rival.words}, {condition.words}",
                tokens=rival.tokens | condition.tokens,
            )
        merged.append(condition)
    return merged
