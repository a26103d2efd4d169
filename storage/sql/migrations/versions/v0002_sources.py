"""Sources, their items, and the documents of each item."""

from typing import Any, Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0002"
down_revision: Final = "0001"


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        _text("id"),
        _text("kind"),
        _json("location"),
        _text("bucket"),
        _json("options"),
        sa.Column("every_s", sa.Integer(), nullable=True),
        _time("due_at", nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        _text("worker", nullable=True),
        _time("leased_until", nullable=True),
        _time("created_at"),
        _time("synced_at", nullable=True),
        _text("outcome", nullable=True),
        _json("counts", nullable=True),
        _json("failure", nullable=True),
        sa.PrimaryKeyConstraint("position", name="pk_sources"),
        sa.UniqueConstraint("id", name="uq_sources_id"),
        sqlite_autoincrement=True,
    )
    is_scheduled = sa.text("due_at IS NOT NULL")
    op.create_index("ix_sources_due", "sources", ["due_at"], sqlite_where=is_scheduled, postgresql_where=is_scheduled)
    op.create_table(
        "source_items",
        _text("source"),
        _text("item"),
        _json("version"),
        _json("cursor"),
        sa.PrimaryKeyConstraint("source", "item", name="pk_source_items"),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name="fk_source_items_source", ondelete="CASCADE"),
    )
    op.create_table(
        "source_documents",
        _text("source"),
        _text("doc_id"),
        _text("item"),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("stale", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("source", "doc_id", name="pk_source_documents"),
        sa.ForeignKeyConstraint(["source"], ["sources.id"], name="fk_source_documents_source", ondelete="CASCADE"),
    )
    op.create_index("ix_source_documents_item", "source_documents", ["source", "item"])


def _text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.String(), nullable=nullable)


def _json(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.JSON(), nullable=nullable)


def _time(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)
