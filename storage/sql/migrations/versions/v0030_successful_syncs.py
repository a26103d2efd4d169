"""When a source was last read, whatever happened since."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0030"
down_revision: Final = "0029"


def upgrade() -> None:
    with op.batch_alter_table("sources") as batch:
        batch.add_column(sa.Column("succeeded_at", sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE sources SET succeeded_at = synced_at WHERE outcome <> 'failed'")
