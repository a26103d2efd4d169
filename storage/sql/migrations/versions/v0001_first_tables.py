"""The first tables: turns and attempts, conversations, clarifications, grants and groups, audit, exports."""

from typing import Any, Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0001"
down_revision: Final = None


def upgrade() -> None:
    _turns()
    _conversations()
    _clarifications()
    _access()
    _exports()


def _position() -> sa.Column[Any]:
    return sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False)


def _text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.String(), nullable=nullable)


def _integer(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=nullable)


def _json(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.JSON(), nullable=nullable)


def _time(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _partial_index(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def _turns() -> None:
    op.create_table(
        "turns",
        _position(),
        _text("id"),
        _text("surface"),
        _text("event_id"),
        _text("conversation"),
        _text("message_id"),
        _text("person"),
        _json("audience"),
        _json("body"),
        _text("locale"),
        _text("time_zone"),
        _time("received_at"),
        _text("lane", nullable=True),
        _integer("attempt"),
        _integer("fence"),
        _text("worker", nullable=True),
        _time("due_at"),
        _json("failure", nullable=True),
        _text("placeholder", nullable=True),
        _time("delivered_at", nullable=True),
        _json("route", nullable=True),
        _json("outcome", nullable=True),
        _time("finished_at", nullable=True),
        sa.PrimaryKeyConstraint("position", name="pk_turns"),
        sa.UniqueConstraint("id", name="uq_turns_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_turns_event", "turns", ["surface", "event_id"], unique=True)
    op.create_index("uq_turns_message", "turns", ["conversation", "message_id"], unique=True)
    _partial_index("ix_turns_open", "turns", ["position"], "finished_at IS NULL")
    _partial_index("ix_turns_lane", "turns", ["lane", "position"], "lane IS NOT NULL")
    op.create_table(
        "attempts",
        _text("turn"),
        _integer("position"),
        _text("tool"),
        _json("arguments"),
        _integer("documents"),
        sa.Column("ms", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("turn", "position", name="pk_attempts"),
        sa.ForeignKeyConstraint(["turn"], ["turns.id"], name="fk_attempts_turn", ondelete="CASCADE"),
    )


def _conversations() -> None:
    op.create_table(
        "conversations",
        _text("conversation"),
        _text("scope_key"),
        _json("summary"),
        _json("last_plan", nullable=True),
        _integer("clarifications_in_a_row"),
        _time("changed_at"),
        sa.PrimaryKeyConstraint("conversation", "scope_key", name="pk_conversations"),
    )


def _clarifications() -> None:
    op.create_table(
        "clarifications",
        _position(),
        _text("id"),
        _text("conversation"),
        _text("turn"),
        _text("scope_key"),
        _json("audience"),
        _json("plan"),
        _json("question"),
        _text("generation"),
        _time("created_at"),
        _time("expires_at"),
        _text("used_choice", nullable=True),
        _text("used_by", nullable=True),
        _text("used_turn", nullable=True),
        _time("used_at", nullable=True),
        _time("expired_at", nullable=True),
        sa.PrimaryKeyConstraint("position", name="pk_clarifications"),
        sa.UniqueConstraint("id", name="uq_clarifications_id"),
        sqlite_autoincrement=True,
    )
    is_open = "used_at IS NULL AND expired_at IS NULL"
    _partial_index("ix_clarifications_open", "clarifications", ["conversation", "position"], is_open)
    op.create_table(
        "choices",
        _text("id"),
        _text("clarification"),
        _integer("position"),
        _json("label"),
        _integer("count", nullable=True),
        _text("kind"),
        _json("payload"),
        sa.PrimaryKeyConstraint("id", name="pk_choices"),
        sa.ForeignKeyConstraint(
            ["clarification"], ["clarifications.id"], name="fk_choices_clarification", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_choices_clarification", "choices", ["clarification"])


def _access() -> None:
    op.create_table(
        "grants",
        _text("bucket"),
        _text("subject"),
        sa.Column("include_external", sa.Boolean(), nullable=False),
        _text("granted_by"),
        _time("granted_at"),
        sa.PrimaryKeyConstraint("bucket", "subject", name="pk_grants"),
    )
    op.create_index("ix_grants_subject", "grants", ["subject"])
    op.create_table("groups", _text("id"), _json("title"), sa.PrimaryKeyConstraint("id", name="pk_groups"))
    op.create_table(
        "members",
        _text("group"),
        _text("person"),
        sa.PrimaryKeyConstraint("group", "person", name="pk_members"),
        sa.ForeignKeyConstraint(["group"], ["groups.id"], name="fk_members_group", ondelete="CASCADE"),
    )
    op.create_index("ix_members_person", "members", ["person"])
    op.create_table(
        "audit",
        _position(),
        _time("at"),
        _text("by"),
        _text("action"),
        _text("matter"),
        _json("before", nullable=True),
        _json("after", nullable=True),
        sa.PrimaryKeyConstraint("position", name="pk_audit"),
        sqlite_autoincrement=True,
    )


def _exports() -> None:
    op.create_table(
        "exports",
        _position(),
        _text("id"),
        _text("conversation"),
        _text("turn"),
        _text("person"),
        _json("audience"),
        _json("request"),
        _text("status"),
        _integer("rows"),
        _json("path", nullable=True),
        _json("cursor", nullable=True),
        _json("failure", nullable=True),
        _text("worker", nullable=True),
        _integer("fence"),
        _time("due_at"),
        _time("created_at"),
        _time("expires_at"),
        sa.PrimaryKeyConstraint("position", name="pk_exports"),
        sa.UniqueConstraint("id", name="uq_exports_id"),
        sqlite_autoincrement=True,
    )
    _partial_index("uq_exports_running", "exports", ["person"], "status = 'running'", unique=True)
    _partial_index("ix_exports_open", "exports", ["position"], "status IN ('queued', 'running')")
