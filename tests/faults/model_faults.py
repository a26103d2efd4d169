"""`python -m tests.faults.model_faults`: each stage that asks a language model meets each fault, over real HTTP.

The faults last for the whole turn. What becomes of the turn is printed as a table.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any as Json

from rich.console import Console
from rich.table import Table

from agent.gateway.gateway import ModelGateway
from agent.gateway.litellm_client import LiteLlmClient
from agent.gateway.messages import ModelReply, ModelRequest
from agent.gateway.options import CallLimits, GatewayOptions, ModelNames, ModelServer
from agent.model.options import ModelMode
from agent.reasoning_log import ReasoningLog
from bot.bootstrap import open_application
from bot.conversation.plan_history import summary_of
from bot.settings import load_settings
from bot.surface.replies import ChoicesPart, NoticePart, ReplyPart, TablePart, TextPart
from bot.turns.turn_processor import FinishedTurn
from prompts.prompt_library import load_prompt, prompt_names
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Passage
from storage.search.ids import BucketId
from storage.search.schema import FieldType, Schema
from storage.sql.database import SqlDatabase
from storage.sql.stores.conversations import ConversationStore
from storage.text.snowball_analyser import analyser_for
from tests.agent.model.plan_outputs import a_condition, a_part, a_plan_output
from tests.bot.conftest import ConversationDriver
from tests.bot.fakes import Clock, FakeChat
from tests.builders import RECEIPTS, TENANT, a_document, a_field, a_receipt_schema
from tests.stand_ins.model.replies import (
    CalledTool,
    CutAnswer,
    HttpFault,
    ServerReply,
    StalledAnswer,
    TextAnswer,
    closed_port_url,
)
from tests.stand_ins.model.request_bodies import ChatBody, SchemaFormatBody
from tests.stand_ins.model.server import API_KEY, ScriptedModelServer

MAX_CALLS, RETRIES = 4, 2
MANUALS = BucketId("manuals")
WINCH = (
    "The winch is greased with graphite paste each spring, because salt water rusts it. Its rope lasts four seasons."
)
_FAULTY_TIMEOUT_S = 0.5  # of a stalled call; all others have ample time
_MEGABYTE = 1_000_000


class FaultyStage(StrEnum):
    """A stage that asks a model. The values are the prompts that it asks with."""

    ROUTE = "route_question"
    PLAN = "plan_question"
    CHECK = "check_documents"
    ANSWER = "answer_question"
    COMBINE = "combine_answers"
    SUMMARY = "summarise_conversation"
    LOOP = "answer_with_tools"

    @property
    def trace_stage(self) -> str:
        """The name of the stage in the trace of a turn; empty: it runs after the turn."""
        return _TRACE_STAGES[self]

    @property
    def question(self) -> str:
        match self:
            case FaultyStage.CHECK:
                return "Which receipts were written for the ferry?"
            case FaultyStage.COMBINE:
                return "How many receipts are there, and why is the winch greased?"
            case _:
                return "What is the winch greased with?"


_TRACE_STAGES: Mapping[FaultyStage, str] = {
    FaultyStage.ROUTE: "decompose",
    FaultyStage.PLAN: "decompose",
    FaultyStage.CHECK: "check",
    FaultyStage.ANSWER: "review",
    FaultyStage.COMBINE: "combine",
    FaultyStage.SUMMARY: "",
    FaultyStage.LOOP: "loop",
}


class ModelFault(StrEnum):
    """What a stage's calls meet."""

    TIMEOUT = "no answer in time"
    BUSY = "429, Retry-After 3600"
    SERVER_ERROR = "500"
    REFUSED = "refused connection"
    CUT = "cut stream"
    NONSENSE = "nonsense"
    WRONG_SCHEMA = "wrong schema"
    EMPTY = "empty"
    UNKNOWN_TOOL = "tool that does not exist"
    MEGABYTE = "1 MB of text"


