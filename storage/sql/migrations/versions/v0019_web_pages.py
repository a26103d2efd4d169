"""Pages of the web that were fetched for questions."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0019"
down_revision: Final = "0018"


def upgrade() -> None:
    op.create_table(
        "web_pages",
        sa.Column("page", sa.String(), nullable=False),
        sa.Column("url", sa.JSON(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("outline", sa.JSON(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("page", name="pk_web_pages"),
    )
    op.create_index("ix_web_pages_expires_at", "web_pages", ["expires_at"])
