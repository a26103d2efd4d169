"""Puts the summary of a conversation into sentences with the small model, after the reply has been delivered.

The structured summary stays beside it, and is all there is where no model answers.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from structlog.typing import FilteringBoundLogger

from agent.errors import AgentError
from agent.gateway.language_model import LanguageModel
from agent.gateway.structured_output import request_structured
from agent.reasoning_log import ReasoningLog
from agent.token_counts import estimate_tokens
from bot.conversation.plan_history import summary_of
from bot.conversation.summary import (
    SUMMARY_BUDGET_TOKENS,
    ConversationSummary,
    list_exchange_lines,
    summary_to_json,
)
from bot.ids import ConversationId, TurnId
from bot.language_model.call_archive import ModelCallArchive
from prompts.data_texts import drop_hidden_characters, escape_headings
from prompts.outputs import ConversationSummaryOutput
from prompts.prompt_library import load_prompt
from storage.sql.database import SqlDatabase
from storage.sql.errors import SqlError
from storage.sql.stores.conversations import ConversationState, ConversationStore

_PROMPT: Final = "summarise_conversation"
_MIN_EXCHANGES: Final = 3  # fewer need no summary
_MAX_WORDS: Final = 200
_MAX_OUTPUT_TOKENS: Final = 800
_TIMEOUT_S: Final = 20.0
_CLOSING_TIMEOUT_S: Final = 5.0  # for what still runs when the application ends
_MAX_RUNNING: Final = 16  # conversations at once; the summaries of further ones stay structured

_StateKey = tuple[str, str]  # conversation and scope


class SummaryPolisher:
    """Made by `open_summary_polisher`. Polishes one summary of a conversation and scope at a time."""

    def __init__(
        self, model: LanguageModel, database: SqlDatabase, model_calls: ModelCallArchive, log: FilteringBoundLogger
    ) -> None:
        self._model, self._conversations, self._model_calls, self._log = (
            model,
            ConversationStore(database),
            model_calls,
            log,
        )
        self._running: dict[_StateKey, asyncio.Task[None]] = {}

    def start_polishing(self, turn: TurnId, state: ConversationState) -> None:
        """Polishes the summary of the state that the turn has stored, in the background. Returns at once.

        Work on an earlier state of the same conversation ends: its result would not be stored.
        """
        key, summary = (state.conversation, state.scope_key), summary_of(state)
        if (earlier := self._running.get(key)) is not None:
            earlier.cancel()
        if len(summary.exchanges) < _MIN_EXCHANGES or summary.exchanges[-1].turn != turn:
            return
        if len(self._running) >= _MAX_RUNNING:
            return
        task = asyncio.create_task(self._polish(turn, state, summary))
        self._running[key] = task
        task.add_done_callback(lambda done: self._forget_task(key, done))

    def _forget_task(self, key: _StateKey, task: asyncio.Task[None]) -> None:
        if self._running.get(key) is task:
            del self._running[key]
        if not task.cancelled() and (failure := task.exception()) is not None:
            self._log.error("summary not polished", error=type(failure).__name__)

    async def _polish(self, turn: TurnId, state: ConversationState, summary: ConversationSummary) -> None:
        log = ReasoningLog()
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                text = await self._summarise(summary, log)
            if text:
                polished = summary_to_json(summary.with_polished(text))
                await self._conversations.replace_summary_if_unchanged(state, polished)
        except (AgentError, SqlError, TimeoutError) as exc:
            self._log.warning("summary not polished", turn=turn, error=type(exc).__name__)
        finally:
            await asyncio.shield(self._model_calls.save_calls(turn, ConversationId(state.conversation), log.calls))

    async def _summarise(self, summary: ConversationSummary, log: ReasoningLog) -> str:
        """Returns the sentences; empty if they are too long. Raises `ModelUnavailable`, `UnusableReply`."""
        prompt = load_prompt(_PROMPT).render(
            max_words=_MAX_WORDS,
            earlier="" if summary.polished is None else escape_headings(summary.polished.text),
            exchanges=list(map(drop_hidden_characters, list_exchange_lines(summary))),
        )
        reply = await request_structured(
            self._model,
            prompt,
            ConversationSummaryOutput,
            log,
            max_output_tokens=_MAX_OUTPUT_TOKENS,
            timeout_s=_TIMEOUT_S,
            allows_repair=False,
        )
        text = " ".join(reply.value.summary.split())
        return text if estimate_tokens(text) <= SUMMARY_BUDGET_TOKENS else ""

    async def finish(self) -> None:
        """Waits a short time for what still runs, then cancels it."""
        if tasks := set(self._running.values()):
            _, pending = await asyncio.wait(tasks, timeout=_CLOSING_TIMEOUT_S)
            for task in pending:
                task.cancel()
            if pending:
                await asyncio.wait(pending)


@asynccontextmanager
async def open_summary_polisher(
    model: LanguageModel, database: SqlDatabase, model_calls: ModelCallArchive, log: FilteringBoundLogger
) -> AsyncGenerator[SummaryPolisher]:
    polisher = SummaryPolisher(model, database, model_calls, log)
    try:
        yield polisher
    finally:
        await polisher.finish()
