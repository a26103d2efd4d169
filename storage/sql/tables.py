"""The tables, named as their classes. Rows stay in this folder: stores hand out frozen dataclasses.

What people wrote (labels, questions, titles) is kept as JSON, since PostgreSQL's text cannot hold every character that
chats can. JSON is kept as text and never looked into.
"""

from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    TypeDecorator,
    text,
)
from sqlmodel import Field, SQLModel

POSITION: Final = BigInteger().with_variant(Integer(), "sqlite")  # SQLite numbers only an INTEGER by itself
JSON_TEXT: Final = JSON(none_as_null=True)
UNANSWERED: Final = "ending IN ('no_results', 'refused', 'failed')"  # SQLite uses a partial index only for its words
COUNTED: Final = (  # in the limits
    "is_question AND (finished_at IS NULL OR ending IN ('answer', 'overload', 'ambiguous', 'no_results', 'edited'))"
)
RATED_BADLY: Final = "verdict = 'bad'"


class UtcTime(TypeDecorator[datetime]):
    """Aware times, in UTC on both sides; SQLite keeps them as text of one width, so that they compare."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Row(SQLModel):
    """Base of the tables, with a catalogue of their own."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


class Turns(Row, table=True):
    """The inbox, and what became of each turn."""

    __table_args__ = (
        Index("uq_turns_event", "surface", "event_id", unique=True),
        Index("uq_turns_message", "conversation", "message_id", unique=True),
        Index("ix_turns_open", "position", **_where("finished_at IS NULL")),
        Index("ix_turns_lane", "lane", "position", **_where("lane IS NOT NULL")),
        Index("ix_turns_person", "person", "received_at"),
        Index("ix_turns_received", "received_at"),
        Index("ix_turns_counted", "received_at", "person", "position", **_where(COUNTED)),
        Index("ix_turns_unanswered", "received_at", **_where(UNANSWERED)),
        {"sqlite_autoincrement": True},
    )

    position: int = Field(primary_key=True, sa_type=POSITION)
    id: str = Field(unique=True)
    surface: str
    event_id: str
    conversation: str
    message_id: str
    person: str
    audience: dict[str, Any] = Field(sa_type=JSON_TEXT)
    body: dict[str, Any] = Field(sa_type=JSON_TEXT)
    locale: str
    time_zone: str
    received_at: datetime = Field(sa_type=UtcTime)
    is_question: bool  # else a click
    revises: str | None = None  # the message that this one takes the place of, or takes back
    lane: str | None  # the conversation, as long as the turn holds up those after it
    attempt: int = 0
    fence: int = 0
    worker: str | None = None
    due_at: datetime = Field(sa_type=UtcTime)  # when it may be claimed: the end of its lease, or of a pause
    failure: str | None = Field(default=None, sa_type=JSON_TEXT)
    placeholder: str | None = None
    delivered_at: datetime | None = Field(default=None, sa_type=UtcTime)
    route: dict[str, Any] | None = Field(default=None, sa_type=JSON_TEXT)
    outcome: dict[str, Any] | None = Field(default=None, sa_type=JSON_TEXT)
    ending: str | None = None  # of the outcome, in a word
    finished_at: datetime | None = Field(default=None, sa_type=UtcTime)
    stopped_by: str | None = Field(default=None, sa_type=JSON_TEXT)  # who asked to stop it


class Attempts(Row, table=True):
    turn: str = Field(primary_key=True, foreign_key="turns.id", ondelete="CASCADE")
    position: int = Field(primary_key=True)
    tool: str
    arguments: dict[str, Any] = Field(sa_type=JSON_TEXT)
    documents: int
    ms: float


class Conversations(Row, table=True):
    conversation: str = Field(primary_key=True)
    scope_key: str = Field(primary_key=True)
    summary: dict[str, Any] = Field(sa_type=JSON_TEXT)
    last_plan: dict[str, Any] | None = Field(sa_type=JSON_TEXT)
    clarifications_in_a_row: int
    changed_at: datetime = Field(sa_type=UtcTime)


