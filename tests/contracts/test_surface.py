"""The contract of `Surface`, for every surface and for the fake in `tests/bot`."""

import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import structlog
from rich.console import Console

from adapters.slack.posting.api import SlackApi
from adapters.teams.app import surface as build_teams_surface
from adapters.terminal.app import TerminalSurface
from adapters.web.access_guard import AccessGuard
from adapters.web.app import WebChat
from adapters.web.transcript import WebTranscript
from bot.bootstrap import open_application
from bot.errors import AnswerNotFound
from bot.ids import ConversationId, TurnId
from bot.settings import load_settings
from bot.surface.inbound import Inbound
from bot.surface.surface import Surface
from bot.surface.surface_registry import SurfaceRegistry
from bot.turns.turn_actions import TurnActor, TurnSteps
from tests.adapters.slack.conftest import InboxBot, api, bot, build_surface, pauses, slack
from tests.adapters.teams.office import environment_of
from tests.bot.fakes import NO_REASONER, FakeChat, PartialSurface
from tests.stand_ins.teams.server import TeamsServer

__all__ = ["api", "bot", "pauses", "slack"]


class SilentBot:
    """Fulfils `adapters.terminal.app.TerminalBot`: accepts nothing."""

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None:
        return None

    async def run_turn(self, turn: TurnId) -> object:
        return None

    async def load_steps(self, turn: TurnId, actor: TurnActor) -> TurnSteps:
        raise AnswerNotFound()

    async def load_examples(self) -> list[str]:
        return []


@pytest.fixture
def slack_surface(bot: InboxBot, api: SlackApi) -> Surface:
    return build_surface(bot, api)


@pytest.fixture
def web_surface(tmp_path: Path) -> Surface:
    return WebChat(
        accept=SilentBot().accept_inbound,
        load_steps=SilentBot().load_steps,
        load_examples=SilentBot().load_examples,
        transcript=WebTranscript(tmp_path),
        guard=AccessGuard(None, keys=(b"key",), clock=lambda: datetime.now(UTC)),
        clock=lambda: datetime(2031, 5, 9, 12, tzinfo=UTC),
        max_characters=100,
        log=structlog.get_logger(),
    )


@pytest.fixture
def terminal_surface() -> Surface:
    return TerminalSurface(SilentBot(), Console(file=io.StringIO()))


@pytest.fixture
def partial_surface() -> Surface:
    return PartialSurface(outbox=FakeChat())


@pytest.fixture
async def teams_surface(tmp_path: Path) -> AsyncIterator[Surface]:
    async with TeamsServer() as teams:
        settings = load_settings(tmp_path / "teams", environment_of(teams)).settings
        async with open_application(settings, reasoner=NO_REASONER) as teams_bot:
            surface = build_teams_surface(teams_bot)
            assert surface is not None
            yield surface


@pytest.fixture(params=["slack", "teams", "web", "terminal", "partial"])
def selected_surface(request: pytest.FixtureRequest) -> Surface:
    return request.getfixturevalue(f"{request.param}_surface")


@pytest.fixture
async def built_surface(selected_surface: Surface) -> AsyncIterator[Surface]:
    yield selected_surface
    await selected_surface.close()


async def test_the_name_is_that_of_its_entry_point(built_surface: Surface) -> None:
    assert built_surface.name in entry_points(group="parley.surfaces").names


async def test_each_part_is_the_same_object_at_every_access(built_surface: Surface) -> None:
    assert built_surface.outbox is built_surface.outbox
    assert built_surface.directory is built_surface.directory
    assert built_surface.threads is built_surface.threads
    assert built_surface.files is built_surface.files
    assert built_surface.worker_support is built_surface.worker_support


async def test_a_thread_is_made_before_the_surface_starts(built_surface: Surface) -> None:
    slack_address = {"channel": "C1", "thread_ts": "1.0", "ts": "1.0"}
    teams_address = {"service_url": "https://smba.example/", "tenant": "t", "conversation": "a:1", "kind": "personal"}
    teams_address |= {"bot_id": "28:b", "asker_id": "29:a", "reply_to": "1", "team": ""}
    address = slack_address | teams_address

    assert built_surface.outbox.thread_for(ConversationId(f"{built_surface.name}:c"), address)


async def test_no_route_stands_twice(built_surface: Surface) -> None:
    routes = [(route.method, route.path) for route in built_surface.http_routes()]

    assert len(routes) == len(set(routes))
    assert all(path.startswith("/") for _, path in routes)


async def test_a_started_surface_may_be_closed_twice(built_surface: Surface) -> None:
    await built_surface.start()
    await built_surface.close()

    await built_surface.close()


async def test_worker_support_starts_without_the_surface_and_the_surface_closes_it(built_surface: Surface) -> None:
    if built_surface.worker_support is not None:
        await built_surface.worker_support.start()

    await built_surface.close()


# The registry


async def test_a_registered_surface_is_looked_up_part_by_part(built_surface: Surface) -> None:
    surfaces = SurfaceRegistry()
    surfaces.register_surface(built_surface)

    name = built_surface.name
    assert (surfaces.replying_names, surfaces.receive_only_names) == ([name], frozenset())
    assert surfaces.outbox_for(name) is built_surface.outbox
    assert surfaces.thread_placer_for(name) is built_surface.threads
    assert surfaces.directory_for(name) is built_surface.directory
    assert surfaces.attachment_source_for(name) is built_surface.files


async def test_this_process_does_not_reply_to_a_receive_only_surface(built_surface: Surface) -> None:
    surfaces = SurfaceRegistry()
    surfaces.register_receive_only(built_surface)

    name = built_surface.name
    assert (surfaces.replying_names, surfaces.receive_only_names) == ([], frozenset({name}))
    assert (surfaces.outbox_for(name), surfaces.thread_placer_for(name)) == (None, None)
    assert surfaces.directory_for(name) is built_surface.directory
    assert surfaces.attachment_source_for(name) is built_surface.files


def test_an_outbox_without_a_surface_has_no_other_parts() -> None:
    chat = FakeChat()
    surfaces = SurfaceRegistry({"slack": chat})

    assert surfaces.outbox_for("slack") is chat
    assert (surfaces.thread_placer_for("slack"), surfaces.directory_for("slack")) == (None, None)
    assert surfaces.outbox_for("teams") is None
