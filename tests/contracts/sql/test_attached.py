"""Files attached to questions, on every database."""

from datetime import timedelta

from storage.sql.database import SqlDatabase
from storage.sql.stores.attachments import AttachedFileStore, NewAttachedFile
from tests.contracts.sql.databases import SetClock

DAY = timedelta(days=1)
SLACK_FILE = b"\x00compressed\xff"


def a_file(
    database: SqlDatabase, file: str, *, conversation: str = "c1", message: str = "m1", person: str = "ann"
) -> NewAttachedFile:
    return NewAttachedFile(
        conversation=conversation,
        message=message,
        file=file,
        person=person,
        audience={"kind": "private", "person": person},
        name=f"NUL \0 {file}",
        kind="pdf",
        link=None,
        size=1_000,
        digest=f"digest of {file}",
        content=SLACK_FILE,
        expires_at=database.utc_now() + DAY,
    )


async def file_ids_in(files: AttachedFileStore, conversation: str = "c1") -> list[str]:
    return [file.file for file in await files.list_of_conversation(conversation)]


async def test_the_files_of_a_conversation_are_listed_in_the_order_they_were_stored(database: SqlDatabase) -> None:
    files = AttachedFileStore(database)
    await files.store_attached_file(a_file(database, "F2"))
    await files.store_attached_file(a_file(database, "F1"))
    await files.store_attached_file(a_file(database, "F3", conversation="c2"))

    first, second = await files.list_of_conversation("c1")

    assert (first.file, second.file) == ("F2", "F1")
    assert first.name == "NUL \0 F2"
    assert await files.load_file_content(first.id) == SLACK_FILE
    assert await file_ids_in(files, "elsewhere") == []


async def test_a_file_that_is_stored_again_is_not_changed(database: SqlDatabase) -> None:
    files = AttachedFileStore(database)
    await files.store_attached_file(a_file(database, "F1"))
    [before] = await files.list_of_conversation("c1")

    await files.store_attached_file(a_file(database, "F1"))

    assert await files.list_of_conversation("c1") == [before]


async def test_an_unreadable_file_keeps_only_the_reason(database: SqlDatabase) -> None:
    files = AttachedFileStore(database)
    await files.store_attached_file(a_file(database, "F1"))
    [stored] = await files.list_of_conversation("c1")

    await files.mark_unreadable(stored.id, "it is encrypted")

    [unreadable] = await files.list_of_conversation("c1")
    assert unreadable.fault == "it is encrypted"
    assert await files.load_file_content(stored.id) is None


async def test_files_that_a_message_no_longer_has_are_removed(database: SqlDatabase) -> None:
    files = AttachedFileStore(database)
    for file, message in (("F1", "m1"), ("F2", "m1"), ("F3", "m2")):
        await files.store_attached_file(a_file(database, file, message=message))

    await files.remove_of_message("c1", "m1", exclude=["F2"])
    assert await file_ids_in(files) == ["F2", "F3"]

    await files.remove_of_message("c1", "m1")
    assert await file_ids_in(files) == ["F3"]


async def test_using_a_file_postpones_its_expiry(database: SqlDatabase, clock: SetClock) -> None:
    files = AttachedFileStore(database)
    await files.store_attached_file(a_file(database, "F1"))
    await files.store_attached_file(a_file(database, "F2", conversation="c2"))
    clock.forward(hours=20)
    await files.set_expiry_of_conversation("c1", database.utc_now() + DAY)

    clock.forward(hours=5)

    assert await files.delete_expired_files() == 1
    assert await file_ids_in(files) == ["F1"]
    assert await file_ids_in(files, "c2") == []
