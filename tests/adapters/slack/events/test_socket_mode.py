"""Socket Mode: the same deliveries as over HTTP, acknowledged once stored, also when connections change or break."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from pydantic import SecretStr

from adapters.slack.app import SlackSurface
from adapters.slack.app import surface as slack_surface
from bot.errors import InvalidSettings
from bot.ids import TurnId
from bot.surface.inbound import Inbound, TextMessage
from tests.adapters.slack.conftest import InboxBot, SlackTestSettings
from tests.stand_ins.slack.server import APP_TOKEN, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, SlackChannel, SlackMember

QUESTION = f"<@{BOT_USER}> List every tire receipt"


@pytest.fixture(autouse=True)
def socket_mode(slack: SlackServer) -> None:
    slack.socket_mode = True


@pytest.fixture
def bot(slack: SlackServer) -> InboxBot:
    return InboxBot(socket_mode_settings(slack))


def socket_mode_settings(slack: SlackServer, app_token: str = APP_TOKEN) -> SlackTestSettings:
    return SlackTestSettings(api_url=slack.api_url, signing_secret=None, app_token=SecretStr(app_token))


def surface_for_bot(bot: InboxBot) -> SlackSurface:
    surface = slack_surface(bot)
    assert surface is not None
    return surface


@pytest.fixture
async def surface(slack: SlackServer, bot: InboxBot) -> AsyncIterator[SlackSurface]:
    """Yield a connected surface."""
    surface = surface_for_bot(bot)
    await surface.start()
    await slack.sockets.wait_for_connections()
    yield surface
    await surface.close()


async def test_a_question_arrives_without_an_http_route(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    _, [delivered] = await slack.post_as_person(ada, general, QUESTION)

    routes: list[web.RouteDef] = list(surface.http_routes())
    assert routes == []
    assert delivered.statuses == [200]
    assert [inbound.body for inbound in bot.accepted] == [TextMessage("List every tire receipt")]


@pytest.mark.usefixtures("surface")
async def test_a_question_that_cannot_be_stored_is_not_acknowledged_and_is_repeated(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    bot.remaining_failures, slack.delivery_s = 1, 0.3

    _, [delivered] = await slack.post_as_person(ada, general, QUESTION)

    assert delivered.statuses == [None, 200]
    assert len(bot.accepted) == 1


@pytest.mark.usefixtures("surface")
async def test_a_message_delivered_with_eleven_event_ids_is_one_question(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    await slack.post_as_person(ada, general, QUESTION, deliveries=11)

    assert len(bot.accepted) == 1


@pytest.mark.usefixtures("surface")
@pytest.mark.parametrize("reason", ["refresh_requested", "warning"])
async def test_a_connection_that_slack_disconnects_is_replaced(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel, reason: str
) -> None:
    await slack.sockets.announce_disconnect(reason)
    await slack.sockets.wait_for_openings(2)
    if reason == "warning":
        await slack.sockets.connections[0].close()
    await slack.sockets.wait_for_connections()

    await slack.post_as_person(ada, general, QUESTION)

    assert len(bot.accepted) == 1


@pytest.mark.usefixtures("surface")
async def test_a_connection_is_read_until_its_end_after_a_warning(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    await slack.sockets.announce_disconnect("warning")
    await slack.sockets.wait_for_connections(2)

    for text in ("one", "two"):
        await slack.post_as_person(ada, general, f"<@{BOT_USER}> {text}")

    assert [inbound.body for inbound in bot.accepted] == [TextMessage("one"), TextMessage("two")]


@pytest.mark.usefixtures("surface")
async def test_a_broken_connection_is_replaced(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    slack.plan_faults("apps.connections.open", Fault(status=503), Fault(status=503))
    await slack.sockets.break_connections()
    await slack.sockets.wait_for_openings(2)

    _, [delivered] = await slack.post_as_person(ada, general, QUESTION)

    assert delivered.statuses[-1] == 200
    assert len(bot.accepted) == 1


async def test_received_deliveries_are_acknowledged_before_the_connection_ends(
    slack: SlackServer, ada: SlackMember, general: SlackChannel
) -> None:
    slow_bot = SlowStoringBot(socket_mode_settings(slack))
    surface = surface_for_bot(slow_bot)
    await surface.start()
    await slack.sockets.wait_for_connections()

    saying = asyncio.create_task(slack.post_as_person(ada, general, QUESTION))
    await slow_bot.has_received.wait()
    closing = asyncio.create_task(surface.close())
    await asyncio.sleep(0)
    slow_bot.may_store.set()

    _, [delivered] = await saying
    await closing
    await slack.sockets.wait_for_connections(0)
    assert delivered.statuses == [200]


async def test_the_connection_is_retried_when_slack_is_down_at_start(
    slack: SlackServer, bot: InboxBot, ada: SlackMember, general: SlackChannel
) -> None:
    slack.plan_faults("apps.connections.open", *[Fault(status=503)] * 3)
    surface = surface_for_bot(bot)
    await surface.start()
    try:
        await slack.sockets.wait_for_connections()
        await slack.post_as_person(ada, general, QUESTION)
        assert len(bot.accepted) == 1
    finally:
        await surface.close()


@pytest.mark.parametrize(
    ("app_token", "enabled", "advice"),
    [("xapp-other", True, "connections:write"), (TOKEN, True, "connections:write"), (APP_TOKEN, False, "turn on")],
)
async def test_a_refused_app_token_raises_at_start(
    slack: SlackServer, app_token: str, advice: str, *, enabled: bool
) -> None:
    slack.socket_mode = enabled
    surface = surface_for_bot(InboxBot(socket_mode_settings(slack, app_token)))

    with pytest.raises(InvalidSettings, match=advice) as caught:
        await surface.start()
    await surface.close()

    assert caught.value.setting == "SLACK_APP_TOKEN"
    assert app_token not in str(caught.value)


class SlowStoringBot(InboxBot):
    """A bot that waits for `may_store` before it stores an inbound."""

    def __init__(self, settings: SlackTestSettings) -> None:
        super().__init__(settings)
        self.has_received, self.may_store = asyncio.Event(), asyncio.Event()

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None:
        self.has_received.set()
        await self.may_store.wait()
        return await super().accept_inbound(inbound)
