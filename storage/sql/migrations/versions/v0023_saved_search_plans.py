"""The plan of a saved search: of one that was saved by a button, where the question alone does not say it."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0023"
down_revision: Final = "0022"


def upgrade() -> None:
    op.add_column("saved_searches", sa.Column("plan", sa.JSON(), nullable=True))
