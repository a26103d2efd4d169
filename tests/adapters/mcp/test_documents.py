"""The search tools and the resources: what they return, and that nobody learns of what they may not see."""

from pathlib import Path
from typing import Any as Json

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ReadResourceResult, TextResourceContents

from bot.application import Application
from bot.ids import OPERATOR, Subject
from storage.ingest.pipeline import ingest_files
from storage.search.ids import BucketId
from tests.adapters.mcp.clients import LEGACY, MODERN, ask, server_client_of, text_of
from tests.cli.conftest import run_parley

KESTREL = {"field": "vendor", "op": "eq", "values": ["Kestrel"]}


async def read_all_uris(client: Client) -> list[str]:
    uris, cursor = list[str](), None
    while True:
        page = await client.list_resources(cursor=cursor)
        uris += [str(resource.uri) for resource in page.resources]
        cursor = page.next_cursor
        if cursor is None:
            return uris


def resource_text_of(result: ReadResourceResult) -> str:
    return "\n".join(part.text for part in result.contents if isinstance(part, TextResourceContents))


# -- tools


@pytest.mark.parametrize("mode", [MODERN, LEGACY])
async def test_all_tools_are_listed_and_arguments_with_a_default_may_be_left_out(bot: Application, mode: str) -> None:
    async with server_client_of(bot, "local:ann", mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}

    assert list(tools) == [
        "agentic_search",
        "export",
        "search_text",
        "annotations_search",
        "annotations_aggregate",
        "get_document_metadata",
    ]
    assert len(tools["agentic_search"].input_schema["properties"]) == 7
    assert tools["annotations_search"].input_schema["required"] == ["bucket"]
    assert "$ref" not in str(tools["annotations_search"].input_schema)
    assert "evidence" not in str([tool.input_schema for tool in tools.values()])


async def test_search_text_finds_passages_with_their_documents(bot: Application) -> None:
    async with server_client_of(bot, "local:ann") as client:
        found = await client.call_tool(
            "search_text", {"bucket": "receipts", "query": "tires from Harbor", "filters": [], "top_k": 2}
        )

    result = found.structured_content
    assert (result["bucket"], result["count"], len(result["hits"])) == ("receipts", 120, 2)
    assert all(hit["doc_id"].startswith("r-") and hit["title"] for hit in result["hits"])
    assert "Harbor" in text_of(found)


async def test_search_semantic_finds_passages_in_other_words(meaning_bot: Application) -> None:
    wanted = {"bucket": "receipts", "query": "light at the port"}
    async with server_client_of(meaning_bot, "local:ann") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        found = await client.call_tool("search_semantic", wanted | {"top_k": 1})
        filtered = await client.call_tool("search_semantic", wanted | {"filters": [KESTREL], "top_k": 1})

    assert tools["search_semantic"].input_schema["required"] == ["bucket", "query"]
    result = found.structured_content
    assert (result["bucket"], result["count"], [hit["doc_id"] for hit in result["hits"]]) == ("receipts", 3, ["lamp"])
    assert result["hits"][0]["found_by"] == ["semantic"]
    assert "harbour gate" in text_of(found)
    assert [hit["doc_id"] for hit in filtered.structured_content["hits"]] == ["sails"]
    assert filtered.structured_content["count"] == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"bucket": "receipts"}, "query: Field required"),
        ({"bucket": "receipts", "query": " "}, "The query is empty"),
        ({"bucket": "permits", "query": "birds"}, "There is no bucket 'permits'. The buckets are: receipts."),
        ({"bucket": "receipts", "query": "birds", "code": True}, "code: Extra inputs"),
    ],
)
async def test_wrong_arguments_of_search_semantic_are_one_sentence(
    meaning_bot: Application, arguments: dict[str, Json], sentence: str
) -> None:
    async with server_client_of(meaning_bot, "local:ann") as client:
        result = await client.call_tool("search_semantic", arguments)

    assert (result.is_error, sentence in text_of(result)) == (True, True)


