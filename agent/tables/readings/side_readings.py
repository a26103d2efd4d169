"""Readings that set two values beside each other: which has more, how many more, above or below."""

from collections.abc import Iterator
from itertools import product

from agent.english.table_words import BEST_WORDS, COMPARATIVES, ScaleWord
from agent.tables.readings.asked_table import AskedTable
from agent.tables.readings.condition_sets import combine_conditions
from agent.tables.readings.table_reading import TableReading
from agent.tables.row_conditions import condition_of_link
from agent.tables.row_queries import CellCondition, CellsQuery, DifferenceQuery, RowSelection, SideQuery, VerdictQuery
from agent.tables.table_links import ValueLink
from agent.tables.typed_tables import ColumnKind, TableColumn


def find_pairs(asked: AskedTable) -> Iterator[tuple[ValueLink, ValueLink]]:
    """Yields two values of one column that are set beside each other."""
    links = asked.links.values
    for first, second in product(links, links):
        if first.column == second.column and first.end <= second.start and not first.rows & second.rows:
            yield first, second


def select_side(asked: AskedTable, link: ValueLink, others: tuple[CellCondition, ...]) -> RowSelection:
    return RowSelection(conditions=(condition_of_link(link, asked.question), *others))


def _other_conditions(asked: AskedTable, *links: ValueLink) -> tuple[CellCondition, ...]:
    used = frozenset[int]().union(*(link.tokens for link in links))
    combined = next(iter(combine_conditions(asked, exclude=used)), None)
    if combined is None:
        return ()
    columns = {link.column for link in links}
    return tuple(
        condition
        for condition in combined.conditions
        if condition.column not in columns and all(condition.rows & link.rows for link in links)
    )


def read_sides(asked: AskedTable) -> Iterator[TableReading]:
    """ "Does Clemson or Western Michigan have more appearances": the side with the larger value."""
    if "or" not in asked.words:
        return
    for index, word in enumerate(asked.words):
        scale = COMPARATIVES.get(word)
        if scale is None and word not in BEST_WORDS:
            continue
        for first, second in find_pairs(asked):
            if "or" not in asked.words[first.end : second.start]:
                continue
            others = _other_conditions(asked, first, second)
            base = frozenset({index}) | first.tokens | second.tokens
            base |= frozenset[int]().union(*(condition.tokens for condition in others))
            sides = (select_side(asked, first, others), select_side(asked, second, others))
            labels = tuple(_label_of(asked, link) for link in (first, second))
            for column, tokens, strength in measures_of(asked, index, scale):
                largest = BEST_WORDS[word] if scale is None else scale.largest
                yield TableReading(
                    query=SideQuery(
                        labels=labels,
                        sides=sides,
                        column=None if column is None else column.index,
                        largest=largest != (column is not None and column.is_rank),
                    ),
                    tokens=base | tokens,
                    quality=0.45 + 0.5 * strength,
                )


def read_alternatives(asked: AskedTable) -> Iterator[TableReading]:
    """ "Which model is a diesel, the Tour or the Aspect": the side whose row meets the other conditions."""
    if "or" not in asked.words or asked.comparisons:
        return
    for first, second in find_pairs(asked):
        if asked.words[second.start - 1] != "or" and asked.words[second.start - 2] != "or":
            continue
        used = first.tokens | second.tokens
        rows = first.rows | second.rows
        for combined in combine_conditions(asked, exclude=used):
            others = tuple(condition for condition in combined.conditions if condition.column != first.column)
            if not others:
                continue
            either = CellCondition(column=first.column, rows=rows, words="", tokens=used)
            tokens = used.union(*(condition.tokens for condition in others))
            named = frozenset(token for token in range(first.start) if first.column in asked.links.columns_at(token))
            yield TableReading(
                query=CellsQuery(selection=RowSelection(conditions=(either, *others)), column=first.column),
                tokens=tokens | named,
                quality=0.75,
            )


