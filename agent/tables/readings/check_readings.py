"""Readings of questions for yes or no: what a row says, and which of two rows has more or comes first."""

from collections.abc import Iterator

from agent.english.table_words import COMPARATIVES, NEXT_WORDS, NO_WORD, PREVIOUS_WORDS, YES_WORD
from agent.tables.readings.asked_table import AskedTable
from agent.tables.readings.condition_sets import combine_conditions
from agent.tables.readings.side_readings import find_pairs, measures_of, select_side
from agent.tables.readings.table_reading import TableReading
from agent.tables.row_conditions import conditions_of_comparison
from agent.tables.row_queries import CellCondition, CheckQuery, RowSelection, VerdictQuery
from agent.tables.typed_tables import ColumnKind


def read_checks(asked: AskedTable) -> Iterator[TableReading]:
    yield from _read_compared_rows(asked)
    yield from _read_compared_number(asked)
    yield from _read_named_values(asked)


def _read_compared_number(asked: AskedTable) -> Iterator[TableReading]:
    """ "Was the attendance on 3 May greater than 1,000?"."""
    for comparison in asked.comparisons:
        for condition in conditions_of_comparison(comparison, asked.question, asked.table, asked.links)[:1]:
            for conditions in combine_conditions(asked, exclude=comparison.tokens):
                yield from _build_check(asked, conditions.conditions, condition, 0.85)


def _read_named_values(asked: AskedTable) -> Iterator[TableReading]:
    """ "Is Tom Hale in the Southbank club?": a row that the subject names, and a value of another column."""
    if asked.comparisons or "or" in asked.words:
        return
    subject = asked.table.subject.index
    links = [link for link in asked.links.values if link.is_whole]
    for named in (link for link in links if link.column == subject and len(link.rows) == 1):
        for checked in (link for link in links if link.column != subject and not link.tokens & named.tokens):
            first = CellCondition(
                column=subject, rows=named.rows, words=asked.table.columns[subject].name, tokens=named.tokens
            )
            second = CellCondition(
                column=checked.column,
                rows=checked.wide_rows,
                words=" ".join(asked.words[checked.start : checked.end]),
                tokens=checked.tokens,
            )
            yield from _build_check(asked, (first,), second, 0.75)


def _build_check(
    asked: AskedTable, conditions: tuple[CellCondition, ...], checked: CellCondition, quality: float
) -> Iterator[TableReading]:
    others = tuple(condition for condition in conditions if condition.column != checked.column)
    selection = RowSelection(conditions=others)
    if not others or len(selection.select_rows(asked.table)) != 1:
        return
    tokens = frozenset[int]().union(*(condition.tokens for condition in others), checked.tokens)
    yield TableReading(query=CheckQuery(selection=selection, condition=checked), tokens=tokens, quality=quality)


def _read_compared_rows(asked: AskedTable) -> Iterator[TableReading]:
    """ "Did Clemson have more wins than Arizona?", "was the old bridge built before the new one?"."""
    if "or" in asked.words:
        return
    days = [column for column in asked.table.columns if column.kind is ColumnKind.DAY and column.has_years]
    for first, second in find_pairs(asked):
        if len(first.rows) != 1 or len(second.rows) != 1:
            continue
        base = first.tokens | second.tokens
        for index in range(first.end, second.start):
            word = asked.words[index]
            scale = COMPARATIVES.get(word)
            if scale is not None and "than" in asked.words[index : second.start]:
                than = asked.words.index("than", index)
                for column, tokens, strength in measures_of(asked, index, scale):
                    if column is None:
                        continue
                    larger_word, smaller_word = (YES_WORD, NO_WORD) if scale.largest else (NO_WORD, YES_WORD)
                    yield TableReading(
                        query=VerdictQuery(
                            first=select_side(asked, first, ()),
                            second=select_side(asked, second, ()),
                            column=column.index,
                            lower_word=smaller_word,
                            higher_word=larger_word,
                        ),
                        tokens=base | tokens | {index, than},
                        quality=0.5 + 0.4 * strength,
                    )
            elif word in ("before", "after") and days:
                is_before = word in PREVIOUS_WORDS and word not in NEXT_WORDS
                yield TableReading(
                    query=VerdictQuery(
                        first=select_side(asked, first, ()),
                        second=select_side(asked, second, ()),
                        column=days[0].index,
                        lower_word=YES_WORD if is_before else NO_WORD,
                        higher_word=NO_WORD if is_before else YES_WORD,
                    ),
                    tokens=base | {index},
                    quality=0.8,
                )