async def test_search_semantic_finds_no_document_of_other_readers_and_no_closed_bucket(
    meaning_bot: Application,
) -> None:
    told = list[str]()
    for person, bucket in (("local:ann", "receipts"), ("local:ann", "permits"), ("local:bob", "receipts")):
        async with server_client_of(meaning_bot, person) as client:
            found = await client.call_tool("search_semantic", {"bucket": bucket, "query": "hunting with birds"})
            told.append(found.model_dump_json().lower())

    assert [mark for mark in ("falcon", "merlin") if mark in "\n".join(told)] == []
    assert [mark for mark in ("winch", "sail", "kestrel") if mark in told[2]] == []


async def test_search_semantic_is_not_offered_without_vectors(bot: Application) -> None:
    async with server_client_of(bot, "local:ann") as client:
        refused = await client.call_tool("search_semantic", {"bucket": "receipts", "query": "tires"})

    assert refused.is_error
    assert "There is no such tool. The tools are: search_text, annotations_search" in text_of(refused)


async def test_code_is_searched_in_what_the_caller_may_see(bot: Application, tmp_path: Path) -> None:
    for bucket in ("code", "secret-code"):
        file = tmp_path / f"{bucket}.md"
        file.write_text(f"# Notes of {bucket}\n\nHow it is done:\n\n```python\nvalue = parseConfig('{bucket}')\n```\n")
        await ingest_files(bot.index, [file], extractor=bot.extractor, bucket=BucketId(bucket))
    await bot.administration.grant_bucket(BucketId("code"), Subject("user:local:cara"), by=OPERATOR)

    async with server_client_of(bot, "local:cara") as client:
        asked = await client.call_tool("agentic_search", {"question": "parse_config", "code": True})
        found = await client.call_tool("search_text", {"bucket": "code", "query": "parse config", "code": True})
        hidden = await client.call_tool(
            "agentic_search", {"question": "parse_config", "code": True, "buckets": ["secret-code"]}
        )
        refused = await client.call_tool("agentic_search", {"question": "x", "code": True, "conversation": "mcp:1"})
    for bucket in ("code", "secret-code"):  # the home is that of other tests too
        await bot.readiness.record.forget_bucket(BucketId(bucket))
        await bot.index.drop_bucket(BucketId(bucket))

    code = {"language": "python", "text": "value = parseConfig('code')"}
    assert [hit["code"] for hit in asked.structured_content["hits"]] == [code]
    assert "```python\nvalue = parseConfig('code')\n```" in text_of(asked)
    assert [hit["code"] for hit in found.structured_content["hits"]] == [code]
    assert 'code in "python"' in text_of(found)
    assert (hidden.is_error, "secret" in text_of(hidden).replace("'secret-code'", "")) == (True, False)
    assert (refused.is_error, "keeps no" in text_of(refused)) == (True, True)


async def test_annotations_search_counts_a_set_and_shows_its_documents(bot: Application) -> None:
    async with server_client_of(bot, "local:ann") as client:
        found = await client.call_tool(
            "annotations_search", {"bucket": "receipts", "filters": [KESTREL], "order_by": "date", "limit": 3}
        )

    result = found.structured_content
    assert (result["count"], len(result["documents"])) == (40, 3)
    assert {document["values"]["vendor"] for document in result["documents"]} == {"Kestrel"}
    assert [document["values"]["date"] for document in result["documents"]] == sorted(
        (document["values"]["date"] for document in result["documents"]), reverse=True
    )
    assert [(condition["field"], condition["op"], condition["value"]) for condition in result["filters"]] == [
        ("vendor", "eq", "Kestrel")
    ]


async def test_annotations_aggregate_computes_groups_exactly(bot: Application) -> None:
    async with server_client_of(bot, "local:ann") as client:
        counted = await client.call_tool(
            "annotations_aggregate", {"bucket": "receipts", "function": "count", "group_by": "vendor"}
        )

    assert {group["label"]: group["count"] for group in counted.structured_content["groups"]} == {
        "Kestrel": 40,
        "Northline": 40,
        "Harbor": 40,
    }


