"""Measures questions with a language model: Parley's own CPU time, and how busy many questions at once keep it.

The model replies to each prompt at once with a plan that searches the texts, and with an answer that copies a passage.
For the CPU time it is an object, so that the library that calls models has no share in it; for many questions at once
it is a server in its own process, which takes a second for each reply.

`python -m bench.model_questions [--questions N] [--runs N]` measures these alone. `--serve` is that server.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from rich.console import Console

from agent.gateway.messages import MessageRole, ModelReply, ModelRequest
from agent.model.options import ModelOptions, ModelUse
from agent.model.reasoner import ModelReasoner
from agent.reasoning_log import ModelCallRecord, ReasoningLog
from agent.rules.reasoner import RuleReasoner
from bench.demo_index import open_bot_over, open_demo_index, operator_scope_of, settings_in
from bench.figures import BenchmarkFigure, build_figure_table
from bench.overhead import measure_agent, run_question_turn
from bot.demo.corpus import generate_corpus
from bot.settings import Settings, load_settings
from storage.search.index import SearchIndex
from tests.agent.model.plan_outputs import a_part, a_plan_output
from tests.scenarios.questions import questions
from tests.stand_ins.model.request_bodies import ChatBody, SchemaFormatBody, UserBody
from tests.stand_ins.model.server import API_KEY, ScriptedModelServer

_TARGET_MS = 15.0
_TARGET_PERCENT = 50.0
_REPLY_S: Final = 1.0
_QUESTIONS_AT_ONCE = 50
_MAX_WARM_UP_S: Final = 120.0
_BUCKET = re.compile(r"^## (\w+):", re.MULTILINE)
_QUESTION = re.compile(r"^# Question\n(.*)\Z", re.DOTALL | re.MULTILINE)
_FIRST_ITEM = re.compile(r'<item id="(\d+)".*?>\n(.*?)\n', re.DOTALL)


def reply_to_prompt(schema_name: str, prompt: str, part_count: int = 1) -> str:
    """Returns the fixed reply to a prompt for this output. `part_count`: into how many parts a question is split."""
    match schema_name:
        case "QuestionPlanOutput":
            question, buckets = _QUESTION.search(prompt), _BUCKET.findall(prompt)
            text = question[1].strip() if question else ""
            first = len(text) % len(buckets)  # another one for another question
            parts = [
                a_part("passages", bucket, id=f"p{number}", question=text, search_queries=[text])
                for number, bucket in enumerate((buckets[first:] + buckets[:first])[:part_count], start=1)
            ]
            return a_plan_output(*parts, combine="one" if len(parts) == 1 else "side_by_side").model_dump_json()
        case "WrittenAnswerOutput":
            item = _FIRST_ITEM.search(prompt)
            sentences = [{"text": item[2], "evidence": [int(item[1])], "quote": ""}] if item else []
            return json.dumps({"completeness": 1.0, "reasoning": "", "sentences": sentences})
        case "ConversationSummaryOutput":
            return '{"summary": "They ask for documents."}'
        case _:
            raise ValueError(f"no reply to a prompt for {schema_name!r}")


class FixedReplyModel:
    """Replies at once. `part_count`: into how many parts it splits each question."""

    def __init__(self, part_count: int = 1) -> None:
        self._part_count = part_count

    async def complete(self, request: ModelRequest, log: ReasoningLog) -> ModelReply:
        prompt = next(message.content for message in request.messages if message.role is MessageRole.USER)
        schema_name = request.output_schema.name if request.output_schema is not None else ""
        log.calls.append(ModelCallRecord(prompt=request.prompt, model="fixed", ms=0.0))
        return ModelReply(text=reply_to_prompt(schema_name, prompt, self._part_count), model="fixed")

    async def stream_text(self, request: ModelRequest, log: ReasoningLog) -> AsyncIterator[str]:
        yield (await self.complete(request, log)).text


async def measure_model_questions(
    index: SearchIndex, settings: Settings, question_texts: Sequence[str], folder: Path, runs: int
) -> list[BenchmarkFigure]:
    reasoner = ModelReasoner(FixedReplyModel(), RuleReasoner(), ModelOptions(when=ModelUse.ALWAYS))
    figures, _ = await measure_agent(
        index,
        await operator_scope_of(index, settings),
        question_texts,
        runs,
        name="agent with a model",
        target_ms=_TARGET_MS,
        reasoner=reasoner,
    )
    many = [question_texts[position % len(question_texts)] for position in range(_QUESTIONS_AT_ONCE)]
    return [*figures, *await _measure_many_at_once(index, many, folder, runs)]


async def _measure_many_at_once(
    index: SearchIndex, question_texts: Sequence[str], folder: Path, runs: int
) -> list[BenchmarkFigure]:
    shares: list[float] = []
    durations_s: list[float] = []
    async with _serve_slow_model() as url:
        variables = {
            "PARLEY_MODEL": "openai/main-model",
            "PARLEY_MODEL_API_BASE": url,
            "PARLEY_MODEL_API_KEY": API_KEY,
            "PARLEY_MODEL_WHEN": ModelUse.ALWAYS.value,
        }
        settings = load_settings(folder / "model-home", variables).settings
        async with open_bot_over(index, settings) as bot:
            async with asyncio.timeout(_MAX_WARM_UP_S):
                await run_question_turn(bot, question_texts[0])  # loads the library
            for _ in range(runs):
                started_s, started_cpu_s = time.perf_counter(), time.process_time()
                async with asyncio.TaskGroup() as group:
                    for question in question_texts:
                        group.create_task(run_question_turn(bot, question))
                durations_s.append(time.perf_counter() - started_s)
                shares.append(100 * (time.process_time() - started_cpu_s) / durations_s[-1])
    count, concurrency = len(question_texts), settings.model.concurrency
    return [
        BenchmarkFigure(
            name=f"{count} questions at once, model takes {_REPLY_S:g} s: share of a core",
            unit="%",
            run_values=tuple(shares),
            target=_TARGET_PERCENT,
            note=f"whole turns with index and library; {concurrency} calls at once",
        ),
        BenchmarkFigure(
            name=f"{count} questions at once, model takes {_REPLY_S:g} s: until all are answered",
            unit="s",
            run_values=tuple(durations_s),
            baseline=2 * count / concurrency * _REPLY_S,
            note="bare: two calls a question, waiting for the model alone",
        ),
    ]


@asynccontextmanager
async def _serve_slow_model() -> AsyncGenerator[str]:
    """Runs the server in its own process; gives the address of its API."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.model_questions", "--serve", stdout=asyncio.subprocess.PIPE, env=os.environ
    )
    try:
        if process.stdout is None:
            raise RuntimeError("the server has no output")
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


