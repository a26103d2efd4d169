"""Values of documents that a person has accepted or corrected."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0024"
down_revision: Final = "0023"


def upgrade() -> None:
    op.create_table(
        "value_corrections",
        sa.Column("doc_id", sa.String(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("bucket", sa.String(), nullable=False),
        sa.Column("decision", sa.String(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("reading", sa.JSON(), nullable=False),
        sa.Column("text_digest", sa.String(), nullable=False),
        sa.Column("decided_by", sa.String(), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("doc_id", "field", name="pk_value_corrections"),
    )
    op.create_index("ix_value_corrections_bucket", "value_corrections", ["bucket"])