def measures_of(
    asked: AskedTable, index: int, scale: ScaleWord | None
) -> Iterator[tuple[TableColumn | None, frozenset[int], float]]:
    """Yields the columns that a comparative may compare; None: the number of rows."""
    yield from asked.columns_after(index)
    if scale is not None:
        yield from ((column, frozenset[int](), 0.6) for column in asked.columns_of_scale(scale))
    else:
        yield from ((column, frozenset[int](), 0.6) for column in asked.table.columns if column.is_rank)
    if asked.words[index] in ("more", "most", "less", "fewer", "longer"):
        yield None, frozenset(asked.noun_after(index)), 0.3


def _label_of(asked: AskedTable, link: ValueLink) -> str:
    cell = asked.table.columns[link.column].values[min(link.rows)]
    values = asked.table.columns[link.column].values
    if link.is_whole or len({values[row].folded for row in link.rows}) == 1:
        return cell.text
    return " ".join(asked.words[link.start : link.end])


def read_differences(asked: AskedTable) -> Iterator[TableReading]:
    """ "How many more medals did Egypt win than Ivory Coast", "the difference between A and B"."""
    cues = _difference_cues(asked)
    if not cues:
        return
    for first, second in find_pairs(asked):
        others = _other_conditions(asked, first, second)
        base = cues | first.tokens | second.tokens
        base |= frozenset[int]().union(*(condition.tokens for condition in others))
        sides = (select_side(asked, first, others), select_side(asked, second, others))
        measures = [
            measured
            for measured in asked.columns_in(range(len(asked.words)))
            if asked.can_sum(measured[0]) and measured[0].index != first.column
        ]
        named = list(asked.columns_with_total(measures))
        for column, tokens, strength in named[:2]:
            yield TableReading(
                query=DifferenceQuery(sides=sides, column=column.index),
                tokens=base | tokens,
                quality=0.55 + 0.35 * strength,
            )
        if not named:
            yield TableReading(query=DifferenceQuery(sides=sides, column=None), tokens=base, quality=0.5)


def _difference_cues(asked: AskedTable) -> frozenset[int]:
    index = asked.question.find_phrase("difference")
    if index is not None:
        return frozenset({index})
    for word in ("more", "less", "fewer", "greater", "higher", "longer"):
        for amount in ("many", "much"):
            start = asked.question.find_phrase("how", amount, word)
            if start is not None and "than" in asked.words[start:]:
                return frozenset({start, start + 1, start + 2, asked.words.index("than", start)})
    return frozenset()


def read_verdicts(asked: AskedTable) -> Iterator[TableReading]:
    """ "Is A listed above or below B", "was A before or after B"."""
    for lower, higher, by_day in (("above", "below", False), ("before", "after", True)):
        index = asked.question.find_phrase(lower, "or", higher)
        if index is None:
            continue
        days = [column.index for column in asked.table.columns if column.kind is ColumnKind.DAY]
        for first, second in find_pairs(asked):
            if first.end > index or second.start < index:
                continue
            yield TableReading(
                query=VerdictQuery(
                    first=select_side(asked, first, ()),
                    second=select_side(asked, second, ()),
                    column=days[0] if by_day and days else None,
                    lower_word=lower,
                    higher_word=higher,
                ),
                tokens=first.tokens | second.tokens | {index, index + 1, index + 2},
                quality=0.85,
            )
    yield from _read_more_or_less(asked)


def _read_more_or_less(asked: AskedTable) -> Iterator[TableReading]:
    """ "Does the Malaysia Open pay more or less than the French one"."""
    for first_word, second_word in (("more", "less"), ("more", "fewer"), ("higher", "lower"), ("longer", "shorter")):
        index = asked.question.find_phrase(first_word, "or", second_word)
        if index is None:
            continue
        for first, second in find_pairs(asked):
            if first.end > index or second.start < index:
                continue
            measures = [*asked.columns_after(index), *asked.columns_in(range(len(asked.words)))]
            for column, tokens, strength in [each for each in measures if asked.can_sum(each[0])][:2]:
                yield TableReading(
                    query=VerdictQuery(
                        first=select_side(asked, first, ()),
                        second=select_side(asked, second, ()),
                        column=column.index,
                        lower_word=second_word,
                        higher_word=first_word,
                    ),
                    tokens=first.tokens | second.tokens | tokens | {index, index + 1, index + 2},
                    quality=0.5 + 0.35 * strength,
                )