class Clarifications(Row, table=True):
    __table_args__ = (
        Index("ix_clarifications_open", "conversation", "position", **_where("used_at IS NULL AND expired_at IS NULL")),
        {"sqlite_autoincrement": True},
    )

    position: int = Field(primary_key=True, sa_type=POSITION)
    id: str = Field(unique=True)
    conversation: str
    turn: str
    scope_key: str
    audience: dict[str, Any] = Field(sa_type=JSON_TEXT)
    plan: dict[str, Any] = Field(sa_type=JSON_TEXT)
    question: str = Field(sa_type=JSON_TEXT)
    generation: str
    created_at: datetime = Field(sa_type=UtcTime)
    expires_at: datetime = Field(sa_type=UtcTime)
    used_choice: str | None = None
    used_by: str | None = None
    used_turn: str | None = None
    used_at: datetime | None = Field(default=None, sa_type=UtcTime)
    expired_at: datetime | None = Field(default=None, sa_type=UtcTime)


class Choices(Row, table=True):
    id: str = Field(primary_key=True)
    clarification: str = Field(foreign_key="clarifications.id", ondelete="CASCADE", index=True)
    position: int
    label: str = Field(sa_type=JSON_TEXT)
    count: int | None
    kind: str
    payload: dict[str, Any] = Field(sa_type=JSON_TEXT)


class Grants(Row, table=True):
    bucket: str = Field(primary_key=True)
    subject: str = Field(primary_key=True, index=True)
    include_external: bool
    granted_by: str
    granted_at: datetime = Field(sa_type=UtcTime)


class Groups(Row, table=True):
    id: str = Field(primary_key=True)
    title: str = Field(sa_type=JSON_TEXT)


class Members(Row, table=True):
    group: str = Field(primary_key=True, foreign_key="groups.id", ondelete="CASCADE")
    person: str = Field(primary_key=True, index=True)


class Admins(Row, table=True):
    person: str = Field(primary_key=True)
    added_by: str
    added_at: datetime = Field(sa_type=UtcTime)


class Limits(Row, table=True):
    name: str = Field(primary_key=True)
    questions: int


class Feedback(Row, table=True):
    __table_args__ = (Index("ix_feedback_bad", "given_at", **_where(RATED_BADLY)),)

    turn: str = Field(primary_key=True, foreign_key="turns.id", ondelete="CASCADE")
    person: str = Field(primary_key=True)
    verdict: str
    reason: str = Field(sa_type=JSON_TEXT)
    given_at: datetime = Field(sa_type=UtcTime)


class Audit(Row, table=True):
    __table_args__ = ({"sqlite_autoincrement": True},)

    position: int = Field(primary_key=True, sa_type=POSITION)
    at: datetime = Field(sa_type=UtcTime)
    by: str
    action: str
    matter: str
    before: dict[str, Any] | None = Field(sa_type=JSON_TEXT)
    after: dict[str, Any] | None = Field(sa_type=JSON_TEXT)


class Exports(Row, table=True):
    __table_args__ = (
        Index("uq_exports_running", "person", unique=True, **_where("status = 'running'")),
        Index("ix_exports_open", "position", **_where("status IN ('queued', 'running')")),
        {"sqlite_autoincrement": True},
    )

    position: int = Field(primary_key=True, sa_type=POSITION)
    id: str = Field(unique=True)
    conversation: str
    turn: str
    person: str
    audience: dict[str, Any] = Field(sa_type=JSON_TEXT)
    request: dict[str, Any] = Field(sa_type=JSON_TEXT)
    status: str
    rows: int
    path: str | None = Field(default=None, sa_type=JSON_TEXT)
    cursor: dict[str, Any] | None = Field(default=None, sa_type=JSON_TEXT)
    failure: str | None = Field(default=None, sa_type=JSON_TEXT)
    worker: str | None = None
    fence: int
    due_at: datetime = Field(sa_type=UtcTime)
    created_at: datetime = Field(sa_type=UtcTime)
    expires_at: datetime = Field(sa_type=UtcTime)


class Sources(Row, table=True):
    __table_args__ = (
        Index("ix_sources_due", "due_at", **_where("due_at IS NOT NULL")),
        {"sqlite_autoincrement": True},
    )

    position: int = Field(primary_key=True, sa_type=POSITION)
    id: str = Field(unique=True)
    kind: str
    location: str = Field(sa_type=JSON_TEXT)
    bucket: str
    options: dict[str, Any] = Field(sa_type=JSON_TEXT)
    every_s: int | None = None
    due_at: datetime | None = Field(default=None, sa_type=UtcTime)  # the next run by itself
    fence: int  # the number of the last run
    worker: str | None = None
    leased_until: datetime | None = Field(default=None, sa_type=UtcTime)
    created_at: datetime = Field(sa_type=UtcTime)
    synced_at: datetime | None = Field(default=None, sa_type=UtcTime)  # the end of the last run
    outcome: str | None = None
    counts: dict[str, Any] | None = Field(default=None, sa_type=JSON_TEXT)
    failure: str | None = Field(default=None, sa_type=JSON_TEXT)


