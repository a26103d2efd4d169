"""Ids of different chat products that belong to the same person."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0012"
down_revision: Final = "0011"


def upgrade() -> None:
    op.create_table(
        "person_links",
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("linked_by", sa.String(), nullable=False),
        sa.Column("linked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("person", "key", name="pk_person_links"),
    )
    op.create_index("ix_person_links_key", "person_links", ["key"])
