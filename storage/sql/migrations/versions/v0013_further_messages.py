"""The messages that a reply takes beside its own."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0013"
down_revision: Final = "0012"


def upgrade() -> None:
    op.create_table(
        "further_messages",
        sa.Column("conversation", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("further", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("conversation", "message", "further", name="pk_further_messages"),
    )
