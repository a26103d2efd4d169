"""Tokens with which other programs ask in the name of a person."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0020"
down_revision: Final = "0019"


def upgrade() -> None:
    op.create_table(
        "program_tokens",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("secret_hash", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_program_tokens"),
    )
