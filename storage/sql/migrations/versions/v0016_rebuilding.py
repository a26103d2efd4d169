"""What an index is rebuilt from: the schemas of its buckets, and the loads of documents by hand."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0016"
down_revision: Final = "0015"


def upgrade() -> None:
    op.add_column("recorded_buckets", sa.Column("field_schema", sa.JSON(none_as_null=True), nullable=True))
    op.create_table(
        "document_loads",
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("buckets", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("position", name="pk_document_loads"),
        sa.UniqueConstraint("key", name="uq_document_loads_key"),
        sqlite_autoincrement=True,
    )
