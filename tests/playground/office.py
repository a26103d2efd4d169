"""Parley with the demo's documents, and the Playground as its client of Teams.

Ada's browser is the only one. She is an admin and may see every bucket; so may the group chat and the channel.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import agent.loop as question_loop
from adapters.teams.addresses import channel_subject_of, person_id_of
from adapters.teams.app import surface
from adapters.teams.receiving.http_endpoint import MESSAGES_PATH
from agent.context import AgentContext
from agent.outcome import Answer, Outcome
from bot.application import Application
from bot.bootstrap import open_application
from bot.demo.corpus import DemoCorpus, write_corpus
from bot.ids import Subject
from bot.settings import load_settings
from storage.ingest.pipeline import ingest_files
from storage.search.plan import LegId, Plan
from tests.adapters.teams.office import environment_of
from tests.playground.browser import BrowserPage, open_page
from tests.playground.installation import FOLDER, PlaygroundTools
from tests.playground.signing_proxy import SigningProxy, serve_signing_proxy
from tests.scenarios.surfaces.serving import open_port
from tests.servers.missing import ServerMissing
from tests.servers.process import free_port, last_log_line, run_server, scratch_folder
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TENANT

BUCKETS: Final = ("receipts", "contracts", "manuals")
ADA: Final = "0a000000-0000-4000-8000-000000000001"
OTHERS: Final = ("Bob", "Cora", "Dan", "Eve", "Finn")  # the Playground ends without at least five
GROUP_CHAT: Final = "19:shift@thread.v2"
TEAM: Final = "19:plant@thread.tacv2"
CHANNEL: Final = "19:pumps@thread.tacv2"
SLOW_QUESTION: Final = "How often must the air filter of the battery cabinet B-120 be replaced, please?"
_START_S: Final = 60.0


class StreamingAgent:
    """The agent of every Parley. Only the slow question takes seconds: its answer is written in two steps.

    Fulfils `bot.dialogue.question_agent.QuestionAgent`.
    """

    async def answer(self, question: str, context: AgentContext) -> Outcome:
        if question != SLOW_QUESTION:
            return await question_loop.answer(question, context)
        context.report_progress("Searching the manuals …")
        await asyncio.sleep(3)  # longer than the patience before a stream
        outcome = await question_loop.answer(question, context)
        if isinstance(outcome, Answer):
            context.report_partial_answer(LegId("slow"), outcome.text.rpartition(",")[0])
            await asyncio.sleep(3)  # longer than the time between two updates
        return outcome

    async def resume(self, plan: Plan, context: AgentContext) -> Outcome:
        return await question_loop.resume(plan, context)

    def apply_search_by_meaning(self, plan: Plan, leg_id: LegId) -> Plan:
        return question_loop.apply_search_by_meaning(plan, leg_id)


@dataclass(frozen=True, kw_only=True)
class PlaygroundOffice:
    """`url`: the Playground's page."""

    bot: Application
    teams: TeamsServer
    proxy: SigningProxy
    page: BrowserPage
    url: str


@asynccontextmanager
async def open_playground_office(
    tools: PlaygroundTools, corpus: DemoCorpus, home: Path
) -> AsyncGenerator[PlaygroundOffice]:
    """`home`: with the corpus in its index. Raises `ServerMissing`."""
    async with AsyncExitStack() as stack:
        teams = await stack.enter_async_context(TeamsServer())
        port = open_port(stack)
        teams.app_url = port.address + MESSAGES_PATH
        environ = {
            **environment_of(teams),
            "PARLEY_EMBEDDER": "none",
            "PARLEY_PUBLIC_URL": port.address,
            "PARLEY_ADMINS": person_id_of(TENANT, ADA),
        }
        settings = load_settings(home, environ).settings
        bot = await stack.enter_async_context(open_application(settings, agent=StreamingAgent()))
        await _grant_buckets(bot, corpus)
        teams_surface = surface(bot)
        assert teams_surface is not None
        await port.serve_surface(bot, teams_surface, stack)
        await stack.enter_async_context(_run_workers(bot))
        proxy = await stack.enter_async_context(serve_signing_proxy(teams))
        url = stack.enter_context(_run_playground(tools, proxy, stack.enter_context(scratch_folder("playground"))))
        proxy.playground_url = url
        page = await stack.enter_async_context(open_page(tools))
        yield PlaygroundOffice(bot=bot, teams=teams, proxy=proxy, page=page, url=url)