class SourceItems(Row, table=True):
    __tablename__ = "source_items"  # pyright: ignore[reportAssignmentType]

    source: str = Field(primary_key=True, foreign_key="sources.id", ondelete="CASCADE")
    item: str = Field(primary_key=True)
    version: str = Field(sa_type=JSON_TEXT)
    cursor: str = Field(sa_type=JSON_TEXT)


class SourceDocuments(Row, table=True):
    __tablename__ = "source_documents"  # pyright: ignore[reportAssignmentType]
    __table_args__ = (Index("ix_source_documents_item", "source", "item"),)

    source: str = Field(primary_key=True, foreign_key="sources.id", ondelete="CASCADE")
    doc_id: str = Field(primary_key=True)
    item: str
    run: int  # the last one that gave it
    stale: bool  # a later run no longer found it in its item


class Installations(Row, table=True):
    __table_args__ = (Index("ix_installations_enterprise", "enterprise"),)

    account: str = Field(primary_key=True)
    team: str | None
    enterprise: str | None
    name: str = Field(sa_type=JSON_TEXT)
    bot_user: str
    scopes: list[str] = Field(sa_type=JSON_TEXT)
    tokens: str  # sealed
    expires_at: datetime | None = Field(default=None, sa_type=UtcTime)
    revision: int
    leased_until: datetime | None = Field(default=None, sa_type=UtcTime)  # by whoever replaces the tokens
    installed_by: str
    installed_at: datetime = Field(sa_type=UtcTime)


class InstallationTeams(Row, table=True):
    """Workspaces of an organisation that the app is installed in as a whole."""

    __tablename__ = "installation_teams"  # pyright: ignore[reportAssignmentType]

    team: str = Field(primary_key=True)
    account: str = Field(foreign_key="installations.account", ondelete="CASCADE", index=True)


class InstallationStates(Row, table=True):
    """Who is just installing; both as hashes."""

    __tablename__ = "installation_states"  # pyright: ignore[reportAssignmentType]

    state: str = Field(primary_key=True)
    browser: str
    expires_at: datetime = Field(sa_type=UtcTime)


class AttachedFiles(Row, table=True):
    """Files that came with questions, as their conversations read them."""

    __tablename__ = "attached_files"  # pyright: ignore[reportAssignmentType]
    __table_args__ = (
        Index("uq_attached_files_message", "conversation", "message", "file", unique=True),
        {"sqlite_autoincrement": True},
    )

    position: int = Field(primary_key=True, sa_type=POSITION)
    id: str = Field(unique=True)
    conversation: str
    message: str  # that brought it
    file: str  # as the chat product knows it
    person: str = Field(index=True)
    audience: dict[str, Any] = Field(sa_type=JSON_TEXT)
    name: str = Field(sa_type=JSON_TEXT)
    kind: str
    link: str | None = Field(sa_type=JSON_TEXT)
    size: int
    digest: str
    content: bytes | None = Field(sa_type=LargeBinary)  # compressed; none of one that cannot be read
    fault: str | None = Field(sa_type=JSON_TEXT)  # why it cannot
    created_at: datetime = Field(sa_type=UtcTime)
    expires_at: datetime = Field(sa_type=UtcTime, index=True)


def _table(name: str) -> Table:
    return Row.metadata.tables[name]


turns: Final = _table("turns")
attempts: Final = _table("attempts")
conversations: Final = _table("conversations")
clarifications: Final = _table("clarifications")
choices: Final = _table("choices")
grants: Final = _table("grants")
groups: Final = _table("groups")
members: Final = _table("members")
admins: Final = _table("admins")
limits: Final = _table("limits")
feedback: Final = _table("feedback")
audit: Final = _table("audit")
exports: Final = _table("exports")
sources: Final = _table("sources")
source_items: Final = _table("source_items")
source_documents: Final = _table("source_documents")
installations: Final = _table("installations")
installation_teams: Final = _table("installation_teams")
installation_states: Final = _table("installation_states")
attached_files: Final = _table("attached_files")
