"""Chooses the table and the reading that explain most of a question, or none if too much is left over."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.english.table_words import VERBS_OF_ROWS
from agent.evidence.question_words import WordStems
from agent.evidence.word_meanings import Likeness
from agent.tables.asked_tokens import AskedToken, TableQuestion
from agent.tables.cell_values import words_of_text
from agent.tables.query_columns import columns_of_query, count_ignored_operators
from agent.tables.readings.table_reading import TableReading
from agent.tables.row_queries import AnswerKind, CountQuery, RowQuery, TableAnswer
from agent.tables.table_links import TableLinks, link_question
from agent.tables.table_readings import find_readings
from agent.tables.typed_tables import TypedTable
from storage.search.analyser import fold_text

_QUALITY_WEIGHT = 0.55  # of a reading's quality, beside the share of the question that it explains
_PRIOR_WEIGHT = 0.7  # of the place of the table's document in the ranking of documents
_ROW_NOUN_WEIGHT = 0.35  # of a content word that names no column and appears in no cell
_VERB_WEIGHT = 0.5  # of a verb of any row: "won", "played"
_MIN_EXPLAINED, _MIN_QUALITY = 0.5, 0.5  # of a reading that is claimed
_MIN_EXPLAINED_OF_EMBEDDED = 0.6  # of a table beside other text
_MAX_LEFT_OVER = 1  # "which club does Tom Hale *belong* to"
_OPERATOR_PENALTY = 0.3  # for each word that turns the question into another one, if the reading ignores it
_ALL_ROWS_PENALTY = 0.3  # for counting all rows, if a word of the question is not explained
_MIN_NAMED_STRENGTH, _NAMED_CREDIT = 0.8, 0.9  # of a word that names a column of the reading
_MIN_MARGIN = 0.03  # of its score over other answers from the same table
_TABLE_MARGIN = 0.45  # of score, within which the reading of another table may be meant as well
_MAX_TABLES = 5  # that are offered
_MIN_EXPLAINED_OF_CHOICE = 0.8  # of readings that are offered
_MIN_CONFIDENCE = 0.5
_CLEAR_MARGIN = 0.7  # over other documents
_BIAS, _EXPLAINED_FACTOR, _LEFT_OVER_FACTOR, _QUALITY_FACTOR = -3.48, 0.85, -0.1, 0.66
_OWN_MARGIN_FACTOR, _MARGIN_FACTOR = 1.51, 2.64
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
    """Returns the reading that answers; several, of different tables, if it depends on which table is meant.

    Returns none if the best reading leaves too much of the question over or is hardly surer than another of its table,
    or if many tables may be meant. Tables with the same answer do not compete.
    """
    best = next(iter(readings), None)
    if best is None or not _explains_enough(best):
        return []
    others = [reading for reading in readings if reading.answer.values != best.answer.values]
    own_margin = min((best.score - other.score for other in others if other.table is best.table), default=1.0)
    if own_margin < _MIN_MARGIN:
        return []
    elsewhere = [other for other in others if other.table.document.doc_id != best.table.document.doc_id]
    margin = min((best.score - other.score for other in elsewhere), default=1.0)
    if _confidence_of(best, own_margin, margin) >= _MIN_CONFIDENCE:
        return [best]
    meant = _tables_that_may_be_meant(best, elsewhere)
    is_choice = 1 < len(meant) <= _MAX_TABLES and not any(reading.table.is_embedded for reading in meant)
    is_clear = best.explained >= _MIN_EXPLAINED_OF_CHOICE and best.left_over_count == 0
    is_sure_of_question = _confidence_of(best, own_margin, _CLEAR_MARGIN) >= _MIN_CONFIDENCE
    return meant if is_choice and is_clear and is_sure_of_question else []


def _tables_that_may_be_meant(best: ScoredReading, elsewhere: Sequence[ScoredReading]) -> list[ScoredReading]:
    """Returns the best reading and, of every other document, the best one if it explains as much and scores near it."""
    by_document = {best.table.document.doc_id: best}
    for reading in elsewhere:
        if best.score - reading.score < _TABLE_MARGIN and _explains_enough(reading):
            by_document.setdefault(reading.table.document.doc_id, reading)
    return [*by_document.values()]


def _confidence_of(reading: ScoredReading, own_margin: float, margin: float) -> float:
    """Estimates how probably the reading is right (0 to 1).

    `own_margin`, `margin`: of its score over other answers from its table and from other documents. The logistic
    regression is fitted on questions about 75 tables.
    """
    logit = (
        _BIAS
        + _EXPLAINED_FACTOR * reading.explained
        + _LEFT_OVER_FACTOR * min(reading.left_over_count, 4)
        + _QUALITY_FACTOR * reading.reading.quality
        + _OWN_MARGIN_FACTOR * min(own_margin, 0.6)
        + _MARGIN_FACTOR * min(margin, 1.0)
    )
    return 1 / (1 + math.exp(-logit))


def _explains_enough(reading: ScoredReading) -> bool:
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
    if token.word in VERBS_OF_ROWS and not token.is_name:
        return _VERB_WEIGHT
    return 1.3 if token.is_name or token.number is not None else 1.0


def _score_readings(
    question: TableQuestion, table: TypedTable, links: TableLinks, weights: Mapping[int, float], prior: float
) -> Iterable[ScoredReading]:
    context = {token.index for token in question.tokens if token.word in table.context_words}
    total = sum(weights.values()) or 1.0
    linked = _linked_share(links, weights, total)
    for reading in find_readings(question, table, links):
        answer = reading.query.run_query(table)
        if answer is None or len(answer.values) > _MAX_ROWS_SHOWN_AS_CELLS or _repeats_question(question, answer):
            continue
        columns = columns_of_query(reading.query) | {table.subject.index}
        credit_by_token = {token: _credit_of(token, reading, links, context, columns) for token in weights}
        quality = reading.quality - _OPERATOR_PENALTY * count_ignored_operators(question, reading, answer)
        explained = sum(weight * credit_by_token[token] for token, weight in weights.items()) / total
        left_over_count = sum(
            1 + (token.is_name or token.number is not None)
            for token in question.tokens
            if credit_by_token.get(token.index, 1.0) == 0.0 and token.word not in VERBS_OF_ROWS
        )
        if left_over_count and _counts_all_rows(reading.query):
            quality -= _ALL_ROWS_PENALTY
        yield ScoredReading(
            table=table,
            reading=replace(reading, quality=quality),
            answer=answer,
            explained=explained,
            left_over_count=left_over_count,
            score=explained + 0.3 * linked + _QUALITY_WEIGHT * quality + _PRIOR_WEIGHT * prior,
        )


def _credit_of(
    token: int, reading: TableReading, links: TableLinks, context: Collection[int], columns: Collection[int]
) -> float:
    """Returns how surely the reading explains the token (0 to 1): by what it does, or by the name of its columns."""
    if token in context:
        return 1.0
    if token in reading.tokens:
        return links.strength_at(token) or 1.0
    named = links.columns_at(token)
    strength = max((named[column] for column in named if column in columns), default=0.0)
    if strength >= _MIN_NAMED_STRENGTH:
        return _NAMED_CREDIT * strength
    return 0.0


def _counts_all_rows(query: RowQuery) -> bool:
    """Whether the query counts a whole table, although a word may ask for some of its rows."""
    return isinstance(query, CountQuery) and not query.selection.conditions


def _repeats_question(question: TableQuestion, answer: TableAnswer) -> bool:
    """Whether the answer only says what the question says itself, which offers no choice with "or"."""
    if answer.kind is not AnswerKind.CELLS or "or" in question.words:
        return False
    said = {*question.words}
    words = {word for value in answer.values for word in words_of_text(fold_text(value))}
    return bool(words) and words <= said


def _linked_share(links: TableLinks, weights: Mapping[int, float], total: float) -> float:
    return sum(weight * links.strength_at(token) for token, weight in weights.items()) / total
