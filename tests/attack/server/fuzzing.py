"""Sends odd requests to a whole bot in this process, and records what each cost and what was answered."""

import contextlib
import resource
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final

from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from adapters.mcp.endpoint import McpEndpoint, RequestLimits
from adapters.slack.app import surface as build_slack_surface
from adapters.teams.app import surface as build_teams_surface
from adapters.web.access_guard import AccessGuard
from adapters.web.admin.endpoint import endpoint as build_admin_site
from adapters.web.admin.visitors import SESSION_COOKIE, AdminVisitors
from adapters.web.app import surface as build_web_surface
from bot.admin.admin_page.entrance import AdminEntrance
from bot.application import Application
from bot.bootstrap import open_application
from bot.http.connections import ConnectionLimits
from bot.http.listening import start_sites
from bot.http_server import build_web_app
from bot.ids import OPERATOR, PersonId, Subject
from bot.metrics.service_metrics import ServiceMetrics
from bot.programs.access_tokens import ProgramTokens
from bot.settings import load_settings
from bot.surface.surface import Surface
from tests.adapters.teams.office import environment_of
from tests.attack.server.odd_requests import OddRequestMaker
from tests.attack.server.raw_client import send_raw
from tests.attack.server.target import AttackTarget
from tests.attack.server.teams_samples import sample_activities
from tests.bot.fakes import NO_REASONER, ListingAgent
from tests.builders import RECEIPTS, TENANT, a_document, a_receipt_schema
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember
from tests.stand_ins.teams.server import TeamsServer

_PROGRAM_COUNT: Final = 10
CPU_LIMIT_S: Final = 1.0  # for one request, with what the stand-ins and this client need
_LIMITS: Final = ConnectionLimits(total=200, per_caller=200, unproven=20)


@dataclass
class HurriedClock:
    """A second later whenever it is read, so that no limit of requests in a minute is reached."""

    now: datetime

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@dataclass
class FuzzRecord:
    """`errors`: the requests that were answered with 5xx or not at all. `costly`: those beyond `CPU_LIMIT_S`."""

    statuses: Counter[int] = field(default_factory=Counter[int])
    errors: list[bytes] = field(default_factory=list[bytes])
    costly: list[bytes] = field(default_factory=list[bytes])
    slowest_cpu_s: float = 0.0
    grown_mb: float = 0.0


@dataclass(frozen=True, kw_only=True)
class FuzzedBot:
    target: AttackTarget
    maker: OddRequestMaker

    async def send_requests(
        self, make_request: Callable[[], bytes], count: int, *, reads_all: bool = False
    ) -> FuzzRecord:
        """Memory counts from a third of the requests on, when caches are filled. `reads_all`: waits for the whole of
        an answer that comes in parts.
        """
        record, memory_mb = FuzzRecord(), 0.0
        for number in range(count):
            if number == count // 3:
                memory_mb = _peak_memory_mb()
            request = make_request()
            started_s = time.process_time()
            status = await send_raw(self.target.host, self.target.port, request, timeout_s=60, reads_all=reads_all)
            cpu_s = time.process_time() - started_s
            record.slowest_cpu_s = max(record.slowest_cpu_s, cpu_s)
            if cpu_s > CPU_LIMIT_S:
                record.costly.append(request)
            if status is None or status >= 500:
                record.errors.append(request)
            record.statuses[status or 0] += 1
        record.grown_mb = _peak_memory_mb() - memory_mb
        return record


