"""The last known sizes of the index's buckets, and a row that readiness checks write."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0015"
down_revision: Final = "0014"


def upgrade() -> None:
    op.create_table(
        "recorded_buckets",
        sa.Column("bucket", sa.String(), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.Column("generation", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("bucket", name="pk_recorded_buckets"),
    )
    op.create_table(
        "write_checks",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_write_checks"),
    )
