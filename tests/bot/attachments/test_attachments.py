"""Attached files: fetched within limits, stored once, and read into an index of their conversation."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.access.audience_scope import AccessResolver
from bot.application import Application
from bot.attachments.attachment_indexes import AttachmentIndexes
from bot.attachments.attachments import ConversationAttachments
from bot.ids import ConversationId
from bot.surface.attachments import (
    ATTACHMENTS_BUCKET,
    MAX_TOTAL_BYTES,
    DescribedFile,
    FileUnavailable,
    UnreadFile,
    file_kind_of,
    rewrite_for_attachments,
    split_readable,
)
from bot.surface.inbound import AttachedFile, Inbound, OperatorAudience, TextMessage
from bot.surface.surface_registry import SurfaceRegistry
from storage.embedded.index import EmbeddedIndex
from storage.ingest.pipeline import is_bucket_name
from storage.search.ids import BucketId
from storage.search.index import CountRequest, SearchIndex
from storage.search.plan import unfiltered_search_of
from storage.sql.stores.attachments import AttachedFileStore, NewAttachedFile
from storage.text.snowball_analyser import analyser_for
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import FakeChat, PartialSurface
from tests.builders import TENANT


@dataclass
class InMemoryAttachmentSource:
    """A product whose files are in memory, by id. An unknown file is refused; a file without content never arrives."""

    contents: dict[str, bytes | None] = field(default_factory=dict[str, bytes | None])
    fetched_ids: list[str] = field(default_factory=list[str])

    async def describe_file(self, inbound: Inbound, file: AttachedFile) -> DescribedFile:
        if file.id not in self.contents:
            raise FileUnavailable("it is not in the cupboard")
        return DescribedFile(file=replace(file, kind=file.kind or "txt"), location="cupboard")

    async def fetch_file(self, inbound: Inbound, file: DescribedFile, destination: Path, *, max_bytes: int) -> None:
        content = self.contents[file.file.id]
        if content is None:
            await asyncio.Event().wait()
        if len(content or b"") > max_bytes:
            raise FileUnavailable("it is too large for the cupboard")
        self.fetched_ids.append(file.file.id)
        await asyncio.to_thread(destination.write_bytes, content or b"")


@pytest.fixture
def source() -> InMemoryAttachmentSource:
    return InMemoryAttachmentSource({f"F{number}": f"note {number}".encode() for number in range(5)})


@pytest.fixture
async def indexes(bot: Application, tmp_path: Path) -> AsyncIterator[AttachmentIndexes]:
    indexes = build_indexes(bot, tmp_path / "indexes")
    yield indexes
    await indexes.close()


def build_indexes(
    bot: Application, folder: Path, max_open: int = 2, read_timeout: timedelta = timedelta(minutes=1)
) -> AttachmentIndexes:
    return AttachmentIndexes(
        folder,
        open_embedded_index,
        AttachedFileStore(bot.database),
        bot.log,
        extractor=bot.extractor,
        max_open=max_open,
        read_timeout=read_timeout,
    )


async def open_embedded_index(folder: Path) -> SearchIndex:
    return await EmbeddedIndex.open(folder, tenant=TENANT, analysers=analyser_for, embedder=None)


@pytest.fixture
def attachments(
    bot: Application, chat: FakeChat, indexes: AttachmentIndexes, source: InMemoryAttachmentSource
) -> ConversationAttachments:
    surfaces = SurfaceRegistry()
    surfaces.register_surface(PartialSurface(outbox=chat, files=source))
    return ConversationAttachments(
        store=AttachedFileStore(bot.database),
        index=bot.index,
        access=bot.access,
        indexes=indexes,
        surfaces=surfaces,
        log=bot.log,
        fetch_timeout=timedelta(seconds=0.2),
    )


def inbound_with_files(bot: Application, *files: str, conversation: str = "c1") -> Inbound:
    attached_files = tuple(AttachedFile(id=file_id, name=f"{file_id}.txt", kind="txt") for file_id in files)
    return replace(
        ConversationDriver(bot, conversation=conversation).build_inbound(TextMessage("which?")), files=attached_files
    )


def ignore_progress(text: str) -> None:
    """Ignores the progress."""


async def count_documents(attachments: ConversationAttachments, access: AccessResolver, inbound: Inbound) -> int:
    scope = await access.scope_for_audience(OperatorAudience())
    async with attachments.open_searchable_content(scope, inbound.conversation, inbound.audience) as content:
        count = CountRequest(unfiltered_search_of(ATTACHMENTS_BUCKET))
        return (await content.index.answer_requests(count))[count] if content.file_ids else 0


# -- fetching


async def test_a_stored_file_is_not_fetched_again(
    bot: Application, attachments: ConversationAttachments, source: InMemoryAttachmentSource
) -> None:
    inbound = inbound_with_files(bot, "F1", "F2")

    assert await attachments.fetch_files(inbound, ignore_progress) == ()
    assert await attachments.fetch_files(inbound, ignore_progress) == ()

    assert source.fetched_ids == ["F1", "F2"]
    assert await count_documents(attachments, bot.access, inbound) == 2


async def test_files_that_are_refused_or_never_arrive_are_reported_and_the_others_are_stored(
    bot: Application, attachments: ConversationAttachments, source: InMemoryAttachmentSource
) -> None:
    source.contents["F2"] = None
    inbound = inbound_with_files(bot, "F1", "F2", "F9")

    unread = await attachments.fetch_files(inbound, ignore_progress)

    assert unread == (
        UnreadFile(name="F2.txt", reason="it did not arrive within 0 seconds"),
        UnreadFile(name="F9.txt", reason="it is not in the cupboard"),
    )
    assert await count_documents(attachments, bot.access, inbound) == 1


async def test_a_surface_without_files_is_reported(bot: Application, attachments: ConversationAttachments) -> None:
    inbound = replace(inbound_with_files(bot, "F1"), surface="web")

    [unread] = await attachments.fetch_files(inbound, ignore_progress)

    assert unread.reason == "I cannot fetch files from here"


async def test_the_total_size_of_the_files_of_a_conversation_is_limited(
    bot: Application, attachments: ConversationAttachments
) -> None:
    inbound = inbound_with_files(bot, "F1")
    large = a_file(inbound, "F0", size=MAX_TOTAL_BYTES)
    await AttachedFileStore(bot.database).store_attached_file(large)

    [unread] = await attachments.fetch_files(inbound, ignore_progress)

    assert unread.reason == "the files of this conversation would have over 50 MB together"


def a_file(
    inbound: Inbound, file: str, *, size: int = 4, kind: str = "txt", content: bytes = b"note"
) -> NewAttachedFile:
    return NewAttachedFile(
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
        expires_at=inbound.received_at + timedelta(days=7),
    )


@pytest.mark.parametrize(
    ("name", "media_type", "kind"),
    [
        ("Report.PDF", "", "pdf"),
        ("page.htm", "application/octet-stream", "html"),
        ("notes", "text/plain; charset=utf-8", "txt"),
        ("main.py", "text/x-python", "py"),
        ("Offer.EML", "application/octet-stream", "eml"),
        ("forwarded", "message/rfc822", "eml"),
        ("all.zip", "application/zip", "zip"),
        ("nothing", "", ""),
    ],
)
def test_the_kind_of_a_file_comes_from_its_extension_or_else_from_its_media_type(
    name: str, media_type: str, kind: str
) -> None:
    assert file_kind_of(name, media_type) == kind


def test_readable_files_are_selected_by_kind_size_and_number() -> None:
    files = [
        AttachedFile(id="1", name="a.zip", kind="zip"),
        AttachedFile(id="2", name="b.pdf", kind="pdf", size=20 * 1024 * 1024 + 1),
        AttachedFile(id="3"),
        *(AttachedFile(id=f"{number}", name=f"{number}.csv", kind="csv") for number in range(10, 20)),
    ]

    readable, skipped_names = split_readable(files)

    assert [file.id for file in readable] == ["3", *(f"{number}" for number in range(10, 19))]
    assert skipped_names == ("a.zip", "b.pdf", "19.csv")


@pytest.mark.parametrize(
    ("question", "has_files", "rewritten"),
    [
        ("Summarize this document", True, "Summarize the attached document"),
        ("Summarize this document", False, None),
        ("Who wrote this email?", True, "Who wrote the attached email?"),
        ("What do these files say?", True, "What do the attached files say?"),
        ("How many rows has the attached table?", False, "How many rows has the attached table?"),
        ("How many receipts are there?", True, None),
    ],
)
def test_a_question_about_attached_files_is_recognised_by_its_words(
    question: str, has_files: bool, rewritten: str | None
) -> None:
    assert rewrite_for_attachments(question, has_files=has_files) == rewritten


def test_the_name_of_the_attachments_bucket_is_reserved() -> None:
    assert not is_bucket_name(ATTACHMENTS_BUCKET)


# -- reading


async def list_folders(folder: Path) -> list[str]:
    return await asyncio.to_thread(lambda: sorted(path.name for path in folder.glob("*/*") if path.is_dir()))


async def test_only_some_indexes_stay_open_besides_those_in_use(
    bot: Application, indexes: AttachmentIndexes, tmp_path: Path
) -> None:
    store, folder_counts = AttachedFileStore(bot.database), list[int]()
    for number in range(4):
        inbound = inbound_with_files(bot, conversation=f"c{number}")
        await store.store_attached_file(a_file(inbound, "F1"))

    async with indexes.open_index(ConversationId("c0"), await store.list_of_conversation("c0")) as first:
        for number in range(1, 4):
            name = ConversationId(f"c{number}")
            async with indexes.open_index(name, await store.list_of_conversation(name)):
                folder_counts.append(len(await list_folders(tmp_path / "indexes")))
        schemas = await first.scoped_index().load_schemas()
    folder_count_after = len(await list_folders(tmp_path / "indexes"))

    assert [*schemas] == [ATTACHMENTS_BUCKET]
    assert folder_counts == [2, 3, 3]  # one in use more than are kept open
    assert folder_count_after == 2


async def test_a_new_file_is_added_to_the_open_index(
    bot: Application, indexes: AttachmentIndexes, tmp_path: Path
) -> None:
    store, inbound = AttachedFileStore(bot.database), inbound_with_files(bot)
    await store.store_attached_file(a_file(inbound, "F1"))
    async with indexes.open_index(inbound.conversation, await store.list_of_conversation("c1")) as index_before:
        pass

    await store.store_attached_file(a_file(inbound, "F2", content=b"another note"))
    async with indexes.open_index(inbound.conversation, await store.list_of_conversation("c1")) as index_after:
        count = CountRequest(unfiltered_search_of(ATTACHMENTS_BUCKET))
        documents = (await index_after.scoped_index().answer_requests(count))[count]

    assert index_after is index_before
    assert documents == 2


async def test_a_file_deleted_from_the_database_is_deleted_from_the_disk(
    bot: Application, indexes: AttachmentIndexes, tmp_path: Path
) -> None:
    store, inbound = AttachedFileStore(bot.database), inbound_with_files(bot)
    await store.store_attached_file(a_file(inbound, "F1"))
    async with indexes.open_index(inbound.conversation, await store.list_of_conversation("c1")):
        pass

    await store.remove_of_message("c1", "another")
    await indexes.discard_stale_indexes()

    assert await list_folders(tmp_path / "indexes") == []


async def test_the_folders_of_a_dead_process_are_removed_by_the_next_process(bot: Application, tmp_path: Path) -> None:
    store, inbound, folder = AttachedFileStore(bot.database), inbound_with_files(bot), tmp_path / "indexes"
    await store.store_attached_file(a_file(inbound, "F1"))
    abandoned = folder / "0123456789abcdef" / "fedcba9876543210"
    abandoned.mkdir(parents=True)
    (abandoned.parent / "lock").touch()
    first_process, second_process = build_indexes(bot, folder), build_indexes(bot, folder)

    files, conversation = await store.list_of_conversation("c1"), inbound.conversation
    async with (
        first_process.open_index(conversation, files),
        second_process.open_index(conversation, files) as attachment_index,
    ):
        schemas = await attachment_index.scoped_index().load_schemas()
    folder_count = len(await list_folders(folder))
    await first_process.close()
    await second_process.close()

    assert [*schemas] == [ATTACHMENTS_BUCKET]
    assert not abandoned.exists()
    assert folder_count == 2
    assert await list_folders(folder) == []


async def test_a_file_that_takes_too_long_to_read_is_never_read_again(bot: Application, tmp_path: Path) -> None:
    store, inbound = AttachedFileStore(bot.database), inbound_with_files(bot)
    rows = "".join(f"{number},North,{number * 3}\n" for number in range(20_000))
    await store.store_attached_file(a_file(inbound, "F1", kind="csv", content=f"order,region,units\n{rows}".encode()))
    indexes = build_indexes(bot, tmp_path / "indexes", read_timeout=timedelta(milliseconds=50))

    async with indexes.open_index(inbound.conversation, await store.list_of_conversation("c1")) as attachment_index:
        schemas = await attachment_index.scoped_index().load_schemas()
    await indexes.close()

    [stored] = await store.list_of_conversation("c1")
    assert stored.fault == "it took over 0 seconds to read"
    assert await store.load_file_content(stored.id) is None
    assert ATTACHMENTS_BUCKET not in schemas


async def test_document_ids_of_attached_files_begin_with_the_file_id(
    bot: Application, indexes: AttachmentIndexes
) -> None:
    store, inbound = AttachedFileStore(bot.database), inbound_with_files(bot)
    await store.store_attached_file(a_file(inbound, "F1", kind="csv", content=b"order,units\nA,1\nB,2\n"))
    [stored] = await store.list_of_conversation("c1")

    async with indexes.open_index(inbound.conversation, [stored]) as attachment_index:
        digests = await attachment_index.index.load_digests(BucketId(ATTACHMENTS_BUCKET))

    assert sorted(digests) == [f"{stored.id}/F1.csv#1", f"{stored.id}/F1.csv#2"]
