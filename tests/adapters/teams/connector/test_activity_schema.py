"""The check of outgoing activities against botbuilder's schema."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import adapters
from adapters.teams.connector.activity_schema import BotbuilderSchema
from adapters.teams.errors import InvalidActivity
from adapters.teams.payloads.json_values import Json, JsonObject

SOURCES = Path(adapters.__path__[0])
MESSAGE: dict[str, Json] = {
    "type": "message",
    "textFormat": "markdown",
    "text": "42 receipts [1]",
    "summary": "42",
    "attachmentLayout": "list",
    "attachments": [{"contentType": "a/card", "content": {"body": [None, 1.5, {"x": True}]}}],
    "entities": [{"type": "streaminfo", "streamSequence": 1}, {"type": "other", "citation": [{"position": 1}]}],
    "channelData": {"feedbackLoop": {"type": "default"}},
    "from": {"id": "28:bot"},
    "conversation": {"id": "a:1"},
    "replyToId": "1",
}


@pytest.fixture
async def schema() -> BotbuilderSchema:
    return await BotbuilderSchema.load_schema()


@pytest.mark.parametrize("activity", [MESSAGE, {"type": "typing"}, {"type": "message", "text": "ü 😀 \u2028"}])
async def test_an_activity_is_encoded_unchanged(schema: BotbuilderSchema, activity: JsonObject) -> None:
    assert json.loads(schema.encode_activity(activity)) == activity


WRONG_CHANGES: list[dict[str, Json]] = [
    {"bogus": 1},
    {"type": None},
    {"type": "massage"},
    {"text": 5},
    {"text": None},
    {"text": ["x"]},
    {"summary": {"a": "b"}},
    {"from": "28:bot"},
    {"from": {"id": 1}},
    {"from": {"id": "28:bot", "nick": "x"}},
    {"conversation": ["a"]},
    {"channelData": "x"},
    {"entities": {"type": "x"}},
    {"entities": [1]},
    {"entities": [{"position": 1}]},
    {"attachments": [{"content": {}}]},
    {"attachments": ["x"]},
    {"attachments": [{"contentType": "a/card", "contents": {}}]},
    {"attachments": [{"contentType": "a/card", "name": 3}]},
    {"text": float("nan")},
]


@pytest.mark.parametrize("change", WRONG_CHANGES, ids=str)
async def test_an_unknown_field_or_a_wrong_type_is_an_error(schema: BotbuilderSchema, change: dict[str, Json]) -> None:
    with pytest.raises(InvalidActivity):
        schema.encode_activity(MESSAGE | change)


async def test_the_error_names_the_field_and_not_its_content(schema: BotbuilderSchema) -> None:
    with pytest.raises(InvalidActivity) as caught:
        schema.encode_activity(MESSAGE | {"bogus": "private words"})

    assert "bogus" in str(caught.value)
    assert "private words" not in str(caught.value)


def test_only_the_schema_module_names_botbuilder() -> None:
    assert [path.name for path in SOURCES.rglob("*.py") if any(map(_names_botbuilder, _nodes_of(path)))] == [
        "activity_schema.py"
    ]


def _nodes_of(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def _names_botbuilder(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(alias.name.startswith("botbuilder") for alias in names)
        case ast.ImportFrom(module=str(module)):
            return module.startswith("botbuilder")
        case ast.Constant(value=str(value)):
            return value.startswith("botbuilder.")
        case _:
            return False


def test_importing_the_adapter_does_not_import_botbuilder() -> None:

    code = (
        "import sys, adapters.teams.connector.client, adapters.teams.posting.outbox; print('botbuilder' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert result.stdout.strip() == "False"