_OUTAGES = (ModelFault.TIMEOUT, ModelFault.BUSY, ModelFault.SERVER_ERROR, ModelFault.REFUSED, ModelFault.CUT)
_REPLIES: Mapping[ModelFault, ServerReply] = {
    ModelFault.TIMEOUT: StalledAnswer(text="{"),
    ModelFault.BUSY: HttpFault(status=429, retry_after="3600"),
    ModelFault.SERVER_ERROR: HttpFault(status=500),
    ModelFault.CUT: CutAnswer(text='{"completeness": 1, "reasoning": "'),
    ModelFault.NONSENSE: TextAnswer(text="Colourless green ideas sleep furiously."),
    ModelFault.WRONG_SCHEMA: TextAnswer(text='{"answer": 42, "sentences": "none", "parts": {}, "buckets": 7}'),
    ModelFault.EMPTY: TextAnswer(text=""),
    ModelFault.UNKNOWN_TOOL: TextAnswer(tool_calls=(CalledTool(name="launch_rocket", arguments='{"where": "moon"}'),)),
    ModelFault.MEGABYTE: TextAnswer(text="x" * _MEGABYTE, piece_chars=65_536),
}


@dataclass(slots=True, kw_only=True)
class StagedModels:
    """Implements `LanguageModel`: requests of the faulty prompt go to a gateway of their own. Keeps their prompts."""

    healthy: ModelGateway
    faulty: ModelGateway
    faulty_prompt: str
    faulty_timeout_s: float | None = None
    requests: list[str] = field(default_factory=list[str])

    def _route_request(self, request: ModelRequest) -> tuple[ModelGateway, ModelRequest]:
        prompt = request.prompt.partition("@")[0]
        self.requests.append(prompt)
        if prompt != self.faulty_prompt:
            return self.healthy, request
        return self.faulty, replace(request, timeout_s=self.faulty_timeout_s or request.timeout_s)

    async def complete(self, request: ModelRequest, log: ReasoningLog) -> ModelReply:
        gateway, routed = self._route_request(request)
        return await gateway.complete(routed, log)

    async def stream_text(self, request: ModelRequest, log: ReasoningLog) -> AsyncIterator[str]:
        gateway, routed = self._route_request(request)
        async for text in gateway.stream_text(routed, log):
            yield text


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultedTurn:
    """What became of a turn."""

    outcome: str
    text: str
    remarks: Sequence[str]
    fallbacks: Mapping[str, str]  # by stage
    requests: Sequence[str]  # prompts of the turn
    tries: int  # that reached the server
    messages: int  # of the turn, in the chat
    replies_with_result: int  # contents of these messages that hold a result or a sentence
    longest_pause_s: float  # before a retry
    polished: bool  # the summary was put into sentences


async def run_fault(folder: Path, stage: FaultyStage, fault: ModelFault, client: LiteLlmClient) -> FaultedTurn:
    pauses = list[float]()

    async def skip_pause(seconds: float) -> None:
        pauses.append(seconds)

    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(
            ScriptedModelServer(answer_chat=lambda body: _reply(body, stage, fault))
        )

        def build_gateway(url: str) -> ModelGateway:
            options = GatewayOptions(
                models=ModelNames(main="openai/main-model", small="openai/small-model"),
                server=ModelServer(api_base=url, api_key=API_KEY),
                limits=CallLimits(retries=RETRIES, circuit_failures=100),
            )
            return ModelGateway(options, client, sleep=skip_pause)

        faulty_url = closed_port_url() if fault is ModelFault.REFUSED else server.url
        models = StagedModels(
            healthy=build_gateway(server.url),
            faulty=build_gateway(faulty_url),
            faulty_prompt=stage.value,
            faulty_timeout_s=_FAULTY_TIMEOUT_S if fault is ModelFault.TIMEOUT else None,
        )
        chat = FakeChat()
        turn, before = await _run_turns(folder, stage, models, chat)
        messages = chat.messages_of_turn(turn.turn)
        result = turn.result
        return FaultedTurn(
            outcome=str(result["outcome"]),
            remarks=result["assumptions"],
            text=str(result["text"]),
            fallbacks={entry["name"]: entry["fallback"] for entry in result["stages"] if entry["fallback"]},
            requests=models.requests[before:],
            tries=len(server.chat_requests),
            messages=len(messages),
            replies_with_result=sum(
                _holds_result(reply.parts) for message in messages for reply in message.replies[-1:]
            ),
            longest_pause_s=max(pauses, default=0.0),
            polished=await _is_polished(folder),
        )


