"""The one file of the embedded engine: what is said when it cannot be used, and what survives."""

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

from storage.analysis import SnowballAnalyser, analyser_for
from storage.embedded.database import FILE, FORMAT
from storage.embedded.index import EmbeddedIndex
from storage.search.errors import IndexTimedOut, IndexTooNew, IndexUnavailable
from storage.search.ids import DocId, TenantId
from storage.search.index import Count, NearPassages, Outlines, Passages
from storage.search.text import Analyser, Term, Unplaced
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema, a_scope, a_search


async def opened(
    folder: Path, *, tenant: TenantId = TENANT, patience: timedelta = timedelta(seconds=10)
) -> EmbeddedIndex:
    return await EmbeddedIndex.open(folder, tenant=tenant, analysers=analyser_for, embedder=None, patience=patience)


async def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    index = await opened(tmp_path / "a" / "b")
    await index.close()

    assert (tmp_path / "a" / "b" / FILE).is_file()


async def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", "some words")])
    before = (await index.within(a_scope()).ask()).generation
    await index.close()

    index = await opened(tmp_path)
    found = a_search(required=["words"])
    answers = await index.within(a_scope()).ask(Count(found))
    await index.close()

    assert answers[Count(found)] == 1
    assert answers.generation == before


async def test_a_file_made_before_there_were_outlines_gets_them_on_opening(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", "some pumps", summary="Fans."), a_document("b", "words")])
    await index.close()
    _run(tmp_path / FILE, "DROP TABLE told_1", "DROP TABLE outlines_1", "DROP TABLE outline")

    index = await opened(tmp_path)
    request = Outlines(a_search(), "pumps")
    scoped = index.within(a_scope())
    before = (await scoped.ask(request))[request]
    await index.put(RECEIPTS, [a_document("a", "some pumps", summary="Fans.", digest="new")])
    after = (await scoped.ask(request))[request]
    await index.close()

    assert [(one.doc_id, one.summary) for one in before] == [("a", "")]
    assert after == ()


async def test_a_file_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await index.close()
    _run(tmp_path / FILE, f"PRAGMA user_version = {FORMAT + 1}")
    before = (tmp_path / FILE).read_bytes()

    with pytest.raises(IndexTooNew, match="newer version"):
        await opened(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


async def test_a_file_of_another_tenant_is_refused(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await index.close()

    with pytest.raises(IndexUnavailable, match="another tenant"):
        await opened(tmp_path, tenant=TenantId("other"))


async def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("this is a text, and long enough to be taken for a header of a database file" * 20)

    with pytest.raises(IndexUnavailable, match="no SQLite database"):
        await opened(tmp_path)


async def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    _run(tmp_path / FILE, "CREATE TABLE theirs(x)")

    with pytest.raises(IndexUnavailable, match="another program"):
        await opened(tmp_path)


async def test_a_path_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")

    with pytest.raises(IndexUnavailable, match="home"):
        await opened(tmp_path / "home")


def test_a_folder_that_cannot_be_written_is_named() -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        told = _elsewhere(
            """
            import os, sys
            from storage.search.errors import IndexUnavailable
            async def main():
                if os.geteuid() == 0:
                    os.setuid(65534)  # root may write everywhere
                try:
                    await opened(Path(sys.argv[1]))
                except IndexUnavailable as error:
                    print(error)
            """,
            folder,
        )

    assert f"{folder}/{FILE} is not available" in told
    assert "may the folder be written?" in told


async def test_a_closed_index_says_so(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await index.close()
    await index.close()

    with pytest.raises(IndexUnavailable, match="closed"):
        await index.ping()


async def test_a_writer_that_holds_the_file_too_long_times_out_the_next(tmp_path: Path) -> None:
    index = await opened(tmp_path, patience=timedelta(milliseconds=50))
    holder = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        await index.ping()  # readers go on
        with pytest.raises(IndexTimedOut):
            await index.set_schema(a_receipt_schema())
    finally:
        holder.close()
        await index.close()


async def test_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await index.set_schema(a_receipt_schema())
    script = """
        import sys
        async def main():
            index = await opened(Path(sys.argv[1]))
            for n in range(20):
                await index.put(RECEIPTS, [a_document(f"{sys.argv[2]}-{n}", "some words")])
            await index.close()
        """

    await asyncio.gather(*(asyncio.to_thread(_elsewhere, script, str(tmp_path), name) for name in ("one", "other")))
    found = a_search(required=["words"])
    answers = await index.within(a_scope()).ask(Count(found), Count(a_search()))
    await index.close()

    assert (answers[Count(found)], answers[Count(a_search())]) == (40, 40)


class _Backwards:
    """Another version of the analyser: its terms are other ones."""

    language, version = "en", "backwards"

    def terms(self, text: str) -> Sequence[Term]:
        return [Term(one.text[::-1], one.start, one.end) for one in SnowballAnalyser("en").terms(text)]

    def words(self, text: str) -> Sequence[Term]:
        return SnowballAnalyser("en").words(text)

    def unplaced(self, text: str) -> Unplaced:
        words = {word.text for word in self.words(text)}
        return Unplaced(terms=" ".join([term.text for term in self.terms(text)]), words=words)

    def each(self, texts: Sequence[str]) -> Sequence[str]:
        return [self.unplaced(text).terms for text in texts]

    def is_split(self, text: str, at: int) -> bool:
        return SnowballAnalyser("en").is_split(text, at)


async def test_terms_of_another_version_of_the_analyser_are_made_anew(tmp_path: Path) -> None:
    def backwards(language: str) -> Analyser:
        return _Backwards()

    index = await opened(tmp_path)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", "some words"), a_document("b", "words")])
    await index.close()

    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=backwards, embedder=None)
    found = a_search(required=["words"])
    await index.delete([DocId("b")])
    answers = await index.within(a_scope()).ask(Count(found), Passages(found, "some"))
    await index.close()

    assert answers[Count(found)] == 1
    assert len(answers[Passages(found, "some")]) == 1


async def test_without_an_embedder_nothing_is_near(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", "some words")])
    request = NearPassages(a_search(), "some words")
    answers = await index.within(a_scope()).ask(request)
    await index.close()

    assert answers[request] == ()


def _run(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    try:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    finally:
        connection.close()


def _elsewhere(script: str, *arguments: str) -> str:
    """What a process of its own prints that runs `main` of the script."""
    head = (
        "import asyncio\nfrom pathlib import Path\nfrom tests.builders import *\n"
        "from tests.storage.embedded.test_file import opened\n"
    )
    code = f"{head}{textwrap.dedent(script)}\nasyncio.run(main())"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
