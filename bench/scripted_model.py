"""A language model that replies without delay: a server in a process of its own, which knows the plan of a question.

A reasoner reaches it as any other model, through the gateway and the library that calls models. `python -m
bench.scripted_model PLAN` is the server; PLAN is the reply to the prompt that asks for a plan.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agent.gateway.gateway import ModelGateway
from agent.gateway.litellm_client import LiteLlmClient
from agent.gateway.options import GatewayOptions, ModelNames, ModelServer
from agent.model.options import ModelOptions, ModelUse
from agent.model.reasoner import ModelReasoner
from agent.rules.reasoner import RuleReasoner
from bench.model_questions import reply_to_prompt
from prompts.outputs import QuestionPlanOutput
from tests.stand_ins.model.request_bodies import ChatBody, SchemaFormatBody, UserBody
from tests.stand_ins.model.server import API_KEY, ScriptedModelServer


@asynccontextmanager
async def open_scripted_reasoner(plan: QuestionPlanOutput) -> AsyncGenerator[ModelReasoner]:
    """A reasoner that asks the model for each question, and always gets this plan."""
    async with _serve_plan(plan) as url:
        names = ModelNames(main="openai/main-model")
        options = GatewayOptions(models=names, server=ModelServer(api_base=url, api_key=API_KEY))
        gateway = ModelGateway(options, LiteLlmClient())
        try:
            yield ModelReasoner(gateway, RuleReasoner(), ModelOptions(when=ModelUse.ALWAYS))
        finally:
            await gateway.close()


@asynccontextmanager
async def _serve_plan(plan: QuestionPlanOutput) -> AsyncGenerator[str]:
    """Runs the server; gives the address of its API."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.scripted_model",
        plan.model_dump_json(),
        stdout=asyncio.subprocess.PIPE,
        env=os.environ,
    )
    try:
        if process.stdout is None:
            raise RuntimeError("the server has no output")
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


async def serve_plan(plan: str) -> None:
    """Serves until the process ends."""

    async def answer_at_once(body: ChatBody) -> str:
        prompt = next(str(message.content) for message in body.messages if isinstance(message, UserBody))
        schema = body.response_format
        name = schema.json_schema.name if isinstance(schema, SchemaFormatBody) else ""
        return plan if name == QuestionPlanOutput.__name__ else reply_to_prompt(name, prompt)

    server = ScriptedModelServer(answer_chat=answer_at_once)
    await server.start()
    print(server.url, flush=True)  # noqa: T201
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve_plan(sys.argv[1]))