async def serve_slow_model() -> None:
    """Serves until the process ends."""

    async def answer_late(body: ChatBody) -> str:
        await asyncio.sleep(_REPLY_S)
        prompt = next(str(message.content) for message in body.messages if isinstance(message, UserBody))
        schema = body.response_format
        return reply_to_prompt(schema.json_schema.name if isinstance(schema, SchemaFormatBody) else "", prompt)

    server = ScriptedModelServer(answer_chat=answer_late)
    await server.start()
    print(server.url, flush=True)  # noqa: T201
    await asyncio.Event().wait()


async def measure_alone(folder: Path, max_questions: int, runs: int) -> list[BenchmarkFigure]:
    corpus, settings = generate_corpus(), settings_in(folder)
    question_texts = [question.text for question in questions(corpus)][:max_questions]
    async with open_demo_index(settings, corpus, folder / "corpus") as index:
        return await measure_model_questions(index, settings, question_texts, folder, runs)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.model_questions", description=__doc__)
    parser.add_argument("--serve", action="store_true", help="serve the slow model until the process ends")
    parser.add_argument("--questions", type=int, default=1000, help="at most so many different ones")
    parser.add_argument("--runs", type=int, default=5, help="how often each is measured [5]")
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve_slow_model())
        return
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        figures = asyncio.run(measure_alone(Path(name), options.questions, options.runs))
    Console(width=160).print(build_figure_table(figures))


if __name__ == "__main__":
    main()
