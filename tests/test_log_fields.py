"""The structured log: every line has fields that the page for operators explains, and none that may hold a secret."""

import ast
import json
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, TypeGuard

import pytest

from bot.turns.structured_log import open_log

ROOT: Final = Path(__file__).parents[1]
LOG_METHODS: Final = {"debug", "info", "warning", "error", "exception", "critical"}
FORBIDDEN: Final = {
    "text",
    "question",
    "answer",
    "reply",
    "token",
    "secret",
    "password",
    "key",
    "body",
    "authorization",
}


def logging_calls() -> Iterator[tuple[str, ast.Call]]:
    """The calls of a structured log, each with its module."""
    for room in ("adapters", "agent", "bot", "storage"):
        for module in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
                if _is_logging_call(node):
                    yield str(module.relative_to(ROOT)), node


def _is_logging_call(node: ast.AST) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in LOG_METHODS and re.search(r"(?:\b|_)log$", ast.unparse(node.func.value)) is not None


def explained_fields() -> set[str]:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    [section] = re.findall(r"^## Logs$(.*?)^## ", page, re.MULTILINE | re.DOTALL)
    first_cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {field for cell in first_cells for field in re.findall(r"`(\w+)`", cell)}


def test_every_field_of_the_log_is_explained() -> None:
    fields = {
        (module, keyword.arg)
        for module, call in logging_calls()
        for keyword in call.keywords
        if keyword.arg is not None
    }

    assert len(fields) > 50
    assert sorted((module, field) for module, field in fields if field not in explained_fields()) == []


def test_no_field_of_the_log_may_hold_a_text_or_a_secret() -> None:
    assert explained_fields().isdisjoint(FORBIDDEN)


def test_every_event_is_a_constant() -> None:
    events = [(module, call.args[0]) for module, call in logging_calls() if call.args]

    assert [module for module, event in events if not isinstance(event, ast.Constant | ast.Attribute)] == []


@pytest.mark.parametrize("to_stderr", [False, True])
async def test_each_line_is_one_json_object(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, to_stderr: bool
) -> None:
    async with AsyncExitStack() as stack:
        log = open_log(tmp_path, stack, to_stderr=to_stderr)
        log.info("turn", outcome="a\nb")
        log.error("turn failed", error="ValueError")

    file = tmp_path / "logs" / "parley.log"
    written = capsys.readouterr().err if to_stderr else file.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in written.splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [("turn", "info"), ("turn failed", "error")]
    assert all({"timestamp", "process"} <= line.keys() for line in lines)
    assert file.exists() is not to_stderr
