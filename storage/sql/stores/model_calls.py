"""The calls of language models that turns made. They are deleted with their turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Index, func, insert, select
from sqlmodel import Field

from storage.sql import tables
from storage.sql.database import SqlDatabase


@dataclass(frozen=True, kw_only=True)
class NewModelCall:
    """One call, successful or not. `cost_usd` is None if the price is unknown, the texts if they are not to be kept."""

    tenant: str
    turn: str
    conversation: str
    prompt: str  # name and version, as `plan_question@3`
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    ms: float
    error: tables.OptionalPeopleText = None
    request_text: tables.OptionalPeopleText = None
    reply_text: tables.OptionalPeopleText = None


class ModelCallRow(tables.TableRow, NewModelCall, frozen=True, table=True):
    __tablename__ = "model_calls"  # pyright: ignore[reportAssignmentType]

    __table_args__ = (
        Index("ix_model_calls_turn", "turn"),
        Index("ix_model_calls_prompt", "prompt", "created_at"),
        {"sqlite_autoincrement": True},
    )

    position: tables.RowNumber
    turn: str = Field(foreign_key="turns.id", ondelete="CASCADE")
    created_at: tables.UtcColumn


@dataclass(frozen=True, kw_only=True)
class PromptUsage:
    """How often a version of a prompt was sent. `failures` of the calls did not succeed."""

    prompt: str
    calls: int
    failures: int
    first_at: datetime
    last_at: datetime


model_calls: Final = ModelCallRow.__table__


class ModelCallStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def insert_calls(self, calls: Sequence[NewModelCall]) -> None:
        """Store the calls in one insert. Raises `ConstraintBroken` if their turn is gone."""
        created_at = self._database.utc_now()
        rows = [tables.column_values_of(call) | {"created_at": created_at} for call in calls]
        if rows:
            await self._database.run_write(lambda connection: connection.execute(insert(model_calls), rows))

    async def summarise_prompts(self) -> list[PromptUsage]:
        """Returns the usage of each version of each prompt, the latest used first."""
        rows = await self._database.run_read(lambda connection: connection.execute(_PROMPT_USAGE).all())
        return [PromptUsage(**row._mapping) for row in rows]  # pyright: ignore[reportPrivateUsage]


_PROMPT_USAGE: Final = (
    select(
        model_calls.c.prompt,
        func.count().label("calls"),
        func.count(model_calls.c.error).label("failures"),
        func.min(model_calls.c.created_at).label("first_at"),
        func.max(model_calls.c.created_at).label("last_at"),
    )
    .group_by(model_calls.c.prompt)
    .order_by(func.max(model_calls.c.created_at).desc(), model_calls.c.prompt)
)
