"""How long the documents of a bucket are kept, as admins set it on the admin page."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0029"
down_revision: Final = "0028"


def upgrade() -> None:
    op.create_table(
        "document_rules",
        sa.Column("bucket", sa.String(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("bucket", name="pk_document_rules"),
    )
