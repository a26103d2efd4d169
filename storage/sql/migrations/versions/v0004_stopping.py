"""The person who asked to stop a turn."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0004"
down_revision: Final = "0003"


def upgrade() -> None:
    op.add_column("turns", sa.Column("stopped_by", sa.JSON(), nullable=True))