async def load_corpus(corpus: DemoCorpus, home: Path, folder: Path) -> None:
    """Writes the corpus's index into the home."""
    write_corpus(corpus, folder)
    async with open_application(load_settings(home, {"PARLEY_EMBEDDER": "none"}).settings) as bot:
        for name in BUCKETS:
            schema = corpus.buckets[name].schema
            await ingest_files(bot.index, [folder / f"{schema.bucket}.jsonl"], extractor=bot.extractor, schema=schema)


async def _grant_buckets(bot: Application, corpus: DemoCorpus) -> None:
    subjects = (
        Subject(f"user:{person_id_of(TENANT, ADA)}"),
        channel_subject_of(TENANT, GROUP_CHAT),
        channel_subject_of(TENANT, CHANNEL),
    )
    for name in BUCKETS:
        for subject in subjects:
            await bot.grants.grant_bucket_access(corpus.buckets[name].schema.bucket, subject, by="operator")


@asynccontextmanager
async def _run_workers(bot: Application) -> AsyncGenerator[None]:
    """The workers, as `parley serve` runs them."""
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(bot.run_until_stopped(stop))
        try:
            yield
        finally:
            stop.set()


@contextmanager
def _run_playground(tools: PlaygroundTools, proxy: SigningProxy, folder: Path) -> Generator[str]:
    """Gives the address of the page."""
    (folder / ".m365agentsplayground.yml").write_text(
        json.dumps(_configuration_for(proxy.teams.registration.app_id)), encoding="utf-8"
    )
    port, log = free_port(), folder / "playground.log"
    url = f"http://127.0.0.1:{port}"
    options = ["-e", proxy.app_url, "-c", "msteams", "-p", str(port), "--service-url", proxy.service_url]
    environment = {
        "TEAMSAPPTESTER_BROWSER": "none",
        "NODE_OPTIONS": f"--require {FOLDER / 'loopback.js'}",
        "HOME": str(folder),
    }
    command = [tools.node, str(tools.playground), "start", *options, "--disable-telemetry"]
    with run_server(command, folder=folder, log=log, environment=environment) as process:
        end = time.monotonic() + _START_S
        while f"Listening on {port}" not in log.read_text(encoding="utf-8"):
            if process.poll() is not None or time.monotonic() > end:
                raise ServerMissing("playground", f"it does not start: {last_log_line(log)}", required=False)
            time.sleep(0.1)
        yield url


def _configuration_for(app_id: str) -> dict[str, object]:
    """JSON is YAML as well. The Playground finds members by `id` alone, so that is their object id too."""
    return {
        "version": "0.1.1",
        "tenantId": TENANT,
        "bot": {"id": f"28:{app_id}", "name": "Parley"},
        "currentUser": _person_entry("Ada", ADA),
        "users": [_person_entry(name, f"{ADA[:-1]}{number}") for number, name in enumerate(OTHERS, 2)],
        "personalChat": {"id": "a:ada-and-parley"},
        "groupChat": {"id": GROUP_CHAT, "name": "Shift"},
        "team": {
            "id": TEAM,
            "name": "Plant",
            "aadGroupId": "0a000000-0000-4000-8000-0000000000ff",
            "channels": [{"id": CHANNEL, "name": "Pumps"}],
        },
    }


def _person_entry(name: str, object_id: str) -> dict[str, str]:
    address = f"{name.lower()}@example.com"
    return {
        "id": object_id,
        "aadObjectId": object_id,
        "name": name,
        "userPrincipleName": address,
        "givenName": name,
        "surname": "Example",
        "email": address,
    }
