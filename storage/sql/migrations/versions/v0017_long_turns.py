"""Which turns have a long text; those are answered apart from the others."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0017"
down_revision: Final = "0016"


def upgrade() -> None:
    op.add_column("turns", sa.Column("is_long", sa.Boolean(), nullable=False, server_default=sa.false()))
