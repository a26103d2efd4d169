"""Which column a question asks for: "which *team*", "what was the *average attendance* of", "who", "when", "where"."""

from collections.abc import Iterator
from dataclasses import dataclass

from agent.english.table_words import (
    DAY_COLUMN_WORDS,
    PERSON_COLUMNS,
    PLACE_COLUMNS,
    QUESTION_FRAME,
    SUPERLATIVES,
    TABLE_WORDS,
    VERBS_OF_ROWS,
)
from agent.tables.asked_tokens import TableQuestion
from agent.tables.table_links import TableLinks
from agent.tables.typed_tables import ColumnKind, TableColumn, TypedTable

_PHRASE_ENDS = frozenset(
    """is are was were be did does do has have had can could will would should in of for with that who whose where when
    from by to at on during after before under over above below than listed not and or""".split()
)
_ARTICLES = frozenset(
    "the a an of all each every different total number their its his her only type kind name names".split()
)
_MIN_NAME_STRENGTH = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetColumn:
    """A column that may be asked for. `quality`: 0 to 1; `tokens` ask for it."""

    column: TableColumn
    quality: float
    tokens: frozenset[int]


def find_targets(question: TableQuestion, table: TypedTable, links: TableLinks) -> list[TargetColumn]:
    """Returns the columns that may be asked for, best first; at least one."""
    found = sorted(_list_targets(question, table, links), key=lambda target: target.quality, reverse=True)
    subject = TargetColumn(column=table.subject, quality=0.4, tokens=frozenset())
    return list({target.column.index: target for target in [subject, *reversed(found)]}.values())[::-1] or [subject]


def asked_phrase(question: TableQuestion) -> range:
    """Returns the tokens of the noun phrase that is asked for: those behind "which", "what is the", "name the"."""
    words = question.words
    start = next((index for index, word in enumerate(words) if word in ("which", "what", "whats")), None)
    if start is None:
        start = next(
            (index for index, word in enumerate(words) if word in ("name", "list", "give", "tell", "find")), -1
        )
        if start > 3:
            start = -1
    start += 1
    while start < len(words) and (words[start] in _ARTICLES or words[start] in ("is", "are", "was", "were", "s", "me")):
        start += 1
    end = start
    while end < len(words) and words[end] not in _PHRASE_ENDS and (end == start or words[end] not in VERBS_OF_ROWS):
        end += 1
    return range(start, end)


def _list_targets(question: TableQuestion, table: TypedTable, links: TableLinks) -> Iterator[TargetColumn]:
    words = question.words
    for index, word in enumerate(words):
        if word in ("who", "whom", "whose"):
            yield from _columns_named(table, PERSON_COLUMNS, index, 0.8)
        elif word == "when":
            yield from _columns_of_days(table, index, 0.85)
        elif word == "where":
            yield from _columns_named(table, PLACE_COLUMNS, index, 0.85)
        else:
            continue
        break
    phrase = asked_phrase(question)
    scores, tokens = dict[int, float](), dict[int, set[int]]()
    for token in phrase:
        for column, strength in links.columns_at(token).items():
            if strength < _MIN_NAME_STRENGTH or words[token] in SUPERLATIVES:
                continue
            weight = 1.0 if token == phrase.stop - 1 else 0.8
            scores[column] = scores.get(column, 0.0) + weight * strength
            tokens.setdefault(column, set()).add(token)
    for column, score in scores.items():
        named = [word for word in table.columns[column].words if word not in QUESTION_FRAME and word not in TABLE_WORDS]
        missing = max(len(named) - len(tokens[column]), 0)
        yield TargetColumn(
            column=table.columns[column],
            quality=min(score, 1.6) / 1.6 + 0.35 - 0.05 * missing,
            tokens=frozenset(tokens[column]),
        )
    if {words[token] for token in phrase} & DAY_COLUMN_WORDS:
        index = next(token for token in phrase if words[token] in DAY_COLUMN_WORDS)
        yield from _columns_of_days(table, index, 0.7)
    if {words[token] for token in phrase} & PLACE_COLUMNS:
        index = next(token for token in phrase if words[token] in PLACE_COLUMNS)
        yield from _columns_named(table, PLACE_COLUMNS, index, 0.5)
    if {words[token] for token in phrase} & PERSON_COLUMNS:
        index = next(token for token in phrase if words[token] in PERSON_COLUMNS)
        yield from _columns_named(table, PERSON_COLUMNS, index, 0.55)


def _columns_named(table: TypedTable, names: frozenset[str], token: int, quality: float) -> Iterator[TargetColumn]:
    found = [column for column in table.columns if names & {*column.words} and column.kind is ColumnKind.WORDS]
    for place, column in enumerate(found):
        yield TargetColumn(column=column, quality=quality - 0.02 * place, tokens=frozenset({token}))


def _columns_of_days(table: TypedTable, token: int, quality: float) -> Iterator[TargetColumn]:
    found = [column for column in table.columns if column.kind is ColumnKind.DAY or DAY_COLUMN_WORDS & {*column.words}]
    for place, column in enumerate(found):
        yield TargetColumn(column=column, quality=quality - 0.02 * place, tokens=frozenset({token}))
