"""A workspace with Parley at work in it, for tests that act as people and look at Slack's own messages."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from aiohttp import web

from adapters.slack.app import surface as slack_surface
from adapters.slack.events.http_endpoint import EVENTS_PATH
from bot.application import Application
from bot.ids import Subject, TurnId
from tests.bot.conftest import running_workers, wait_until_finished
from tests.stand_ins.slack.server import SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage


@dataclass
class StoryOffice:
    """A workspace with a channel that may see both buckets, and Parley at work in it."""

    slack: SlackServer
    bot: Application
    ada: SlackMember
    bob: SlackMember
    general: SlackChannel

    async def ask(self, text: str, thread: str | None = None) -> SlackMessage:
        """Ada asks in the channel. Returns the finished answer."""
        return await self.say(self.ada, self.general, f"<@{BOT_USER}> {text}", thread)

    async def say(self, user: SlackMember, channel: SlackChannel, text: str, thread: str | None = None) -> SlackMessage:
        answer_count = len(self.text_answers())
        await self.slack.post_as_person(user, channel, text, thread_ts=thread)
        return await self.answer_after(answer_count)

    async def click(self, user: SlackMember, message: SlackMessage, label: str) -> SlackMessage:
        answer_count = len(self.text_answers())
        await self.slack.click_button(user, message, label)
        return await self.answer_after(answer_count)

    async def answer_after(self, answer_count: int) -> SlackMessage:
        """The next answer after the first `answer_count` answers, when its turn has ended."""
        await self.slack.wait_until(lambda: len(self.text_answers()) > answer_count)
        answer = self.text_answers()[answer_count]
        await wait_until_finished(self.bot, TurnId((answer.metadata or {})["event_payload"]["turn"]))
        return answer

    def ephemeral_texts(self, user: SlackMember) -> list[str]:
        """The messages that only this person sees."""
        return [message.text for message in self.slack.workspace.bot_messages() if message.visible_to == user.id]

    def text_answers(self) -> list[SlackMessage]:
        """The answers, without messages that only have a file."""
        return [message for message in self.slack.workspace.bot_messages() if message.metadata]


async def serve_slack(bot: Application, slack: SlackServer, stack: AsyncExitStack) -> None:
    surface = slack_surface(bot)
    assert surface is not None
    bot.register_surface(surface)
    app = web.Application()
    app.router.add_routes(surface.http_routes())
    runner = web.AppRunner(app)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.app_url = f"http://127.0.0.1:{runner.addresses[0][1]}{EVENTS_PATH}"
    await surface.start()
    stack.push_async_callback(surface.close)
    await stack.enter_async_context(running_workers(bot))


async def an_office(slack: SlackServer, bot: Application) -> StoryOffice:
    """An office with its own channel, so that tests do not share conversations."""
    workspace = slack.workspace
    ada, bob = (
        workspace.add_user(SlackMember(id="U1ADA", name="Ada")),
        workspace.add_user(SlackMember(id="U2BOB", name="Bob")),
    )
    general = workspace.add_channel(SlackChannel(id=f"C{id(slack):X}", members=[ada.id, bob.id, BOT_USER]))
    for bucket in await bot.index.load_bucket_states():
        await bot.grants.grant_bucket_access(bucket, Subject(f"channel:slack:{TEAM}:{general.id}"), by="operator")
    return StoryOffice(slack=slack, bot=bot, ada=ada, bob=bob, general=general)
