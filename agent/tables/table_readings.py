"""Finds what a question may mean in a table."""

from collections.abc import Iterator
from dataclasses import replace

from agent.tables.asked_tokens import TableQuestion
from agent.tables.readings.asked_table import AskedTable, ask_table
from agent.tables.readings.cell_readings import read_cells, read_neighbours, read_same_values
from agent.tables.readings.check_readings import read_checks
from agent.tables.readings.condition_sets import ConditionSet, combine_conditions
from agent.tables.readings.count_readings import read_counts, read_spans
from agent.tables.readings.group_readings import read_groups
from agent.tables.readings.row_picks import find_picks
from agent.tables.readings.side_readings import read_alternatives, read_differences, read_sides, read_verdicts
from agent.tables.readings.sum_readings import read_averages
from agent.tables.readings.table_reading import TableReading
from agent.tables.table_links import TableLinks
from agent.tables.typed_tables import TypedTable


def find_readings(question: TableQuestion, table: TypedTable, links: TableLinks) -> Iterator[TableReading]:
    """Yields the readings; several may be of the same query."""
    asked = ask_table(question, table, links)
    yield from read_verdicts(asked)
    yield from read_sides(asked)
    yield from read_alternatives(asked)
    if asked.is_yes_no:
        yield from read_checks(asked)
        return
    yield from read_differences(asked)
    yield from read_neighbours(asked)
    yield from read_same_values(asked)
    yield from read_groups(asked)
    for conditions in combine_conditions(asked):
        for reading in _read_rows(asked, conditions):
            yield replace(reading, quality=reading.quality - conditions.penalty)


def _read_rows(asked: AskedTable, conditions: ConditionSet) -> Iterator[TableReading]:
    picks = list(find_picks(asked))
    if asked.count_index is not None:
        yield from read_counts(asked, conditions, picks)
        yield from read_spans(asked, conditions)
    else:
        yield from read_averages(asked, conditions, picks)
        yield from read_cells(asked, conditions, picks)
