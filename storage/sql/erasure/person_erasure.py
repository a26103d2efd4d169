"""Erases a person: what the person wrote, was answered and was granted, in every table.

The rules go by columns, not by tables, so that they hold for tables that are added later:

- conversations in which only this person took part are deleted with all their rows;
- of conversations with others, the person's turns stay as marks without text, and everything that hangs on these turns
  is deleted;
- rows with the person in `person`, or with the person's subject in `subject`, are deleted;
- wherever else an id of the person is left, such as in the audit, a pseudonym takes its place.

All of it is one transaction. What is not there any more is not counted, so a second run finds nothing.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, delete, func, null, or_, select, true, update
from sqlalchemy.engine import Row

from storage.sql.backup import list_stored_tables
from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.erasure.text_masking import TextReplacements, is_text_column
from storage.sql.stores.audit import write_audit_entry
from storage.sql.stores.clarifications import choices, clarifications
from storage.sql.stores.conversations import ConversationState, conversations, state_saver
from storage.sql.stores.exports import exports
from storage.sql.stores.grants import person_links
from storage.sql.stores.turns import Turn, turns
from storage.sql.tables import value_from_row

_MIN_BARE_ID_CHARS: Final = 6  # of an id of a chat product that is sought without its prefix
_MIN_SENTENCE_WORDS: Final = 3  # a shorter message is not sought in what others wrote: it may be a word of theirs
_PRESERVE_ROWCOUNT: Final = {"preserve_rowcount": True}
StateFilter = Callable[[ConversationState, Collection[str]], ConversationState]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureRequest:
    """`persons` are all ids of the person. `removed_body`, with `removed_text`, and `removed_outcome` take the place
    of a message and of the reply to it, in conversations with others. `without_turns` takes turns out of a state.
    """

    persons: frozenset[str]
    pseudonym: str
    by: str
    removed_text: str
    removed_body: JsonMapping
    removed_outcome: Callable[[Turn], JsonMapping]
    text_of: Callable[[JsonMapping], str]  # of a body; empty for what is not a text
    without_turns: StateFilter

    @property
    def sought_ids(self) -> frozenset[str]:
        """What is replaced wherever it is left: the whole ids, and long ids of a chat product without their prefix."""
        bare_ids = {person.rpartition(":")[2] for person in self.persons if not person.startswith("local:")}
        return self.persons | {bare_id for bare_id in bare_ids if len(bare_id) >= _MIN_BARE_ID_CHARS}


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureCounts:
    """Rows by table: deleted, kept as marks, and rows in which only an id or a quotation was replaced."""

    deleted: Mapping[str, int] = field(default_factory=dict[str, int])
    marked: int = 0
    pseudonymised: Mapping[str, int] = field(default_factory=dict[str, int])
    conversations: int = 0  # deleted as a whole

    @property
    def is_empty(self) -> bool:
        return not (self.deleted or self.marked or self.pseudonymised)


class PersonErasure:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def count_rows(self, request: ErasureRequest) -> ErasureCounts:
        """Returns what `erase_person` would do now, and changes nothing."""
        try:
            await self._database.run_unlimited(partial(_erase_and_roll_back, self._database, request))
        except _RolledBack as exc:
            return exc.counts
        raise AssertionError("a trial was committed")

    async def list_exports(self, request: ErasureRequest) -> list[str]:
        """Returns the ids of the exports that `erase_person` deletes, so that their files are deleted before."""
        query = select(exports.c.id).where(_is_removed_row(exports, request)).order_by(exports.c.position)
        return list(await self._database.run_read(lambda connection: connection.execute(query).scalars().all()))

    async def count_open_turns_of_others(self, request: ErasureRequest) -> int:
        """Returns how many turns of other people are open in conversations with the person. Each of them may hold what
        the person said before, and writes it when it is finished."""
        query = select(func.count()).where(
            turns.c.person.not_in(request.persons),
            turns.c.finished_at.is_(None),
            turns.c.conversation.in_(_conversations_of(request)),
        )
        return await self._database.run_read(lambda connection: connection.execute(query).scalar_one())

    async def erase_person(self, request: ErasureRequest) -> ErasureCounts:
        """Erase the person in one transaction, and write an audit entry under the pseudonym."""
        return await self._database.run_unlimited(partial(_erase_person, self._database, request))


class _RolledBack(Exception):
    """Ends a trial, so that its transaction is rolled back."""

    def __init__(self, counts: ErasureCounts) -> None:
        super().__init__("rolled back")
        self.counts = counts


def _conversations_of(request: ErasureRequest) -> Select[Any]:
    return select(turns.c.conversation).where(turns.c.person.in_(request.persons)).distinct()


def _shared_conversations(request: ErasureRequest) -> Select[Any]:
    is_of_other = turns.c.person.not_in(request.persons)
    return select(turns.c.conversation).where(is_of_other, turns.c.conversation.in_(_conversations_of(request)))


def _own_conversations(request: ErasureRequest) -> Select[Any]:
    return _conversations_of(request).where(turns.c.conversation.not_in(_shared_conversations(request)))


def _turn_ids_of(request: ErasureRequest) -> Select[Any]:
    return select(turns.c.id).where(turns.c.person.in_(request.persons))


def _is_removed_row(table: Table, request: ErasureRequest) -> ColumnElement[bool]:
    """The rows of a table, other than the turns, that go with the person."""
    columns, conditions = table.columns, list[ColumnElement[bool]]()
    if "conversation" in columns:
        conditions.append(columns["conversation"].in_(_own_conversations(request)))
    if "turn" in columns:
        conditions.append(columns["turn"].in_(_turn_ids_of(request)))
    if "person" in columns:
        conditions.append(columns["person"].in_(request.persons))
    if "subject" in columns:
        conditions.append(columns["subject"].in_([f"user:{person}" for person in sorted(request.persons)]))
    if table is choices:
        removed = select(clarifications.c.id).where(_is_removed_row(clarifications, request))
        conditions.append(columns["clarification"].in_(removed))
    if table is person_links:
        conditions.append(person_links.c.key.in_(_keys_left_alone(request)))
    return or_(*conditions)


def _keys_left_alone(request: ErasureRequest) -> Select[Any]:
    """The keys that link the person with a single other id: that one alone is linked with nobody."""
    other = person_links.alias("other")
    of_person = select(person_links.c.key).where(person_links.c.person.in_(request.persons))
    return (
        select(other.c.key)
        .where(other.c.key.in_(of_person), other.c.person.not_in(request.persons))
        .group_by(other.c.key)
        .having(func.count() == 1)
    )


def _removable_tables() -> list[Table]:
    """The tables with rows that go with a person, each before those to which its rows refer; the turns are not among
    them."""
    names = {"conversation", "turn", "person", "subject"}
    tables = [table for table in list_stored_tables() if table is choices or names & set(table.columns.keys())]
    return [table for table in reversed(tables) if table is not turns]


def _is_of_person(request: ErasureRequest) -> ColumnElement[bool]:
    return turns.c.person.in_(request.persons)


def _erase_and_roll_back(database: SqlDatabase, request: ErasureRequest, connection: Connection) -> None:
    raise _RolledBack(_erase_person(database, request, connection))


def _erase_person(database: SqlDatabase, request: ErasureRequest, connection: Connection) -> ErasureCounts:
    sentences = _collect_sentences(request, connection)
    own_conversations = connection.execute(
        select(func.count()).select_from(_own_conversations(request).subquery())
    ).scalar_one()
    _clear_shared_states(database, request, connection)
    deleted = {table.name: _delete_rows(connection, table, request) for table in _removable_tables()}
    is_own = _is_of_person(request) & turns.c.conversation.in_(_own_conversations(request))
    deleted[turns.name] = connection.execute(delete(turns).where(is_own)).rowcount
    marked = _mark_turns(database, request, connection)
    replaced = Counter(_replace_sentences(connection, request, sentences))
    for table in list_stored_tables():
        replaced[table.name] += _replace_texts(
            connection, table, TextReplacements(ids=dict.fromkeys(request.sought_ids, request.pseudonym))
        )
    counts = ErasureCounts(
        deleted={name: count for name, count in deleted.items() if count},
        marked=marked,
        pseudonymised=dict(+replaced),
        conversations=own_conversations,
    )
    if not counts.is_empty:
        after = {"deleted": counts.deleted, "marked": marked, "pseudonymised": counts.pseudonymised}
        write_audit_entry(database, connection, "person.forget", request.pseudonym, by=request.by, after=after)
    return counts


def _delete_rows(connection: Connection, table: Table, request: ErasureRequest) -> int:
    statement = delete(table).where(_is_removed_row(table, request))
    return connection.execute(statement, execution_options=_PRESERVE_ROWCOUNT).rowcount


def _clear_shared_states(database: SqlDatabase, request: ErasureRequest, connection: Connection) -> None:
    """Take the person's turns out of what conversations with others remember. A finished turn of another person holds
    a copy of that state, which is not needed any more.
    """
    turn_ids = frozenset(connection.execute(_turn_ids_of(request)).scalars())
    save_state = state_saver(database)
    for conversation in connection.execute(_shared_conversations(request).distinct()).scalars().all():
        states = connection.execute(select(conversations).where(conversations.c.conversation == conversation)).all()
        for state in [value_from_row(ConversationState, row) for row in states]:
            if (remaining := request.without_turns(state, turn_ids)) != state:
                save_state(connection, remaining)
        is_finished_by_other = and_(
            turns.c.conversation == conversation,
            turns.c.person.not_in(request.persons),
            turns.c.finished_at.is_not(None),
        )
        for row in connection.execute(select(turns.c.id, turns.c.outcome).where(is_finished_by_other)).all():
            if row.outcome is not None and row.outcome.get("state") is not None:
                without_copy = {**row.outcome, "state": None}
                connection.execute(update(turns).where(turns.c.id == row.id).values(outcome=without_copy))


def _mark_turns(database: SqlDatabase, request: ErasureRequest, connection: Connection) -> int:
    """Leave the person's remaining turns without text and person; one in progress ends without a reply."""
    rows = connection.execute(select(turns).where(_is_of_person(request))).all()
    for row in rows:
        turn = replace(value_from_row(Turn, row), person=request.pseudonym, body=request.removed_body)
        values: dict[str, Any] = {
            "person": turn.person,
            "body": turn.body,
            "outcome": request.removed_outcome(turn),
            "failure": null(),
            "route": null(),
            "stopped_by": null(),
            "locale": "en",
            "time_zone": "UTC",
            "is_long": False,
        }
        if turn.finished_at is None:
            values |= {"finished_at": database.utc_now(), "lane": None, "worker": None, "fence": turns.c.fence + 1}
        connection.execute(update(turns).where(turns.c.id == turn.id).values(**values))
    return len(rows)


