"""Offers of exported files, which a person accepts or declines in the chat."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0010"
down_revision: Final = "0009"


def upgrade() -> None:
    op.create_table(
        "file_offers",
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        _text("id"),
        _text("file"),
        _text("turn"),
        _text("person"),
        _text("conversation"),
        _text("language"),
        sa.Column("content", sa.JSON(), nullable=True),
        _text("status"),
        sa.Column("message", sa.String(), nullable=True),
        sa.Column("upload", sa.JSON(), nullable=True),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        _time("due_at"),
        _time("created_at"),
        _time("expires_at"),
        sa.PrimaryKeyConstraint("position", name="pk_file_offers"),
        sa.UniqueConstraint("id", name="uq_file_offers_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_file_offers_file", "file_offers", ["file", "conversation"], unique=True)
    accepted = sa.text("status = 'accepted'")
    op.create_index(
        "ix_file_offers_accepted", "file_offers", ["due_at"], sqlite_where=accepted, postgresql_where=accepted
    )


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=False)


def _time(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False)
