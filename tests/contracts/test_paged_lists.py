"""Lists that a person reads page by page, on every engine: of one state of the documents, or with a sentence that says
that they have changed.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.bootstrap import open_application
from bot.settings import load_settings
from bot.surface.replies import TablePart
from storage.search.documents import Document
from storage.search.ids import DocId
from storage.search.index import SearchIndex
from tests.bot.conftest import ConversationDriver
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema

_BEGINS_AGAIN = "The documents have changed since I showed this list, so I begin it again."


def make_receipts(*numbers: int) -> list[Document]:
    """Receipts whose order is that of their numbers."""
    return [a_document(f"r{number:03}", f"Receipt {number}", title=f"Receipt {number:03}") for number in numbers]


@pytest.fixture
async def talk(index: SearchIndex, tmp_path: Path) -> AsyncIterator[ConversationDriver]:
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, make_receipts(*range(10, 38)))
    settings = load_settings(tmp_path / "home", {"PARLEY_TENANT": TENANT, "PARLEY_EMBEDDER": "none"}).settings
    async with open_application(settings, index=index) as bot:
        yield ConversationDriver(bot)


async def read_page(talk: ConversationDriver, message: str) -> tuple[str, list[str]]:
    """The text of the reply, and the documents in its table."""
    turn = await talk.ask_question(message)
    tables = [part for part in turn.reply.parts if isinstance(part, TablePart)]
    return turn.result["text"], [row[0] for table in tables for row in table.rows]


def titles(*numbers: int) -> list[str]:
    return [f"Receipt {number:03}" for number in numbers]


async def test_pages_of_an_unchanged_list_have_each_document_once(talk: ConversationDriver) -> None:
    pages = [await read_page(talk, message) for message in ("list all receipts", "more", "the next ten", "more")]

    assert [title for _, page in pages for title in page] == titles(*range(10, 38))
    assert "That was all" in pages[-1][0]
    assert not [text for text, _ in pages if "changed" in text]


async def test_the_list_begins_again_if_other_documents_come_first_by_now(
    talk: ConversationDriver, index: SearchIndex
) -> None:
    await read_page(talk, "list all receipts")
    await index.put(RECEIPTS, make_receipts(5))
    text, page = await read_page(talk, "more")
    next_text, next_page = await read_page(talk, "more")

    assert text.startswith(f"{_BEGINS_AGAIN}\n\n**1 to 10** of 29 receipts")
    assert page == titles(5, *range(10, 19))
    assert (next_page, "changed" in next_text) == (titles(*range(19, 29)), False)


async def test_a_deleted_document_does_not_let_the_next_page_leave_one_out(
    talk: ConversationDriver, index: SearchIndex
) -> None:
    await read_page(talk, "list all receipts")
    await index.delete([DocId("r010")])
    text, page = await read_page(talk, "the next ten")

    assert text.startswith(_BEGINS_AGAIN)
    assert page == titles(*range(11, 21))


async def test_a_change_after_the_documents_shown_is_told_and_the_list_goes_on(
    talk: ConversationDriver, index: SearchIndex
) -> None:
    await read_page(talk, "list all receipts")
    await index.put(RECEIPTS, make_receipts(15, 90))  # the first is unchanged
    text, page = await read_page(talk, "more")

    assert text.startswith("The documents have changed since I showed this list: there were 28.")
    assert "**11 to 20** of 29 receipts" in text
    assert page == titles(*range(20, 30))


async def test_documents_that_come_after_a_whole_list_are_its_next_page(
    talk: ConversationDriver, index: SearchIndex
) -> None:
    await index.delete([DocId(f"r{number:03}") for number in range(14, 38)])
    await read_page(talk, "list all receipts")
    await index.put(RECEIPTS, make_receipts(90, 91))

    assert (await read_page(talk, "more"))[1] == titles(90, 91)


async def test_a_position_in_a_changed_list_names_no_document(talk: ConversationDriver, index: SearchIndex) -> None:
    await read_page(talk, "list all receipts")
    assert "Receipt 011" in (await read_page(talk, "the second one"))[0]
    await read_page(talk, "list all receipts")
    await index.delete([DocId("r010")])
    text, page = await read_page(talk, "the second one")

    assert text.startswith(_BEGINS_AGAIN)
    assert page == titles(*range(11, 21))


async def test_a_page_longer_than_a_table_is_followed_by_what_it_did_not_show(talk: ConversationDriver) -> None:
    pages = [await read_page(talk, message) for message in ("list all receipts", "the next 15", "more")]

    assert [title for _, page in pages for title in page] == titles(*range(10, 38))
    assert pages[1][0].startswith("**11 to 20** of 28")
