"""Saved searches: questions that are asked again by schedule, and what each one found the last time."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0021"
down_revision: Final = "0020"


def upgrade() -> None:
    op.create_table(
        "saved_searches",
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("creating_turn", sa.String(), nullable=False),
        sa.Column("surface", sa.String(), nullable=False),
        sa.Column("conversation", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("question", sa.JSON(), nullable=False),
        sa.Column("origin", sa.JSON(), nullable=False),
        sa.Column("buckets", sa.JSON(), nullable=False),
        sa.Column("schedule", sa.String(), nullable=False),
        sa.Column("time_zone", sa.String(), nullable=False),
        sa.Column("seen", sa.JSON(), nullable=False),
        sa.Column("index_state", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reported_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("position", name="pk_saved_searches"),
        sa.UniqueConstraint("creating_turn", name="uq_saved_searches_creating_turn"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_saved_searches_person", "saved_searches", ["person"])
    is_due = sa.text("due_at IS NOT NULL")
    op.create_index("ix_saved_searches_due", "saved_searches", ["due_at"], sqlite_where=is_due, postgresql_where=is_due)
