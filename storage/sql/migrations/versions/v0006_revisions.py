"""The message that a turn replaces."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0006"
down_revision: Final = "0005"


def upgrade() -> None:
    op.add_column("turns", sa.Column("revises", sa.String(), nullable=True))
