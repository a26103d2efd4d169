"""Feedback on answers: one verdict per turn and person, the last one given."""

from dataclasses import dataclass
from typing import Annotated, Final

from sqlalchemy import Index
from sqlmodel import Field

from storage.sql import tables
from storage.sql.database import SqlDatabase
from storage.sql.errors import ConstraintBroken

RATED_BADLY_CONDITION: Final = "verdict = 'bad'"


@dataclass(frozen=True, kw_only=True)
class StoredFeedback:
    turn: Annotated[str, Field(primary_key=True, foreign_key="turns.id", ondelete="CASCADE")]
    person: tables.KeyText
    verdict: str
    reason: tables.PeopleText
    given_at: tables.UtcColumn


class FeedbackRow(tables.TableRow, StoredFeedback, frozen=True, table=True):
    __tablename__ = "feedback"  # pyright: ignore[reportAssignmentType]

    __table_args__ = (Index("ix_feedback_bad", "given_at", **tables.partial_index(RATED_BADLY_CONDITION)),)


feedback: Final = FeedbackRow.__table__


class FeedbackStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def replace_feedback(self, turn: str, person: str, verdict: str, reason: str) -> bool:
        """Store a verdict in place of the person's earlier one for this turn; False if the turn does not exist."""
        updated_columns = {"verdict": verdict, "reason": reason, "given_at": self._database.utc_now()}
        upsert = self._database.insert_into(feedback).values(turn=turn, person=person, **updated_columns)
        upsert = upsert.on_conflict_do_update(index_elements=["turn", "person"], set_=updated_columns)
        try:
            await self._database.run_write(lambda connection: connection.execute(upsert))
        except ConstraintBroken:  # the foreign key to the turn
            return False
        return True
