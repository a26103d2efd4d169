"""Admins, limits and feedback; and the ending of a turn, by which questions are counted and found."""

from typing import Any, Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0003"
down_revision: Final = "0002"


def upgrade() -> None:
    _turns()
    op.create_table(
        "admins",
        _text("person"),
        _text("added_by"),
        _time("added_at"),
        sa.PrimaryKeyConstraint("person", name="pk_admins"),
    )
    op.create_table(
        "limits",
        _text("name"),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_limits"),
    )
    op.create_table(
        "feedback",
        _text("turn"),
        _text("person"),
        _text("verdict"),
        sa.Column("reason", sa.JSON(), nullable=False),
        _time("given_at"),
        sa.PrimaryKeyConstraint("turn", "person", name="pk_feedback"),
        sa.ForeignKeyConstraint(["turn"], ["turns.id"], name="fk_feedback_turn", ondelete="CASCADE"),
    )
    _partial_index("ix_feedback_bad", "feedback", ["given_at"], "verdict = 'bad'")


def _turns() -> None:
    """Add the columns; older turns count as no question, so they are in no limit."""
    op.add_column("turns", sa.Column("is_question", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("turns", _text("ending", nullable=True))
    op.create_index("ix_turns_person", "turns", ["person", "received_at"])
    op.create_index("ix_turns_received", "turns", ["received_at"])
    unanswered = "ending IN ('no_results', 'refused', 'failed')"
    _partial_index("ix_turns_unanswered", "turns", ["received_at"], unanswered)


def _partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)


def _text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.String(), nullable=nullable)


def _time(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False)
