"""Installations of chat apps, the workspaces of whole organisations, and pending installations."""

from typing import Any, Final

import sqlalchemy as sa
from alembic import op

revision: Final = "0005"
down_revision: Final = "0004"


def upgrade() -> None:
    op.create_table(
        "installations",
        _text("account"),
        _text("team", nullable=True),
        _text("enterprise", nullable=True),
        sa.Column("name", sa.JSON(), nullable=False),
        _text("bot_user"),
        sa.Column("scopes", sa.JSON(), nullable=False),
        _text("tokens"),
        _time("expires_at", nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        _time("leased_until", nullable=True),
        _text("installed_by"),
        _time("installed_at"),
        sa.PrimaryKeyConstraint("account", name="pk_installations"),
    )
    op.create_index("ix_installations_enterprise", "installations", ["enterprise"])
    op.create_table(
        "installation_teams",
        _text("team"),
        _text("account"),
        sa.PrimaryKeyConstraint("team", name="pk_installation_teams"),
        sa.ForeignKeyConstraint(
            ["account"], ["installations.account"], name="fk_installation_teams_account", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_installation_teams_account", "installation_teams", ["account"])
    op.create_table(
        "installation_states",
        _text("state"),
        _text("browser"),
        _time("expires_at"),
        sa.PrimaryKeyConstraint("state", name="pk_installation_states"),
    )


def _text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.String(), nullable=nullable)


def _time(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)
