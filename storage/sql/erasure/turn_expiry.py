"""Deletes turns by age, with everything that hangs on them, and what conversations remember of them.

Any process may do this at any time: each turn is deleted once, and a run that was interrupted is continued by the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, delete, exists, false, func, or_, select

from storage.sql.backup import list_stored_tables
from storage.sql.database import SqlDatabase
from storage.sql.erasure.person_erasure import StateFilter
from storage.sql.saved_search_store import SavedSearchStatus, saved_searches
from storage.sql.stores.clarifications import choices, clarifications
from storage.sql.stores.conversations import ConversationState, conversations, state_saver
from storage.sql.stores.turns import turns
from storage.sql.tables import value_from_row


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurns:
    """`oldest_at` is None if there are none."""

    count: int
    oldest_at: datetime | None


class TurnExpiry:
    """`without_turns` takes turns out of a conversation's state."""

    def __init__(self, database: SqlDatabase, without_turns: StateFilter) -> None:
        self._database, self._without_turns = database, without_turns

    async def measure_turns(self) -> StoredTurns:
        query = select(func.count().label("number"), func.min(turns.c.received_at).label("oldest_at"))
        row = await self._database.run_read(lambda connection: connection.execute(query).one())
        return StoredTurns(count=row.number, oldest_at=row.oldest_at)

    async def delete_turns(self, received_before: datetime, limit: int) -> int:
        """Delete up to `limit` finished turns that are older, in one transaction; returns how many.

        A conversation without turns is deleted with its files. Open turns stay.
        """
        return await self._database.run_write(partial(self._delete_turns, received_before, limit))

    def _delete_turns(self, received_before: datetime, limit: int, connection: Connection) -> int:
        is_old = and_(turns.c.received_at < received_before, turns.c.finished_at.is_not(None))
        query = select(turns.c.id, turns.c.conversation).where(is_old).order_by(turns.c.received_at).limit(limit)
        rows = connection.execute(query.with_for_update(skip_locked=True)).all()
        turn_ids = [row.id for row in rows]
        if not turn_ids:
            return 0
        for table in reversed(list_stored_tables()):
            if (condition := _belongs_to_turns(table, turn_ids)) is not None:
                connection.execute(delete(table).where(condition))
        connection.execute(delete(turns).where(turns.c.id.in_(turn_ids)))
        names = sorted({row.conversation for row in rows})
        self._clear_states(connection, names, turn_ids)
        for table in reversed(list_stored_tables()):
            if "conversation" in table.columns and table is not turns:
                column = table.columns["conversation"]
                is_kept = _IS_KEPT_SEARCH if table is saved_searches else false()
                connection.execute(
                    delete(table).where(column.in_(names), ~exists().where(turns.c.conversation == column), ~is_kept)
                )
        return len(turn_ids)

    def _clear_states(self, connection: Connection, names: Sequence[str], turn_ids: Sequence[str]) -> None:
        save_state = state_saver(self._database)
        for row in connection.execute(select(conversations).where(conversations.c.conversation.in_(names))).all():
            state = value_from_row(ConversationState, row)
            if (remaining := self._without_turns(state, turn_ids)) != state:
                save_state(connection, remaining)


_IS_KEPT_SEARCH = saved_searches.c.status != SavedSearchStatus.STOPPED.value  # it outlives the turn that asked for it


def _belongs_to_turns(table: Table, turn_ids: Sequence[str]) -> ColumnElement[bool] | None:
    if table is choices:
        removed: Select[Any] = select(clarifications.c.id).where(clarifications.c.turn.in_(turn_ids))
        return choices.c.clarification.in_(removed)
    return or_(table.columns["turn"].in_(turn_ids)) if "turn" in table.columns else None
