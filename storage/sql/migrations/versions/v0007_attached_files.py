"""Files attached to questions."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0007"
down_revision: Final = "0006"


def upgrade() -> None:
    op.create_table(
        "attached_files",
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        _text("id"),
        _text("conversation"),
        _text("message"),
        _text("file"),
        _text("person"),
        sa.Column("audience", sa.JSON(), nullable=False),
        sa.Column("name", sa.JSON(), nullable=False),
        _text("kind"),
        sa.Column("link", sa.JSON(), nullable=True),
        sa.Column("size", sa.Integer(), nullable=False),
        _text("digest"),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("fault", sa.JSON(), nullable=True),
        _time("created_at"),
        _time("expires_at"),
        sa.PrimaryKeyConstraint("position", name="pk_attached_files"),
        sa.UniqueConstraint("id", name="uq_attached_files_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_attached_files_message", "attached_files", ["conversation", "message", "file"], unique=True)
    op.create_index("ix_attached_files_person", "attached_files", ["person"])
    op.create_index("ix_attached_files_expires_at", "attached_files", ["expires_at"])


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=False)


def _time(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False)
