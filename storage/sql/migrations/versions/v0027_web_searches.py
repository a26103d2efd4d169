"""What the web searches of turns cost, for the report of usage."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0027"
down_revision: Final = "0026"


def upgrade() -> None:
    op.create_table(
        "web_searches",
        sa.Column("turn", sa.String(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("bytes_read", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("turn", name="pk_web_searches"),
        sa.ForeignKeyConstraint(["turn"], ["turns.id"], name="fk_web_searches_turn", ondelete="CASCADE"),
    )