async def _run_turns(
    folder: Path, stage: FaultyStage, models: StagedModels, chat: FakeChat
) -> tuple[FinishedTurn, int]:
    """Runs the question; before a summary two others are needed. Returns its turn, and the requests before it."""
    mode = ModelMode.LOOP if stage is FaultyStage.LOOP else ModelMode.STAGED
    environ = {
        "PARLEY_TENANT": TENANT,
        "PARLEY_EMBEDDER": "none",
        "PARLEY_MODEL": "openai/main-model",
        "PARLEY_MODEL_WHEN": "always",
        "PARLEY_MODEL_MODE": mode.value,
    }
    settings = load_settings(folder / "home", environ).settings
    async with AsyncExitStack() as stack:
        index = await stack.enter_async_context(
            _open_index(settings.index_path, many_buckets=stage is FaultyStage.ROUTE)
        )
        bot = await stack.enter_async_context(
            open_application(
                settings,
                clock=Clock(datetime(2031, 5, 9, 12, tzinfo=UTC)),
                index=index,
                model=models,
                outboxes={"slack": chat},
            )
        )
        driver = ConversationDriver(bot)
        for _ in range(2 if stage is FaultyStage.SUMMARY else 0):
            await driver.ask_question(stage.question)
        before = len(models.requests)
        return await driver.ask_question(stage.question), before


@asynccontextmanager
async def _open_index(path: Path, *, many_buckets: bool) -> AsyncGenerator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(a_receipt_schema())
    vendors = ("Acme", "Bolt", "Cargo")
    receipts = [a_document(f"r{n}", f"Receipt {n}.", title=f"Receipt {n}", vendor=vendors[n % 3]) for n in range(9)]
    await index.put(RECEIPTS, receipts)
    await index.set_schema(Schema(bucket=MANUALS, language="en"))
    passages = (Passage(start=0, end=len(WINCH), page=3),)
    await index.put(MANUALS, [a_document("winch", WINCH, title="Winch manual", passages=passages)])
    for number in range(12 if many_buckets else 0):
        fields = tuple(
            a_field(f"measured_quantity_{letter}_{number}", FieldType.NUMBER) for letter in "abcdefghijklmnop"
        )
        await index.set_schema(Schema(bucket=BucketId(f"measurements_{number}"), fields=fields, language="en"))
    yield index
    await index.close()


async def _is_polished(folder: Path) -> bool:
    settings = load_settings(folder / "home", {"PARLEY_TENANT": TENANT}).settings
    database = await SqlDatabase.open(
        settings.effective_database_url, clock=Clock(datetime(2031, 5, 9, 12, tzinfo=UTC))
    )
    try:
        states = await ConversationStore(database).list_states("c1")
        return any(summary_of(state).polished is not None for state in states)
    finally:
        await database.close()


# -- what the model replies


def _reply(body: ChatBody, stage: FaultyStage, fault: ModelFault) -> ServerReply | str:
    prompt = _prompt_of(body)
    return _REPLIES[fault] if prompt == stage.value else _write_healthy_reply(prompt, body, stage)


def _prompt_of(body: ChatBody) -> str:
    """The prompt that asks for this schema; the conversation with tools asks for none."""
    if not isinstance(body.response_format, SchemaFormatBody):
        return FaultyStage.LOOP.value
    output = body.response_format.json_schema.name
    return next(name for name in prompt_names() if getattr(load_prompt(name).output_type, "__name__", "") == output)


