"""Files that people attach: fetched within limits, kept once, read into an index of their conversation."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.access import Access
from bot.attached import Attached
from bot.attachments import (
    ATTACHED,
    MOST_TOGETHER,
    Described,
    FileUnread,
    Missed,
    asked_of_files,
    kind_of,
    sorted_out,
)
from bot.bootstrap import Bot
from bot.ids import ConversationId
from bot.inbound import AttachedFile, Inbound, Operator, Said
from bot.shelves import Shelves
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.ingest.pipeline import is_bucket_name
from storage.search.ids import BucketId
from storage.search.index import Count, SearchIndex
from storage.search.plan import everything_in
from storage.sql.attached import AttachedFiles, NewFile
from tests.bot.conftest import Talk
from tests.builders import TENANT


@dataclass
class Cupboard:
    """A product whose files lie here, by id. One that is not there is refused; one without content never comes."""

    contents: dict[str, bytes | None] = field(default_factory=dict[str, bytes | None])
    fetched: list[str] = field(default_factory=list[str])

    async def described(self, inbound: Inbound, file: AttachedFile) -> Described:
        if file.id not in self.contents:
            raise FileUnread("it is not in the cupboard")
        return Described(file=replace(file, kind=file.kind or "txt"), where="cupboard")

    async def fetch(self, inbound: Inbound, file: Described, to: Path, *, most: int) -> None:
        content = self.contents[file.file.id]
        if content is None:
            await asyncio.Event().wait()
        self.fetched.append(file.file.id)
        await asyncio.to_thread(to.write_bytes, content or b"")


@pytest.fixture
def cupboard() -> Cupboard:
    return Cupboard({f"F{number}": f"note {number}".encode() for number in range(5)})


@pytest.fixture
async def shelves(bot: Bot, tmp_path: Path) -> AsyncIterator[Shelves]:
    shelves = some_shelves(bot, tmp_path / "shelves")
    yield shelves
    await shelves.close()


def some_shelves(bot: Bot, folder: Path, most: int = 2, patience: timedelta = timedelta(minutes=1)) -> Shelves:
    return Shelves(folder, opened, AttachedFiles(bot.database), bot.log, most=most, patience=patience)


async def opened(folder: Path) -> SearchIndex:
    return await EmbeddedIndex.open(folder, tenant=TENANT, analysers=analyser_for, embedder=None)


@pytest.fixture
def attached(bot: Bot, shelves: Shelves, cupboard: Cupboard) -> Attached:
    made = Attached(
        store=AttachedFiles(bot.database),
        index=bot.index,
        access=bot.access,
        shelves=shelves,
        log=bot.log,
        patience=timedelta(seconds=0.2),
    )
    made.fetch_through("slack", cupboard)
    return made


def asking(bot: Bot, *files: str, conversation: str = "c1") -> Inbound:
    named = tuple(AttachedFile(id=one, name=f"{one}.txt", kind="txt") for one in files)
    return replace(Talk(bot, conversation=conversation).inbound(Said("which?")), files=named)


def unheard(text: str) -> None:
    """Progress that nobody watches."""


async def documents_in(attached: Attached, access: Access, inbound: Inbound) -> int:
    scope = await access.scope(Operator())
    async with attached.seen(scope, inbound.conversation, inbound.audience) as sight:
        count = Count(everything_in(ATTACHED))
        return (await sight.index.ask(count))[count] if sight.files else 0


# -- fetched


async def test_what_is_kept_is_not_fetched_again(bot: Bot, attached: Attached, cupboard: Cupboard) -> None:
    inbound = asking(bot, "F1", "F2")

    assert await attached.take(inbound, unheard) == ()
    assert await attached.take(inbound, unheard) == ()

    assert cupboard.fetched == ["F1", "F2"]
    assert await documents_in(attached, bot.access, inbound) == 2


async def test_what_is_refused_or_never_comes_is_missed_and_the_rest_is_had(
    bot: Bot, attached: Attached, cupboard: Cupboard
) -> None:
    cupboard.contents["F2"] = None
    inbound = asking(bot, "F1", "F2", "F9")

    missed = await attached.take(inbound, unheard)

    assert missed == (
        Missed(name="F2.txt", reason="it did not arrive within 0 seconds"),
        Missed(name="F9.txt", reason="it is not in the cupboard"),
    )
    assert await documents_in(attached, bot.access, inbound) == 1


async def test_a_surface_without_files_says_so(bot: Bot, attached: Attached) -> None:
    inbound = replace(asking(bot, "F1"), surface="web")

    [missed] = await attached.take(inbound, unheard)

    assert missed.reason == "I cannot fetch files from here"


async def test_the_files_of_a_conversation_have_room_together_for_so_much(bot: Bot, attached: Attached) -> None:
    inbound = asking(bot, "F1")
    large = a_file(inbound, "F0", size=MOST_TOGETHER)
    await AttachedFiles(bot.database).keep(large)

    [missed] = await attached.take(inbound, unheard)

    assert missed.reason == "the files of this conversation would have over 50 MB together"


def a_file(inbound: Inbound, file: str, *, size: int = 4, kind: str = "txt", content: bytes = b"note") -> NewFile:
    return NewFile(
        conversation=inbound.conversation,
        message="another",
        file=file,
        person=inbound.person,
        audience={"kind": "operator"},
        name=f"{file}.{kind}",
        kind=kind,
        link=None,
        size=size,
        digest=file,
        content=zlib.compress(content),
        expires_at=inbound.received + timedelta(days=7),
    )


@pytest.mark.parametrize(
    ("name", "media_type", "kind"),
    [
        ("Report.PDF", "", "pdf"),
        ("page.htm", "application/octet-stream", "html"),
        ("notes", "text/plain; charset=utf-8", "txt"),
        ("main.py", "text/x-python", "py"),
        ("all.zip", "application/zip", "zip"),
        ("nothing", "", ""),
    ],
)
def test_the_kind_of_a_file_is_told_by_its_ending_or_else_by_its_media_type(
    name: str, media_type: str, kind: str
) -> None:
    assert kind_of(name, media_type) == kind


def test_files_are_sorted_out_by_kind_size_and_number() -> None:
    told = [
        AttachedFile(id="1", name="a.zip", kind="zip"),
        AttachedFile(id="2", name="b.pdf", kind="pdf", size=20 * 1024 * 1024 + 1),
        AttachedFile(id="3"),
        *(AttachedFile(id=f"{number}", name=f"{number}.csv", kind="csv") for number in range(10, 20)),
    ]

    read, unread = sorted_out(told)

    assert [one.id for one in read] == ["3", *(f"{number}" for number in range(10, 19))]
    assert unread == ("a.zip", "b.pdf", "19.csv")


@pytest.mark.parametrize(
    ("question", "brought", "asked"),
    [
        ("Summarize this document", True, "Summarize the attached document"),
        ("Summarize this document", False, None),
        ("What do these files say?", True, "What do the attached files say?"),
        ("How many rows has the attached table?", False, "How many rows has the attached table?"),
        ("How many receipts are there?", True, None),
    ],
)
def test_a_question_of_the_files_is_told_by_its_words(question: str, brought: bool, asked: str | None) -> None:
    assert asked_of_files(question, brought=brought) == asked


def test_no_bucket_of_peoples_can_be_called_as_that_of_attached_files() -> None:
    assert not is_bucket_name(ATTACHED)


# -- read


async def folders_in(folder: Path) -> list[str]:
    return await asyncio.to_thread(lambda: sorted(one.name for one in folder.glob("*/*") if one.is_dir()))


async def test_only_so_many_conversations_are_open_and_those_in_use_stay(
    bot: Bot, shelves: Shelves, tmp_path: Path
) -> None:
    store, folders = AttachedFiles(bot.database), list[int]()
    for number in range(4):
        inbound = asking(bot, conversation=f"c{number}")
        await store.keep(a_file(inbound, "F1"))

    async with shelves.opened(ConversationId("c0"), await store.of("c0")) as first:
        for number in range(1, 4):
            name = ConversationId(f"c{number}")
            async with shelves.opened(name, await store.of(name)):
                folders.append(len(await folders_in(tmp_path / "shelves")))
        schemas = await first.within().schemas()
    after = len(await folders_in(tmp_path / "shelves"))

    assert [*schemas] == [ATTACHED]
    assert folders == [2, 3, 3]  # one in use more than are kept open
    assert after == 2


async def test_a_further_file_is_read_beside_those_that_are(bot: Bot, shelves: Shelves, tmp_path: Path) -> None:
    store, inbound = AttachedFiles(bot.database), asking(bot)
    await store.keep(a_file(inbound, "F1"))
    async with shelves.opened(inbound.conversation, await store.of("c1")) as before:
        pass

    await store.keep(a_file(inbound, "F2", content=b"another note"))
    async with shelves.opened(inbound.conversation, await store.of("c1")) as after:
        count = Count(everything_in(ATTACHED))
        documents = (await after.within().ask(count))[count]

    assert after is before
    assert documents == 2


async def test_what_is_gone_from_the_database_is_gone_from_the_disk(bot: Bot, shelves: Shelves, tmp_path: Path) -> None:
    store, inbound = AttachedFiles(bot.database), asking(bot)
    await store.keep(a_file(inbound, "F1"))
    async with shelves.opened(inbound.conversation, await store.of("c1")):
        pass

    await store.remove("c1", "another")
    await shelves.tidy()

    assert await folders_in(tmp_path / "shelves") == []


async def test_what_a_process_that_is_gone_has_left_is_removed_by_the_next(bot: Bot, tmp_path: Path) -> None:
    store, inbound, folder = AttachedFiles(bot.database), asking(bot), tmp_path / "shelves"
    await store.keep(a_file(inbound, "F1"))
    left = folder / "0123456789abcdef" / "fedcba9876543210"
    left.mkdir(parents=True)
    (left.parent / "lock").touch()
    living, next_one = some_shelves(bot, folder), some_shelves(bot, folder)

    files, here = await store.of("c1"), inbound.conversation
    async with living.opened(here, files), next_one.opened(here, files) as shelf:
        schemas = await shelf.within().schemas()
    own = len(await folders_in(folder))
    await living.close()
    await next_one.close()

    assert [*schemas] == [ATTACHED]
    assert not left.exists()
    assert own == 2
    assert await folders_in(folder) == []


async def test_a_file_that_takes_too_long_to_read_is_given_up_for_good(bot: Bot, tmp_path: Path) -> None:
    store, inbound = AttachedFiles(bot.database), asking(bot)
    rows = "".join(f"{number},North,{number * 3}\n" for number in range(20_000))
    await store.keep(a_file(inbound, "F1", kind="csv", content=f"order,region,units\n{rows}".encode()))
    hasty = some_shelves(bot, tmp_path / "shelves", patience=timedelta(milliseconds=50))

    async with hasty.opened(inbound.conversation, await store.of("c1")) as shelf:
        schemas = await shelf.within().schemas()
    await hasty.close()

    [given_up] = await store.of("c1")
    assert given_up.fault == "it took over 0 seconds to read"
    assert await store.content(given_up.id) is None
    assert ATTACHED not in schemas


async def test_rows_have_ids_that_no_document_of_a_bucket_has(bot: Bot, shelves: Shelves) -> None:
    store, inbound = AttachedFiles(bot.database), asking(bot)
    await store.keep(a_file(inbound, "F1", kind="csv", content=b"order,units\nA,1\nB,2\n"))
    [kept] = await store.of("c1")

    async with shelves.opened(inbound.conversation, [kept]) as shelf:
        digests = await shelf.index.digests(BucketId(ATTACHED))

    assert sorted(digests) == [f"{kept.id}/F1.csv#1", f"{kept.id}/F1.csv#2"]
