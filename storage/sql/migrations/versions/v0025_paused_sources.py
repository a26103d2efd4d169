"""Sources whose schedule is paused."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0025"
down_revision: Final = "0024"


def upgrade() -> None:
    with op.batch_alter_table("sources") as batch:
        batch.add_column(sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True))
