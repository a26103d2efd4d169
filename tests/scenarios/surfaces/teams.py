"""Teams as the scenarios use it: over the strict stand-in, by signed deliveries to the surface's own route.

Files are attached in personal chats alone, because Teams hands bots none elsewhere. Exported files come with the
person's consent there, and by a signed link in channels.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aiohttp import ClientSession
from sqlalchemy import select

from adapters.teams.addresses import channel_subject_of, conversation_id_of, person_id_of
from adapters.teams.app import surface as teams_surface
from adapters.teams.receiving.http_endpoint import MESSAGES_PATH
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import Subject
from bot.settings import load_settings
from storage.sql.stores.turns import turns
from tests.bot.conftest import running_workers
from tests.scenarios.surfaces.abilities import SurfaceAbility
from tests.scenarios.surfaces.limited import LimitedDriver
from tests.scenarios.surfaces.office import (
    WAITING_LIMIT_S,
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
from tests.scenarios.surfaces.teams_messages import (
    choices_of,
    group_messages,
    is_about_file,
    links_of,
    offers_file,
    open_url_addresses_of,
    shown_text_of,
    tables_of,
)
from tests.stand_ins.teams.server import TeamsFault, TeamsServer
from tests.stand_ins.teams.tenancy import TenantConversation, TenantMessage, TenantPerson

ABILITIES: Final = frozenset(SurfaceAbility) - {
    SurfaceAbility.CHANNEL_ATTACHMENTS,
    SurfaceAbility.MEDIA_TYPES,
    SurfaceAbility.PRIVATE_THREADS,
    SurfaceAbility.REMOVABLE_ATTACHMENTS,
}


@dataclass(kw_only=True)
class TeamsDriver(LimitedDriver):
    """Fulfils `SurfaceDriver`. A thread is the conversation as activities name it: in a channel with its root."""

    teams: TeamsServer
    bot: Application
    uploads: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])  # attachments by file id
    accepted: list[str] = field(default_factory=list[str])  # ids of messages whose file was accepted

    def private_place_of(self, person: OfficePerson) -> ChatPlace:
        return ChatPlace(key=self.teams.tenant.personal_chat_of(self._member_of(person)).id, owner=person)

    def subject_of(self, place: ChatPlace) -> Subject | None:
        if place.owner is not None:
            return Subject(f"user:{place.owner.id}")
        return channel_subject_of(self.teams.tenant.id, place.key)

    async def add_guest(self, place: ChatPlace) -> OfficePerson:
        guest = self.teams.tenant.add_guest("Guest")
        conversation = self._conversation_at(place)
        await self.teams.add_member(guest, conversation, self.teams.tenant.people[conversation.roster[0]])
        return person_of(guest)

    async def remove_app(self, place: ChatPlace) -> None:
        conversation = self._conversation_at(place)
        await self.teams.uninstall_app(self.teams.tenant.people[conversation.roster[0]], conversation)

    async def deactivate_person(self, person: OfficePerson) -> None:
        self.teams.tenant.deactivate_person(self._member_of(person))

    async def upload_file(self, person: OfficePerson, file: OfferedFile) -> OfferedFile:
        attachment = self.teams.upload_attachment(file.name, file.content, file.media_type)
        key = str(attachment["content"]["uniqueId"])
        self.uploads[key] = attachment
        link = str(attachment["contentUrl"])
        return OfferedFile(name=file.name, content=file.content, media_type=file.media_type, id=key, link=link)

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
        message, _ = await self.teams.say(
            self._member_of(person),
            self._conversation_at(place),
            text,
            thread=self._find_root(place, thread) if thread is not None and place.owner is None else None,
            attachments=[self.uploads[file.id] for file in files],
            deliveries=deliveries,
        )
        return SentMessage(id=message.id, place=place, thread=message.address, author=person)

    async def click_choice(self, person: OfficePerson, answer: ShownAnswer, choice: ShownChoice) -> None:
        handle = json.loads(choice.handle)
        message = self._find_message(answer.place, handle["message"])
        await self.teams.submit_card(self._member_of(person), message, handle["data"])

    async def edit_text(self, message: SentMessage, text: str) -> None:
        await self.teams.edit_message(self._find_message(message.place, message.id), text)

    async def delete_message(self, message: SentMessage) -> None:
        await self.teams.delete_message(self._find_message(message.place, message.id))

    async def load_answers(self) -> list[ShownAnswer]:
        notices = await self._load_notice_ids()
        return [
            self._answer_of(group)
            for group in group_messages(self.teams.tenant.bot_messages())
            if group[0].id not in notices and not is_about_file(group[0])
        ]

    async def load_notices(self, person: OfficePerson) -> list[str]:
        chat, notices = self.private_place_of(person).key, await self._load_notice_ids()
        messages = self.teams.tenant.bot_messages()
        return [
            shown_text_of(message) for message in messages if message.conversation == chat and message.id in notices
        ]

    async def load_files(self) -> list[ReceivedFile]:
        """Accepts the files that are offered, and opens the links to others."""
        for message in self.teams.tenant.bot_messages():
            if offers_file(message) and message.id not in self.accepted:
                await self._accept_file(message)
        uploaded = [ReceivedFile(name=name, content=data) for name, data in self._uploaded_files().items()]
        return [*uploaded, *(await self._download_linked_files())]

    def fail_downloads(self, *failures: DownloadFailure) -> None:
        faults = [TeamsFault(status=failure.status or 0, retry_after=failure.retry_after_s) for failure in failures]
        self.teams.plan_faults("download", *faults)

    def count_downloads(self) -> int:
        return self.teams.files.download_count

    # -- files

    async def _accept_file(self, message: TenantMessage) -> None:
        """Returns when the upload has ended."""
        [owner] = self.teams.tenant.conversations[message.conversation].members
        known_count = len(self._uploaded_files())
        await self.teams.accept(self.teams.tenant.people[owner], message)
        await self.teams.wait_until(lambda: len(self._uploaded_files()) > known_count, within_s=WAITING_LIMIT_S)
        self.accepted.append(message.id)

    def _uploaded_files(self) -> dict[str, bytes]:
        return self.teams.files.uploaded_files()

    async def _download_linked_files(self) -> list[ReceivedFile]:
        addresses = [
            (title.removeprefix("Download "), address)
            for message in self.teams.tenant.bot_messages()
            for title, address in open_url_addresses_of(message).items()
            if title.startswith("Download ")
        ]
        async with ClientSession() as http:
            return [await _download_file(http, name, address) for name, address in addresses]

    # -- reading

    def _answer_of(self, group: Sequence[TenantMessage]) -> ShownAnswer:
        """`group`: the message, then the cards below it."""
        message = group[0]
        return ShownAnswer(
            id=message.id,
            place=self._place_of(message),
            thread=message.address,
            conversation=conversation_id_of(self.teams.tenant.id, message.address),
            text="\n".join(map(shown_text_of, group)),
            choices=tuple(choice for part in group for choice in choices_of(part)),
            links=tuple(link for part in group for link in links_of(part)),
            tables=tuple(table for part in group for table in tables_of(part)),
        )

    async def _load_notice_ids(self) -> frozenset[str]:
        """Messages that answer no turn, in private chats in which the person has written nothing."""
        query = select(turns.c.placeholder).where(turns.c.placeholder.is_not(None))
        answering = set(await self.bot.database.run_read(lambda connection: connection.execute(query).scalars().all()))
        written = {message.conversation for message in self.teams.tenant.messages if message.sender != self._bot_id}
        return frozenset(
            message.id
            for message in self.teams.tenant.bot_messages()
            if self._place_of(message).owner is not None
            and message.conversation not in written
            and message.id not in answering
        )

    @property
    def _bot_id(self) -> str:
        return self.teams.tenant.bot_id

    def _place_of(self, message: TenantMessage) -> ChatPlace:
        conversation = self.teams.tenant.conversations[message.conversation]
        if conversation.kind != "personal":
            return ChatPlace(key=conversation.id)
        return ChatPlace(key=conversation.id, owner=person_of(self.teams.tenant.people[conversation.members[0]]))

    def _conversation_at(self, place: ChatPlace) -> TenantConversation:
        return self.teams.tenant.conversations[place.key]

    def _member_of(self, person: OfficePerson) -> TenantPerson:
        return self.teams.tenant.people[person.key]

    def _find_root(self, place: ChatPlace, thread: str) -> TenantMessage:
        return self._find_message(place, thread.rpartition(";messageid=")[2])

    def _find_message(self, place: ChatPlace, message_id: str) -> TenantMessage:
        message = self.teams.tenant.find_message(place.key, message_id)
        assert message is not None
        return message


@dataclass(kw_only=True)
class TeamsProduct:
    """Fulfils `ChatProduct`."""

    teams: TeamsServer
    name: str = "teams"
    abilities: frozenset[SurfaceAbility] = ABILITIES
    uploads: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    @asynccontextmanager
    async def connect_bot(self, home: Path, setup: BotSetup) -> AsyncGenerator[ChatOffice]:
        self.teams.clock = lambda: setup.clock().timestamp()
        async with AsyncExitStack() as stack:
            port = open_port(stack)
            environ = {"PARLEY_EMBEDDER": "none", "PARLEY_PUBLIC_URL": port.address} | settings_of(self.teams)
            settings = load_settings(home, environ | dict(setup.environ)).settings
            bot = await stack.enter_async_context(
                open_application(settings, agent=setup.agent, reasoner=setup.reasoner, clock=setup.clock)
            )
            surface = teams_surface(bot)
            assert surface is not None
            self.teams.app_url = f"{port.address}{MESSAGES_PATH}"
            await port.serve_surface(bot, surface, stack)
            if setup.with_workers:
                await stack.enter_async_context(running_workers(bot))
            ada, bob = (self._find_or_add_person(name) for name in ("Ada", "Bob"))
            general, lobby = self._find_or_add_channels(ada, bob)
            driver = TeamsDriver(teams=self.teams, bot=bot, uploads=self.uploads)
            yield ChatOffice(
                driver=driver,
                bot=bot,
                ada=person_of(ada),
                bob=person_of(bob),
                general=general,
                lobby=lobby,
                attaching_place=driver.private_place_of(person_of(ada)),
            )

    def _find_or_add_person(self, name: str) -> TenantPerson:
        known = (person for person in self.teams.tenant.people.values() if person.name == name)
        return next(known, None) or self.teams.tenant.add_person(name)

    def _find_or_add_channels(self, *people: TenantPerson) -> list[ChatPlace]:
        tenant = self.teams.tenant
        if not tenant.teams:
            team = tenant.add_team("Plant", *people)
            tenant.add_channel(team, "Lobby")
        channels = [conversation for conversation in tenant.conversations.values() if conversation.kind == "channel"]
        return [ChatPlace(key=channel.id) for channel in channels]


def settings_of(teams: TeamsServer) -> dict[str, str]:
    """The environment of an app that the stand-in knows."""
    app = teams.registration
    return {
        "MICROSOFT_APP_ID": app.app_id,
        "MICROSOFT_APP_PASSWORD": app.secret,
        "MICROSOFT_APP_TENANT_ID": teams.tenant.id,
        "MICROSOFT_APP_TYPE": app.kind,
        "PARLEY_TEAMS_OPENID_URL": teams.openid_url,
        "PARLEY_TEAMS_TOKEN_URL": teams.token_url,
    }


def person_of(person: TenantPerson) -> OfficePerson:
    return OfficePerson(id=person_id_of(person.tenant, person.object_id), name=person.name, key=person.id)


async def _download_file(http: ClientSession, name: str, address: str) -> ReceivedFile:
    async with http.get(address) as response:
        assert response.status == 200
        return ReceivedFile(name=name, content=await response.read())
