"""The open turns of each person, by which a claim is fair to the others."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0014"
down_revision: Final = "0013"


def upgrade() -> None:
    condition = sa.text("finished_at IS NULL")
    op.create_index(
        "ix_turns_open_of_person",
        "turns",
        ["person", "position"],
        sqlite_where=condition,
        postgresql_where=condition,
    )
