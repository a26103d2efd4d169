"""Readings of "how many", "how much" and "how long": counted rows, numbers in cells, and spans of years."""

from collections.abc import Iterator, Sequence

from agent.english.table_words import COUNT_NOUNS_OF_ROWS, DISTINCT_WORDS_OF_ROWS, RUN_WORDS, SUM_WORDS, VERBS_OF_ROWS
from agent.tables.readings.asked_table import AskedTable
from agent.tables.readings.condition_sets import ConditionSet
from agent.tables.readings.row_picks import PickedRows
from agent.tables.readings.table_reading import TableReading
from agent.tables.row_queries import AnswerKind, CellsQuery, CountQuery, NumberQuery, RowSelection, SpanQuery
from agent.tables.typed_tables import ColumnKind, TableColumn

_COUNTED_ENDS = frozenset(
    """is are was were be did does do has have had can could will would in of for with that who whose where when from by
    to at on during after before under over above below than listed not and or there""".split()
)
_MAX_REPEATED_SHARE = 0.75  # of different values, up to which "how many countries" counts countries and not rows
_LENGTH_WORDS = frozenset("length duration term tenure reign".split())


def _counted_phrase(asked: AskedTable) -> range:
    """Returns the tokens of what is counted: those behind "how many" up to a verb or a preposition."""
    start = (asked.count_index or 0) + 2
    end = start
    while end < len(asked.words) and asked.words[end] not in _COUNTED_ENDS:
        named = max(asked.links.columns_at(end).values(), default=0.0) >= 0.95
        if end > start and asked.words[end] in VERBS_OF_ROWS and not named:
            break
        end += 1
    return range(start, end if end > start else len(asked.words))  # "how many are enrolled in …"


def read_counts(asked: AskedTable, conditions: ConditionSet, picks: Sequence[PickedRows]) -> Iterator[TableReading]:
    phrase = _counted_phrase(asked)
    cue = frozenset({asked.count_index or 0, (asked.count_index or 0) + 1})
    measures = list(asked.columns_in(phrase))
    numeric = [measured for measured in asked.columns_with_total(measures) if _measures_noun(asked, *measured[:2])]
    wants_sum = bool(SUM_WORDS & {*asked.words})
    selections = [(RowSelection(conditions=conditions.conditions), conditions.tokens, 0.0)]
    for picked in picks:
        selections.append(
            (
                RowSelection(conditions=conditions.conditions, pick=picked.pick),
                conditions.tokens | picked.tokens,
                picked.quality - 0.6,
            )
        )
    conditioned = {condition.column for condition in conditions.conditions}
    for column, tokens, strength in numeric[:2]:
        if column.index in conditioned or strength < 0.6:
            continue
        for selection, covered, bonus in selections:
            count = len(selection.select_rows(asked.table))
            quality = 0.4 + 0.4 * strength + bonus + (0.15 if count == 1 or wants_sum else 0.0)
            yield TableReading(
                query=NumberQuery(selection=selection, column=column.index, kind=AnswerKind.SUM),
                tokens=covered | tokens | cue,
                quality=quality,
            )
    is_measure = any(asked.words[token] in ("much", "long") for token in cue)
    nouns = [
        (column, tokens, strength) for column, tokens, strength in measures if not _measures_noun(asked, column, tokens)
    ]
    distinct = bool(DISTINCT_WORDS_OF_ROWS & {*asked.words})
    rows_named = {token for token in phrase if asked.words[token] in COUNT_NOUNS_OF_ROWS}
    for selection, covered, bonus in selections[:1]:
        for column, tokens, strength in nouns[:1]:
            is_distinct = column.index not in conditioned and (
                distinct or (not conditions.conditions and column.distinct_share < _MAX_REPEATED_SHARE)
            )
            yield TableReading(
                query=CountQuery(selection=selection, distinct_column=column.index if is_distinct else None),
                tokens=covered | tokens | cue | rows_named,
                quality=0.75
                + 0.1 * strength
                + bonus
                - 0.4 * is_measure
                - 0.3 * (_is_part_of_counted(asked, conditions, column)),
            )
        runs = frozenset(asked.question.indices_of(RUN_WORDS)) if conditions.conditions else frozenset[int]()
        yield TableReading(
            query=CountQuery(selection=selection, is_longest_run=bool(runs)),
            tokens=covered | cue | rows_named | runs,
            quality=0.7
            + 0.1 * bool(runs)
            + bonus
            - 0.4 * is_measure
            - 0.3 * _names_single_row(asked, conditions)
            - 0.3 * any(_is_part_of_counted(asked, conditions, column) for column, _, _ in nouns[:1]),
        )
    yield from _read_measure_of_row(asked, conditions, phrase, cue)


