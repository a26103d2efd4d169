"""What people thought of answers: one verdict for each turn and person, the last one given."""

from dataclasses import dataclass
from datetime import datetime

from storage.sql.database import Database
from storage.sql.errors import ConstraintBroken
from storage.sql.tables import feedback


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    turn: str
    person: str
    verdict: str
    reason: str
    given_at: datetime


class FeedbackStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, turn: str, person: str, verdict: str, reason: str) -> bool:
        """In place of what the person gave for this turn before. False when there is no such turn."""
        changing = {"verdict": verdict, "reason": reason, "given_at": self._database.now()}
        upsert = self._database.insert(feedback).values(turn=turn, person=person, **changing)
        upsert = upsert.on_conflict_do_update(index_elements=["turn", "person"], set_=changing)
        try:
            await self._database.write(lambda connection: connection.execute(upsert))
        except ConstraintBroken:  # its foreign key
            return False
        return True

    async def of_turn(self, turn: str) -> list[Given]:
        """The oldest first."""
        asked = feedback.select().where(feedback.c.turn == turn).order_by(feedback.c.given_at, feedback.c.person)
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        return [Given(**{name: getattr(row, name) for name in Given.__dataclass_fields__}) for row in rows]
