"""The state of a conversation, stored separately for each scope, the service URL through which to write there, and the
messages there that belong to one reply.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sqlalchemy import ColumnElement, Connection, bindparam, delete, select, update

from storage.sql import tables
from storage.sql.database import JsonMapping, SqlDatabase

_MAX_STATES: Final = 20  # of a conversation that are looked through, the newest first


@dataclass(frozen=True, kw_only=True)
class ConversationState:
    """`scope_key` identifies what the readers may see, so that a private turn never affects a channel's summary.

    `rights`: the digest of each right of that scope; None: stored by an earlier version.
    """

    conversation: tables.KeyText
    scope_key: tables.KeyText
    summary: tables.JsonColumn = field(default_factory=dict[str, object])
    last_plan: tables.OptionalJsonColumn = None
    clarifications_in_a_row: int = 0
    rights: tables.OptionalJsonListColumn = None


class ConversationRow(tables.TableRow, ConversationState, frozen=True, table=True):
    __tablename__ = "conversations"  # pyright: ignore[reportAssignmentType]

    changed_at: tables.UtcColumn


class ServiceUrlRow(tables.TableRow, frozen=True, table=True):
    __tablename__ = "service_urls"  # pyright: ignore[reportAssignmentType]

    conversation: tables.KeyText
    url: str
    changed_at: tables.UtcColumn


class FurtherMessageRow(tables.TableRow, frozen=True, table=True):
    __tablename__ = "further_messages"  # pyright: ignore[reportAssignmentType]

    conversation: tables.KeyText
    message: tables.KeyText
    further: tables.KeyText


conversations: Final = ConversationRow.__table__
service_urls: Final = ServiceUrlRow.__table__
further_messages: Final = FurtherMessageRow.__table__


class ConversationStore:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def load_state(self, conversation: str, scope_key: str, rights: Sequence[str] = ()) -> ConversationState:
        """Returns the newest saved state that tells nothing beyond the scope, or an empty one.

        That is a state under `scope_key`, or one under some of these rights: since it was saved, others were added.
        """
        values, held = {"conversation_id": conversation}, frozenset(rights)
        rows = await self._database.run_read(lambda connection: connection.execute(_NEWEST_STATES, values).all())
        states = (tables.value_from_row(ConversationState, row) for row in rows)
        visible = (state for state in states if state.scope_key == scope_key or _is_within(state, held))
        state = next(visible, ConversationState(conversation=conversation, scope_key=scope_key))
        return replace(state, scope_key=scope_key, rights=list(rights)) if rights else state

    async def list_states(self, conversation: str) -> list[ConversationState]:
        """Returns the states of a conversation, one per scope."""
        values = {"conversation_id": conversation}
        rows = await self._database.run_read(
            lambda connection: connection.execute(_STATES_OF_CONVERSATION, values).all()
        )
        return [tables.value_from_row(ConversationState, row) for row in rows]

    async def save_state(self, state: ConversationState) -> None:
        """Save a state outside a turn. The worker of a turn passes its state to `TurnInbox.finish_turn` instead."""
        save = state_saver(self._database)
        await self._database.run_write(lambda connection: save(connection, state))

    async def replace_summary_if_unchanged(self, before: ConversationState, summary: JsonMapping) -> bool:
        """Replace the summary of a state; False, with nothing changed, if its summary differs from `before` by now."""
        values = {"conversation_id": before.conversation, "sought_scope_key": before.scope_key}

        def replace_summary(connection: Connection) -> bool:
            current = connection.execute(_STATE_OF_SCOPE.with_for_update(), values).one_or_none()
            if current is None or current.summary != before.summary:
                return False
            connection.execute(_REPLACE_SUMMARY, values | {"new_summary": summary})
            return True

        return await self._database.run_write(replace_summary)


class ServiceUrlStore:
    """For chat products that name, with each message, the address of the service through which to write there."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def find_url(self, conversation: str) -> str | None:
        """Returns the newest URL of the conversation."""
        values = {"conversation_id": conversation}
        return await self._database.run_read(
            lambda connection: connection.execute(_SERVICE_URL, values).scalar_one_or_none()
        )

    async def replace_url(self, conversation: str, url: str) -> None:
        """Not durable, since the next message there brings the URL again."""
        updated_columns = {"url": url, "changed_at": self._database.utc_now()}
        upsert = self._database.insert_into(service_urls).values(conversation=conversation, **updated_columns)
        upsert = upsert.on_conflict_do_update(index_elements=["conversation"], set_=updated_columns)
        await self._database.run_write(lambda connection: connection.execute(upsert), durable=False)


class FurtherMessageStore:
    """For chat products in which a reply may take several messages. A turn holds the id of one of them."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def note_message(self, conversation: str, message: str, further: str) -> None:
        """Store that `further` belongs to the reply that `message` holds."""
        values = {"conversation": conversation, "message": message, "further": further}
        statement = self._database.insert_into(further_messages).on_conflict_do_nothing()
        await self._database.run_write(lambda connection: connection.execute(statement, values))

    async def list_messages(self, conversation: str, message: str) -> list[str]:
        """Returns the further messages of the reply, by their ids."""
        query = select(further_messages.c.further).where(_belongs_to(conversation, message))
        query = query.order_by(further_messages.c.further)
        return list(await self._database.run_read(lambda connection: connection.execute(query).scalars().all()))

    async def forget_messages(self, conversation: str, message: str) -> None:
        """Delete what is stored about the further messages of the reply."""
        statement = delete(further_messages).where(_belongs_to(conversation, message))
        await self._database.run_write(lambda connection: connection.execute(statement))


def _belongs_to(conversation: str, message: str) -> ColumnElement[bool]:
    return (further_messages.c.conversation == conversation) & (further_messages.c.message == message)


def state_saver(database: SqlDatabase) -> Callable[[Connection, ConversationState], None]:
    """Returns a function that saves a state within the transaction of a connection."""
    insert = database.insert_into(conversations)
    updated_columns = {name: insert.excluded[name] for name in _UPDATED_COLUMNS}
    upsert = insert.on_conflict_do_update(index_elements=["conversation", "scope_key"], set_=updated_columns)

    def save_in_transaction(connection: Connection, state: ConversationState) -> None:
        connection.execute(upsert, tables.column_values_of(state) | {"changed_at": database.utc_now()})

    return save_in_transaction


def _is_within(state: ConversationState, held: frozenset[str]) -> bool:
    return state.rights is not None and held.issuperset(state.rights)


_UPDATED_COLUMNS = ("summary", "last_plan", "clarifications_in_a_row", "rights", "changed_at")
_REPLACE_SUMMARY = (
    update(conversations)
    .where(
        conversations.c.conversation == bindparam("conversation_id"),
        conversations.c.scope_key == bindparam("sought_scope_key"),
    )
    .values(summary=bindparam("new_summary"))
)
_SERVICE_URL = select(service_urls.c.url).where(service_urls.c.conversation == bindparam("conversation_id"))
_STATES_OF_CONVERSATION = select(conversations).where(conversations.c.conversation == bindparam("conversation_id"))
_NEWEST_STATES = (
    select(conversations)
    .where(conversations.c.conversation == bindparam("conversation_id"))
    .order_by(conversations.c.changed_at.desc(), conversations.c.scope_key)
    .limit(_MAX_STATES)
)
_STATE_OF_SCOPE = select(conversations).where(
    conversations.c.conversation == bindparam("conversation_id"),
    conversations.c.scope_key == bindparam("sought_scope_key"),
)
