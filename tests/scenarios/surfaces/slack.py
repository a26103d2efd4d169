"""Slack as the scenarios use it: over the strict stand-in, by signed HTTP deliveries."""

import json
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from adapters.slack.events.http_endpoint import EVENTS_PATH
from adapters.slack.posting.api import SlackApi
from adapters.slack.posting.render import ACTION_PREFIX
from bot.bootstrap import open_application
from bot.ids import ConversationId, PersonId, Subject
from bot.settings import load_settings
from tests.adapters.slack.conftest import RecordedPauses, build_surface
from tests.bot.conftest import running_workers
from tests.scenarios.surfaces.abilities import SurfaceAbility
from tests.scenarios.surfaces.office import (
    BotSetup,
    ChatOffice,
    ChatPlace,
    DownloadFailure,
    OfferedFile,
    OfficePerson,
    ReceivedFile,
    SentMessage,
    ShownAnswer,
    ShownChoice,
)
from tests.scenarios.surfaces.serving import open_port
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage

COUNT_SUFFIX: Final = re.compile(r"(?P<label>.*) · (?P<count>[\d,]+)", re.DOTALL)
GENERAL, LOBBY = "C1GENERAL", "C2LOBBY"


@dataclass(kw_only=True)
class SlackDriver:
    """Fulfils `SurfaceDriver` with the stand-in's actions."""

    slack: SlackServer

    def private_place_of(self, person: OfficePerson) -> ChatPlace:
        return ChatPlace(key=self.slack.workspace.direct_channel_of(person.key).id, owner=person)

    def subject_of(self, place: ChatPlace) -> Subject | None:
        return Subject(f"user:{place.owner.id}" if place.owner else f"channel:slack:{TEAM}:{place.key}")

    async def add_guest(self, place: ChatPlace) -> OfficePerson:
        guest = self.slack.workspace.add_user(SlackMember(id="U9GUEST", name="Guest", is_guest=True))
        self._channel_at(place).members.append(guest.id)
        return person_of(guest)

    async def remove_app(self, place: ChatPlace) -> None:
        self._channel_at(place).members.remove(BOT_USER)

    async def deactivate_person(self, person: OfficePerson) -> None:
        await self.slack.change_user_fields(self._member_of(person), deleted=True)

    async def upload_file(self, person: OfficePerson, file: OfferedFile) -> OfferedFile:
        """The stand-in's address for the file has a plain name; Slack shows the given name."""
        stored = self.slack.upload_file(self._member_of(person), "upload", file.content, file.media_type)
        stored.name = file.name
        described = stored.describe_file()
        return OfferedFile(
            name=file.name,
            content=file.content,
            media_type=file.media_type,
            id=stored.id,
            link=described["permalink"],
        )

    async def send_text(
        self,
        person: OfficePerson,
        place: ChatPlace,
        text: str,
        *,
        thread: str | None = None,
        files: Sequence[OfferedFile] = (),
        deliveries: int = 1,
    ) -> SentMessage:
        mention = "" if place.owner else f"<@{BOT_USER}> "
        message, _ = await self.slack.post_as_person(
            self._member_of(person),
            self._channel_at(place),
            f"{mention}{text}",
            thread_ts=thread,
            files=[self.slack.workspace.files[file.id] for file in files],
            deliveries=deliveries,
        )
        return SentMessage(id=message.ts, place=place, thread=thread or message.ts, author=person)

    async def click_choice(self, person: OfficePerson, answer: ShownAnswer, choice: ShownChoice) -> None:
        action = f"{ACTION_PREFIX}{answer.choices.index(choice) + 1}"
        await self.slack.deliver_action(
            self._member_of(person),
            self._find_message(answer.place, answer.id),
            {"type": "button", "action_id": action, "value": choice.handle},
        )

    async def edit_text(self, message: SentMessage, text: str) -> None:
        mention = "" if message.place.owner else f"<@{BOT_USER}> "
        await self.slack.edit_message(self._find_message(message.place, message.id), f"{mention}{text}")

    async def delete_message(self, message: SentMessage) -> None:
        await self.slack.delete_message(self._find_message(message.place, message.id))

    async def remove_file(self, message: SentMessage, file: OfferedFile) -> None:
        await self.slack.remove_file(self._find_message(message.place, message.id), file.id)

    async def load_answers(self) -> list[ShownAnswer]:
        return [self._answer_of(message) for message in self.slack.workspace.bot_messages() if is_answer(message)]

    async def load_notices(self, person: OfficePerson) -> list[str]:
        messages = self.slack.workspace.bot_messages()
        return [message.visible_text() for message in messages if message.visible_to == person.key]

    async def load_files(self) -> list[ReceivedFile]:
        shown = [file_id for message in self.slack.workspace.bot_messages() for file_id in message.files]
        files = [self.slack.workspace.files[file_id] for file_id in shown]
        return [ReceivedFile(name=file.name, content=file.content or b"") for file in files if file.shared]

    def fail_downloads(self, *failures: DownloadFailure) -> None:
        faults = [Fault(status=failure.status or 0, retry_after=failure.retry_after_s) for failure in failures]
        self.slack.plan_faults("download", *faults)

    def count_downloads(self) -> int:
        return len(self.slack.calls_of("files.info"))

    # -- reading

    def _answer_of(self, message: SlackMessage) -> ShownAnswer:
        thread = message.thread_ts or message.ts
        return ShownAnswer(
            id=message.ts,
            place=self._place_of(message.channel),
            thread=thread,
            conversation=ConversationId(f"slack:{TEAM}:{message.channel}:{thread}"),
            text=message.visible_text(),
            choices=tuple(map(shown_choice_of, choice_buttons_of(message))),
            links=tuple(re.findall(r'"url": "([^"]+)"', json.dumps(message.blocks))),
            tables=tuple(tables_in(message.blocks)),
        )

    def _place_of(self, channel: str) -> ChatPlace:
        stored = self.slack.workspace.channels[channel]
        if stored.kind != "im":
            return ChatPlace(key=channel)
        return ChatPlace(key=channel, owner=person_of(self.slack.workspace.users[stored.members[0]]))

    def _channel_at(self, place: ChatPlace) -> SlackChannel:
        return self.slack.workspace.channels[place.key]

    def _member_of(self, person: OfficePerson) -> SlackMember:
        return self.slack.workspace.users[person.key]

    def _find_message(self, place: ChatPlace, ts: str) -> SlackMessage:
        message = self.slack.workspace.find_message(place.key, ts)
        assert message is not None
        return message