async def test_the_metadata_of_one_document(bot: Application) -> None:
    async with server_client_of(bot, "local:ann") as client:
        found = await client.call_tool("get_document_metadata", {"bucket": "receipts", "doc_id": "r-007"})

    [document] = found.structured_content["documents"]
    assert (document["doc_id"], document["title"], document["values"]["vendor"]) == ("r-007", "Receipt 7", "Northline")


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("search_text", {"bucket": "receipts"}, "query: Field required"),
        ("search_text", {"bucket": "receipts", "query": " "}, "The query is empty"),
        ("annotations_search", {"bucket": "nowhere"}, "There is no bucket 'nowhere'. The buckets are: receipts."),
        ("annotations_search", {"bucket": "receipts", "order_by": "colour"}, "have no field 'colour'"),
        ("annotations_search", {"bucket": "receipts", "filters": [KESTREL | {"op": "like"}]}, "filters.0.op"),
        ("annotations_aggregate", {"bucket": "receipts", "function": "sum", "field": "vendor"}, "sum needs a number"),
        ("get_document_metadata", {"bucket": "receipts", "doc_id": "none"}, "has no document 'none'"),
        ("get_document_metadata", {"bucket": "receipts", "doc_id": "x" * 30_000}, "longer than 20000 characters"),
    ],
)
async def test_wrong_arguments_of_a_tool_are_one_sentence(
    bot: Application, tool: str, arguments: dict[str, Json], sentence: str
) -> None:
    async with server_client_of(bot, "local:ann") as client:
        result = await client.call_tool(tool, arguments)

    assert result.is_error
    assert sentence in text_of(result)


async def test_an_unknown_tool_is_an_error_of_the_protocol(bot: Application) -> None:
    async with server_client_of(bot) as client:
        with pytest.raises(MCPError, match="There is no such tool"):
            await client.call_tool("delete_everything", {})


# -- resources


async def test_schemas_and_documents_are_listed_page_by_page_and_read(bot: Application) -> None:
    async with server_client_of(bot, "local:ann") as client:
        uris = await read_all_uris(client)
        schema = resource_text_of(await client.read_resource(uris[0]))
        document = resource_text_of(await client.read_resource("parley://documents/r-007"))
        rest = resource_text_of(await client.read_resource("parley://documents/r-007?start=11"))
        templates = (await client.list_resource_templates()).resource_templates

    assert uris[0] == "parley://buckets/receipts/schema"
    assert len(uris) == len(set(uris)) == 121
    assert "vendor" in schema
    assert document == "Receipt 7. Tires from Northline, paid 7.50 EUR."
    assert rest == document[11:]
    assert len(templates) == 2


@pytest.mark.parametrize(
    "uri",
    [
        "parley://documents/none",
        "parley://buckets/nowhere/schema",
        "parley://documents/r-007?start=-1",
        "parley://documents/..%2F..%2Fetc%2Fpasswd",
        "file:///etc/passwd",
        "parley://documents/" + "x" * 10_000,
    ],
)
async def test_what_does_not_exist_cannot_be_read(bot: Application, uri: str) -> None:
    async with server_client_of(bot, "local:ann") as client:
        with pytest.raises(MCPError, match="There is no such resource"):
            await client.read_resource(uri)


@pytest.mark.parametrize("cursor", ["x", "W10=", "bnVsbA==", "é"])
async def test_a_cursor_that_is_none_is_refused(bot: Application, cursor: str) -> None:
    async with server_client_of(bot, "local:ann") as client:
        with pytest.raises(MCPError, match="This cursor is none"):
            await client.list_resources(cursor=cursor)


# -- scope


