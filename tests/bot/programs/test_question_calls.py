"""Questions of programs: given up, and forgotten with the person."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest_asyncio

from agent import loop
from agent.context import AgentContext
from agent.outcome import Outcome
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import PersonId
from bot.programs.callers import ProgramCaller
from bot.programs.question_calls import ProgramQuestions, QuestionCall
from bot.settings import load_settings
from storage.search.ids import LegId
from storage.search.plan import Plan

CALLER = ProgramCaller(surface="mcp", person=PersonId("local:ann"))
ENDLESS = "Wait for me"


class PatientAgent:
    """Answers like the agent, except for a question that it works on for ever."""

    def __init__(self) -> None:
        self.has_begun, self.is_cancelled = asyncio.Event(), False

    async def answer(self, question: str, context: AgentContext) -> Outcome:
        if question != ENDLESS:
            return await loop.answer(question, context)
        self.has_begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.is_cancelled = True
        raise AssertionError("nobody sets this event")

    async def resume(self, plan: Plan, context: AgentContext) -> Outcome:
        return await loop.resume(plan, context)

    def apply_search_by_meaning(self, plan: Plan, leg_id: LegId) -> Plan:
        return loop.apply_search_by_meaning(plan, leg_id)


@pytest_asyncio.fixture
async def bot(tmp_path: Path) -> AsyncGenerator[tuple[Application, PatientAgent]]:
    agent = PatientAgent()
    settings = load_settings(tmp_path, {"PARLEY_EMBEDDER": "none"}).settings
    async with open_application(settings, agent=agent) as opened:
        yield opened, agent


async def test_a_call_that_is_given_up_stops_its_turn_and_leaves_the_conversation_free(
    bot: tuple[Application, PatientAgent],
) -> None:
    application, agent = bot
    questions = ProgramQuestions(application)
    conversation = (await questions.ask(QuestionCall(question="hello"), CALLER)).conversation

    given_up = asyncio.create_task(questions.ask(QuestionCall(question=ENDLESS, conversation=conversation), CALLER))
    await agent.has_begun.wait()
    given_up.cancel()
    await asyncio.wait((given_up,))
    agent.has_begun.clear()
    following = await questions.ask(QuestionCall(question="hello", conversation=conversation), CALLER)

    assert given_up.cancelled()
    assert agent.is_cancelled
    assert following.error is None
    assert not agent.has_begun.is_set()