def _collect_sentences(request: ErasureRequest, connection: Connection) -> dict[str, str]:
    """The person's sentences that other people's turns in the same conversation may quote, each with what replaces it.

    A sentence that another person wrote there as well is not the person's alone, and stays.
    """
    query = select(turns.c.person, turns.c.body).where(turns.c.conversation.in_(_shared_conversations(request)))
    own_texts, other_texts = set[str](), set[str]()
    for row in connection.execute(query).all():
        (own_texts if row.person in request.persons else other_texts).add(request.text_of(row.body).strip())
    sentences = {text for text in own_texts - other_texts if len(text.split()) >= _MIN_SENTENCE_WORDS}
    return dict.fromkeys(sentences, request.removed_text)


def _replace_sentences(
    connection: Connection, request: ErasureRequest, sentences: Mapping[str, str]
) -> Mapping[str, int]:
    """Replace the sentences in all rows of the conversations in which the person's turns are marks now."""
    if not sentences:
        return {}
    replacements = TextReplacements(sentences=sentences)
    marked = _conversations_of(replace(request, persons=frozenset({request.pseudonym})))
    turn_ids = select(turns.c.id).where(turns.c.conversation.in_(marked))
    conditions = {
        choices: choices.c.clarification.in_(
            select(clarifications.c.id).where(clarifications.c.conversation.in_(marked))
        )
    }
    for table in list_stored_tables():
        if "conversation" in table.columns:
            conditions[table] = table.columns["conversation"].in_(marked)
        elif "turn" in table.columns:
            conditions[table] = table.columns["turn"].in_(turn_ids)
    return {table.name: _replace_texts(connection, table, replacements, where) for table, where in conditions.items()}


def _replace_texts(
    connection: Connection, table: Table, replacements: TextReplacements, where: ColumnElement[bool] | None = None
) -> int:
    """Returns how many rows have changed."""
    columns = [column for column in table.columns if is_text_column(column)]
    if not columns:
        return 0
    condition = and_(replacements.may_occur_in(table), true() if where is None else where)
    query = select(*dict.fromkeys((*table.primary_key.columns, *columns))).where(condition)
    return sum(_replace_in_row(connection, table, row, replacements) for row in connection.execute(query).all())


def _replace_in_row(connection: Connection, table: Table, row: Row[Any], replacements: TextReplacements) -> bool:
    values = row._mapping  # pyright: ignore[reportPrivateUsage]
    texts = {column.name: values[column.name] for column in table.columns if is_text_column(column)}
    changed = {name: new for name, old in texts.items() if (new := replacements.replace_in(old)) != old}
    if changed:
        key = and_(*(column == values[column.name] for column in table.primary_key.columns))
        connection.execute(update(table).where(key).values(changed))
    return bool(changed)
