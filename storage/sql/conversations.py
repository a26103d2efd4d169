"""What is remembered of a conversation, apart for every scope it was held in."""

from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

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
        saved = select(conversations).where(
            conversations.c.conversation == conversation, conversations.c.scope_key == scope_key
        )
        async with self._database.reading() as connection:
            row = (await connection.execute(saved)).one_or_none()
        if row is None:
            return ConversationState(conversation=conversation, scope_key=scope_key)
        return ConversationState(
            conversation=conversation,
            scope_key=scope_key,
            summary=row.summary,
            last_plan=row.last_plan,
            clarifications_in_a_row=row.clarifications_in_a_row,
        )

    async def save(self, state: ConversationState) -> None:
        """For what happens outside a turn; a turn's worker hands its state to `Inbox.finish`, under its lease."""
        async with self._database.writing() as connection:
            await save_state(self._database, connection, state)


async def save_state(database: Database, connection: AsyncConnection, state: ConversationState) -> None:
    """Within the transaction of `connection`."""
    changing = {
        "summary": state.summary,
        "last_plan": state.last_plan,
        "clarifications_in_a_row": state.clarifications_in_a_row,
        "changed_at": database.now(),
    }
    keys = {"conversation": state.conversation, "scope_key": state.scope_key}
    insert = database.insert(conversations).values(**keys, **changing)
    await connection.execute(insert.on_conflict_do_update(index_elements=list(keys), set_=changing))