async def everything_told_to(bot: Application, person: str) -> str:
    """All that a person is told about the permits, by every tool and resource."""
    told = list[str]()
    calls: list[tuple[str, dict[str, Json]]] = [
        ("search_text", {"bucket": "permits", "query": "hawking hours"}),
        ("search_text", {"bucket": "receipts", "query": "hawking hours"}),
        ("annotations_search", {"bucket": "permits"}),
        ("annotations_aggregate", {"bucket": "permits", "function": "count"}),
        ("get_document_metadata", {"bucket": "receipts", "doc_id": "S-1".lower()}),
        ("agentic_search", {"question": "Who may hunt in the morning?"}),
        ("agentic_search", {"question": "How many documents are there?"}),
        ("agentic_search", {"question": "Who may hunt in the morning?", "buckets": ["permits"]}),
        ("export", {"question": "List every document"}),
    ]
    async with server_client_of(bot, person) as client:
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            told.append(result.model_dump_json())
        told += await read_all_uris(client)
        for uri in ("parley://documents/s-1", "parley://buckets/permits/schema"):
            try:
                told.append((await client.read_resource(uri)).model_dump_json())
            except MCPError as exc:
                told.append(exc.error.message)
    return "\n".join(told).lower()


@pytest.mark.parametrize("person", ["local:ann", "local:nobody", "slack:T1:U1"])
async def test_no_tool_and_no_resource_tells_of_a_bucket_that_is_not_granted(bot: Application, person: str) -> None:
    told = await everything_told_to(bot, person)
    for words in ('"permits"', "'permits'", "'s-1'", "permits'", '"s-1"'):  # what the person wrote is repeated
        told = told.replace(words, "")

    assert [mark for mark in ("falcon", "merlin", "900 eur", "dawn", "holder") if mark in told] == []
    assert "parley://documents/s-1" not in told


async def test_a_grant_and_its_end_count_from_the_next_reading(bot: Application) -> None:
    dora, permits = Subject("user:local:dora"), BucketId("permits")
    async with server_client_of(bot, "local:dora") as client:
        before = await read_all_uris(client)
        await bot.administration.grant_bucket(permits, dora, include_external=False, by=OPERATOR)
        granted = await read_all_uris(client)
        text = resource_text_of(await client.read_resource("parley://documents/s-1"))
        await bot.administration.revoke_grant(permits, dora, by=OPERATOR)
        after = await read_all_uris(client)

    assert (before, after) == ([], [])
    assert granted == ["parley://buckets/permits/schema", "parley://documents/s-1"]
    assert "falconry" in text


async def test_documents_with_readers_of_their_own_are_not_there_for_others(bot: Application) -> None:
    home = bot.settings.home
    source = home / "letters.jsonl"
    source.write_text(
        '{"doc_id": "l-1", "title": "Open letter", "text": "For all."}\n'
        '{"doc_id": "l-2", "title": "Closed letter", "text": "For Eve.", "readers": ["user:local:eve"]}',
        encoding="utf-8",
    )
    assert run_parley(home, "ingest", str(source), "--bucket", "letters").status == 0
    for person in ("fay", "eve"):
        await bot.administration.grant_bucket(
            BucketId("letters"), Subject(f"user:local:{person}"), include_external=False, by=OPERATOR
        )

    async with server_client_of(bot, "local:fay") as client:
        of_fay = await read_all_uris(client)
        counted = await client.call_tool("annotations_aggregate", {"bucket": "letters", "function": "count"})
        with pytest.raises(MCPError):
            await client.read_resource("parley://documents/l-2")
    async with server_client_of(bot, "local:eve") as client:
        of_eve = await read_all_uris(client)
        answer = await ask(client, "How many letters are there?")

    assert of_fay == ["parley://buckets/letters/schema", "parley://documents/l-1"]
    assert counted.structured_content["count"] == 1
    assert of_eve[1:] == ["parley://documents/l-1", "parley://documents/l-2"]
    assert answer.structured_content["count"] == 2
