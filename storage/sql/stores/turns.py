"""The tables of the inbox: turns with their outcomes, the searches that each turn executed, and the cost of the web."""

from dataclasses import dataclass
from typing import Annotated, Final

from sqlalchemy import BigInteger, Index
from sqlmodel import Field

from storage.sql import tables

# SQLite uses a partial index only for a query that repeats its condition literally.
UNANSWERED_CONDITION: Final = "ending IN ('no_results', 'refused', 'failed')"
COUNTED_CONDITION: Final = (  # questions that count in the rate limits
    "is_question AND (finished_at IS NULL OR ending IN ('answer', 'overload', 'ambiguous', 'no_results', 'edited'))"
)


@dataclass(frozen=True, kw_only=True)
class NewTurn:
    """One message or click, unique by surface and event id, and by conversation and message id."""

    surface: str
    event_id: str
    conversation: str
    message_id: str  # for a click, unique to the click
    person: str
    audience: tables.JsonColumn
    body: tables.JsonColumn
    locale: str
    time_zone: str
    received_at: tables.UtcColumn
    is_question: bool = True  # else a click
    revises: str | None = None  # the id of the original message, whose turns this one replaces or deletes
    is_long: bool = False  # its text takes long to read


@dataclass(frozen=True, kw_only=True)
class Turn(NewTurn):
    """A turn as stored."""

    id: tables.UniqueText
    attempt: int  # claims so far
    placeholder: str | None  # id of the message that was posted to hold the reply
    delivered_at: tables.OptionalUtcColumn  # when the reply was posted to the chat
    failure: tables.OptionalPeopleText  # why the last attempt failed
    route: tables.OptionalJsonColumn
    outcome: tables.OptionalJsonColumn
    finished_at: tables.OptionalUtcColumn
    stopped_by: tables.OptionalPeopleText  # who asked to stop it


class TurnRow(tables.TableRow, Turn, frozen=True, table=True):
    """The inbox: turns and their outcomes."""

    __tablename__ = "turns"  # pyright: ignore[reportAssignmentType]

    __table_args__ = (
        Index("uq_turns_event", "surface", "event_id", unique=True),
        Index("uq_turns_message", "conversation", "message_id", unique=True),
        Index("ix_turns_open", "position", **tables.partial_index("finished_at IS NULL")),
        Index("ix_turns_open_of_person", "person", "position", **tables.partial_index("finished_at IS NULL")),
        Index("ix_turns_lane", "lane", "position", **tables.partial_index("lane IS NOT NULL")),
        Index("ix_turns_person", "person", "received_at"),
        Index("ix_turns_received", "received_at"),
        Index("ix_turns_counted", "received_at", "person", "position", **tables.partial_index(COUNTED_CONDITION)),
        Index("ix_turns_unanswered", "received_at", **tables.partial_index(UNANSWERED_CONDITION)),
        {"sqlite_autoincrement": True},
    )

    position: tables.RowNumber
    lane: str | None  # the conversation, as long as the turn blocks later turns
    fence: int
    worker: str | None
    due_at: tables.UtcColumn  # when it may be claimed: the end of its lease or pause
    ending: str | None  # the outcome in one word


@dataclass(frozen=True, kw_only=True)
class StoredAttempt:
    """One search that a turn executed."""

    tool: str
    arguments: tables.JsonColumn
    documents: int
    ms: float


class AttemptRow(tables.TableRow, StoredAttempt, frozen=True, table=True):
    __tablename__ = "attempts"  # pyright: ignore[reportAssignmentType]

    turn: str = Field(primary_key=True, foreign_key="turns.id", ondelete="CASCADE")
    position: int = Field(primary_key=True)


@dataclass(frozen=True, kw_only=True)
class StoredWebSearch:
    """What the web searches of a turn cost: requests to the search server, and what was fetched over the network."""

    requests: int
    pages: int
    bytes_read: Annotated[int, Field(sa_type=BigInteger)]


class WebSearchRow(tables.TableRow, StoredWebSearch, frozen=True, table=True):
    __tablename__ = "web_searches"  # pyright: ignore[reportAssignmentType]

    turn: str = Field(primary_key=True, foreign_key="turns.id", ondelete="CASCADE")


turns: Final = TurnRow.__table__
attempts: Final = AttemptRow.__table__
web_searches: Final = WebSearchRow.__table__