def _write_healthy_reply(prompt: str, body: ChatBody, stage: FaultyStage) -> str:
    match prompt:
        case FaultyStage.ROUTE:
            return _write_json(
                reasoning="", language="en", buckets=["manuals"], answer_from="both", is_complex=False, search_query=""
            )
        case FaultyStage.PLAN:
            passages = a_part(
                "passages", MANUALS, id="a", question="Why is the winch greased?", search_queries=["winch"]
            )
            if stage is FaultyStage.CHECK:
                written = a_condition("text", "contains", "receipt 3", "receipt 4", words="written for the ferry")
                return a_plan_output(a_part("list", RECEIPTS, written, id="a")).model_dump_json()
            if stage is not FaultyStage.COMBINE:
                return a_plan_output(passages).model_dump_json()
            count = a_part("count", RECEIPTS, id="b", question="How many receipts are there?")
            return a_plan_output(count, passages, combine="side_by_side").model_dump_json()
        case FaultyStage.ANSWER:
            sentence = {"text": "The winch is greased with graphite paste.", "evidence": [1], "quote": ""}
            return _write_json(
                completeness=1.0, reasoning="", missing=[], queries=[], verdict="none", contradiction=None,
                layout="prose", columns=[], sentences=[sentence],
            )  # fmt: skip
        case FaultyStage.COMBINE:
            sentences = [{"text": "There are 9 receipts, and the winch is greased.", "evidence": [1, 2], "quote": ""}]
            return _write_json(sentences=sentences)
        case FaultyStage.SUMMARY:
            return _write_json(summary="The person asks about the winch.")
        case _:
            raise AssertionError(f"nothing is scripted for {prompt}: {body.messages[-1]}")


def _write_json(**members: Json) -> str:
    return json.dumps(members)


def _holds_result(parts: Sequence[ReplyPart]) -> bool:
    return any(isinstance(part, (TextPart, TablePart, ChoicesPart, NoticePart)) for part in parts)


# -- the report


async def run_all(folder: Path) -> dict[tuple[FaultyStage, ModelFault], FaultedTurn]:
    client = LiteLlmClient()
    await client.load()
    try:
        return {
            (stage, fault): await run_fault(folder / f"{stage.name}-{fault.name}", stage, fault, client)
            for stage in FaultyStage
            for fault in ModelFault
        }
    finally:
        await client.close()


def build_table(turns: Mapping[tuple[FaultyStage, ModelFault], FaultedTurn]) -> Table:
    report = Table(title=f"{len(turns)} turns, each with one stage whose model fails", title_justify="left")
    for column in ("stage", "fault", "outcome", "fell back", "asked", "tries", "messages"):
        report.add_column(column)
    for (stage, fault), turn in turns.items():
        if fault is next(iter(ModelFault)):
            report.add_section()
        report.add_row(
            stage.name.lower(),
            fault.value,
            turn.outcome,
            "; ".join(f"{name}: {reason}" for name, reason in turn.fallbacks.items()) or "–",
            f"{len(turn.requests)} of {MAX_CALLS}",
            str(turn.tries),
            str(turn.messages),
        )
    return report


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="parley-model-faults-") as name:
        turns = asyncio.run(run_all(Path(name)))
    Console(width=180).print(build_table(turns))
    problems = [
        f"{stage.name}, {fault.value}: {problem}"
        for (stage, fault), turn in turns.items()
        for problem in find_problems(stage, fault, turn)
    ]
    Console(width=200, stderr=True).print("\n".join(problems), markup=False)
    sys.exit(1 if problems else 0)


def find_problems(stage: FaultyStage, fault: ModelFault, turn: FaultedTurn) -> list[str]:
    """Returns what must not become of a turn."""
    problems: list[str] = []
    if turn.outcome not in ("answer", "no_results", "ambiguous", "overload") or not turn.text.strip():
        problems.append(f"ended as {turn.outcome} with {turn.text!r}")
    if stage.trace_stage and not turn.fallbacks.get(stage.trace_stage):
        problems.append(f"does not say that {stage.trace_stage} fell back: {dict(turn.fallbacks)}")
    if stage.trace_stage and fault in _OUTAGES and not any("language model" in remark for remark in turn.remarks):
        problems.append(f"does not tell the person that the model failed: {turn.remarks}")
    if stage is FaultyStage.SUMMARY and (turn.fallbacks or turn.polished):
        problems.append("the failed summary changed the turn")
    if stage.value not in turn.requests:
        problems.append("the stage was not asked")
    if len([prompt for prompt in turn.requests if prompt != FaultyStage.SUMMARY]) > MAX_CALLS:
        problems.append(f"asked {len(turn.requests)} times: {turn.requests}")
    if (turn.messages, turn.replies_with_result) != (1, 1):
        problems.append(f"{turn.messages} messages, of which {turn.replies_with_result} hold a result")
    if turn.longest_pause_s > CallLimits().retry_after_cap_s:
        problems.append(f"paused for {turn.longest_pause_s} s")
    return problems


if __name__ == "__main__":
    main()
