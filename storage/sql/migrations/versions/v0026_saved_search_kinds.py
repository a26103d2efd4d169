"""The kind of a saved search: a search of documents, or the report of usage that an admin has posted by the clock."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0026"
down_revision: Final = "0025"


def upgrade() -> None:
    with op.batch_alter_table("saved_searches") as batch:
        batch.add_column(sa.Column("kind", sa.String(), nullable=False, server_default="search"))
