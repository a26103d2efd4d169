"""The rights under which the state of a conversation was saved, so that it survives when rights are added."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0028"
down_revision: Final = "0027"


def upgrade() -> None:
    with op.batch_alter_table("conversations") as batch:
        batch.add_column(sa.Column("rights", sa.JSON(), nullable=True))
