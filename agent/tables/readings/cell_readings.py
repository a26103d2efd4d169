"""Readings that answer with cells: of the rows that are meant, of their neighbours, of rows with the same value."""

from collections.abc import Iterator, Sequence

from agent.english.table_words import NEXT_WORDS, PREVIOUS_WORDS
from agent.tables.readings.asked_table import AskedTable
from agent.tables.readings.condition_sets import ConditionSet
from agent.tables.readings.row_picks import PickedRows
from agent.tables.readings.table_reading import TableReading
from agent.tables.row_conditions import condition_of_link
from agent.tables.row_queries import CellCondition, CellsQuery, RowSelection
from agent.tables.table_links import ValueLink
from agent.tables.target_columns import TargetColumn
from agent.tables.typed_tables import ColumnKind

_NEXT_CUES = frozenset("next directly immediately right listed comes just".split())


def read_cells(asked: AskedTable, conditions: ConditionSet, picks: Sequence[PickedRows]) -> Iterator[TableReading]:
    conditioned = {condition.column for condition in conditions.conditions}
    for target in asked.targets[:3]:
        repeats = target.column.index in conditioned
        if not picks or conditions.conditions:
            yield _build_cells_reading(
                asked,
                RowSelection(conditions=conditions.conditions),
                target,
                conditions.tokens,
                (-0.35 if repeats else 0.0) - (0.25 if picks else 0.0) - (0.5 if not conditions.conditions else 0.0),
            )
        for picked in picks:
            penalty = 0.5 if repeats else 0.0
            if target.column.index == picked.pick.column and target.column.kind is not ColumnKind.DAY:
                penalty += 0.0 if target.tokens & picked.tokens and len(asked.targets) == 1 else 0.1
            yield _build_cells_reading(
                asked,
                RowSelection(conditions=conditions.conditions, pick=picked.pick),
                target,
                conditions.tokens | picked.tokens,
                picked.quality - 0.8 - penalty,
            )


def _build_cells_reading(
    asked: AskedTable, selection: RowSelection, target: TargetColumn, tokens: frozenset[int], bonus: float
) -> TableReading:
    return TableReading(
        query=CellsQuery(selection=selection, column=target.column.index),
        tokens=tokens | target.tokens,
        quality=0.35 + 0.4 * min(target.quality, 1.2) + bonus,
    )


def read_neighbours(asked: AskedTable) -> Iterator[TableReading]:
    """ "Which artist came after Oasis", "the nation before Mexico", "what comes next after"."""
    if asked.count_index is not None:
        return
    for index, word in enumerate(asked.words):
        step = 1 if word in NEXT_WORDS else -1 if word in PREVIOUS_WORDS else 0
        if not step or asked.is_in_comparison(index):
            continue
        anchors = [link for link in asked.links.values if 0 < link.start - index <= 3 and link.is_whole] or [
            link for link in asked.links.values if 0 < link.start - index <= 3
        ]
        for anchor in anchors[:3]:
            others = [
                condition_of_link(link, asked.question)
                for link in asked.links.values
                if link.start >= anchor.end and link.rows & anchor.rows and link.column != anchor.column
            ]
            conditions = (condition_of_link(anchor, asked.question), *others[:1])
            tokens = frozenset({index}).union(*(condition.tokens for condition in conditions))
            tokens |= {token for token in range(index - 2, index) if token >= 0 and asked.words[token] in _NEXT_CUES}
            for target in _neighbour_targets(asked, anchor):
                yield TableReading(
                    query=CellsQuery(
                        selection=RowSelection(conditions=conditions, shift=step), column=target.column.index
                    ),
                    tokens=tokens | target.tokens,
                    quality=0.5 + 0.35 * min(target.quality, 1.0) + 0.1 * anchor.is_whole - 0.02 * len(anchor.rows),
                )


def _neighbour_targets(asked: AskedTable, anchor: ValueLink) -> Iterator[TargetColumn]:
    best = asked.targets[0]
    yield best
    if best.quality < 0.7:
        yield TargetColumn(column=asked.table.columns[anchor.column], quality=0.75, tokens=frozenset())


def read_same_values(asked: AskedTable) -> Iterator[TableReading]:
    """ "Who has the same position as X": the other rows that share a value with the row of X."""
    index = asked.question.find_phrase("same")
    if index is None:
        return
    anchors = [link for link in asked.links.values if link.start > index]
    for anchor in anchors[:2]:
        for column, tokens, strength in asked.columns_in(range(index + 1, min(anchor.start, index + 4))):
            values = asked.table.columns[column.index].values
            shared = {values[row].folded for row in anchor.rows if not values[row].is_empty}
            rows = frozenset(
                row for row, value in enumerate(values) if value.folded in shared and row not in anchor.rows
            )
            if not rows:
                continue
            condition = CellCondition(
                column=column.index,
                rows=rows,
                words=asked.words[index],
                tokens=tokens | anchor.tokens | {index},
            )
            selection = RowSelection(conditions=(condition,))
            anchor_target = TargetColumn(column=asked.table.columns[anchor.column], quality=0.6, tokens=frozenset())
            for target in (asked.targets[0], anchor_target):
                if target.column.index != column.index:
                    yield _build_cells_reading(asked, selection, target, condition.tokens, 0.1 + 0.2 * strength)
