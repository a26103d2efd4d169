"""Files that came with questions, on every database."""

from datetime import timedelta

from storage.sql.attached import AttachedFiles, NewFile
from storage.sql.database import Database
from tests.contracts.sql.databases import SetClock

DAY = timedelta(days=1)
SLACK_FILE = b"\x00compressed\xff"


def a_file(
    database: Database, file: str, *, conversation: str = "c1", message: str = "m1", ann: str = "ann"
) -> NewFile:
    return NewFile(
        conversation=conversation,
        message=message,
        file=file,
        person=ann,
        audience={"kind": "private", "person": ann},
        name=f"NUL \0 {file}",
        kind="pdf",
        link=None,
        size=1_000,
        digest=f"digest of {file}",
        content=SLACK_FILE,
        expires_at=database.now() + DAY,
    )


async def names_in(files: AttachedFiles, conversation: str = "c1") -> list[str]:
    return [one.file for one in await files.of(conversation)]


async def test_a_conversation_has_its_files_in_the_order_they_were_kept(database: Database) -> None:
    files = AttachedFiles(database)
    await files.keep(a_file(database, "F2"))
    await files.keep(a_file(database, "F1"))
    await files.keep(a_file(database, "F3", conversation="c2"))

    first, second = await files.of("c1")

    assert (first.file, second.file) == ("F2", "F1")
    assert first.name == "NUL \0 F2"
    assert await files.content(first.id) == SLACK_FILE
    assert await names_in(files, "elsewhere") == []


async def test_a_file_that_is_kept_again_is_there_once_and_as_it_was(database: Database) -> None:
    files = AttachedFiles(database)
    await files.keep(a_file(database, "F1"))
    [before] = await files.of("c1")

    await files.keep(a_file(database, "F1"))

    assert await files.of("c1") == [before]


async def test_a_file_that_cannot_be_read_keeps_the_reason_alone(database: Database) -> None:
    files = AttachedFiles(database)
    await files.keep(a_file(database, "F1"))
    [kept] = await files.of("c1")

    await files.spoil(kept.id, "it is encrypted")

    [spoiled] = await files.of("c1")
    assert spoiled.fault == "it is encrypted"
    assert await files.content(kept.id) is None


async def test_a_message_takes_along_what_it_brought_and_no_longer_has(database: Database) -> None:
    files = AttachedFiles(database)
    for file, message in (("F1", "m1"), ("F2", "m1"), ("F3", "m2")):
        await files.keep(a_file(database, file, message=message))

    await files.remove("c1", "m1", but=["F2"])
    assert await names_in(files) == ["F2", "F3"]

    await files.remove("c1", "m1")
    assert await names_in(files) == ["F3"]


async def test_a_persons_files_go_from_every_conversation(database: Database) -> None:
    files = AttachedFiles(database)
    await files.keep(a_file(database, "F1"))
    await files.keep(a_file(database, "F2", conversation="c2"))
    await files.keep(a_file(database, "F3", ann="bob"))

    assert await files.remove_of(["ann", "nobody"]) == 2
    assert await names_in(files) == ["F3"]
    assert await names_in(files, "c2") == []


async def test_files_expire_a_while_after_they_were_used(database: Database, clock: SetClock) -> None:
    files = AttachedFiles(database)
    await files.keep(a_file(database, "F1"))
    await files.keep(a_file(database, "F2", conversation="c2"))
    clock.forward(hours=20)
    await files.use("c1", database.now() + DAY)

    clock.forward(hours=5)

    assert await files.expire() == 1
    assert await names_in(files) == ["F1"]
    assert await names_in(files, "c2") == []
