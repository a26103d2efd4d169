"""Readings of "which country has the most …": the value that most rows have."""

from collections.abc import Iterator

from agent.english.table_words import MOST_COMMON_WORDS
from agent.tables.readings.asked_table import AskedTable
from agent.tables.readings.condition_sets import combine_conditions
from agent.tables.readings.table_reading import TableReading
from agent.tables.row_queries import GroupQuery, RowSelection
from agent.tables.typed_tables import ColumnKind


def read_groups(asked: AskedTable) -> Iterator[TableReading]:
    """ "Which country has the most roller coasters", "the most common cause": the most frequent value."""
    for index, word in enumerate(asked.words):
        is_common = word in MOST_COMMON_WORDS and asked.words[index - 1 : index] in (("most",), ("least",))
        is_most = word in ("most", "majority", "least", "fewest") and not asked.is_in_comparison(index)
        if not is_common and not is_most:
            continue
        most = not ({"least", "fewest"} & {word, *asked.words[max(index - 1, 0) : index]})
        cue = {index, index - 1} if is_common else {index}
        has_measure = any(asked.can_sum(column) for column, _, _ in asked.columns_after(index)) and not is_common
        for conditions in combine_conditions(asked):
            for target in asked.targets[:2]:
                repeated = target.column.distinct_share < 0.9 or target.column.kind is not ColumnKind.NUMBER
                if not repeated or target.quality < 0.6:
                    continue
                yield TableReading(
                    query=GroupQuery(
                        selection=RowSelection(conditions=conditions.conditions),
                        column=target.column.index,
                        most=most,
                    ),
                    tokens=conditions.tokens | target.tokens | cue | asked.noun_after(index),
                    quality=0.3
                    + 0.4 * min(target.quality, 1.0)
                    + 0.2 * is_common
                    - 0.35 * has_measure
                    + 0.15 * (target.column.distinct_share < 0.7),
                )
