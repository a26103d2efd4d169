"""What is remembered of a conversation, apart for every scope it was held in."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.engine import Row

from storage.sql.database import Database, Object
from storage.sql.tables import conversations


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationState:
    """`scope_key` stands for what could be seen: a private turn never feeds a channel's summary."""

    conversation: str
    scope_key: str
    summary: Object = field(default_factory=dict[str, object])
    last_plan: Object | None = None
    clarifications_in_a_row: int = 0


class Conversations:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, conversation: str, scope_key: str) -> ConversationState:
        """An empty one where nothing was saved."""
        keys = {"of": conversation, "under": scope_key}
        row = await self._database.read(lambda connection: connection.execute(_SAVED, keys).one_or_none())
        if row is None:
            return ConversationState(conversation=conversation, scope_key=scope_key)
        return _state(row)

    async def all_of(self, conversation: str) -> list[ConversationState]:
        """Under every scope that it was held in."""
        where = {"of": conversation}
        rows = await self._database.read(lambda connection: connection.execute(_ALL_SAVED, where).all())
        return [_state(row) for row in rows]

    async def save(self, state: ConversationState) -> None:
        """For what happens outside a turn; a turn's worker hands its state to `Inbox.finish`, under its lease."""
        save = saving(self._database)
        await self._database.write(lambda connection: save(connection, state))


def saving(database: Database) -> Callable[[Connection, ConversationState], None]:
    """Saves a state within the transaction of a connection."""
    insert = database.insert(conversations)
    changing = {name: insert.excluded[name] for name in _CHANGING}
    upsert = insert.on_conflict_do_update(index_elements=["conversation", "scope_key"], set_=changing)

    def save(connection: Connection, state: ConversationState) -> None:
        values = {name: getattr(state, name) for name in ConversationState.__dataclass_fields__}
        connection.execute(upsert, values | {"changed_at": database.now()})

    return save


_CHANGING = ("summary", "last_plan", "clarifications_in_a_row", "changed_at")


def _state(row: Row[Any]) -> ConversationState:
    return ConversationState(**{name: getattr(row, name) for name in ConversationState.__dataclass_fields__})


_ALL_SAVED = select(conversations).where(conversations.c.conversation == bindparam("of"))
_SAVED = select(conversations).where(
    conversations.c.conversation == bindparam("of"), conversations.c.scope_key == bindparam("under")
)