@dataclass(kw_only=True)
class SlackProduct:
    """Fulfils `ChatProduct`."""

    slack: SlackServer
    name: str = "slack"
    abilities: frozenset[SurfaceAbility] = frozenset(SurfaceAbility)
    pauses: RecordedPauses = field(default_factory=RecordedPauses)

    @asynccontextmanager
    async def connect_bot(self, home: Path, setup: BotSetup) -> AsyncGenerator[ChatOffice]:
        self.slack.scopes |= {"files:read"}
        self.slack.clock = lambda: setup.clock().timestamp()
        async with AsyncExitStack() as stack:
            port = open_port(stack)
            environ = {
                "PARLEY_EMBEDDER": "none",
                "PARLEY_PUBLIC_URL": port.address,
                "SLACK_BOT_TOKEN": TOKEN,
                "SLACK_SIGNING_SECRET": SIGNING_SECRET,
                "SLACK_API_URL": self.slack.api_url,
            }
            settings = load_settings(home, environ | dict(setup.environ)).settings
            bot = await stack.enter_async_context(
                open_application(settings, agent=setup.agent, reasoner=setup.reasoner, clock=setup.clock)
            )
            surface = build_surface(bot, SlackApi(token=TOKEN, base_url=self.slack.api_url, sleep=self.pauses))
            await port.serve_surface(bot, surface, stack)
            self.slack.app_url = f"{port.address}{EVENTS_PATH}"
            if setup.with_workers:
                await stack.enter_async_context(running_workers(bot))
            ada, bob = (
                person_of(self.slack.workspace.users.get(key) or self._add_member(key, name))
                for key, name in (("U1ADA", "Ada"), ("U2BOB", "Bob"))
            )
            general, lobby = (self._find_or_add_channel(key, ada, bob) for key in (GENERAL, LOBBY))
            yield ChatOffice(
                driver=SlackDriver(slack=self.slack),
                bot=bot,
                ada=ada,
                bob=bob,
                general=general,
                lobby=lobby,
                attaching_place=general,
            )

    def _add_member(self, key: str, name: str) -> SlackMember:
        return self.slack.workspace.add_user(SlackMember(id=key, name=name))

    def _find_or_add_channel(self, key: str, *people: OfficePerson) -> ChatPlace:
        if key not in self.slack.workspace.channels:
            members = [*(person.key for person in people), BOT_USER]
            self.slack.workspace.add_channel(SlackChannel(id=key, members=members))
        return ChatPlace(key=key)


def person_of(member: SlackMember) -> OfficePerson:
    return OfficePerson(id=PersonId(f"slack:{member.team}:{member.id}"), name=member.name, key=member.id)


def is_answer(message: SlackMessage) -> bool:
    return (message.metadata or {}).get("event_type") == "parley_turn"


def choice_buttons_of(message: SlackMessage) -> list[dict[str, Any]]:
    """The buttons of a clarification, without those for the turn itself."""
    return [button for button in message.block_buttons() if button["action_id"].startswith(ACTION_PREFIX)]


def shown_choice_of(button: dict[str, Any]) -> ShownChoice:
    text = str(button["text"]["text"])
    if match := COUNT_SUFFIX.fullmatch(text):
        return ShownChoice(label=match["label"], count=int(match["count"].replace(",", "")), handle=button["value"])
    return ShownChoice(label=text, count=None, handle=button["value"])


def tables_in(blocks: Sequence[dict[str, Any]]) -> list[tuple[tuple[str, ...], ...]]:
    """The tables of a message, as rows of what their cells show."""
    tables = [block for block in blocks if block["type"] == "data_table"]
    return [tuple(tuple(_cell_text_of(cell) for cell in row) for row in table["rows"]) for table in tables]


def _cell_text_of(cell: dict[str, Any]) -> str:
    """Parley's cells are `raw_text`."""
    return str(cell["text"])
