"""The use of the installation in a period, from turns, clarifications, ratings and model calls. Reads only.

Versions of a question that its author has edited or deleted are left out. No person is named: where people are told
apart, it is to count them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Select, exists, func, or_, select

from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.stores.clarifications import choices, clarifications
from storage.sql.stores.feedback import feedback
from storage.sql.stores.grants import members
from storage.sql.stores.model_calls import model_calls
from storage.sql.stores.turns import attempts, turns, web_searches

MAX_TURNS: Final = 20_000  # of a period that are read one by one: the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedQuestion:
    """A finished question. `seconds`: from its receipt to its end. `stages`: as the turn recorded them."""

    turn: str
    person: str
    body: JsonMapping
    received_at: datetime
    ending: str
    seconds: float
    stages: Sequence[JsonMapping]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickableChoice:
    """A choice of a clarification, and whether it was clicked. `turn` is the turn of the clarification."""

    turn: str
    kind: str
    payload: JsonMapping
    is_clicked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRating:
    body: JsonMapping
    reason: str
    given_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost:
    """The calls of a model for one person. `cost_usd` is of the calls whose price is known."""

    model: str
    person: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WebCost:
    """The web searches of one person: of how many turns, the requests to the search server, and what was fetched."""

    person: str
    turns: int
    requests: int
    pages: int
    bytes_read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageStatistics:
    """`endings`: questions by ending. `questions`: at most `MAX_TURNS`, the newest first. `searched_buckets`: in which
    a search found a document, with the number of questions. `groups`: Parley's own groups by person.
    """

    endings: Mapping[str, int]
    clicks: int
    questions: Sequence[FinishedQuestion]
    choices: Sequence[ClickableChoice]
    bad_ratings: Sequence[BadRating]
    costs: Sequence[ModelCost]
    web_costs: Sequence[WebCost]
    searches: Sequence[tuple[str, JsonMapping]]  # turn and arguments, of searches that found documents
    groups: Mapping[str, frozenset[str]]


class UsageStatisticsStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database, self.utc_now = database, database.utc_now

    async def load_statistics(self, since: datetime) -> UsageStatistics:
        """Returns the use since then, in one state of the database. Raises `SqlError`."""
        return await self._database.run_snapshot(lambda connection: _load_statistics(connection, since))

    async def load_questions(self, since: datetime, limit: int) -> list[FinishedQuestion]:
        """Returns the questions since then, at most `limit`, the newest first. Raises `SqlError`."""
        query = _select_questions(since).limit(limit)
        rows = await self._database.run_read(lambda connection: connection.execute(query).all())
        return [_question_from(row) for row in rows]


def _load_statistics(connection: Connection, since: datetime) -> UsageStatistics:
    endings = connection.execute(_count_endings(since)).all()
    clicks = select(func.count()).where(turns.c.received_at > since, ~turns.c.is_question)
    member_rows = connection.execute(select(members)).all()
    return UsageStatistics(
        endings={row.ending: row.number for row in endings if row.ending is not None},
        clicks=connection.execute(clicks).scalar_one(),
        questions=[_question_from(row) for row in connection.execute(_select_questions(since)).all()],
        choices=[_choice_from(row) for row in connection.execute(_select_choices(since)).all()],
        bad_ratings=[BadRating(**row) for row in connection.execute(_select_bad_ratings(since)).mappings()],
        costs=[ModelCost(**row) for row in connection.execute(_sum_costs(since)).mappings()],
        web_costs=[_web_cost_from(row) for row in connection.execute(_sum_web_costs(since)).all()],
        searches=[(row.turn, row.arguments) for row in connection.execute(_select_searches(since)).all()],
        groups={
            person: frozenset(row.group for row in member_rows if row.person == person)
            for person in {row.person for row in member_rows}
        },
    )


def _question_from(row: Any) -> FinishedQuestion:
    route: JsonMapping = row.route or {}
    return FinishedQuestion(
        turn=row.id,
        person=row.person,
        body=row.body,
        received_at=row.received_at,
        ending=row.ending,
        seconds=max((row.finished_at - row.received_at).total_seconds(), 0.0),
        stages=route.get("stages", ()),
    )


def _choice_from(row: Any) -> ClickableChoice:
    return ClickableChoice(turn=row.turn, kind=row.kind, payload=row.payload, is_clicked=row.id == row.used_choice)


def _web_cost_from(row: Any) -> WebCost:
    return WebCost(
        person=row.person,
        turns=row.turns,
        requests=int(row.requests),
        pages=int(row.pages),
        bytes_read=int(row.bytes_read),  # PostgreSQL adds large numbers up as decimals
    )


_later = turns.alias("later")
_IS_LATEST_VERSION: Final = ~exists().where(
    _later.c.conversation == turns.c.conversation,
    _later.c.position > turns.c.position,
    or_(_later.c.revises == turns.c.message_id, _later.c.revises == turns.c.revises),
)


def _count_endings(since: datetime) -> Select[*tuple[Any, ...]]:
    is_counted = turns.c.is_question & _IS_LATEST_VERSION & (turns.c.received_at > since)
    return select(turns.c.ending, func.count().label("number")).where(is_counted).group_by(turns.c.ending)


def _select_questions(since: datetime) -> Select[*tuple[Any, ...]]:
    columns = (turns.c.id, turns.c.person, turns.c.body, turns.c.received_at, turns.c.finished_at)
    return (
        select(*columns, turns.c.ending, turns.c.route)
        .where(turns.c.is_question, _IS_LATEST_VERSION, turns.c.received_at > since, turns.c.ending.is_not(None))
        .where(turns.c.finished_at.is_not(None))
        .order_by(turns.c.received_at.desc(), turns.c.position.desc())
        .limit(MAX_TURNS)
    )


def _select_choices(since: datetime) -> Select[*tuple[Any, ...]]:
    return (
        select(choices.c.id, choices.c.kind, choices.c.payload, clarifications.c.turn, clarifications.c.used_choice)
        .join_from(choices, clarifications, choices.c.clarification == clarifications.c.id)
        .where(clarifications.c.created_at > since)
        .order_by(clarifications.c.position.desc(), choices.c.position)
        .limit(10 * MAX_TURNS)
    )


def _select_bad_ratings(since: datetime) -> Select[*tuple[Any, ...]]:
    return (
        select(turns.c.body, feedback.c.reason, feedback.c.given_at)
        .join_from(feedback, turns, feedback.c.turn == turns.c.id)
        .where(feedback.c.verdict == "bad", feedback.c.given_at > since)
        .order_by(feedback.c.given_at.desc(), turns.c.position.desc())
        .limit(MAX_TURNS)
    )


def _sum_costs(since: datetime) -> Select[*tuple[Any, ...]]:
    return (
        select(
            model_calls.c.model,
            turns.c.person,
            func.count().label("calls"),
            func.sum(model_calls.c.input_tokens).label("input_tokens"),
            func.sum(model_calls.c.output_tokens).label("output_tokens"),
            func.coalesce(func.sum(model_calls.c.cost_usd), 0.0).label("cost_usd"),
            (func.count() - func.count(model_calls.c.cost_usd)).label("unpriced_calls"),
        )
        .join_from(model_calls, turns, model_calls.c.turn == turns.c.id)
        .where(model_calls.c.created_at > since)
        .group_by(model_calls.c.model, turns.c.person)
        .order_by(model_calls.c.model, turns.c.person)
    )


def _sum_web_costs(since: datetime) -> Select[*tuple[Any, ...]]:
    sums = (func.sum(web_searches.c[name]).label(name) for name in ("requests", "pages", "bytes_read"))
    return (
        select(turns.c.person, func.count().label("turns"), *sums)
        .join_from(web_searches, turns, web_searches.c.turn == turns.c.id)
        .where(turns.c.received_at > since)
        .group_by(turns.c.person)
        .order_by(turns.c.person)
    )


def _select_searches(since: datetime) -> Select[*tuple[Any, ...]]:
    return (
        select(attempts.c.turn, attempts.c.arguments)
        .join_from(attempts, turns, attempts.c.turn == turns.c.id)
        .where(turns.c.received_at > since, attempts.c.documents > 0)
        .order_by(turns.c.position.desc(), attempts.c.position)
        .limit(10 * MAX_TURNS)
    )
