"""What only this engine has: round trips, versions of an index, writers in several processes, long strings."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from storage.search.documents import Document, Passage
from storage.search.ids import FieldName
from storage.search.index import Aggregate, Count, Facet, Outlines, Passages, Records, Request, Spellings
from storage.search.plan import Group
from storage.search.schema import FieldType
from tests.builders import RECEIPTS, a_document, a_field, a_receipt_schema, a_scope, a_search, where
from tests.storage.opensearch.conftest import Opener

pytestmark = pytest.mark.servers


@asynccontextmanager
async def a_way_to(server: str) -> AsyncGenerator[tuple[str, list[str]]]:
    """Passes requests on to the server, and keeps what was asked."""
    asked = list[str]()

    async def pass_on(request: web.Request) -> web.StreamResponse:
        asked.append(f"{request.method} {request.path}")
        body, kind = await request.read(), {"content-type": "application/json"}
        url = f"{server}{request.path_qs}"
        async with aiohttp.request(request.method, url, data=body or None, headers=kind) as answer:
            return web.Response(status=answer.status, body=await answer.read(), content_type="application/json")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", pass_on)
    async with TestServer(app) as own:
        yield str(own.make_url("")).rstrip("/"), asked


async def test_any_number_of_requests_is_one_round_trip(opened: Opener, opensearch_url: str) -> None:
    async with a_way_to(opensearch_url) as (url, asked):
        index = await opened(url)
        await index.set_schema(a_receipt_schema())
        await index.put(RECEIPTS, [a_document("a", "new tires", vendor="ACME", total=3.5, tags=("x", "y"))])
        everything = a_search()
        requests: list[Request[object]] = [
            *(Count(a_search(where("vendor", "eq", f"v{number}"))) for number in range(40)),
            *(Facet(everything, FieldName(name)) for name in ("vendor", "date", "total", "tags", "paid")),
            Aggregate(everything, FieldName("total"), Group(field=FieldName("vendor"))),
            Passages(everything, "tires and more"),
            Records(everything),
            Spellings(frozenset({RECEIPTS}), "tries"),
        ]
        asked.clear()

        await index.within(a_scope()).ask(*requests)

    assert asked == ["POST /_msearch"]


async def test_strings_longer_than_a_term_can_be_are_still_compared_whole(opened: Opener) -> None:
    long = "".join(f"{number} bottles, " for number in range(4_000))  # some 55,000 characters
    index = await opened()
    await index.set_schema(a_receipt_schema())
    await index.put(RECEIPTS, [a_document("a", note=long, tags=("short", long)), a_document("b", note=long + "x")])
    parts = (long[7_950:8_040], long[13_000:29_000], long[-90:], long, long + "y", "3999 bottles", "99 bottles 3")

    async def members(condition: str, op: str, part: str) -> list[str]:
        request = Records(a_search(where(condition, op, part)))
        answers = await index.within(a_scope()).ask(request)
        return [record.doc_id for record in answers[request].records]

    assert await members("note", "eq", long) == ["a"]
    assert await members("note", "eq", long + "x") == ["b"]
    for part in parts:
        held = part.strip() in long
        assert await members("note", "contains", part) == (["a", "b"] if held else [])
        assert await members("tags", "contains", part) == (["a"] if held else [])


async def test_writers_of_one_document_leave_no_passage_of_another_behind(opened: Opener) -> None:
    indexes = [await opened() for _ in range(3)]
    await indexes[0].set_schema(a_receipt_schema())

    def a_version(number: int) -> Document:
        text = " ".join(f"version{number}" for _ in range(number + 1))
        passages = [Passage(start=9 * at, end=9 * at + 8) for at in range(number + 1)]
        return a_document("a", text, passages=passages)

    await asyncio.gather(*(index.put(RECEIPTS, [a_version(at)]) for at, index in enumerate(indexes)))

    state = (await indexes[0].buckets())[RECEIPTS]
    (hit, *_) = (await indexes[0].within(a_scope()).ask(ranked := Passages(a_search(), "version0 version1 version2")))[
        ranked
    ]
    assert state.documents == 1
    assert state.passages == int(hit.text.removeprefix("version")) + 1


async def test_one_id_given_to_two_buckets_at_once_belongs_to_one_of_them(opened: Opener) -> None:
    first, second = await opened(), await opened()
    await first.set_schema(a_receipt_schema("one"))
    await first.set_schema(a_receipt_schema("two"))
    schemas = [a_receipt_schema("one"), a_receipt_schema("two")]

    puts = await asyncio.gather(
        first.put(schemas[0].bucket, [a_document("a")]), second.put(schemas[1].bucket, [a_document("a")])
    )

    assert sorted((len(put.added), len(put.taken)) for put in puts) == [(0, 1), (1, 0)]


async def test_processes_that_make_a_bucket_at_once_make_one(opened: Opener) -> None:
    indexes = [await opened() for _ in range(3)]

    await asyncio.gather(*(index.set_schema(a_receipt_schema()) for index in indexes))

    await asyncio.gather(*(index.put(RECEIPTS, [a_document(f"d{at}")]) for at, index in enumerate(indexes)))
    assert {len(await index.digests(RECEIPTS)) for index in indexes} == {3}


async def test_no_write_is_lost_while_a_bucket_is_indexed_anew(opened: Opener) -> None:
    writer, changer = await opened(), await opened()
    schema = a_receipt_schema()
    await writer.set_schema(schema)
    await writer.put(RECEIPTS, [a_document(f"old{at}", vendor="x") for at in range(50)])

    async def write() -> None:
        for at in range(15):
            await writer.put(RECEIPTS, [a_document(f"new{at}", vendor="x"), a_document("old0", f"word{at}")])

    async def change() -> None:
        for number in range(2):
            more = (*schema.fields, a_field(f"more{number}", FieldType.NUMBER))
            await changer.set_schema(replace(schema, fields=more))

    await asyncio.gather(write(), change())

    found = await writer.within(a_scope()).ask(
        vendor := Count(a_search(where("vendor", "eq", "x"))), last := Count(a_search(required=["word14"]))
    )
    assert (found[vendor], found[last]) == (49 + 15, 1)


async def test_a_bucket_made_before_there_were_outlines_is_indexed_anew_on_opening(
    opened: Opener, opensearch_url: str
) -> None:
    async with a_way_to(opensearch_url) as (url, asked):
        first = await opened(url)
        await first.set_schema(a_receipt_schema())
        await first.put(RECEIPTS, [a_document("a", "some pumps"), a_document("b", "words")])
        version = next(one.removeprefix("PUT /") for one in asked if one.endswith("-v1"))
    await _forget_outlines(opensearch_url, version)

    later = await opened()
    answers = await later.within(a_scope()).ask(pumps := Outlines(a_search(), "pumps"), every := Count(a_search()))

    assert ([one.doc_id for one in answers[pumps]], answers[every]) == (["a"], 2)
    async with aiohttp.request("HEAD", f"{opensearch_url}/{version}") as answer:
        assert answer.status == 404  # its documents are in the next version


async def _forget_outlines(server: str, version: str) -> None:
    """Make the index look as one that an earlier Parley made."""
    async with aiohttp.request("GET", f"{server}/{version}/_mapping") as answer:
        meta = (await answer.json())[version]["mappings"]["_meta"]
    del meta["outlined"]
    async with aiohttp.request("PUT", f"{server}/{version}/_mapping", json={"_meta": meta}) as answer:
        assert answer.status == 200


async def test_a_reader_follows_a_schema_that_another_process_changed(opened: Opener) -> None:
    reader, changer = await opened(), await opened()
    schema = a_receipt_schema()
    await changer.set_schema(schema)
    await reader.within(a_scope()).ask(Count(a_search()))
    more = replace(schema, fields=(a_field("colour"), *schema.fields))
    await changer.set_schema(more)
    await changer.put(RECEIPTS, [a_document("a", colour="red", vendor="ACME")])

    answers = await reader.within(a_scope()).ask(
        red := Count(a_search(where("colour", "eq", "red"))), acme := Count(a_search(where("vendor", "eq", "acme")))
    )

    assert (answers[red], answers[acme]) == (1, 1)
