"""The further messages of a reply, on every database."""

from storage.sql.database import SqlDatabase
from storage.sql.stores.conversations import FurtherMessageStore


async def test_the_further_messages_of_a_message_are_listed_once_each(database: SqlDatabase) -> None:
    further_messages = FurtherMessageStore(database)
    for further in ("2", "3", "2"):
        await further_messages.note_message("teams:t:1", "1", further)
    await further_messages.note_message("teams:t:1", "10", "11")
    await further_messages.note_message("teams:t:2", "1", "12")

    assert await further_messages.list_messages("teams:t:1", "1") == ["2", "3"]
    assert await further_messages.list_messages("teams:t:1", "4") == []


async def test_forgotten_messages_are_not_listed(database: SqlDatabase) -> None:
    further_messages = FurtherMessageStore(database)
    await further_messages.note_message("teams:t:1", "1", "2")
    await further_messages.note_message("teams:t:1", "10", "11")

    await further_messages.forget_messages("teams:t:1", "1")
    await further_messages.forget_messages("teams:t:1", "1")

    assert await further_messages.list_messages("teams:t:1", "1") == []
    assert await further_messages.list_messages("teams:t:1", "10") == ["11"]
