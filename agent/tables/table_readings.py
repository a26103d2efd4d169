"""What a question may mean in a table: each reading is a query, with the tokens of the question that it explains."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from agent.english.table_words import (
    AVERAGE_WORDS,
    BEST_WORDS,
    COMPARATIVES,
    COUNT_NOUNS_OF_ROWS,
    DISTINCT_WORDS_OF_ROWS,
    EXCEPT_PHRASES,
    FIRST_WORDS,
    LAST_WORDS,
    MOST_COMMON_WORDS,
    NEXT_WORDS,
    PREVIOUS_WORDS,
    SUM_WORDS,
    SUPERLATIVES,
    VERBS_OF_ROWS,
    ScaleWord,
)
from agent.tables.asked_tokens import TableQuestion
from agent.tables.row_conditions import (
    condition_of_link,
    conditions_of_comparison,
    day_conditions,
    find_comparisons,
    ordinal_conditions,
    outcome_conditions,
    position_conditions,
)
from agent.tables.row_queries import (
    AnswerKind,
    CellCondition,
    CellsQuery,
    CountQuery,
    DifferenceQuery,
    GroupQuery,
    NumberQuery,
    RowPick,
    RowQuery,
    RowSelection,
    SideQuery,
    SpanQuery,
    VerdictQuery,
    data_rows_of,
)
from agent.tables.table_links import TableLinks, ValueLink
from agent.tables.target_columns import TargetColumn, find_targets
from agent.tables.typed_tables import ColumnKind, TableColumn, TypedTable

_MAX_PRODUCT = 400  # combinations that are looked at
_MAX_ALTERNATIVES = 12  # combinations of conditions that are tried
_NEAR = 5  # tokens after a superlative, in which the name of its column stands


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReading:
    """A query and the tokens that it explains. `quality`: how surely its columns and its form are meant (0 to 1)."""

    query: RowQuery
    tokens: frozenset[int]
    quality: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConditionSet:
    """A combination of conditions, and the tokens that they explain."""

    conditions: tuple[CellCondition, ...]
    tokens: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PickedRows:
    """A pick of rows, the tokens that ask for it, and how surely its column is meant."""

    pick: RowPick
    tokens: frozenset[int]
    quality: float


class TableQuestionReader:
    """Finds the readings of a question in a table."""

    def __init__(self, question: TableQuestion, table: TypedTable, links: TableLinks) -> None:
        self._question, self._table, self._links = question, table, links
        self._words = question.words
        self._targets = find_targets(question, table, links)
        self._comparisons = list(find_comparisons(question))
        self._count_index = self._find_count()

    def find_readings(self) -> Iterator[TableReading]:
        """Yields the readings; several may be of the same query."""
        yield from self._read_verdict()
        yield from self._read_sides()
        yield from self._read_differences()
        yield from self._read_neighbours()
        yield from self._read_same()
        yield from self._read_groups()
        for conditions in self._combine_conditions():
            picks = list(self._find_picks())
            if self._count_index is not None:
                yield from self._read_count(conditions, picks)
                yield from self._read_span(conditions)
            else:
                yield from self._read_average(conditions, picks)
                yield from self._read_cells(conditions, picks)

    # -- conditions

    def _combine_conditions(self, exclude: frozenset[int] = frozenset()) -> Iterator[_ConditionSet]:
        """Yields the combinations of conditions that leave rows, the likeliest first."""
        groups = [group for group in self._condition_groups() if not any(c.tokens & exclude for c in group)]
        rows = set(data_rows_of(self._table))
        found = list[_ConditionSet]()
        for combination in islice(product(*([*group, None] for group in groups)), _MAX_PRODUCT):
            chosen = [condition for condition in combination if condition is not None]
            merged = _merge_alternatives(chosen)
            left = rows.intersection(*(condition.rows for condition in merged)) if merged else rows
            if left:
                tokens = frozenset[int]().union(*(condition.tokens for condition in merged))
                found.append(_ConditionSet(conditions=tuple(merged), tokens=tokens))
        found.sort(key=lambda conditions: -sum(self._question.tokens[token].is_value for token in conditions.tokens))
        yield from found[:_MAX_ALTERNATIVES]
        if found and found[-1] not in found[:_MAX_ALTERNATIVES]:
            yield found[-1]

    def _condition_groups(self) -> list[list[CellCondition]]:
        """Returns a list for each phrase: the conditions that it may be, best first."""
        compared = {token for comparison in self._comparisons for token in comparison.tokens}
        groups = list[list[CellCondition]]()
        for comparison in self._comparisons:
            found = conditions_of_comparison(comparison, self._question, self._table, self._links)
            if found:
                groups.append(found[:2])
            else:
                compared -= comparison.tokens
        by_span = dict[tuple[int, int], list[ValueLink]]()
        for link in self._links.values:
            if not link.tokens & compared and not self._is_part_of_day(link):
                by_span.setdefault((link.start, link.end), []).append(link)
        linked = set(compared)
        for links in by_span.values():
            ordered = sorted(links, key=self._weigh_link, reverse=True)
            is_wide = self._count_index is not None
            groups.append(
                [self._negate(condition_of_link(link, self._question, is_wide=is_wide)) for link in ordered[:3]]
            )
            linked |= set(links[0].tokens)
        for condition in (
            *day_conditions(self._question, self._table, self._links),
            *ordinal_conditions(self._question, self._table, self._links),
            *outcome_conditions(self._question, self._table, self._links),
        ):
            if not condition.tokens & linked:
                groups.append([self._negate(condition)])
                linked |= set(condition.tokens)
        if self._count_index is not None:
            for condition in position_conditions(self._question, self._table, self._links):
                for group in groups:
                    if group[0].tokens <= condition.tokens:
                        group.insert(0, condition)
        return groups

    def _is_part_of_day(self, link: ValueLink) -> bool:
        """Whether the link is a month or a year in a column of days, which `day_conditions` finds."""
        is_day = self._table.columns[link.column].kind is ColumnKind.DAY
        return is_day and not link.is_whole and link.end - link.start == 1

    def _weigh_link(self, link: ValueLink) -> float:
        """Prefers whole cells, columns that are named beside the phrase, and columns that are not asked for."""
        weight = 1.0 if link.is_whole else 0.6
        for offset in (1, 2, 3):
            for token in (link.start - offset, link.end - 1 + offset):
                weight += 0.5 * self._links.columns_at(token).get(link.column, 0.0) / offset
        if self._targets[0].column.index == link.column and self._targets[0].quality > 0.6:
            weight -= 0.6
        return weight - 0.001 * len(link.rows)

    def _negate(self, condition: CellCondition) -> CellCondition:
        """Turns the condition around behind "other than" and "not"."""
        start = min(condition.tokens)
        for phrase in (*EXCEPT_PHRASES, ("not", "in"), ("not",), ("not", "at")):
            if self._words[max(start - len(phrase), 0) : start] == phrase:
                return self._complement(condition, range(start - len(phrase), start))
        return condition

    def _complement(self, condition: CellCondition, tokens: range) -> CellCondition:
        rows = frozenset(range(len(self._table.rows))) - condition.rows
        return replace(condition, rows=rows, tokens=condition.tokens | frozenset(tokens))

    # -- picks

    def _find_picks(self) -> Iterator[_PickedRows]:
        """Yields the picks that superlatives and positions ask for."""
        for index, word in enumerate(self._words):
            if self._is_in_comparison(index):
                continue
            if word in BEST_WORDS:
                yield from self._picks_by_quality(index, best=BEST_WORDS[word])
            scale = SUPERLATIVES.get(word)
            if scale is not None and self._words[index - 1 : index] != ("at",):
                yield from self._picks_by_scale(index, scale)
            if word == "recent" and self._words[index - 1 : index] == ("most",):
                yield from self._picks_by_scale(index, SUPERLATIVES["latest"])
            if word in FIRST_WORDS or word in LAST_WORDS:
                yield from self._picks_by_position(index, is_first=word in FIRST_WORDS)

    def _is_in_comparison(self, index: int) -> bool:
        return any(index in comparison.tokens for comparison in self._comparisons)

    def _picks_by_scale(self, index: int, scale: ScaleWord) -> Iterator[_PickedRows]:
        rank, cue = self._rank_before(index)
        count = self._count_after(index)
        cue |= {index}
        measured = list(self._columns_after(index))
        for column, tokens, strength in measured:
            largest = scale.largest != column.is_rank
            yield _PickedRows(
                pick=RowPick(column=column.index, largest=largest, count=count, rank=rank),
                tokens=frozenset({*cue, *tokens}),
                quality=0.5 + 0.5 * strength,
            )
        for place, column in enumerate(self._columns_of_scale(scale)):
            yield _PickedRows(
                pick=RowPick(column=column.index, largest=scale.largest, count=count, rank=rank),
                tokens=frozenset(cue),
                quality=(0.7 if not measured else 0.5) - 0.05 * place,
            )
        if not measured and not scale.columns and not scale.is_day:
            numeric = [column for column in self._table.columns if self._is_plain_measure(column)]
            if len(numeric) == 1:
                yield _PickedRows(
                    pick=RowPick(column=numeric[0].index, largest=scale.largest, count=count, rank=rank),
                    tokens=frozenset(cue),
                    quality=0.55,
                )

    def _is_plain_measure(self, column: TableColumn) -> bool:
        return self._sums(column) and column.distinct_share > 0.2

    def _rank_before(self, index: int) -> tuple[int, set[int]]:
        """ "Second highest", "third most"."""
        before = self._question.tokens[index - 1] if index else None
        if before is not None and before.ordinal is not None and 2 <= before.ordinal <= 10:
            return before.ordinal, {before.index}
        return 1, set()

    def _count_after(self, index: int) -> int:
        """ "The three deepest", "the top 5": the number of rows that are taken."""
        for token in (*self._question.tokens[index + 1 : index + 2], *self._question.tokens[max(index - 1, 0) : index]):
            if token.number is not None and token.number.is_integer() and 2 <= token.number <= 20:
                return int(token.number)
        return 1

    def _columns_after(self, index: int) -> Iterator[tuple[TableColumn, frozenset[int], float]]:
        """Yields the columns of numbers or days that the words behind a superlative name, best first."""
        scores, tokens = dict[int, float](), dict[int, set[int]]()
        for offset in range(1, _NEAR + 1):
            token = index + offset
            if token >= len(self._words):
                break
            for column, strength in self._links.columns_at(token).items():
                if self._table.columns[column].has_numbers:
                    scores[column] = scores.get(column, 0.0) + strength * (1.1 - 0.1 * offset)
                    tokens.setdefault(column, set()).add(token)
        for token in range(max(index - 3, 0), index):  # "who lost the least"
            for column, strength in self._links.columns_at(token).items():
                if self._sums(self._table.columns[column]) and strength >= 0.95 and self._words[token] in VERBS_OF_ROWS:
                    scores[column] = scores.get(column, 0.0) + 0.8
                    tokens.setdefault(column, set()).add(token)
        ranked = sorted(scores, key=lambda column: scores[column], reverse=True)
        for column in ranked[:2]:
            yield self._table.columns[column], frozenset(tokens[column]), min(scores[column], 1.0)

    def _columns_of_scale(self, scale: ScaleWord) -> list[TableColumn]:
        named = [column for column in self._table.columns if column.has_numbers and scale.columns & {*column.words}]
        days = [column for column in self._table.columns if scale.is_day and column.kind is ColumnKind.DAY]
        clocks = [
            column
            for column in self._table.columns
            if "time" in scale.columns and sum(value.is_clock for value in column.values) * 2 > len(column.values)
        ]
        return list(dict.fromkeys((*days, *named, *clocks)))[:2]

    def _picks_by_quality(self, index: int, *, best: bool) -> Iterator[_PickedRows]:
        measured = list(self._columns_after(index))
        for column, tokens, strength in measured:
            yield _PickedRows(
                pick=RowPick(column=column.index, largest=best != column.is_rank),
                tokens=frozenset({index, *tokens}),
                quality=0.5 + 0.4 * strength,
            )
        ranks = [column for column in self._table.columns if column.is_rank]
        for column in ranks[:1] if not measured else ():
            yield _PickedRows(
                pick=RowPick(column=column.index, largest=not best), tokens=frozenset({index}), quality=0.6
            )

    def _picks_by_position(self, index: int, *, is_first: bool) -> Iterator[_PickedRows]:
        """ "The first listed", "the last game": by the order of the rows, or by days where these are out of order."""
        count = self._count_after(index)
        rank = 2 if self._words[max(index - 2, 0) : index] in (("second", "to"), ("next", "to")) else 1
        cue = {index} if rank == 1 else {index, index - 1, index - 2}
        if self._words[index + 1 : index + 2] in (("place",), ("position",), ("rank",), ("ranked",)):
            for column in [column for column in self._table.columns if column.is_rank][:1]:
                yield _PickedRows(
                    pick=RowPick(column=column.index, largest=not is_first, rank=rank),
                    tokens=frozenset({*cue, index + 1}),
                    quality=0.75,
                )
        days = [column for column in self._table.columns if column.kind is ColumnKind.DAY and column.has_years]
        for column in days[:1]:
            yield _PickedRows(
                pick=RowPick(column=column.index, largest=not is_first, count=count, rank=rank),
                tokens=frozenset(cue),
                quality=0.6 if self._words[index] not in ("top", "bottom") else 0.3,
            )
        yield _PickedRows(
            pick=RowPick(column=None, largest=not is_first, count=count, rank=rank), tokens=frozenset(cue), quality=0.58
        )

    # -- counts, sums, averages

    def _find_count(self) -> int | None:
        """Returns the index of the first token of "how many", "how much", "how long", "number of"; None without."""
        for phrase in (("how", "many"), ("how", "much"), ("how", "long"), ("how", "often")):
            if (index := self._question.find_phrase(*phrase)) is not None:
                return index
        for phrase in (("number", "of"), ("amount", "of"), ("total", "of")):
            index = self._question.find_phrase(*phrase)
            if index is not None and all(word in _BEFORE_COUNT for word in self._words[:index]):
                return index
        return None

    def _counted_phrase(self) -> range:
        """Returns the tokens of what is counted: those behind "how many" up to a verb or a preposition."""
        start = (self._count_index or 0) + 2
        end = start
        while end < len(self._words) and self._words[end] not in _COUNTED_ENDS:
            named = max(self._links.columns_at(end).values(), default=0.0) >= 0.95
            if end > start and self._words[end] in VERBS_OF_ROWS and not named:
                break
            end += 1
        return range(start, end)

    def _read_count(self, conditions: _ConditionSet, picks: Sequence[_PickedRows]) -> Iterator[TableReading]:
        phrase = self._counted_phrase()
        cue = frozenset({self._count_index or 0, (self._count_index or 0) + 1})
        measures = list(self._columns_in(phrase))
        numeric = [measured for measured in self._with_total(measures) if self._sums(measured[0])]
        wants_sum = bool(SUM_WORDS & {*self._words})
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
                count = len(selection.select_rows(self._table))
                quality = 0.4 + 0.4 * strength + bonus + (0.15 if count == 1 or wants_sum else 0.0)
                yield TableReading(
                    query=NumberQuery(selection=selection, column=column.index, kind=AnswerKind.SUM),
                    tokens=covered | tokens | cue,
                    quality=quality,
                )
        is_measure = any(self._words[token] in ("much", "long") for token in cue)
        nouns = [(column, tokens, strength) for column, tokens, strength in measures if not self._sums(column)]
        distinct = bool(DISTINCT_WORDS_OF_ROWS & {*self._words})
        rows_named = {token for token in phrase if self._words[token] in COUNT_NOUNS_OF_ROWS}
        for selection, covered, bonus in selections[:1]:
            for column, tokens, strength in nouns[:1]:
                is_distinct = column.index not in conditioned and (
                    distinct or (not conditions.conditions and column.distinct_share < _MAX_REPEATED_SHARE)
                )
                yield TableReading(
                    query=CountQuery(selection=selection, distinct_column=column.index if is_distinct else None),
                    tokens=covered | tokens | cue | rows_named,
                    quality=0.75 + 0.1 * strength + bonus - 0.4 * is_measure,
                )
            yield TableReading(
                query=CountQuery(selection=selection),
                tokens=covered | cue | rows_named,
                quality=0.7 + bonus - 0.4 * is_measure - 0.3 * self._names_single_row(conditions),
            )
        yield from self._read_measure_of_row(conditions, phrase, cue)

    def _names_single_row(self, conditions: _ConditionSet) -> bool:
        """Whether a condition names the thing of a single row, so that there is nothing to count."""
        subject = self._table.subject.index
        return any(condition.column == subject and len(condition.rows) == 1 for condition in conditions.conditions)

    def _read_measure_of_row(
        self, conditions: _ConditionSet, phrase: range, cue: frozenset[int]
    ) -> Iterator[TableReading]:
        """ "How many people attended the game on …": the number of a row, in a column that a later word names."""
        selection = RowSelection(conditions=conditions.conditions)
        if not conditions.conditions or len(selection.select_rows(self._table)) != 1:
            return
        conditioned = {condition.column for condition in conditions.conditions}
        others = [token for token in range(len(self._words)) if token not in phrase and token not in conditions.tokens]
        for token in others:
            for index, strength in self._links.columns_at(token).items():
                column = self._table.columns[index]
                if strength >= 0.6 and self._sums(column) and index not in conditioned:
                    yield TableReading(
                        query=CellsQuery(selection=selection, column=index),
                        tokens=conditions.tokens | {token} | cue,
                        quality=0.45 + 0.35 * strength,
                    )
        nouns = {self._words[token] for token in phrase}
        for column in self._table.columns:
            if column.unit and column.unit.casefold() in nouns:
                yield TableReading(
                    query=CellsQuery(selection=selection, column=column.index),
                    tokens=conditions.tokens | cue | frozenset(phrase),
                    quality=0.85,
                )

    def _with_total(
        self, measures: Sequence[tuple[TableColumn, frozenset[int], float]]
    ) -> Iterator[tuple[TableColumn, frozenset[int], float]]:
        """Yields the columns; first the one of totals, if the words are only like the names of several columns."""
        unclear = [measured for measured in measures if self._sums(measured[0]) and measured[2] < 0.9]
        if len(unclear) > 1 and len(unclear) == sum(self._sums(column) for column, _, _ in measures):
            totals = [column for column in self._table.columns if {"total", "overall"} & {*column.words}]
            yield from ((column, unclear[0][1], 0.85) for column in totals[:1])
        yield from measures

    def _sums(self, column: TableColumn) -> bool:
        return column.kind is ColumnKind.NUMBER and not column.is_rank and not column.is_index

    def _columns_in(self, phrase: range) -> Iterator[tuple[TableColumn, frozenset[int], float]]:
        scores, tokens = dict[int, float](), dict[int, set[int]]()
        for token in phrase:
            for column, strength in self._links.columns_at(token).items():
                if self._words[token] in ("total", "number"):
                    strength *= 0.4
                scores[column] = scores.get(column, 0.0) + strength
                tokens.setdefault(column, set()).add(token)
        for column in sorted(scores, key=lambda index: (-scores[index], len(self._table.columns[index].words))):
            yield self._table.columns[column], frozenset(tokens[column]), min(scores[column], 1.0)

    def _read_average(self, conditions: _ConditionSet, picks: Sequence[_PickedRows]) -> Iterator[TableReading]:
        cues = self._question.indices_of(AVERAGE_WORDS) or self._question.indices_of(SUM_WORDS)
        if not cues:
            return
        kind = AnswerKind.AVERAGE if self._words[cues[0]] in AVERAGE_WORDS else AnswerKind.SUM
        selections = [(RowSelection(conditions=conditions.conditions), conditions.tokens)]
        selections += [
            (RowSelection(conditions=conditions.conditions, pick=picked.pick), conditions.tokens | picked.tokens)
            for picked in picks
            if picked.pick.count > 1
        ]
        for column, tokens, strength in self._columns_in(range(cues[0], min(cues[0] + _NEAR + 1, len(self._words)))):
            if not self._sums(column) or strength < 0.5:
                continue
            for selection, covered in selections:
                yield TableReading(
                    query=NumberQuery(selection=selection, column=column.index, kind=kind),
                    tokens=covered | tokens | {cues[0]},
                    quality=0.55 + 0.3 * strength,
                )

    def _read_span(self, conditions: _ConditionSet) -> Iterator[TableReading]:
        words = self._words[self._count_index or 0 :][:3]
        if words[:2] != ("how", "long") and words[2:] != ("years",):
            return
        cue = frozenset(range(self._count_index or 0, (self._count_index or 0) + (2 if words[1] == "long" else 3)))
        selection = RowSelection(conditions=conditions.conditions)
        for column in self._table.columns:
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

    # -- cells

    def _read_cells(self, conditions: _ConditionSet, picks: Sequence[_PickedRows]) -> Iterator[TableReading]:
        conditioned = {condition.column for condition in conditions.conditions}
        for target in self._targets[:3]:
            repeats = target.column.index in conditioned
            if not picks or conditions.conditions:
                yield self._cells_reading(
                    RowSelection(conditions=conditions.conditions),
                    target,
                    conditions.tokens,
                    (-0.35 if repeats else 0.0)
                    - (0.25 if picks else 0.0)
                    - (0.5 if not conditions.conditions else 0.0),
                )
            for picked in picks:
                penalty = 0.35 if repeats else 0.0
                if target.column.index == picked.pick.column and target.column.kind is not ColumnKind.DAY:
                    penalty += 0.0 if target.tokens & picked.tokens and len(self._targets) == 1 else 0.1
                yield self._cells_reading(
                    RowSelection(conditions=conditions.conditions, pick=picked.pick),
                    target,
                    conditions.tokens | picked.tokens,
                    picked.quality - 0.8 - penalty,
                )

    def _cells_reading(
        self, selection: RowSelection, target: TargetColumn, tokens: frozenset[int], bonus: float
    ) -> TableReading:
        return TableReading(
            query=CellsQuery(selection=selection, column=target.column.index),
            tokens=tokens | target.tokens,
            quality=0.35 + 0.4 * min(target.quality, 1.2) + bonus,
        )

    # -- rows beside other rows, and rows that share a value

    def _read_neighbours(self) -> Iterator[TableReading]:
        """ "Which artist came after Oasis", "the nation before Mexico", "what comes next after"."""
        for index, word in enumerate(self._words):
            step = 1 if word in NEXT_WORDS else -1 if word in PREVIOUS_WORDS else 0
            if not step or self._is_in_comparison(index):
                continue
            anchors = [link for link in self._links.values if 0 < link.start - index <= 3 and link.is_whole] or [
                link for link in self._links.values if 0 < link.start - index <= 3
            ]
            for anchor in anchors[:3]:
                others = [
                    condition_of_link(link, self._question)
                    for link in self._links.values
                    if link.start >= anchor.end and link.rows & anchor.rows and link.column != anchor.column
                ]
                conditions = (condition_of_link(anchor, self._question), *others[:1])
                tokens = frozenset({index}).union(*(condition.tokens for condition in conditions))
                tokens |= {
                    token for token in range(index - 2, index) if token >= 0 and self._words[token] in _NEXT_CUES
                }
                for target in self._neighbour_targets(anchor):
                    yield TableReading(
                        query=CellsQuery(
                            selection=RowSelection(conditions=conditions, shift=step), column=target.column.index
                        ),
                        tokens=tokens | target.tokens,
                        quality=0.5 + 0.35 * min(target.quality, 1.0) + 0.1 * anchor.is_whole - 0.02 * len(anchor.rows),
                    )

    def _neighbour_targets(self, anchor: ValueLink) -> Iterator[TargetColumn]:
        best = self._targets[0]
        yield best
        if best.quality < 0.7:
            yield TargetColumn(column=self._table.columns[anchor.column], quality=0.75, tokens=frozenset())

    def _read_same(self) -> Iterator[TableReading]:
        """ "Who has the same position as X": the other rows that share a value with the row of X."""
        index = self._question.find_phrase("same")
        if index is None:
            return
        anchors = [link for link in self._links.values if link.start > index]
        for anchor in anchors[:2]:
            for column, tokens, strength in self._columns_in(range(index + 1, min(anchor.start, index + 4))):
                values = self._table.columns[column.index].values
                shared = {values[row].folded for row in anchor.rows if not values[row].is_empty}
                rows = frozenset(
                    row for row, value in enumerate(values) if value.folded in shared and row not in anchor.rows
                )
                if not rows:
                    continue
                condition = CellCondition(
                    column=column.index,
                    rows=rows,
                    words=self._words[index],
                    tokens=tokens | anchor.tokens | {index},
                )
                selection = RowSelection(conditions=(condition,))
                anchor_target = TargetColumn(column=self._table.columns[anchor.column], quality=0.6, tokens=frozenset())
                for target in (self._targets[0], anchor_target):
                    if target.column.index != column.index:
                        yield self._cells_reading(selection, target, condition.tokens, 0.1 + 0.2 * strength)

    # -- groups

    def _read_groups(self) -> Iterator[TableReading]:
        """ "Which country has the most roller coasters", "the most common cause": the most frequent value."""
        for index, word in enumerate(self._words):
            is_common = word in MOST_COMMON_WORDS and self._words[index - 1 : index] in (("most",), ("least",))
            is_most = word in ("most", "majority", "least", "fewest") and not self._is_in_comparison(index)
            if not is_common and not is_most:
                continue
            most = not ({"least", "fewest"} & {word, *self._words[max(index - 1, 0) : index]})
            cue = {index, index - 1} if is_common else {index}
            has_measure = any(self._sums(column) for column, _, _ in self._columns_after(index)) and not is_common
            for conditions in self._combine_conditions():
                for target in self._targets[:2]:
                    repeated = target.column.distinct_share < 0.9 or target.column.kind is not ColumnKind.NUMBER
                    if not repeated or target.quality < 0.6:
                        continue
                    yield TableReading(
                        query=GroupQuery(
                            selection=RowSelection(conditions=conditions.conditions),
                            column=target.column.index,
                            most=most,
                        ),
                        tokens=conditions.tokens | target.tokens | cue | self._noun_after(index),
                        quality=0.3
                        + 0.4 * min(target.quality, 1.0)
                        + 0.2 * is_common
                        - 0.35 * has_measure
                        + 0.15 * (target.column.distinct_share < 0.7),
                    )

    def _noun_after(self, index: int) -> set[int]:
        """The noun of what is counted behind "most": it names the rows."""
        following = self._question.tokens[index + 1 : index + 2]
        return {token.index for token in following if token.is_content}

    # -- two sides

    def _pairs(self) -> Iterator[tuple[ValueLink, ValueLink]]:
        """Yields two values of one column that are set beside each other."""
        links = self._links.values
        for first, second in product(links, links):
            if first.column == second.column and first.end <= second.start and not first.rows & second.rows:
                yield first, second

    def _side(self, link: ValueLink, others: tuple[CellCondition, ...]) -> RowSelection:
        return RowSelection(conditions=(condition_of_link(link, self._question), *others))

    def _other_conditions(self, *links: ValueLink) -> tuple[CellCondition, ...]:
        used = frozenset[int]().union(*(link.tokens for link in links))
        combined = next(iter(self._combine_conditions(exclude=used)), None)
        if combined is None:
            return ()
        columns = {link.column for link in links}
        return tuple(
            condition
            for condition in combined.conditions
            if condition.column not in columns and all(condition.rows & link.rows for link in links)
        )

    def _read_sides(self) -> Iterator[TableReading]:
        """ "Does Clemson or Western Michigan have more appearances": the side with the larger value."""
        if "or" not in self._words:
            return
        for index, word in enumerate(self._words):
            scale = COMPARATIVES.get(word)
            if scale is None and word not in BEST_WORDS:
                continue
            for first, second in self._pairs():
                if "or" not in self._words[first.end : second.start]:
                    continue
                others = self._other_conditions(first, second)
                base = frozenset({index}) | first.tokens | second.tokens
                base |= frozenset[int]().union(*(condition.tokens for condition in others))
                sides = (self._side(first, others), self._side(second, others))
                labels = tuple(self._label(link) for link in (first, second))
                for column, tokens, strength in self._measures_of(index, scale):
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

    def _measures_of(
        self, index: int, scale: ScaleWord | None
    ) -> Iterator[tuple[TableColumn | None, frozenset[int], float]]:
        """Yields the columns that a comparative may compare; None: the number of rows."""
        yield from self._columns_after(index)
        if scale is not None:
            yield from ((column, frozenset[int](), 0.6) for column in self._columns_of_scale(scale))
        else:
            yield from ((column, frozenset[int](), 0.6) for column in self._table.columns if column.is_rank)
        if self._words[index] in ("more", "most", "less", "fewer", "longer"):
            yield None, frozenset(self._noun_after(index)), 0.3

    def _label(self, link: ValueLink) -> str:
        cell = self._table.columns[link.column].values[min(link.rows)]
        if link.is_whole or len(link.rows) == 1:
            return cell.text
        return " ".join(self._words[link.start : link.end])

    def _read_differences(self) -> Iterator[TableReading]:
        """ "How many more medals did Egypt win than Ivory Coast", "the difference between A and B"."""
        cues = self._difference_cues()
        if not cues:
            return
        for first, second in self._pairs():
            others = self._other_conditions(first, second)
            base = cues | first.tokens | second.tokens
            base |= frozenset[int]().union(*(condition.tokens for condition in others))
            sides = (self._side(first, others), self._side(second, others))
            measures = [
                measured
                for measured in self._columns_in(range(len(self._words)))
                if self._sums(measured[0]) and measured[0].index != first.column
            ]
            named = list(self._with_total(measures))
            for column, tokens, strength in named[:2]:
                yield TableReading(
                    query=DifferenceQuery(sides=sides, column=column.index),
                    tokens=base | tokens,
                    quality=0.55 + 0.35 * strength,
                )
            if not named:
                yield TableReading(query=DifferenceQuery(sides=sides, column=None), tokens=base, quality=0.5)

    def _difference_cues(self) -> frozenset[int]:
        index = self._question.find_phrase("difference")
        if index is not None:
            return frozenset({index})
        for word in ("more", "less", "fewer", "greater", "higher", "longer"):
            for amount in ("many", "much"):
                start = self._question.find_phrase("how", amount, word)
                if start is not None and "than" in self._words[start:]:
                    return frozenset({start, start + 1, start + 2, self._words.index("than", start)})
        return frozenset()

    def _read_verdict(self) -> Iterator[TableReading]:
        """ "Is A listed above or below B", "was A before or after B"."""
        for lower, higher, by_day in (("above", "below", False), ("before", "after", True)):
            index = self._question.find_phrase(lower, "or", higher)
            if index is None:
                continue
            days = [column.index for column in self._table.columns if column.kind is ColumnKind.DAY]
            for first, second in self._pairs():
                if first.end > index or second.start < index:
                    continue
                yield TableReading(
                    query=VerdictQuery(
                        first=self._side(first, ()),
                        second=self._side(second, ()),
                        column=days[0] if by_day and days else None,
                        lower_word=lower,
                        higher_word=higher,
                    ),
                    tokens=first.tokens | second.tokens | {index, index + 1, index + 2},
                    quality=0.85,
                )


_COUNTED_ENDS = frozenset(
    """is are was were be did does do has have had can could will would in of for with that who whose where when from by
    to at on during after before under over above below than listed not and or there""".split()
)
_BEFORE_COUNT = frozenset("what whats is s are was were the total a give tell me find say in for all there".split())
_MAX_REPEATED_SHARE = 0.75  # of different values, up to which "how many countries" counts countries and not rows
_NEXT_CUES = frozenset("next directly immediately right listed comes just".split())
_LENGTH_WORDS = frozenset("length duration term tenure reign".split())


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
