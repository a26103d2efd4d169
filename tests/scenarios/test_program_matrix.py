"""The permission matrix of the Model Context Protocol: no call tells anything of a bucket that its person may not see.

Audience x way x leak, with the marked bucket and the questions of the matrix of chat products. A program asks for one
person, so there are no channels, and there is nothing in it that only administrators may do. A program keeps its token
when the product deactivates its person.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any as Json
from typing import Final
from urllib.parse import quote

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult

from bot.application import Application
from bot.conversation.download import LinkRefused
from bot.ids import EVERYONE, OPERATOR, PersonId, Subject
from bot.web_search.web_pages import WEB_BUCKET
from tests.adapters.mcp.clients import server_client_of, text_of
from tests.bot.admin.test_administration import MembershipDirectory
from tests.bot.fakes import FakeChat, PartialSurface
from tests.scenarios.matrix.marked_buckets import (
    CODE_WORDS,
    OPEN,
    SECRET,
    WEB_DOCUMENT,
    WEB_MARK,
    marks_in,
    open_matrix_home,
)
from tests.scenarios.matrix.slack_ways import forge_links
from tests.scenarios.test_permission_matrix import LEAKS

STRANGER, REMOVED, GUEST, CONTROL = "local:sam", "local:rae", "slack:T1:GUS", "local:eve"
DEACTIVATED: Final = ("slack:T1:DEA", "teams:T1:TEA")
ADMIN: Final = "local:amy"  # administers buckets without reading them
AUDIENCES: Final = {
    "stranger": STRANGER,
    "removed after the offer": REMOVED,
    "guest": GUEST,
    "deactivated in Slack": DEACTIVATED[0],
    "deactivated in Teams": DEACTIVATED[1],
    "admin": ADMIN,
}
ADA: Final = "local:ada"  # has the right; others try her choices and conversations
DOCUMENT: Final = "kvdoc-001"


@dataclass(frozen=True, kw_only=True)
class EarlierOffer:
    """What an answer of the time when the asker had the right left behind."""

    conversation: str = "mcp:none"
    choice: str = "none"
    turn: str = "none"
    link: str = ""


@dataclass(kw_only=True)
class ProgramSeat:
    """A program that asks for one person, and the offer that it may try. `own_link`: to a file of the open bucket."""

    bot: Application
    client: Client
    offer: EarlierOffer
    is_own_offer: bool
    own_link: str


Way = Callable[[ProgramSeat, str], Awaitable[str]]


async def call(seat: ProgramSeat, tool: str, **arguments: Json) -> str:
    """Everything that is told, without the bucket that the caller itself has named."""
    result = await seat.client.call_tool(tool, arguments)
    return "\n".join(told_by(result)).replace(f"'{SECRET}'", "").replace(f"'{DOCUMENT}'", "")


def told_by(result: CallToolResult) -> list[str]:
    fields: Mapping[str, Json] = result.structured_content or {}
    shown = (
        "outcome",
        "count",
        "missing",
        "doc_ids",
        "values",
        "groups",
        "legs",
        "filters",
        "assumptions",
        "documents",
    )
    titles = [hit.get("title") for hit in fields.get("hits", [])]
    labels = [(choice["label"], choice["count"]) for choice in fields.get("choices", [])]
    quotes = [(citation["title"], citation["text"]) for citation in fields.get("citations", [])]
    files = [file["rows"] for file in fields.get("files", [])]
    return [text_of(result), *(f"{fields.get(name)}" for name in shown), f"{titles} {labels} {quotes} {files}"]


async def read(seat: ProgramSeat, uri: str) -> str:
    try:
        return (await seat.client.read_resource(uri)).model_dump_json(exclude={"contents": {"__all__": {"uri"}}})
    except MCPError as exc:
        return exc.error.message


async def list_all(seat: ProgramSeat, leak: str) -> str:
    page = await seat.client.list_resources()
    return "\n".join(f"{resource.uri} {resource.title} {resource.description}" for resource in page.resources)


async def answer_form(seat: ProgramSeat, leak: str) -> str:
    """Repeats the call as a client does whose person has taken a choice in the form."""
    result = await seat.client.session.call_tool(
        "agentic_search", {"question": LEAKS["text"]}, request_state=seat.offer.turn, input_responses={}
    )
    return "\n".join(told_by(result))


async def download(seat: ProgramSeat, leak: str) -> str:
    """The file of the person's own earlier export; else with links made of another person's link and an own one."""
    if seat.is_own_offer:
        return await fetch_file(seat.bot, seat.offer.link)
    export, expires, _ = seat.offer.link.split(".")
    own_expires, own_mac = seat.own_link.split(".")[1:] if seat.own_link else (expires, "")
    links = [*forge_links(f"/{seat.offer.link}"), f"/{export}.{own_expires}.{own_mac}", f"/{export}.{expires}."]
    return "\n".join([await fetch_file(seat.bot, link.lstrip("/")) for link in links])


async def fetch_file(bot: Application, signed: str) -> str:
    """As the address for downloads does it."""
    try:
        file = await bot.exports.find_download(signed)
    except LinkRefused as exc:
        return str(exc)
    return f"{file.name} {file.path.read_text(encoding='utf-8-sig')}"


async def search_code(seat: ProgramSeat, **arguments: Json) -> str:
    """Everything of the blocks of code, too."""
    result = await seat.client.call_tool("agentic_search", {"question": CODE_WORDS, "code": True, **arguments})
    fields: Mapping[str, Json] = result.structured_content or {}
    return "\n".join([*told_by(result), f"{fields.get('hits')}"]).replace(f"'{SECRET}'", "")


async def read_kept_page(seat: ProgramSeat, leak: str) -> str:
    """Tries every call that names a document or a bucket with a page of the web that a search has kept."""
    page, bucket = str(WEB_DOCUMENT), str(WEB_BUCKET)
    told = [
        await call(seat, "agentic_search", question=LEAKS["web page"], buckets=[bucket]),
        await call(seat, "agentic_search", question="osprey", buckets=[bucket], code=True),
        await call(seat, "export", question="List every web page", buckets=[bucket]),
        await call(seat, "search_text", bucket=bucket, query="osprey"),
        await call(seat, "search_text", bucket=OPEN, query="osprey", doc_id=page),
        await call(seat, "search_semantic", bucket=bucket, query="osprey"),
        await call(seat, "annotations_search", bucket=bucket),
        await call(seat, "annotations_aggregate", bucket=bucket, function="count"),
        await call(seat, "get_document_metadata", bucket=bucket, doc_id=page),
        await call(seat, "get_document_metadata", bucket=OPEN, doc_id=page),
        await read(seat, f"parley://documents/{quote(page, safe='')}"),
        await read(seat, f"parley://buckets/{quote(bucket, safe='')}/schema"),
    ]
    return "\n".join(told)


async def save_search(seat: ProgramSeat, leak: str) -> str:
    """Says it, lists what is saved, and lets it report."""
    told = [
        await call(seat, "agentic_search", question=words)
        for words in (f"Every Monday at 9:00: {LEAKS[leak]}", "Show my saved searches")
    ]
    return "\n".join(told)


ASKING_WAYS: Final[Mapping[str, Way]] = {
    "ask": lambda seat, leak: call(seat, "agentic_search", question=LEAKS[leak]),
    "ask in the bucket": lambda seat, leak: call(seat, "agentic_search", question=LEAKS[leak], buckets=[SECRET]),
    "go on": lambda seat, leak: call(
        seat, "agentic_search", question=LEAKS[leak], conversation=seat.offer.conversation
    ),
    "export": lambda seat, leak: call(seat, "export", question=LEAKS[leak]),
    "saving": save_search,
    "search_text": lambda seat, leak: call(seat, "search_text", bucket=SECRET, query=LEAKS[leak]),
    "search_semantic": lambda seat, leak: call(seat, "search_semantic", bucket=SECRET, query=LEAKS[leak]),
    "search_semantic of another bucket": lambda seat, leak: call(
        seat, "search_semantic", bucket=OPEN, query=LEAKS[leak], doc_id=DOCUMENT
    ),
}
SINGLE_WAYS: Final[Mapping[str, Way]] = {
    "code": lambda seat, leak: search_code(seat),
    "code in the bucket": lambda seat, leak: search_code(seat, buckets=[SECRET]),
    "search_text for code": lambda seat, leak: call(seat, "search_text", bucket=SECRET, query=CODE_WORDS),
    "kept page": read_kept_page,
    "choice": lambda seat, leak: call(
        seat, "agentic_search", choice=seat.offer.choice, conversation=seat.offer.conversation
    ),
    "form": answer_form,
    "download": download,
    "export again": lambda seat, leak: call(seat, "export", conversation=seat.offer.conversation),
    "annotations_search": lambda seat, leak: call(seat, "annotations_search", bucket=SECRET),
    "annotations_aggregate": lambda seat, leak: call(
        seat, "annotations_aggregate", bucket=SECRET, function="count", group_by="harrierfirm"
    ),
    "wrong bucket": lambda seat, leak: call(seat, "annotations_search", bucket="none"),
    "metadata": lambda seat, leak: call(seat, "get_document_metadata", bucket=SECRET, doc_id=DOCUMENT),
    "metadata of another bucket": lambda seat, leak: call(seat, "get_document_metadata", bucket=OPEN, doc_id=DOCUMENT),
    "list resources": list_all,
    "read document": lambda seat, leak: read(seat, f"parley://documents/{DOCUMENT}"),
    "read schema": lambda seat, leak: read(seat, f"parley://buckets/{SECRET}/schema"),
}
CELLS: Final = [(way, leak) for way in ASKING_WAYS for leak in LEAKS] + [(way, "all") for way in SINGLE_WAYS]
SHOWS_NOTHING: Final = {
    "metadata of another bucket",
    "search_semantic of another bucket",
    "kept page",
}  # also to a person with the right: the document is not in it, and a page is nobody's


@cache
def collect_told_texts() -> Mapping[str, Mapping[tuple[str, str], str]]:
    """By person, what each cell was told."""

    async def collect(folder: Path) -> Mapping[str, Mapping[tuple[str, str], str]]:
        async with open_matrix_home(folder, embedder="wordllama") as bot:
            directory = register_directories(bot)
            await grant(bot, OPEN, EVERYONE)
            await bot.administration.add_admin(PersonId(ADMIN), by=OPERATOR)
            entitled = (ADA, REMOVED, CONTROL, *DEACTIVATED)
            for person in entitled:
                await grant(bot, SECRET, Subject(f"user:{person}"))
            offers = {person: await make_offer(bot, person) for person in entitled}
            await bot.administration.revoke_grant(SECRET, Subject(f"user:{REMOVED}"), by=OPERATOR)
            directory.deactivated |= {PersonId(person) for person in DEACTIVATED}
            told = {person: await use_ways(bot, person, offers[person]) for person in DEACTIVATED}
            told |= {
                ADMIN: await use_ways(bot, ADMIN, offers[ADA], is_own_offer=False),
                STRANGER: await use_ways(bot, STRANGER, offers[ADA], is_own_offer=False),
                REMOVED: await use_ways(bot, REMOVED, offers[REMOVED]),
                CONTROL: await use_ways(bot, CONTROL, offers[CONTROL]),
            }
            await grant(bot, SECRET, EVERYONE)  # which does not include guests
            return told | {GUEST: await use_ways(bot, GUEST, offers[ADA], is_own_offer=False)}

    with TemporaryDirectory() as folder:
        return asyncio.run(collect(Path(folder)))


def register_directories(bot: Application) -> MembershipDirectory:
    """Of Slack and Teams, in which nobody is deactivated yet."""
    directory = MembershipDirectory()
    directory.guests.add(PersonId(GUEST))
    for product in ("slack", "teams"):
        bot.register_receive_only(PartialSurface(name=product, outbox=FakeChat(), directory=directory))
    return directory


async def grant(bot: Application, bucket: Json, subject: Subject) -> None:
    await bot.administration.grant_bucket(bucket, subject, include_external=False, by=OPERATOR)


async def make_offer(bot: Application, person: str) -> EarlierOffer:
    async with server_client_of(bot, person) as client:
        result = (await client.call_tool("agentic_search", {"question": LEAKS["facet"]})).structured_content
    assert result["choices"]
    return EarlierOffer(
        conversation=result["conversation"],
        choice=result["choices"][0]["id"],
        turn=result["turn"],
        link=await export_list(bot, person, LEAKS["facet"]),
    )


async def export_list(bot: Application, person: str, question: str) -> str:
    """The last part of the link to the file; empty where the person may export nothing."""
    async with server_client_of(bot, person, shows_paths=False) as client:
        result = await client.call_tool("export", {"question": question})
    fields: Mapping[str, Json] = result.structured_content or {"files": ()}
    return "".join(str(file["url"]).rpartition("/")[2] for file in fields["files"])


async def use_ways(
    bot: Application, person: str, offer: EarlierOffer, *, is_own_offer: bool = True
) -> Mapping[tuple[str, str], str]:
    own_link = await export_list(bot, person, "List every house rule")
    async with server_client_of(bot, person) as client:
        seat = ProgramSeat(bot=bot, client=client, offer=offer, is_own_offer=is_own_offer, own_link=own_link)
        ways = {**ASKING_WAYS, **SINGLE_WAYS}
        return {(way, leak): await ways[way](seat, leak) for way, leak in CELLS}


@pytest.mark.parametrize(("way", "leak"), CELLS)
@pytest.mark.parametrize("audience", AUDIENCES)
def test_no_program_is_told_what_its_person_may_not_see(audience: str, way: str, leak: str) -> None:
    assert marks_in([collect_told_texts()[AUDIENCES[audience]][(way, leak)]]) == set()


def test_no_program_is_told_a_page_of_the_web_that_was_kept() -> None:
    told = [text for cells in collect_told_texts().values() for text in cells.values()]

    assert WEB_MARK not in marks_in(told)


@pytest.mark.parametrize("way", sorted({way for way, _ in CELLS} - SHOWS_NOTHING))
def test_a_program_is_told_what_its_person_may_see(way: str) -> None:
    """Without this test, the other one would prove nothing."""
    told = collect_told_texts()[CONTROL]

    assert any(marks_in([text]) for (told_way, _), text in told.items() if told_way == way)
