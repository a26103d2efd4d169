"""A Slack workspace in which people attach files. One channel may see some receipts."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adapters.slack.posting.api import SlackApi
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import BucketId, Subject, TurnId
from bot.settings import load_settings
from storage.ingest.pipeline import ingest_files
from tests.adapters.slack.conftest import RecordedPauses, build_surface, serve_surface
from tests.bot.conftest import running_workers, wait_until_finished
from tests.scenarios.attaching import LEASE, PDF, write_receipts
from tests.stand_ins.slack.server import TOKEN, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage, StoredFile


@dataclass(kw_only=True)
class AttachmentDesk:
    """Ada, and her channel that may see the receipts."""

    slack: SlackServer
    bot: Application
    ada: SlackMember
    general: SlackChannel
    pauses: RecordedPauses = field(default_factory=RecordedPauses)

    async def ask(self, text: str, *files: StoredFile) -> SlackMessage:
        """Ada asks in the channel. Returns the finished answer."""
        answer_count = len(self.answers())
        await self.slack.post_as_person(self.ada, self.general, f"<@{BOT_USER}> {text}", files=files)
        return await self.answer_after(answer_count)

    async def answer_after(self, answer_count: int) -> SlackMessage:
        await self.slack.wait_until(lambda: len(self.answers()) > answer_count, within_s=30)
        answer = self.answers()[answer_count]
        await wait_until_finished(self.bot, TurnId((answer.metadata or {})["event_payload"]["turn"]))
        return answer

    def answers(self) -> list[SlackMessage]:
        """The bot's messages that belong to a turn."""
        messages = self.slack.workspace.bot_messages()
        return [message for message in messages if (message.metadata or {}).get("event_type") == "parley_turn"]

    def upload_lease(self) -> StoredFile:
        return self.slack.upload_file(self.ada, "Harbour lease.pdf", LEASE, PDF)


@asynccontextmanager
async def a_desk(slack: SlackServer, home: Path, *, with_worker: bool = True) -> AsyncGenerator[AttachmentDesk]:
    """Parley with the right to read files, over a new home that is filled with receipts.

    Without `with_worker` the bot receives messages but does not answer them.
    """
    slack.scopes |= {"files:read"}
    async with AsyncExitStack() as stack:
        settings = load_settings(home, {"PARLEY_EMBEDDER": "none", "PARLEY_OVERLOAD_LIMIT": "20"}).settings
        bot = await stack.enter_async_context(open_application(settings))
        await ingest_files(bot.index, [write_receipts(home)], extractor=bot.extractor, bucket=BucketId("receipts"))
        desk = _prepare_desk(slack, bot)
        await bot.grants.grant_bucket_access(
            BucketId("receipts"), Subject(f"channel:slack:{TEAM}:{desk.general.id}"), by="operator"
        )
        surface = build_surface(bot, SlackApi(token=TOKEN, base_url=slack.api_url, sleep=desk.pauses))
        bot.register_surface(surface)
        await stack.enter_async_context(serve_surface(surface, slack))
        if with_worker:
            await stack.enter_async_context(running_workers(bot))
        yield desk


def _prepare_desk(slack: SlackServer, bot: Application) -> AttachmentDesk:
    ada = slack.workspace.add_user(SlackMember(id="U1ADA", name="Ada"))
    general = slack.workspace.add_channel(SlackChannel(id="C1GENERAL", members=[ada.id, BOT_USER]))
    return AttachmentDesk(slack=slack, bot=bot, ada=ada, general=general)
