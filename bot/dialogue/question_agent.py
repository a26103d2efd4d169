"""The agent as the dialogue sees it, and the same agent with a deadline."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from agent.context import AgentContext
from agent.outcome import Outcome, SearchAttempt
from storage.search.ids import LegId
from storage.search.plan import Plan

AttemptCallback = Callable[[SearchAttempt], None]


class QuestionAgent(Protocol):
    """The public interface of the agent. The module `agent.loop` implements it."""

    async def answer(self, question: str, context: AgentContext) -> Outcome: ...

    async def resume(self, plan: Plan, context: AgentContext) -> Outcome: ...

    def apply_search_by_meaning(self, plan: Plan, leg_id: LegId) -> Plan: ...


@dataclass(frozen=True, slots=True)
class TimedAgent:
    """An agent with a deadline for each question. Raises `TimeoutError`, and what the agent raises."""

    agent: QuestionAgent
    timeout: timedelta

    async def answer(self, question: str, context: AgentContext) -> Outcome:
        async with asyncio.timeout(self.timeout.total_seconds()):
            return await self.agent.answer(question, context)

    async def resume(self, plan: Plan, context: AgentContext) -> Outcome:
        async with asyncio.timeout(self.timeout.total_seconds()):
            return await self.agent.resume(plan, context)

    def apply_search_by_meaning(self, plan: Plan, leg_id: LegId) -> Plan:
        return self.agent.apply_search_by_meaning(plan, leg_id)


@dataclass(frozen=True, slots=True)
class StandaloneAgent:
    """Fulfils `StandaloneQuestions`. Raises `TimeoutError`, and what the agent raises."""

    agent: TimedAgent
    context: AgentContext

    async def ask_question(self, question: str) -> Outcome:
        return await self.agent.answer(question, self.context)

    async def ask_plan(self, plan: Plan) -> Outcome:
        return await self.agent.resume(plan, self.context)
