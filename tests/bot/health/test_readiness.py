"""Readiness under faults: a full disk, a damaged, emptied or replaced index file, and lost documents."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.application import Application
from bot.bootstrap import list_unreachable_backends, open_application
from bot.health.folder_check import find_unwritable_folder
from bot.ids import Subject
from bot.settings import Settings
from storage.embedded.database import FILE_NAME
from storage.embedded.index import EmbeddedIndex
from storage.search.errors import IndexDamaged
from storage.search.ids import BucketId, DocId
from storage.sql.database import SqlDatabase
from storage.text.snowball_analyser import analyser_for
from tests.bot.conftest import ConversationDriver, private_audience_of
from tests.bot.fakes import NO_REASONER, Clock
from tests.bot.health.damages import copy_of, cut_off_end, empty_file, overwrite_beginning, overwrite_middle
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB. Skips the test where none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill_disk(folder: Path) -> Path:
    path = folder / "filling"
    with path.open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return path


async def summaries_of(bot: Application, *, thorough: bool = False) -> list[str]:
    return [problem.summary for problem in await bot.readiness.find_problems(thorough=thorough)]


async def test_a_healthy_installation_has_no_problems(bot: Application) -> None:
    assert await bot.readiness.find_problems() == []
    assert await bot.readiness.find_problems(thorough=True) == []


def test_a_full_disk_is_found_and_named(small_disk: Path) -> None:
    assert find_unwritable_folder([small_disk]) is None
    filling = fill_disk(small_disk)

    problem = find_unwritable_folder([small_disk / "not" / "there"])

    assert (
        problem
        == f"{small_disk} cannot be written (No space left on device): free some space, or correct its permissions"
    )
    filling.unlink()
    assert find_unwritable_folder([small_disk]) is None
    assert list(small_disk.iterdir()) == []


async def test_readiness_and_doctor_say_that_the_disk_is_full(small_disk: Path, settings: Settings) -> None:
    on_small_disk = settings.model_copy(update={"home": small_disk})
    async with open_application(on_small_disk, reasoner=NO_REASONER) as bot:
        assert await summaries_of(bot) == []
        filling = fill_disk(small_disk)
        assert (await summaries_of(bot))[0] == "the disk cannot be written"
        filling.unlink()
        assert await summaries_of(bot) == []
        fill_disk(small_disk)
    assert any("No space left on device" in problem for problem in await list_unreachable_backends(on_small_disk))


@pytest.mark.parametrize("failing", ["open", "fsync"])
def test_a_folder_that_takes_no_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((Path, "open") if failing == "open" else (os, "fsync")), refuse)

    assert "No space left on device" in (find_unwritable_folder([tmp_path]) or "")
    assert list(tmp_path.iterdir()) == []


# -- a damaged index file


def replace_file(path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    path.write_bytes(b"")


@pytest.fixture
async def filled_file(settings: Settings, clock: Clock) -> Path:
    """The path of the closed index file of an installation with 300 documents, which the database knows of."""
    await fill_index(settings)
    async with open_application(settings, clock=clock, reasoner=NO_REASONER) as bot:
        assert await summaries_of(bot) == []
    return settings.index_path / FILE_NAME


async def fill_index(settings: Settings) -> None:
    index = await EmbeddedIndex.open(settings.index_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document(f"r{n}", f"receipt {n} " * 40, vendor=f"v{n}") for n in range(300)])
    await index.close()


@pytest.mark.parametrize("damage", [overwrite_middle, cut_off_end, overwrite_beginning, empty_file])
async def test_doctor_says_that_the_index_file_is_damaged(
    filled_file: Path, settings: Settings, damage: Callable[[Path], None]
) -> None:
    damage(filled_file)

    problems = " ".join(await list_unreachable_backends(settings))

    assert any(words in problems for words in ("the file is damaged", "0 of the 300"))
    assert "parley index rebuild" in problems or damage is empty_file  # of which the database knows no origin


@pytest.mark.parametrize("damage", [overwrite_middle, overwrite_beginning, cut_off_end])
async def test_a_running_service_notices_damage_of_its_index_file(
    filled_file: Path, settings: Settings, clock: Clock, damage: Callable[[Path], None]
) -> None:
    async with open_application(settings, clock=clock, reasoner=NO_REASONER) as bot:
        assert await summaries_of(bot) == []
        damage(filled_file)
        assert await summaries_of(bot, thorough=True) == ["the index is damaged"]
        assert await summaries_of(bot) == ["the index is damaged"]


async def test_a_running_service_notices_that_its_index_file_was_replaced(
    filled_file: Path, settings: Settings, clock: Clock
) -> None:
    async with open_application(settings, clock=clock, reasoner=NO_REASONER) as bot:
        replace_file(filled_file)
        assert await summaries_of(bot) == ["the index is damaged"]


# -- lost documents


async def test_an_emptied_index_file_reads_as_an_index_that_is_down(
    filled_file: Path, settings: Settings, clock: Clock
) -> None:
    async with open_application(settings, clock=clock) as bot:
        await bot.grants.grant_bucket_access(RECEIPTS, Subject("user:slack:T1:U1"), by="test")
    empty_file(filled_file)

    async with open_application(settings, clock=clock) as bot:
        problems = await bot.readiness.find_problems()
        person = ConversationDriver(bot, audience=private_audience_of("U1"), person="slack:T1:U1")
        replies = [
            (await person.ask_question("List every receipt")).result["text"],
            (await ConversationDriver(bot, conversation="c2").ask_question("List every receipt")).result["text"],
        ]

    assert [problem.summary for problem in problems] == ["the index lacks documents"]
    assert "the index has 0 of the 300 documents of receipts that the database knows of" in problems[0].detail
    assert "parley ingest PATH --bucket receipts" in problems[0].detail
    assert not [reply for reply in replies if "grant" in reply or "no documents" in reply]


async def test_documents_that_are_loaded_again_end_the_problem(
    filled_file: Path, settings: Settings, clock: Clock
) -> None:
    empty_file(filled_file)
    async with open_application(settings, clock=clock, reasoner=NO_REASONER) as bot:
        assert await summaries_of(bot) == ["the index lacks documents"]
        assert await summaries_of(bot) == ["the index lacks documents"]
    await fill_index(settings)
    async with open_application(settings, clock=clock, reasoner=NO_REASONER) as bot:
        assert await summaries_of(bot) == []


async def test_an_old_copy_of_the_index_file_lacks_the_later_documents(
    filled_file: Path, settings: Settings, clock: Clock
) -> None:
    copy = copy_of(filled_file)
    index = await EmbeddedIndex.open(settings.index_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.put(RECEIPTS, [a_document("later")])
    await index.close()
    async with open_application(settings, clock=clock, reasoner=NO_REASONER) as bot:
        assert await summaries_of(bot) == []
    shutil.copyfile(copy, filled_file)

    async with open_application(settings, clock=clock, reasoner=NO_REASONER) as bot:
        [problem] = await bot.readiness.find_problems()

    assert "the index has 300 of the 301 documents" in problem.detail


async def test_deleted_documents_and_buckets_are_no_problem(bot: Application, index: EmbeddedIndex) -> None:
    assert await summaries_of(bot) == []
    await index.delete([DocId("r000"), DocId("r001")])
    assert await summaries_of(bot) == []

    await bot.readiness.record.forget_bucket(RECEIPTS)
    await index.drop_bucket(RECEIPTS)
    assert await summaries_of(bot) == []


async def test_a_granted_bucket_that_the_index_does_not_have_is_a_problem(bot: Application) -> None:
    await bot.grants.grant_bucket_access(BucketId("gone"), Subject("everyone"), by="test")

    [problem] = await bot.readiness.find_problems()

    assert problem.detail.startswith("gone is granted, but the index does not have it")


async def test_a_database_that_cannot_be_written_is_a_problem(bot: Application, database: SqlDatabase) -> None:
    refuse_writes = "CREATE TRIGGER refuse BEFORE INSERT ON write_checks BEGIN SELECT RAISE(FAIL, 'full'); END"
    await database.run_write(lambda connection: connection.execute(text(refuse_writes)))

    assert await summaries_of(bot) == ["the database does not answer"]


async def test_damage_that_a_question_meets_is_checked_at_the_next_probe(filled_file: Path, settings: Settings) -> None:
    index = await EmbeddedIndex.open(settings.index_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.ping()
    overwrite_middle(filled_file)
    try:
        for _ in range(3):
            with pytest.raises(IndexDamaged):
                await index.ping(thorough=True)
    finally:
        await index.close()
