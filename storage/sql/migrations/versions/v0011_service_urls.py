"""The newest service URL of each conversation of a chat product."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0011"
down_revision: Final = "0010"


def upgrade() -> None:
    op.create_table(
        "service_urls",
        sa.Column("conversation", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("conversation", name="pk_service_urls"),
    )
