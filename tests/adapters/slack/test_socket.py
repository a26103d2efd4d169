"""Socket Mode: the same deliveries as over HTTP, acknowledged once they are stored, whatever becomes of connections."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from pydantic import SecretStr

from adapters.slack.app import SlackSurface
from adapters.slack.app import surface as slack_surface
from bot.errors import InvalidSettings
from bot.ids import TurnId
from bot.inbound import Inbound, Said
from tests.adapters.slack.conftest import InboxBot, SlackTestSettings
from tests.stand_ins.slack.server import APP_TOKEN, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, Channel, User

QUESTION = f"<@{BOT_USER}> List every tire receipt"


@pytest.fixture(autouse=True)
def socket_mode(slack: SlackServer) -> None:
    slack.socket_mode = True


@pytest.fixture
def bot(slack: SlackServer) -> InboxBot:
    return InboxBot(settings(slack))


def settings(slack: SlackServer, app_token: str = APP_TOKEN) -> SlackTestSettings:
    return SlackTestSettings(
        slack_api_url=slack.api_url, slack_signing_secret=None, slack_app_token=SecretStr(app_token)
    )


def built(bot: InboxBot) -> SlackSurface:
    surface = slack_surface(bot)
    assert surface is not None
    return surface


@pytest.fixture
async def surface(slack: SlackServer, bot: InboxBot) -> AsyncIterator[SlackSurface]:
    """Connected."""
    surface = built(bot)
    await surface.start()
    await slack.sockets.connected()
    yield surface
    await surface.close()


async def test_a_question_comes_without_any_route(
    surface: SlackSurface, slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    _, [delivered] = await slack.say(ada, general, QUESTION)

    routes: list[web.RouteDef] = list(surface.routes())
    assert routes == []
    assert delivered.statuses == [200]
    assert [inbound.body for inbound in bot.accepted] == [Said("List every tire receipt")]


@pytest.mark.usefixtures("surface")
async def test_what_could_not_be_stored_is_not_acknowledged_and_comes_again(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    bot.failures, slack.delivery_s = 1, 0.3

    _, [delivered] = await slack.say(ada, general, QUESTION)

    assert delivered.statuses == [None, 200]
    assert len(bot.accepted) == 1


@pytest.mark.usefixtures("surface")
async def test_a_message_under_eleven_event_ids_is_one_question(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    await slack.say(ada, general, QUESTION, deliveries=11)

    assert len(bot.accepted) == 1


@pytest.mark.usefixtures("surface")
@pytest.mark.parametrize("reason", ["refresh_requested", "warning"])
async def test_a_connection_that_slack_asks_to_go_has_a_successor(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel, reason: str
) -> None:
    await slack.sockets.disconnect(reason)
    await slack.sockets.opened_in_all(2)
    if reason == "warning":
        await slack.sockets.connections[0].close()
    await slack.sockets.connected()

    await slack.say(ada, general, QUESTION)

    assert len(bot.accepted) == 1


@pytest.mark.usefixtures("surface")
async def test_a_connection_that_slack_warns_of_is_listened_to_until_it_ends(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    await slack.sockets.disconnect("warning")
    await slack.sockets.connected(2)

    for words in ("one", "two"):
        await slack.say(ada, general, f"<@{BOT_USER}> {words}")

    assert [inbound.body for inbound in bot.accepted] == [Said("one"), Said("two")]


@pytest.mark.usefixtures("surface")
async def test_a_connection_that_breaks_is_opened_again(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    slack.fail("apps.connections.open", Fault(status=503), Fault(status=503))
    await slack.sockets.cut()
    await slack.sockets.opened_in_all(2)

    _, [delivered] = await slack.say(ada, general, QUESTION)

    assert delivered.statuses[-1] == 200
    assert len(bot.accepted) == 1


async def test_what_was_taken_is_acknowledged_before_the_connection_ends(
    slack: SlackServer, ada: User, general: Channel
) -> None:
    slow = SlowBot(settings(slack))
    surface = built(slow)
    await surface.start()
    await slack.sockets.connected()

    saying = asyncio.create_task(slack.say(ada, general, QUESTION))
    await slow.asked.wait()
    closing = asyncio.create_task(surface.close())
    await asyncio.sleep(0)
    slow.may_store.set()

    _, [delivered] = await saying
    await closing
    await slack.sockets.connected(0)
    assert delivered.statuses == [200]


async def test_a_slack_that_is_down_at_start_is_asked_again(
    slack: SlackServer, bot: InboxBot, ada: User, general: Channel
) -> None:
    slack.fail("apps.connections.open", *[Fault(status=503)] * 3)
    surface = built(bot)
    await surface.start()
    try:
        await slack.sockets.connected()
        await slack.say(ada, general, QUESTION)
        assert len(bot.accepted) == 1
    finally:
        await surface.close()


@pytest.mark.parametrize(
    ("app_token", "enabled", "advice"),
    [("xapp-other", True, "connections:write"), (TOKEN, True, "connections:write"), (APP_TOKEN, False, "turn on")],
)
async def test_an_app_token_that_slack_refuses_is_said_at_start(
    slack: SlackServer, app_token: str, advice: str, *, enabled: bool
) -> None:
    slack.socket_mode = enabled
    surface = built(InboxBot(settings(slack, app_token)))

    with pytest.raises(InvalidSettings, match=advice) as caught:
        await surface.start()
    await surface.close()

    assert caught.value.setting == "SLACK_APP_TOKEN"
    assert app_token not in str(caught.value)


class SlowBot(InboxBot):
    """Stores when it may."""

    def __init__(self, settings: SlackTestSettings) -> None:
        super().__init__(settings)
        self.asked, self.may_store = asyncio.Event(), asyncio.Event()

    async def accept(self, inbound: Inbound) -> TurnId | None:
        self.asked.set()
        await self.may_store.wait()
        return await super().accept(inbound)
