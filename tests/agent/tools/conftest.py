"""Calls of tools on the index of `receipts_index`."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any as Json
from typing import TypeAlias

import pytest_asyncio

from agent.context import AgentContext
from agent.gateway.messages import ToolCall
from agent.loop import load_question_context
from agent.model.linking.tool_filter_linking import ToolFilterLinker
from agent.retrieval.session import RetrievalSession
from agent.rules.reasoner import RuleReasoner
from agent.tools.tool_budget import ToolBudget
from agent.tools.tool_executor import ToolExecutor, ToolOutcome
from storage.search.index import ScopedIndex
from tests.agent.tools.receipts_index import NOW, open_receipts_index


@pytest_asyncio.fixture
async def scoped_index(tmp_path: Path) -> AsyncIterator[ScopedIndex]:
    async with open_receipts_index(tmp_path) as index:
        yield index


@dataclass(frozen=True, slots=True)
class ToolBench:
    """An executor, and calls to it with arguments as values."""

    executor: ToolExecutor

    async def call_tool(self, tool: str, **arguments: Json) -> ToolOutcome:
        return await self.executor.run_call(ToolCall(id="x", name=tool, arguments=json.dumps(arguments)))


MakeBench: TypeAlias = Callable[..., Awaitable[ToolBench]]


@pytest_asyncio.fixture
async def make_bench(scoped_index: ScopedIndex) -> MakeBench:
    async def make(max_calls: int = 5, question: str = "", **context_changes: Json) -> ToolBench:
        context = AgentContext(index=scoped_index, reasoner=RuleReasoner(), now=NOW, **context_changes)
        question_context = await load_question_context(context)
        return ToolBench(
            ToolExecutor(
                session=RetrievalSession(context, "model"),
                question_context=question_context,
                linker=ToolFilterLinker(
                    lexicons=RuleReasoner().lexicons_for(question_context), question=question, today=NOW.date()
                ),
                budget=ToolBudget(max_calls=max_calls),
            )
        )

    return make


@pytest_asyncio.fixture
async def bench(make_bench: MakeBench) -> ToolBench:
    return await make_bench(max_calls=50)