def _is_part_of_counted(asked: AskedTable, conditions: ConditionSet, counted: TableColumn) -> bool:
    """Whether words only appear in some of the names that are counted: "how many cities are in Wisconsin"."""
    return any(
        condition.column == counted.index
        and condition.tokens <= link.tokens
        and not link.is_whole
        and "contain" not in " ".join(asked.words)
        for condition in conditions.conditions
        for link in asked.links.values
        if link.column == condition.column
    )


def _measures_noun(asked: AskedTable, column: TableColumn, tokens: frozenset[int]) -> bool:
    """Whether the column holds how many there are: not a "Car" of every row where cars are counted."""
    is_name_of_row = any(
        asked.words[token] not in column.words and f"{word}s" == asked.words[token]
        for token in tokens
        for word in column.words
    )
    return asked.can_sum(column) and not is_name_of_row


def _names_single_row(asked: AskedTable, conditions: ConditionSet) -> bool:
    """Whether a condition names the thing of a single row, so that there is nothing to count."""
    subject = asked.table.subject.index
    return any(condition.column == subject and len(condition.rows) == 1 for condition in conditions.conditions)


def _read_measure_of_row(
    asked: AskedTable, conditions: ConditionSet, phrase: range, cue: frozenset[int]
) -> Iterator[TableReading]:
    """ "How many people attended the game on …": the number of a row, in a column that a later word names."""
    selection = RowSelection(conditions=conditions.conditions)
    if not conditions.conditions or len(selection.select_rows(asked.table)) != 1:
        return
    conditioned = {condition.column for condition in conditions.conditions}
    others = [token for token in range(len(asked.words)) if token not in phrase and token not in conditions.tokens]
    for token in others:
        for index, strength in asked.links.columns_at(token).items():
            column = asked.table.columns[index]
            if strength >= 0.6 and asked.can_sum(column) and index not in conditioned:
                yield TableReading(
                    query=CellsQuery(selection=selection, column=index),
                    tokens=conditions.tokens | {token} | cue,
                    quality=0.45 + 0.35 * strength,
                )
    nouns = {asked.words[token] for token in phrase}
    for column in asked.table.columns:
        if column.unit and column.unit.casefold() in nouns:
            yield TableReading(
                query=CellsQuery(selection=selection, column=column.index),
                tokens=conditions.tokens | cue | frozenset(phrase),
                quality=0.85,
            )


def read_spans(asked: AskedTable, conditions: ConditionSet) -> Iterator[TableReading]:
    words = asked.words[asked.count_index or 0 :][:3]
    if words[:2] != ("how", "long") and words[2:] != ("years",):
        return
    cue = frozenset(range(asked.count_index or 0, (asked.count_index or 0) + (2 if words[1] == "long" else 3)))
    selection = RowSelection(conditions=conditions.conditions)
    for column in asked.table.columns:
        if column.kind is ColumnKind.DAY and column.has_periods and conditions.conditions:
            yield TableReading(
                query=SpanQuery(selection=selection, column=column.index),
                tokens=conditions.tokens | cue,
                quality=0.85,
            )
        elif column.kind is ColumnKind.DAY and column.distinct_share > 0.9 and conditions.conditions:
            yield TableReading(
                query=CountQuery(selection=selection, unit="years"),
                tokens=conditions.tokens | cue,
                quality=0.72,
            )
        elif _LENGTH_WORDS & {*column.words}:
            yield TableReading(
                query=CellsQuery(selection=selection, column=column.index),
                tokens=conditions.tokens | cue,
                quality=0.8,
            )
