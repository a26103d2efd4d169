"""The SQLite file of the embedded engine: errors when it cannot be used, and what survives reopening."""

import asyncio
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from storage.embedded.database import FILE_NAME, FORMAT_VERSION
from storage.embedded.index import EmbeddedIndex
from storage.embedder import Embedder
from storage.search.analyser import AnalysedTerm, Analyser, IndexTerms
from storage.search.errors import IndexDamaged, IndexTimedOut, IndexTooNew, IndexUnavailable
from storage.search.ids import DocId, TenantId
from storage.search.index import CountRequest, KeywordPassageRequest, OutlineRequest, SemanticPassageRequest
from storage.text.snowball_analyser import SnowballAnalyser, analyser_for
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope, a_search
from tests.stand_ins.word_vectors import ChecksumEmbedder


async def open_index(
    folder: Path,
    *,
    tenant: TenantId = TENANT,
    embedder: Embedder | None = None,
    lock_timeout: timedelta = timedelta(seconds=10),
) -> EmbeddedIndex:
    return await EmbeddedIndex.open(
        folder, tenant=tenant, analysers=analyser_for, embedder=embedder, lock_timeout=lock_timeout
    )


async def test_a_missing_folder_is_created(tmp_path: Path) -> None:
    index = await open_index(tmp_path / "a" / "b")
    await index.close()

    assert (tmp_path / "a" / "b" / FILE_NAME).is_file()


async def test_written_documents_are_there_after_reopening(tmp_path: Path) -> None:
    index = await open_index(tmp_path)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", "some words")])
    generation_before = (await index.within_scope(a_scope()).answer_requests()).generation
    await index.close()

    index = await open_index(tmp_path)
    search = a_search(required=["words"])
    answers = await index.within_scope(a_scope()).answer_requests(CountRequest(search))
    await index.close()

    assert answers[CountRequest(search)] == 1
    assert answers.generation == generation_before


async def test_opening_a_file_without_outlines_builds_them(tmp_path: Path) -> None:
    index = await open_index(tmp_path)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", "some pumps", summary="Fans."), a_document("b", "words")])
    await index.close()
    _run_statements(tmp_path / FILE_NAME, "DROP TABLE told_1", "DROP TABLE outlines_1", "DROP TABLE outline")

    index = await open_index(tmp_path)
    request = OutlineRequest(a_search(), "pumps")
    scoped = index.within_scope(a_scope())
    hits_before = (await scoped.answer_requests(request))[request]
    await index.put(RECEIPTS, [a_document("a", "some pumps", summary="Fans.", digest="new")])
    hits_after = (await scoped.answer_requests(request))[request]
    await index.close()

    assert [(hit.doc_id, hit.summary) for hit in hits_before] == [("a", "")]
    assert hits_after == ()


