"""Calls of language models, and what organisations spend on them."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0009"
down_revision: Final = "0008"


def upgrade() -> None:
    op.create_table(
        "model_calls",
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        _text("tenant"),
        _text("turn"),
        _text("conversation"),
        _text("prompt"),
        _text("model"),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("ms", sa.Float(), nullable=False),
        sa.Column("error", sa.JSON(), nullable=True),
        sa.Column("request_text", sa.JSON(), nullable=True),
        sa.Column("reply_text", sa.JSON(), nullable=True),
        _time("created_at"),
        sa.PrimaryKeyConstraint("position", name="pk_model_calls"),
        sa.ForeignKeyConstraint(["turn"], ["turns.id"], name="fk_model_calls_turn", ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_model_calls_turn", "model_calls", ["turn"])
    op.create_index("ix_model_calls_prompt", "model_calls", ["prompt", "created_at"])
    op.create_table(
        "model_spending",
        _text("tenant"),
        _text("month"),
        sa.Column("spent_nano_usd", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "month", name="pk_model_spending"),
    )
    op.create_table(
        "model_reservations",
        _text("id"),
        _text("tenant"),
        _text("month"),
        sa.Column("nano_usd", sa.BigInteger(), nullable=False),
        _time("expires_at"),
        sa.PrimaryKeyConstraint("id", name="pk_model_reservations"),
    )
    op.create_index("ix_model_reservations_month", "model_reservations", ["tenant", "month"])


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(), nullable=False)


def _time(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False)
