"""An index that is damaged or has lost documents: nobody reads an answer from the rest, and it is rebuilt."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.admin.source_kinds.folder_kind import FOLDER_KIND
from bot.admin.source_kinds.source_kind import SourceRequest
from bot.application import Application
from bot.bootstrap import (
    find_index_fault,
    list_unreachable_backends,
    move_index_away,
    open_application,
    plan_index_rebuild,
)
from bot.health.document_loads import load_request_of
from bot.ids import Subject
from bot.settings import Settings
from storage.embedded.database import FILE_NAME
from storage.ingest.pipeline import ingest_files
from storage.search.errors import IndexUnavailable
from storage.search.ids import BucketId, DocId
from storage.sql.errors import DatabaseDamaged
from tests.bot.conftest import ConversationDriver, private_audience_of
from tests.bot.fakes import NO_REASONER, Clock, ListingAgent
from tests.bot.health.damages import (
    copy_of,
    cut_off_end,
    empty_file,
    overwrite_beginning,
    overwrite_middle,
    put_back_copy,
    remove_file,
)

NOTES, PRICES = BucketId("notes"), BucketId("prices")
_INCOMPLETE = "Some of my documents are missing at the moment and have to be loaded again"
DAMAGES = [overwrite_middle, cut_off_end, overwrite_beginning, empty_file, remove_file, put_back_copy]


@asynccontextmanager
async def opened(settings: Settings, clock: Clock) -> AsyncGenerator[Application]:
    async with open_application(settings, clock=clock, agent=ListingAgent(), reasoner=NO_REASONER) as bot:
        yield bot


@pytest.fixture
async def index_file(settings: Settings, clock: Clock, tmp_path: Path) -> Path:
    """The closed index file of an installation with a source and a table that was loaded by hand, beside a copy of an
    earlier time.
    """
    folder, table = tmp_path / "notes", tmp_path / "prices.csv"
    folder.mkdir()
    for number in range(60):
        (folder / f"n{number:02}.txt").write_text(f"note {number} about pumps and valves. " * 60)
    table.write_text("article,price\n" + "".join(f"a{number},{number}\n" for number in range(40)))
    path = settings.index_path / FILE_NAME
    async with opened(settings, clock) as bot:
        await load_everything(bot, folder, table)
    copy_of(path)
    (folder / "n00.txt").write_text("note 0 says something else by now")
    async with opened(settings, clock) as bot:
        await bot.sources.sync_source("notes")
        assert await bot.readiness.find_problems() == []
        await bot.grants.grant_bucket_access(NOTES, Subject("user:slack:T1:U1"), by="test")
    return path


async def load_everything(bot: Application, folder: Path, table: Path) -> None:
    await bot.sources.add_source(SourceRequest(kind=FOLDER_KIND, location=str(folder), bucket=NOTES))
    await bot.sources.sync_source("notes")
    report = await ingest_files(bot.index, [table], extractor=bot.extractor, bucket=PRICES)
    request = load_request_of(
        [str(table)], bucket=PRICES, ignore_metadata=False, reads_with_model=False, writes_contexts=False
    )
    await bot.readiness.record.record_load(request, report.buckets)
    assert await bot.readiness.find_problems() == []


async def digests_of(bot: Application) -> Mapping[BucketId, Mapping[DocId, str]]:
    return {bucket: await bot.index.load_digests(bucket) for bucket in await bot.index.load_bucket_sizes()}


async def ask_everybody(bot: Application) -> list[str]:
    """What the operator and a person with a grant read."""
    person = ConversationDriver(bot, audience=private_audience_of("U1"), person="slack:T1:U1", conversation="c1")
    operator = ConversationDriver(bot, conversation="c2")
    return [(await talk.ask_question("List everything")).result["text"] for talk in (person, operator)]


async def rebuild(settings: Settings, clock: Clock) -> list[str]:
    """As `parley index rebuild` does it. Returns the problems."""
    plans = await plan_index_rebuild(settings) if await find_index_fault(settings) is not None else None
    if plans is not None:
        await move_index_away(settings)
    async with opened(settings, clock) as bot:
        plans = await bot.index_rebuild.plan_buckets() if plans is None else plans
        return await bot.index_rebuild.rebuild_buckets(plans, lambda line: None)


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_index_is_named_answers_nothing_and_is_rebuilt_as_it_was(
    index_file: Path, settings: Settings, clock: Clock, damage: Callable[[Path], None]
) -> None:
    async with opened(settings, clock) as bot:
        before, schemas = await digests_of(bot), {b: s.schema for b, s in (await bot.index.load_bucket_sizes()).items()}
    damage(index_file)

    assert "parley index rebuild" in " ".join(await list_unreachable_backends(settings))
    try:
        async with opened(settings, clock) as bot:
            await bot.readiness.find_problems(thorough=True)
            replies = await ask_everybody(bot)
    except IndexUnavailable:  # the program does not start
        replies = []
    assert all(reply.startswith(_INCOMPLETE) for reply in replies)

    assert await rebuild(settings, clock) == []
    async with opened(settings, clock) as bot:
        assert await bot.readiness.find_problems(thorough=True) == []
        assert await digests_of(bot) == before
        assert {bucket: size.schema for bucket, size in (await bot.index.load_bucket_sizes()).items()} == schemas
        assert not [reply for reply in await ask_everybody(bot) if _INCOMPLETE in reply]


async def test_people_are_told_while_the_index_is_rebuilt(index_file: Path, settings: Settings, clock: Clock) -> None:
    remove_file(index_file)
    replies = list[str]()
    async with opened(settings, clock) as bot:
        replies += await ask_everybody(bot)
        await bot.index_rebuild.rebuild_buckets(
            [plan for plan in await bot.index_rebuild.plan_buckets() if plan.bucket == PRICES], lambda line: None
        )
        replies += await ask_everybody(bot)  # half of the index is back
        assert [problem.summary for problem in await bot.readiness.find_problems()] == ["the index lacks documents"]
        await bot.index_rebuild.rebuild_buckets(await bot.index_rebuild.plan_buckets(), lambda line: None)
        assert not [reply for reply in await ask_everybody(bot) if _INCOMPLETE in reply]

    assert len(replies) == 4
    assert all(reply.startswith(_INCOMPLETE) for reply in replies)


async def test_a_running_service_does_not_answer_from_a_damaged_or_replaced_file(
    index_file: Path, settings: Settings, clock: Clock
) -> None:
    async with opened(settings, clock) as bot:
        assert not [reply for reply in await ask_everybody(bot) if _INCOMPLETE in reply]
        await move_index_away(settings)
        assert all(reply.startswith(_INCOMPLETE) for reply in await ask_everybody(bot))
        assert [problem.summary for problem in await bot.readiness.find_problems()] == ["the index is damaged"]


@pytest.mark.parametrize("damage", [overwrite_middle, overwrite_beginning, cut_off_end])
async def test_a_service_that_starts_with_a_damaged_file_tells_people_and_answers_once_it_is_rebuilt(
    index_file: Path, settings: Settings, clock: Clock, damage: Callable[[Path], None]
) -> None:
    damage(index_file)
    async with open_application(
        settings, clock=clock, agent=ListingAgent(), reasoner=NO_REASONER, tolerates_outage=True
    ) as bot:
        problems = [problem.summary for problem in await bot.readiness.find_problems(thorough=True)]
        replies = await ask_everybody(bot)
        assert await rebuild(settings, clock) == []
        assert await bot.readiness.find_problems(thorough=True) == []
        later_replies = await ask_everybody(bot)

    assert problems == ["the index is damaged"]
    assert all(reply.startswith(_INCOMPLETE) for reply in replies)
    assert not [reply for reply in later_replies if reply.startswith(_INCOMPLETE)]


async def test_a_service_goes_on_with_the_file_that_was_rebuilt(
    index_file: Path, settings: Settings, clock: Clock
) -> None:
    async with open_application(
        settings, clock=clock, agent=ListingAgent(), reasoner=NO_REASONER, tolerates_outage=True
    ) as bot:
        first_replies = await ask_everybody(bot)
        put_back_copy(index_file)
        for path in (index_file.with_name(f"{FILE_NAME}{suffix}") for suffix in ("-wal", "-shm")):
            path.unlink(missing_ok=True)
        assert await rebuild(settings, clock) == []
        assert await bot.readiness.find_problems() == []
        assert await ask_everybody(bot) == first_replies
        await bot.index.delete([DocId("notes/n01.txt")])
        assert await bot.readiness.find_problems(thorough=True) == []


async def test_documents_that_are_gone_are_named_until_they_are_accepted(
    index_file: Path, settings: Settings, clock: Clock, tmp_path: Path
) -> None:
    remove_file(index_file)
    (tmp_path / "notes" / "n01.txt").unlink()
    (tmp_path / "prices.csv").unlink()

    problems = " ".join(await rebuild(settings, clock))
    async with opened(settings, clock) as bot:
        assert all(reply.startswith(_INCOMPLETE) for reply in await ask_everybody(bot))
        await bot.readiness.record.accept_buckets([NOTES, PRICES])
        assert await bot.readiness.find_problems() == []
        assert not [reply for reply in await ask_everybody(bot) if _INCOMPLETE in reply]

    assert "the index has 59 of the 60 documents of notes" in problems
    assert "the index has 0 of the 40 documents of prices" in problems
    assert f"parley ingest {tmp_path / 'prices.csv'} --bucket prices" in problems


async def test_a_load_by_a_language_model_is_named_and_not_repeated(
    index_file: Path, settings: Settings, clock: Clock, tmp_path: Path
) -> None:
    async with opened(settings, clock) as bot:
        await bot.readiness.record.forget_bucket(PRICES)
        request = load_request_of(
            [str(tmp_path / "prices.csv")],
            bucket=PRICES,
            ignore_metadata=True,
            reads_with_model=True,
            writes_contexts=False,
        )
        await bot.readiness.record.record_load(request, [PRICES])
        assert await bot.readiness.find_problems() == []
    remove_file(index_file)

    [model_problem, missing] = await rebuild(settings, clock)

    command = f"parley ingest {tmp_path / 'prices.csv'} --bucket prices --ignore-metadata --extract-with model"
    assert model_problem.endswith(command)
    assert "0 of the 40 documents of prices" in missing


async def test_the_damaged_file_is_kept(index_file: Path, settings: Settings, clock: Clock) -> None:
    overwrite_middle(index_file)

    assert await rebuild(settings, clock) == []

    [kept] = index_file.parent.glob("damaged-*/index.sqlite")
    assert bytes(8 * 4096) in await asyncio.to_thread(kept.read_bytes)


# -- the database


@pytest.mark.parametrize("damage", [overwrite_middle, cut_off_end, overwrite_beginning, empty_file, remove_file])
async def test_a_damaged_database_is_named_and_never_made_anew(
    index_file: Path, settings: Settings, clock: Clock, damage: Callable[[Path], None]
) -> None:
    path = settings.home / "parley.db"
    damage(path)
    damaged = path.read_bytes() if path.exists() else None

    problems = " ".join(await list_unreachable_backends(settings))

    assert f"the database at {path} is damaged" in problems
    assert "restore it from a backup" in problems
    assert (path.read_bytes() if path.exists() else None) == damaged or damage is overwrite_middle


async def test_a_database_that_is_removed_under_a_running_service_is_named(
    index_file: Path, settings: Settings, clock: Clock
) -> None:
    async with opened(settings, clock) as bot:
        (settings.home / "parley.db").unlink()
        [problem] = [problem for problem in await bot.readiness.find_problems() if "database" in problem.summary]

    assert "it is missing" in problem.detail
    with pytest.raises(DatabaseDamaged, match=r"delete .*parley\.db\.created"):
        async with opened(settings, clock):
            pass
    (settings.home / "parley.db.created").unlink()
    async with opened(settings, clock) as bot:
        assert [problem.summary for problem in await bot.readiness.find_problems()] == []
