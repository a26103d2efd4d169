"""An index of the questions that count in the limits."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0008"
down_revision: Final = "0007"

_COUNTED: Final = (
    "is_question AND (finished_at IS NULL OR ending IN ('answer', 'overload', 'ambiguous', 'no_results', 'edited'))"
)


def upgrade() -> None:
    op.create_index(
        "ix_turns_counted",
        "turns",
        ["received_at", "person", "position"],
        sqlite_where=sa.text(_COUNTED),
        postgresql_where=sa.text(_COUNTED),
    )
