"""Teams for the permission matrix, over the strict stand-in."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import aiohttp

from adapters.teams.addresses import channel_subject_of, person_id_of, team_subject_of
from adapters.teams.app import surface as teams_surface
from adapters.teams.directory.member_lookup import CACHE_TTL
from adapters.teams.receiving.http_endpoint import MESSAGES_PATH
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import EVERYONE, PersonId, Subject
from bot.settings import load_settings
from storage.search.ids import BucketId
from tests.bot.conftest import running_workers
from tests.scenarios.matrix.marked_buckets import LINK, OPEN, SECRET, shown_page_of
from tests.scenarios.matrix.stored_turns import wait_until_no_turn_is_open
from tests.scenarios.matrix.town import TOWN_LIMIT_S, Cell, SeatKind
from tests.scenarios.surfaces.serving import open_port
from tests.scenarios.surfaces.teams import settings_of
from tests.scenarios.surfaces.teams_messages import offers_file
from tests.stand_ins.teams.files import UploadSession
from tests.stand_ins.teams.json_parts import object_of
from tests.stand_ins.teams.server import TeamsServer
from tests.stand_ins.teams.tenancy import TENANT, TenantConversation, TenantMessage, TenantPerson, identifier_of


@dataclass
class LateTeamsServer(TeamsServer):
    """Delivers what people did in conversations that they are in no longer: the delivery is late."""

    def _check_member(self, person: TenantPerson, place: TenantConversation) -> None:
        """Everyone may act."""


@dataclass(kw_only=True)
class TownClock:
    """The present time, ahead by `ahead`."""

    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


@dataclass(frozen=True, kw_only=True)
class TeamsSeat:
    """A separate person with a channel, a group chat and a personal chat. Ada is in the first two."""

    person: TenantPerson
    channel: TenantConversation
    group: TenantConversation
    private: TenantConversation


TeamsWay: TypeAlias = "Callable[[TeamsTown, TeamsSeat, str, TenantMessage | None], Awaitable[None]]"


@dataclass(kw_only=True)
class TeamsTown:
    """Fulfils `MatrixTown`. A way is given the message from when the person had the right, else None."""

    teams: TeamsServer
    bot: Application
    http: aiohttp.ClientSession
    clock: TownClock
    ada: TenantPerson  # may always see the secret bucket
    ways: Mapping[str, TeamsWay]
    seats: dict[Cell, TeamsSeat] = field(default_factory=dict[Cell, TeamsSeat])
    offers: dict[Cell, TenantMessage] = field(default_factory=dict[Cell, TenantMessage])
    questions: dict[Cell, TenantMessage] = field(default_factory=dict[Cell, TenantMessage])  # of the offers
    fetched: dict[str, list[str]] = field(default_factory=dict[str, list[str]])  # by person
    uploads: dict[str, list[UploadSession]] = field(default_factory=dict[str, list[UploadSession]])  # by person
    offer: TenantMessage | None = None  # choices about the secret bucket, sent only to Ada
    answer: TenantMessage | None = None  # an answer from the secret bucket, sent only to Ada
    consent: TenantMessage | None = None  # offers Ada a file of the secret bucket
    link: str = ""  # to Ada's export file
    watched_calls: int = 0  # made before the watching began
    watched_deliveries: int = 0

    @property
    def offer_of_ada(self) -> TenantMessage:
        assert self.offer is not None
        return self.offer

    @property
    def answer_to_ada(self) -> TenantMessage:
        assert self.answer is not None
        return self.answer

    @property
    def consent_of_ada(self) -> TenantMessage:
        assert self.consent is not None
        return self.consent

    # -- seats and rights

    def add_seat(self, cell: Cell, name: str, kind: SeatKind) -> None:
        tenant = self.teams.tenant
        match kind:
            case SeatKind.MEMBER:
                person = tenant.add_person(name)
            case SeatKind.GUEST:
                person = tenant.add_guest(name)
            case SeatKind.EXTERNAL:
                person = tenant.add_federated_person(name)
        team = tenant.add_team(f"Team of {name}", person, self.ada)
        self.seats[cell] = TeamsSeat(
            person=person,
            channel=tenant.conversations[team.id],
            group=tenant.add_group_chat(f"Chat of {name}", person, self.ada),
            private=tenant.personal_chat_of(person),
        )

    def channel_subject_of(self, cell: Cell) -> Subject:
        return channel_subject_of(TENANT, self.seats[cell].channel.id)

    def person_subject_of(self, cell: Cell) -> Subject:
        person = self.seats[cell].person
        return Subject(f"user:{person_id_of(person.tenant, person.object_id)}")

    async def entitle_seat(self, cell: Cell) -> None:
        """By grants to the person, to the group chat, and to the team of the channel."""
        for subject in self._entitled_subjects_of(cell):
            await self.grant(SECRET, subject)

    async def end_entitlements(self) -> None:
        for cell in self.seats:
            for subject in self._entitled_subjects_of(cell):
                await self.bot.grants.revoke_grant(SECRET, subject, by="operator")

    def _entitled_subjects_of(self, cell: Cell) -> list[Subject]:
        seat = self.seats[cell]
        team = team_subject_of(TENANT, seat.channel.team.id if seat.channel.team else "")
        return [self.person_subject_of(cell), channel_subject_of(TENANT, seat.group.id), team]

    async def deactivate_people(self) -> None:
        """They are in no roster any more. Parley sees it once the rosters are read again."""
        for seat in self.seats.values():
            for conversation in (seat.channel, seat.group, seat.private):
                conversation.roster.remove(seat.person.id)
        self.clock.ahead += CACHE_TTL + timedelta(seconds=1)

    async def grant(self, bucket: BucketId, subject: str) -> None:
        await self.bot.grants.grant_bucket_access(bucket, Subject(subject), by="operator")

    # -- offers

    async def answer_ada_at(self, cell: Cell) -> None:
        """The answer is complete after `wait_until_quiet`."""
        await self.teams.say(self.ada, self.seats[cell].channel, "List every ledger")

    async def make_offers_to_ada(self) -> None:
        self.answer = await self._ask_as_ada("What may be hunted at dawn?")
        self.offer = await self._ask_as_ada("List every ledger")
        private = self.teams.tenant.personal_chat_of(self.ada)
        self.consent = await self._export_from(self.ada, private, self.offer)
        assert offers_file(self.consent)
        linking_message = await self._export_as_link(self.ada, private, await self._ask_as_ada("List every ledger"))
        self.link = LINK.findall(json.dumps(linking_message.activity))[0]

    async def make_offers(self, question_by_cell: Mapping[Cell, str]) -> None:
        for cell, question in question_by_cell.items():
            seat = self.seats[cell]
            self.questions[cell], _ = await self.teams.say(seat.person, seat.private, question)
        await self.wait_until_quiet()
        for cell in question_by_cell:
            seat = self.seats[cell]
            offer = self.messages_in(seat.private)[-1]
            match cell:
                case ("download", "all"):
                    self.offers[cell] = await self._export_as_link(seat.person, seat.private, offer)
                case ("file consent", "all"):
                    self.offers[cell] = await self._export_from(seat.person, seat.private, offer)
                case _:
                    self.offers[cell] = offer

    async def _ask_as_ada(self, words: str) -> TenantMessage:
        await self.teams.say(self.ada, None, words)
        await self.wait_until_quiet()
        return self.messages_in(self.teams.tenant.personal_chat_of(self.ada))[-1]

    async def _export_from(self, person: TenantPerson, chat: TenantConversation, offer: TenantMessage) -> TenantMessage:
        """The last message of the export: it offers the file, or links to it."""
        await self.teams.click(person, offer, "Export all")
        await self.wait_until_quiet()
        return self.messages_in(chat)[-1]

    async def _export_as_link(
        self, person: TenantPerson, chat: TenantConversation, offer: TenantMessage
    ) -> TenantMessage:
        """A link because Teams takes no offers of files, as in the clouds of governments."""
        self.teams.supports_files = False
        try:
            return await self._export_from(person, chat, offer)
        finally:
            self.teams.supports_files = True

    # -- ways

    def begin_watching(self) -> None:
        self.watched_calls, self.watched_deliveries = len(self.teams.calls), len(self.teams.deliveries)

    async def use_way(self, cell: Cell, words: str) -> None:
        await self.ways[cell[0]](self, self.seats[cell], words, self.offers.get(cell))

    def question_of(self, offer: TenantMessage) -> TenantMessage:
        [cell] = [cell for cell, message in self.offers.items() if message is offer]
        return self.questions[cell]

    async def wait_until_quiet(self) -> None:
        await wait_until_no_turn_is_open(self.bot)

    async def post_any_message(self, seat: TeamsSeat) -> TenantMessage:
        message, _ = await self.teams.say(seat.person, seat.private, "hello")
        return message

    async def fetch(self, person: TenantPerson, address: str) -> None:
        url = address if address.startswith("http") else self.teams.app_url.removesuffix(MESSAGES_PATH) + address
        async with self.http.get(url) as response:
            page = shown_page_of(response.headers, await response.text())
            self.fetched.setdefault(person.id, []).append(page)

    async def accept_file(self, person: TenantPerson, message: TenantMessage) -> None:
        """Accepts the file that the message offers, and waits until Parley has uploaded it, or has refused."""
        known_uploads = set(self.teams.files.uploads)
        await self.teams.accept(person, message)
        [key] = self.teams.files.uploads.keys() - known_uploads
        self.uploads.setdefault(person.id, []).append(self.teams.files.uploads[key])

    def messages_in(self, conversation: TenantConversation) -> list[TenantMessage]:
        return self.teams.tenant.bot_messages(conversation)

    # -- what is seen

    def texts_seen_at(self, cell: Cell) -> list[str]:
        """As JSON; also what Teams has refused to show."""
        seat = self.seats[cell]
        places = (seat.channel.id, seat.group.id, seat.private.id)
        sent = [call.body for call in self.teams.calls[self.watched_calls :] if call.conversation.startswith(places)]
        answers = [
            delivery.body
            for delivery in self.teams.deliveries[self.watched_deliveries :]
            if object_of(delivery.activity, "from").get("id") == seat.person.id
        ]
        files = list(self._file_texts(self.uploads.get(seat.person.id, [])))
        return [*map(json.dumps, sent), *answers, *self.fetched.get(seat.person.id, []), *files]

    def _file_texts(self, sessions: Sequence[UploadSession]) -> Iterator[str]:
        """The name alone proves nothing: it is that of the offer, which the person has read before."""
        for session in sessions:
            if session.content:
                yield f"{session.name} {session.content.decode('utf-8-sig')}"


@asynccontextmanager
async def open_teams_town(
    home: Path, ways: Mapping[str, TeamsWay], *, admins: Sequence[PersonId] = ()
) -> AsyncGenerator[TeamsTown]:
    async with AsyncExitStack() as stack:
        teams = await stack.enter_async_context(LateTeamsServer())
        clock = TownClock()
        teams.clock = lambda: clock().timestamp()
        port = open_port(stack)
        environ = {
            "PARLEY_EMBEDDER": "none",
            "PARLEY_ADMINS": ",".join(admins),
            "PARLEY_PUBLIC_URL": port.address,
            **settings_of(teams),
        }
        settings = load_settings(home, environ).settings
        bot = await stack.enter_async_context(open_application(settings, clock=clock))
        surface = teams_surface(bot)
        assert surface is not None
        teams.app_url = f"{port.address}{MESSAGES_PATH}"
        await port.serve_surface(bot, surface, stack)
        await stack.enter_async_context(running_workers(bot, limit_s=TOWN_LIMIT_S))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        ada = teams.tenant.add_person("Ada")
        town = TeamsTown(teams=teams, bot=bot, http=http, clock=clock, ada=ada, ways=ways)
        await town.grant(SECRET, f"user:{person_id_of(TENANT, ada.object_id)}")
        await town.grant(OPEN, EVERYONE)
        yield town


def member_id_of(name: str) -> PersonId:
    """The person whom `StandInTenant.add_person` makes of the name."""
    return person_id_of(TENANT, identifier_of("person", TENANT, name))


def submissions_in(message: TenantMessage) -> list[dict[str, Any]]:
    """The data of the message's buttons."""
    return [data for action in message.card_actions() if (data := object_of(action, "data"))]
