"""Plays dialogues with the whole bot over the demo documents, with a scripted model that it asks over HTTP."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any as Json

from agent.model.options import ModelUse
from bot.application import Application
from bot.bootstrap import open_application
from bot.demo.corpus import DemoCorpus, write_corpus
from bot.settings import load_settings
from bot.turns.turn_processor import FinishedTurn
from storage.ingest.pipeline import ingest_files
from tests.bot.conftest import ConversationDriver
from tests.scenarios.seed_cases.scripted_replies import PlanReply, ScriptedReply, UnexpectedPrompt, schema_name_of
from tests.stand_ins.model.replies import HttpFault
from tests.stand_ins.model.request_bodies import ChatBody
from tests.stand_ins.model.server import API_KEY, ScriptedModelServer

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
MAX_SIMPLE_CALLS, MAX_COMPLEX_CALLS = 2, 4
_POLISHED_SUMMARY = '{"summary": "They talk about the documents."}'
_CONVERSATIONS = itertools.count(1)


async def load_demo_home(corpus: DemoCorpus, folder: Path) -> Path:
    """Returns a home whose index holds the corpus."""
    home = folder / "home"
    write_corpus(corpus, folder / "corpus")
    async with open_application(load_settings(home, {}).settings) as bot:
        for bucket in corpus.buckets.values():
            path = folder / "corpus" / f"{bucket.schema.bucket}.jsonl"
            await ingest_files(bot.index, [path], extractor=bot.extractor, schema=bucket.schema)
    return home


@dataclass(frozen=True, kw_only=True)
class PlayedTurn:
    """One turn of a dialogue, for the table of calls."""

    case: str
    message: str
    outcome: str
    calls: int


@dataclass(kw_only=True)
class ModelStage:
    """A bot, the model that it asks, and what was played."""

    bot: Application
    server: ScriptedModelServer
    use: ModelUse
    turns: list[PlayedTurn] = field(default_factory=list[PlayedTurn])
    faults: list[str] = field(default_factory=list[str])
    script: list[ScriptedReply] = field(default_factory=list["ScriptedReply"])
    asked_calls: int = 0  # over HTTP in this turn, without those after its reply

    def open_dialogue(self, case: str) -> "ModelDialogue":
        conversation = f"dialogue-{next(_CONVERSATIONS)}"
        return ModelDialogue(
            stage=self, case=case, driver=ConversationDriver(self.bot, surface="stage", conversation=conversation)
        )

    def answer_chat(self, body: ChatBody) -> str | HttpFault:
        """Replies as the script says. A prompt that it does not expect is kept in `faults`."""
        if schema_name_of(body) == "ConversationSummaryOutput":  # after the reply of a turn, at any time
            return _POLISHED_SUMMARY
        self.asked_calls += 1
        try:
            if not self.script:
                raise UnexpectedPrompt(f"a call for a {schema_name_of(body)} is not scripted")
            return self._take_reply(body)
        except UnexpectedPrompt as exc:
            self.faults.append(str(exc))
            return HttpFault(status=400, message=str(exc))

    def _take_reply(self, body: ChatBody) -> str:
        """Takes the first reply that fits: calls about several parts come in any order."""
        failure: UnexpectedPrompt | None = None
        for reply in self.script:
            try:
                text = reply.answer_request(body)
            except UnexpectedPrompt as exc:
                failure = failure or exc
                continue
            self.script.remove(reply)
            return text
        raise failure or UnexpectedPrompt("nothing is scripted")


@dataclass(kw_only=True)
class ModelDialogue:
    """One conversation. Every turn is checked against its budget of calls."""

    stage: ModelStage
    case: str
    driver: ConversationDriver
    last_turn: FinishedTurn | None = None

    async def say(
        self,
        message: str,
        *script: ScriptedReply,
        is_linked_by_rules: bool = False,
        max_calls: int = MAX_SIMPLE_CALLS,
    ) -> Mapping[str, Json]:
        """Returns the result of the turn, which must use every reply of `script`.

        `is_linked_by_rules`: with `PARLEY_MODEL_WHEN=needed`, the rules plan this message, and no model.
        """
        skips_plan = is_linked_by_rules and self.stage.use is ModelUse.NEEDED
        self.stage.script[:] = [reply for reply in script if not (skips_plan and isinstance(reply, PlanReply))]
        calls = len(self.stage.script)
        assert calls <= max_calls, f"{message!r} may ask the model {max_calls} times"
        self.stage.asked_calls = 0
        self.last_turn = await self.driver.ask_question(message)
        return self._check_turn(message, calls)

    async def click(self, label: str, *script: ScriptedReply, max_calls: int = MAX_SIMPLE_CALLS) -> Mapping[str, Json]:
        """Clicks a choice of the last reply. `script`: what is asked after the search; never for a plan."""
        assert self.last_turn is not None
        self.stage.script[:] = script
        self.stage.asked_calls = 0
        self.last_turn = await self.driver.click_choice(self.last_turn, label)
        assert len(script) <= max_calls, f"a click on {label!r} may ask the model {max_calls} times"
        assert not any(isinstance(reply, PlanReply) for reply in script), "a click asks no model before it searches"
        return self._check_turn(f"[{label}]", len(script))

    def _check_turn(self, message: str, calls: int) -> Mapping[str, Json]:
        assert self.last_turn is not None
        result = self.last_turn.result
        assert self.stage.faults == [], (message, self.stage.faults)
        assert self.stage.script == [], (message, result["text"])
        assert (result["model_calls"], self.stage.asked_calls) == (calls, calls), message
        assert self.last_turn.error is None, message
        assert {stage["name"]: stage["fallback"] for stage in result["stages"] if stage["fallback"]} == {}, message
        self.stage.turns.append(
            PlayedTurn(case=self.case, message=message, outcome=result["outcome"], calls=result["model_calls"])
        )
        return result


@asynccontextmanager
async def open_stage(home: Path, use: ModelUse, **variables: str) -> AsyncGenerator[ModelStage]:
    """Opens the bot of `home` with a model that replies by script."""
    async with ScriptedModelServer() as server:
        environ = {
            "PARLEY_MODEL": "openai/main-model",
            "PARLEY_MODEL_API_BASE": server.url,
            "PARLEY_MODEL_API_KEY": API_KEY,
            "PARLEY_MODEL_WHEN": use.value,
        }
        settings = load_settings(home, environ | variables).settings
        async with open_application(settings, clock=lambda: NOW) as bot:
            stage = ModelStage(bot=bot, server=server, use=use)
            server.answer_chat = stage.answer_chat
            yield stage


def labels_of(result: Mapping[str, Json], *kinds: str) -> list[tuple[str, int | None]]:
    """The labels and counts of the choices of these kinds; without kinds, of all."""
    return [(choice["label"], choice["count"]) for choice in result["choices"] if choice["kind"] in kinds or not kinds]


def cited_pages(result: Mapping[str, Json]) -> list[tuple[str, int | None]]:
    return [(citation["doc_id"], citation["page"]) for citation in result["citations"]]


def total_of(choices: Sequence[tuple[str, int | None]]) -> int:
    return sum(count or 0 for _, count in choices)


def load_home_at(corpus: DemoCorpus, folder: Path) -> Path:
    return asyncio.run(load_demo_home(corpus, folder))