async def test_a_file_of_a_newer_version_is_refused_and_not_changed(tmp_path: Path) -> None:
    index = await open_index(tmp_path)
    await index.close()
    _run_statements(tmp_path / FILE_NAME, f"PRAGMA user_version = {FORMAT_VERSION + 1}")
    bytes_before = (tmp_path / FILE_NAME).read_bytes()

    with pytest.raises(IndexTooNew, match="newer version"):
        await open_index(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == bytes_before


async def test_a_file_of_another_tenant_is_refused(tmp_path: Path) -> None:
    index = await open_index(tmp_path)
    await index.close()

    with pytest.raises(IndexUnavailable, match="another tenant"):
        await open_index(tmp_path, tenant=TenantId("other"))


async def test_a_file_that_is_no_database_is_refused_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(
        "this is a text, and long enough to be taken for a header of a database file" * 20
    )

    with pytest.raises(IndexDamaged, match="file is not a database"):
        await open_index(tmp_path)


async def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    _run_statements(tmp_path / FILE_NAME, "CREATE TABLE theirs(x)")

    with pytest.raises(IndexUnavailable, match="another program"):
        await open_index(tmp_path)


async def test_a_path_that_is_a_file_is_refused_and_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")

    with pytest.raises(IndexUnavailable, match="home"):
        await open_index(tmp_path / "home")


def test_a_folder_that_cannot_be_written_is_refused_and_named() -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        message = _run_in_process(
            """
            import os, sys
            from storage.search.errors import IndexUnavailable
            async def main():
                if os.geteuid() == 0:
                    os.setuid(65534)  # root may write everywhere
                try:
                    await open_index(Path(sys.argv[1]))
                except IndexUnavailable as error:
                    print(error)
            """,
            folder,
        )

    assert f"{folder}/{FILE_NAME} is not available" in message
    assert "may the folder be written?" in message


async def test_a_closed_index_raises_an_error_that_says_so(tmp_path: Path) -> None:
    index = await open_index(tmp_path)
    await index.close()
    await index.close()

    with pytest.raises(IndexUnavailable, match="closed"):
        await index.ping()


async def test_a_write_times_out_while_another_writer_locks_the_file(tmp_path: Path) -> None:
    index = await open_index(tmp_path, lock_timeout=timedelta(milliseconds=50))
    holder = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        await index.ping()  # reads are still possible
        with pytest.raises(IndexTimedOut):
            await index.set_schema(a_receipt_schema())
    finally:
        holder.close()
        await index.close()


async def test_concurrent_writes_of_several_processes_are_all_kept(tmp_path: Path) -> None:
    index = await open_index(tmp_path)
    await index.set_schema(a_receipt_schema())
    script = """
        import sys
        async def main():
            index = await open_index(Path(sys.argv[1]))
            for n in range(20):
                await index.put(RECEIPTS, [a_document(f"{sys.argv[2]}-{n}", "some words")])
            await index.close()
        """

    await asyncio.gather(
        *(asyncio.to_thread(_run_in_process, script, str(tmp_path), name) for name in ("one", "other"))
    )
    search = a_search(required=["words"])
    answers = await index.within_scope(a_scope()).answer_requests(CountRequest(search), CountRequest(a_search()))
    await index.close()

    assert (answers[CountRequest(search)], answers[CountRequest(a_search())]) == (40, 40)


class ReversingAnalyser:
    """An analyser with another version and other terms: it reverses the letters of each term."""

    language, version = "en", "backwards"

    def extract_terms(self, text: str) -> Sequence[AnalysedTerm]:
        return [
            AnalysedTerm(term.text[::-1], term.start, term.end) for term in SnowballAnalyser("en").extract_terms(text)
        ]

    def extract_words(self, text: str) -> Sequence[AnalysedTerm]:
        return SnowballAnalyser("en").extract_words(text)

    def index_terms_of(self, text: str) -> IndexTerms:
        words = {word.text for word in self.extract_words(text)}
        return IndexTerms(joined_terms=" ".join([term.text for term in self.extract_terms(text)]), words=words)

    def joined_terms_of(self, texts: Sequence[str]) -> Sequence[str]:
        return [self.index_terms_of(text).joined_terms for text in texts]

    def is_inside_term(self, text: str, position: int) -> bool:
        return SnowballAnalyser("en").is_inside_term(text, position)


async def test_opening_rebuilds_the_terms_of_another_analyser_version(tmp_path: Path) -> None:
    def reversing_analyser_for(language: str) -> Analyser:
        return ReversingAnalyser()

    index = await open_index(tmp_path)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", "some words"), a_document("b", "words")])
    await index.close()

    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=reversing_analyser_for, embedder=None)
    search = a_search(required=["words"])
    await index.delete([DocId("b")])
    answers = await index.within_scope(a_scope()).answer_requests(
        CountRequest(search), KeywordPassageRequest(search, "some")
    )
    await index.close()

    assert answers[CountRequest(search)] == 1
    assert len(answers[KeywordPassageRequest(search, "some")]) == 1


async def test_without_an_embedder_a_semantic_search_finds_nothing(tmp_path: Path) -> None:
    index = await open_index(tmp_path)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", "some words")])
    request = SemanticPassageRequest(a_search(), "some words")
    answers = await index.within_scope(a_scope()).answer_requests(request)
    await index.close()

    assert answers[request] == ()


async def test_vectors_of_another_model_are_not_searched_and_are_replaced_by_the_next_put(tmp_path: Path) -> None:
    old_embedder, new_embedder = ChecksumEmbedder(), ChecksumEmbedder(name="checksum:64 new")
    document, request = a_document("a", "some words", digest="1"), SemanticPassageRequest(a_search(), "some words")
    old_index = await open_index(tmp_path, embedder=old_embedder)
    await old_index.set_schema(a_receipt_schema())
    await old_index.put(RECEIPTS, [document])
    unchanged = await old_index.put(RECEIPTS, [document])
    await old_index.close()

    index = await open_index(tmp_path, embedder=new_embedder)
    answers_before = await index.within_scope(a_scope()).answer_requests(request)
    changed = await index.put(RECEIPTS, [document])
    answers_after = await index.within_scope(a_scope()).answer_requests(request)
    await index.close()

    assert (unchanged.skipped, changed.replaced) == ((DocId("a"),), (DocId("a"),))
    assert (answers_before[request], len(answers_after[request])) == ((), 1)


async def test_a_check_does_not_give_up_the_locks_of_its_process(tmp_path: Path) -> None:
    visit = """
        import sqlite3, sys

        async def main():
            connection = sqlite3.connect(sys.argv[1])
            connection.execute("SELECT count(*) FROM document").fetchone()
            connection.close()
    """
    index = await open_index(tmp_path)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", "some words")])
    await index.ping()

    await asyncio.to_thread(_run_in_process, visit, str(tmp_path / FILE_NAME))

    assert (tmp_path / f"{FILE_NAME}-wal").exists()  # whoever closes the file last deletes this
    await index.close()


def _run_statements(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    try:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    finally:
        connection.close()


def _run_in_process(script: str, *arguments: str) -> str:
    """Run `main` of the script in a process of its own; return what it prints."""
    imports = (
        "import asyncio\nfrom pathlib import Path\nfrom tests.builders import *\n"
        "from tests.storage.embedded.test_file import open_index\n"
    )
    code = f"{imports}{textwrap.dedent(script)}\nasyncio.run(main())"
    process = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout
