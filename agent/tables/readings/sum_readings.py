"""Readings of "the average of" and "the total of"."""

from collections.abc import Iterator, Sequence

from agent.english.table_words import AVERAGE_WORDS, SUM_WORDS
from agent.tables.readings.asked_table import NEAR_TOKENS, AskedTable
from agent.tables.readings.condition_sets import ConditionSet
from agent.tables.readings.row_picks import PickedRows
from agent.tables.readings.table_reading import TableReading
from agent.tables.row_queries import AnswerKind, NumberQuery, RowSelection

_ROW_STARTS = frozenset("which who name list".split())  # of a question for rows, in which "total" names a column


def read_averages(asked: AskedTable, conditions: ConditionSet, picks: Sequence[PickedRows]) -> Iterator[TableReading]:
    names_rows = bool(_ROW_STARTS & {*asked.words[:2]})
    cues = asked.question.indices_of(AVERAGE_WORDS) or ([] if names_rows else asked.question.indices_of(SUM_WORDS))
    if not cues:
        return
    names_column = any(strength >= 0.95 for strength in asked.links.columns_at(cues[0]).values())
    kind = AnswerKind.AVERAGE if asked.words[cues[0]] in AVERAGE_WORDS else AnswerKind.SUM
    selections = [(RowSelection(conditions=conditions.conditions), conditions.tokens)]
    selections += [
        (RowSelection(conditions=conditions.conditions, pick=picked.pick), conditions.tokens | picked.tokens)
        for picked in picks
        if picked.pick.count > 1
    ]
    for column, tokens, strength in asked.columns_in(range(cues[0], min(cues[0] + NEAR_TOKENS + 1, len(asked.words)))):
        if not asked.can_sum(column) or strength < 0.5:
            continue
        for selection, covered in selections:
            yield TableReading(
                query=NumberQuery(selection=selection, column=column.index, kind=kind),
                tokens=covered | tokens | {cues[0]},
                quality=0.55 + 0.3 * strength - 0.3 * names_column,
            )
