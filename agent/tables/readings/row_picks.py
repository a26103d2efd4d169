"""The rows that superlatives and positions pick: "the largest", "the second highest", "the last listed"."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent.english.table_words import BEST_WORDS, FIRST_WORDS, LAST_WORDS, SUPERLATIVES, ScaleWord
from agent.tables.readings.asked_table import AskedTable
from agent.tables.row_queries import RowPick
from agent.tables.typed_tables import ColumnKind, TableColumn


@dataclass(frozen=True, slots=True, kw_only=True)
class PickedRows:
    """A pick of rows, the tokens that ask for it, and how surely its column is meant."""

    pick: RowPick
    tokens: frozenset[int]
    quality: float


def find_picks(asked: AskedTable) -> Iterator[PickedRows]:
    """Yields the picks that superlatives and positions ask for."""
    for index, word in enumerate(asked.words):
        if asked.is_in_comparison(index):
            continue
        if word in BEST_WORDS:
            yield from _picks_by_quality(asked, index, best=BEST_WORDS[word])
        scale = SUPERLATIVES.get(word)
        if scale is not None and asked.words[index - 1 : index] != ("at",):
            yield from _picks_by_scale(asked, index, scale)
        if word == "recent" and asked.words[index - 1 : index] == ("most",):
            yield from _picks_by_scale(asked, index, SUPERLATIVES["latest"])
        if word in FIRST_WORDS or word in LAST_WORDS:
            yield from _picks_by_position(asked, index, is_first=word in FIRST_WORDS)


def _picks_by_scale(asked: AskedTable, index: int, scale: ScaleWord) -> Iterator[PickedRows]:
    rank, cue = _rank_before(asked, index)
    count = _count_after(asked, index)
    cue |= {index}
    measured = list(asked.columns_after(index))
    for column, tokens, strength in measured:
        largest = scale.largest != column.is_rank
        yield PickedRows(
            pick=RowPick(column=column.index, largest=largest, count=count, rank=rank),
            tokens=frozenset({*cue, *tokens}),
            quality=0.5 + 0.5 * strength,
        )
    for place, column in enumerate(asked.columns_of_scale(scale)):
        yield PickedRows(
            pick=RowPick(column=column.index, largest=scale.largest, count=count, rank=rank),
            tokens=frozenset(cue),
            quality=(0.7 if not measured else 0.5) - 0.05 * place,
        )
    if not measured and not scale.columns and not scale.is_day:
        numeric = [column for column in asked.table.columns if _is_plain_measure(asked, column)]
        if len(numeric) == 1:
            yield PickedRows(
                pick=RowPick(column=numeric[0].index, largest=scale.largest, count=count, rank=rank),
                tokens=frozenset(cue),
                quality=0.55,
            )


def _is_plain_measure(asked: AskedTable, column: TableColumn) -> bool:
    return asked.can_sum(column) and column.distinct_share > 0.2


def _rank_before(asked: AskedTable, index: int) -> tuple[int, set[int]]:
    """ "Second highest", "third most"."""
    before = asked.question.tokens[index - 1] if index else None
    if before is not None and before.ordinal is not None and 2 <= before.ordinal <= 10:
        return before.ordinal, {before.index}
    return 1, set()


def _count_after(asked: AskedTable, index: int) -> int:
    """ "The three deepest", "the top 5": the number of rows that are taken."""
    for token in (*asked.question.tokens[index + 1 : index + 2], *asked.question.tokens[max(index - 1, 0) : index]):
        if token.number is not None and token.number.is_integer() and 2 <= token.number <= 20:
            return int(token.number)
    return 1


def _picks_by_quality(asked: AskedTable, index: int, *, best: bool) -> Iterator[PickedRows]:
    measured = list(asked.columns_after(index))
    for column, tokens, strength in measured:
        yield PickedRows(
            pick=RowPick(column=column.index, largest=best != column.is_rank),
            tokens=frozenset({index, *tokens}),
            quality=0.5 + 0.4 * strength,
        )
    ranks = [column for column in asked.table.columns if column.is_rank]
    for column in ranks[:1] if not measured else ():
        yield PickedRows(pick=RowPick(column=column.index, largest=not best), tokens=frozenset({index}), quality=0.6)


def _picks_by_position(asked: AskedTable, index: int, *, is_first: bool) -> Iterator[PickedRows]:
    """ "The first listed", "the last game": by the order of the rows, or by days where these are out of order."""
    count = _count_after(asked, index)
    rank = 2 if asked.words[max(index - 2, 0) : index] in (("second", "to"), ("next", "to")) else 1
    cue = {index} if rank == 1 else {index, index - 1, index - 2}
    is_place = asked.words[index + 1 : index + 2] in (("place",), ("position",), ("rank",), ("ranked",))
    if is_place or asked.words[max(index - 1, 0) : index] in (("placed",), ("ranked",), ("finished",), ("came",)):
        for column in [column for column in asked.table.columns if column.is_rank][:1]:
            yield PickedRows(
                pick=RowPick(column=column.index, largest=not is_first, rank=rank),
                tokens=frozenset({*cue, index + 1 if is_place else index - 1}),
                quality=0.75,
            )
    if asked.words[index] in ("top", "bottom"):  # "the top time"
        for column in (asked.table.columns[named] for named in asked.links.columns_at(index + 1)):
            if asked.can_sum(column):
                is_time = 2 * sum(value.is_clock for value in column.values) > len(column.values)
                yield PickedRows(
                    pick=RowPick(column=column.index, largest=is_first != is_time, count=count, rank=rank),
                    tokens=frozenset({*cue, index + 1}),
                    quality=0.8,
                )
    days = [column for column in asked.table.columns if column.kind is ColumnKind.DAY and column.has_years]
    for column in days[:1]:
        yield PickedRows(
            pick=RowPick(column=column.index, largest=not is_first, count=count, rank=rank),
            tokens=frozenset(cue),
            quality=0.75 if asked.words[index] not in ("top", "bottom") else 0.3,
        )
    yield PickedRows(
        pick=RowPick(column=None, largest=not is_first, count=count, rank=rank), tokens=frozenset(cue), quality=0.65
    )
