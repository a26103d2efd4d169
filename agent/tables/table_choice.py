"""Chooses the table and the reading that explain most of a question, or none if too much is left over."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.evidence.question_words import WordStems
from agent.evidence.word_meanings import Likeness
from agent.tables.asked_tokens import AskedToken, TableQuestion
from agent.tables.readings.table_reading import TableReading
from agent.tables.row_queries import TableAnswer
from agent.tables.table_links import TableLinks, link_question
from agent.tables.table_readings import find_readings
from agent.tables.typed_tables import TypedTable

_QUALITY_WEIGHT = 0.55  # of a reading's quality, beside the share of the question that it explains
_PRIOR_WEIGHT = 0.25  # of the place of the table's document in the ranking of documents
_ROW_NOUN_WEIGHT = 0.35  # of a content word that names no column and stands in no cell
_MIN_EXPLAINED, _MIN_QUALITY = 0.5, 0.5  # of a reading that is claimed
_MIN_EXPLAINED_OF_EMBEDDED = 0.6  # of a table beside other text
_MAX_LEFT_OVER = 1  # "which club does Tom Hale *belong* to"
_MIN_MARGIN = 0.03  # of its score over other answers from the same table
_TABLE_MARGIN = 0.12  # within which the reading of another table may be meant as well
_MAX_TABLES = 3  # that are answered from side by side
_MAX_ROWS_SHOWN_AS_CELLS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredReading:
    """A reading with its answer. `explained`: the share (0 to 1) of the question that it explains.

    `left_over_count`: the content words that it makes no use of; a name or a number counts twice.
    """

    table: TypedTable
    reading: TableReading
    answer: TableAnswer
    explained: float
    left_over_count: int
    score: float


def rank_readings(
    question: TableQuestion,
    tables: Sequence[TypedTable],
    stems: WordStems,
    likeness: Likeness,
    priors: Sequence[float],
) -> list[ScoredReading]:
    """Returns the readings of all tables that have an answer, best first. `priors`: 0 to 1, for each table."""
    links = [link_question(question, table, stems, likeness) for table in tables]
    weights = _weigh_tokens(question, links)
    scored = [
        reading
        for table, table_links, prior in zip(tables, links, priors, strict=True)
        for reading in _score_readings(question, table, table_links, weights, prior)
    ]
    return sorted(scored, key=lambda reading: reading.score, reverse=True)


def choose_readings(readings: Sequence[ScoredReading]) -> list[ScoredReading]:
    """Returns the best reading of the table that is meant, or of each of a few tables that may be meant as well.

    Returns none if the best reading leaves too much of the question over or is hardly surer than another of its table,
    or if many tables may be meant.
    """
    best = next(iter(readings), None)
    if best is None or not _is_sure(best):
        return []
    rivals = [reading for reading in readings if reading.table is best.table]
    if any(best.score - rival.score < _MIN_MARGIN for rival in rivals if rival.answer.values != best.answer.values):
        return []
    by_table = dict[int, ScoredReading]()
    for reading in readings:
        if best.score - reading.score < _TABLE_MARGIN:
            by_table.setdefault(id(reading.table), reading)
    may_be_several = len(by_table) <= 1 or not best.table.is_embedded
    return [*by_table.values()] if len(by_table) <= _MAX_TABLES and may_be_several else []


def _is_sure(reading: ScoredReading) -> bool:
    """Whether enough is explained; of a table beside other text, every word of the question but its verb."""
    is_too_little = reading.explained < _MIN_EXPLAINED_OF_EMBEDDED or reading.left_over_count > _MAX_LEFT_OVER
    if reading.table.is_embedded and is_too_little:
        return False
    return reading.explained >= _MIN_EXPLAINED and reading.reading.quality >= _MIN_QUALITY


def _weigh_tokens(question: TableQuestion, links: Sequence[TableLinks]) -> Mapping[int, float]:
    """Weighs the content tokens: those that few tables hold say more."""
    holding = Counter[int]()
    for table_links in links:
        linked = {token for link in table_links.values for token in link.tokens}
        linked |= {token for token, columns in table_links.headers.items() if max(columns.values()) >= 0.8}
        holding.update(linked)
    count = len(links)
    return {
        token.index: _weight_of(token) * (1 + math.log((count + 1) / (holding[token.index] + 1)) / 2)
        if holding[token.index]
        else _ROW_NOUN_WEIGHT * _weight_of(token)
        for token in question.tokens
        if token.is_content or token.number is not None
    }


def _weight_of(token: AskedToken) -> float:
    return 1.3 if token.is_name or token.number is not None else 1.0


def _score_readings(
    question: TableQuestion, table: TypedTable, links: TableLinks, weights: Mapping[int, float], prior: float
) -> Iterable[ScoredReading]:
    context = {token.index for token in question.tokens if token.word in table.context_words}
    total = sum(weights.values()) or 1.0
    linked = _linked_share(links, weights, total)
    for reading in find_readings(question, table, links):
        answer = reading.query.run_query(table)
        if answer is None or len(answer.values) > _MAX_ROWS_SHOWN_AS_CELLS:
            continue
        explained = (
            sum(
                weight * (1.0 if token in context else links.strength_at(token) or 1.0)
                for token, weight in weights.items()
                if token in reading.tokens or token in context
            )
            / total
        )
        yield ScoredReading(
            table=table,
            reading=reading,
            answer=answer,
            explained=explained,
            left_over_count=sum(
                1 + (token.is_name or token.number is not None)
                for token in question.tokens
                if token.index in weights and token.index not in reading.tokens and token.index not in context
            ),
            score=explained + 0.3 * linked + _QUALITY_WEIGHT * reading.quality + _PRIOR_WEIGHT * prior,
        )


def _linked_share(links: TableLinks, weights: Mapping[int, float], total: float) -> float:
    return sum(weight * links.strength_at(token) for token, weight in weights.items()) / total