@contextlib.asynccontextmanager
async def open_fuzzed_bot(home: Path, seed: int) -> AsyncGenerator[FuzzedBot]:
    """The whole bot on a free port, in Slack's and Teams' stand-ins. Its turns are stored, and not worked on."""
    async with AsyncExitStack() as stack:
        slack, teams = await stack.enter_async_context(SlackServer()), await stack.enter_async_context(TeamsServer())
        ada = slack.workspace.add_user(SlackMember(id="U1ADA", name="Ada"))
        slack.workspace.add_channel(SlackChannel(id="C1GENERAL", members=[ada.id, BOT_USER]))
        environ = {
            "PARLEY_TENANT": TENANT,
            "PARLEY_EMBEDDER": "none",
            "PARLEY_ADMINS": f"slack:{TEAM}:{ada.id}",
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": slack.api_url,
        }
        settings = load_settings(home, environ | environment_of(teams)).settings
        bot = await stack.enter_async_context(open_application(settings, agent=ListingAgent(), reasoner=NO_REASONER))
        program_tokens = await _admit_programs(bot)
        built: list[Surface | None] = [build_slack_surface(bot), build_teams_surface(bot), build_web_surface(bot)]
        surfaces = [surface for surface in built if surface is not None]
        for surface in surfaces:
            bot.register_receive_only(surface)
            await surface.start()
            stack.push_async_callback(surface.close)
        programs = McpEndpoint(bot, RequestLimits(HurriedClock(bot.clock())))
        stack.push_async_callback(programs.close)
        admin_cookie, form_key = await _enter_admin_page(bot, PersonId(f"slack:{TEAM}:{ada.id}"))
        app = build_web_app(bot, [*surfaces, programs, build_admin_site(bot)], ServiceMetrics())
        port = await stack.enter_async_context(_serve_app(app))
        target = AttackTarget(host="127.0.0.1", port=port, slack_secret=SIGNING_SECRET)
        maker = _request_maker_for(target, teams, program_tokens, seed)
        yield FuzzedBot(target=target, maker=replace(maker, admin_cookie=admin_cookie, form_key=form_key))


async def _admit_programs(bot: Application) -> list[str]:
    """Puts receipts that some people may see. Returns a token of each of them."""
    await bot.index.set_schema(a_receipt_schema())
    await bot.index.put(RECEIPTS, [a_document(f"r{n:03}", f"receipt {n}", vendor="Acme") for n in range(42)])
    tokens: list[str] = []
    for number in range(_PROGRAM_COUNT):
        person = PersonId(f"local:fuzz{number}")
        await bot.administration.grant_bucket(RECEIPTS, Subject(f"user:{person}"), include_external=False, by=OPERATOR)
        tokens.append((await ProgramTokens(bot.database).create_token(person, lifetime=None, by=OPERATOR)).text)
    return tokens


async def _enter_admin_page(bot: Application, admin: PersonId) -> tuple[str, str]:
    """Lets the admin see the receipts, and returns the cookie of a session with the key of its forms."""
    await bot.administration.grant_bucket(RECEIPTS, Subject(f"user:{admin}"), include_external=False, by=OPERATOR)
    entrance = AdminEntrance(administration=bot.administration, database=bot.database, settings=bot.settings)
    signed = (await entrance.create_link(admin)).rpartition("/")[2]
    session = await entrance.open_session(signed)
    guard = AccessGuard(None, keys=bot.settings.secret_keys, clock=bot.clock)
    visitors = AdminVisitors(guard, entrance, bot.settings.secret_keys)
    cookie = f"{SESSION_COOKIE}={session}"
    visitor = visitors.find_visitor(make_mocked_request("GET", "/admin", {"Cookie": cookie}))
    assert visitor is not None
    return cookie, visitor.form_key


def _request_maker_for(
    target: AttackTarget, teams: TeamsServer, program_tokens: Sequence[str], seed: int
) -> OddRequestMaker:
    return OddRequestMaker(
        target.signature_headers,
        target.origin,
        Random(seed),
        bearer=teams.sign_delivery(),
        activities=sample_activities(teams),
        program_tokens=program_tokens,
    )


@contextlib.asynccontextmanager
async def _serve_app(app: web.Application) -> AsyncGenerator[int]:
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await start_sites(runner, "127.0.0.1", 0, _LIMITS)
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def _peak_memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
