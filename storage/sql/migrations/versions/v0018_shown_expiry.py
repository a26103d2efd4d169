"""Which expired clarifications still have to be shown as expired, and from when another process may do it."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0018"
down_revision: Final = "0017"


def upgrade() -> None:
    with op.batch_alter_table("clarifications") as batch:
        batch.add_column(sa.Column("due_at", sa.DateTime(timezone=True), nullable=True))
    is_due = sa.text("due_at IS NOT NULL")
    op.create_index("ix_clarifications_due", "clarifications", ["due_at"], sqlite_where=is_due, postgresql_where=is_due)
