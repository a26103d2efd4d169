"""Slack for the permission matrix, over the strict stand-in."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import aiohttp

from adapters.slack.app import surface as slack_surface
from adapters.slack.events.http_endpoint import EVENTS_PATH
from bot.application import Application
from bot.bootstrap import open_application
from bot.ids import EVERYONE, PersonId, Subject
from bot.settings import load_settings
from storage.search.ids import BucketId
from tests.bot.conftest import running_workers
from tests.scenarios.matrix.marked_buckets import LINK, OPEN, SECRET, shown_page_of
from tests.scenarios.matrix.stored_turns import load_clarification_of, wait_until_no_turn_is_open
from tests.scenarios.matrix.town import TOWN_LIMIT_S, Cell, SeatKind
from tests.scenarios.surfaces.serving import open_port
from tests.stand_ins.slack.server import SIGNING_SECRET, TOKEN, Fault, SlackServer
from tests.stand_ins.slack.workspace import BOT_USER, TEAM, SlackChannel, SlackMember, SlackMessage, SlackUsergroup

ENTITLED: Final = "S0ENTITLED"
OTHER_TEAM: Final = "T9OTHER"


@dataclass(frozen=True, kw_only=True)
class SlackSeat:
    """A separate person with their own channel and direct messages."""

    person: SlackMember
    channel: SlackChannel
    direct: SlackChannel


@dataclass(kw_only=True)
class FetchedPage:
    """An answer of the HTTP port, with the person who requested it."""

    person: str
    text: str


SlackWay: TypeAlias = "Callable[[SlackTown, SlackSeat, str, SlackMessage | None], Awaitable[None]]"


@dataclass(kw_only=True)
class SlackTown:
    """Fulfils `MatrixTown`. A way is given the message with buttons from when the person had the right, else None."""

    slack: SlackServer
    bot: Application
    http: aiohttp.ClientSession
    port: str
    ada: SlackMember  # may always see the secret bucket
    ways: Mapping[str, SlackWay]
    seats: dict[Cell, SlackSeat] = field(default_factory=dict[Cell, SlackSeat])
    offers: dict[Cell, SlackMessage] = field(default_factory=dict[Cell, SlackMessage])
    fetched: list[FetchedPage] = field(default_factory=list[FetchedPage])
    offer: SlackMessage | None = None  # choices about the secret bucket, sent only to Ada
    answer: SlackMessage | None = None  # an answer from the secret bucket, sent only to Ada
    link: str = ""  # to Ada's export file
    roots: dict[str, str] = field(default_factory=dict[str, str])  # thread of Ada's answered question, by channel
    watched_from: int = 0  # the number of calls before the watching began

    @property
    def offer_of_ada(self) -> SlackMessage:
        assert self.offer is not None
        return self.offer

    @property
    def answer_to_ada(self) -> SlackMessage:
        assert self.answer is not None
        return self.answer

    @property
    def direct_of_ada(self) -> SlackChannel:
        return self.slack.workspace.direct_channel_of(self.ada.id)

    # -- seats and rights

    def add_seat(self, cell: Cell, name: str, kind: SeatKind) -> None:
        workspace = self.slack.workspace
        is_external = kind is SeatKind.EXTERNAL
        member = SlackMember(
            id=user_of(name),
            name=name,
            team=OTHER_TEAM if is_external else TEAM,
            is_guest=kind is SeatKind.GUEST,
            is_stranger=is_external,
        )
        user = workspace.add_user(member)
        members = [user.id, self.ada.id, BOT_USER]
        channel = SlackChannel(id=f"C{name.upper()}", members=members, is_ext_shared=is_external)
        self.seats[cell] = SlackSeat(
            person=user, channel=workspace.add_channel(channel), direct=workspace.direct_channel_of(user.id)
        )

    def channel_subject_of(self, cell: Cell) -> Subject:
        return Subject(f"channel:slack:{TEAM}:{self.seats[cell].channel.id}")

    def person_subject_of(self, cell: Cell) -> Subject:
        return Subject(f"user:slack:{TEAM}:{self.seats[cell].person.id}")

    async def entitle_seat(self, cell: Cell) -> None:
        """By a grant to the channel, and by membership of a user group with a grant."""
        await self.grant(SECRET, self.channel_subject_of(cell))
        await self.grant(SECRET, f"group:slack:{TEAM}:{ENTITLED}")
        self.slack.workspace.groups[ENTITLED].members.append(self.seats[cell].person.id)

    async def end_entitlements(self) -> None:
        for cell in self.seats:
            await self.bot.grants.revoke_grant(SECRET, self.channel_subject_of(cell), by="operator")
        await self.slack.change_group(self.slack.workspace.groups[ENTITLED], [self.ada.id])

    async def deactivate_people(self) -> None:
        for seat in self.seats.values():
            await self.slack.change_user_fields(seat.person, deleted=True)

    async def grant(self, bucket: BucketId, subject: str) -> None:
        await self.bot.grants.grant_bucket_access(bucket, Subject(subject), by="operator")

    # -- offers

    async def answer_ada_at(self, cell: Cell) -> None:
        """The answer is complete after `wait_until_quiet`."""
        channel = self.seats[cell].channel
        question, _ = await self.slack.post_as_person(self.ada, channel, f"<@{BOT_USER}> List every ledger")
        self.roots[channel.id] = question.ts

    async def make_offers_to_ada(self) -> None:
        """The link because the upload fails."""
        offer_message = await self._ask_as_ada("List every ledger")
        self.offer = replace(offer_message, blocks=list(offer_message.blocks))
        self.answer = await self._ask_as_ada("What may be hunted at dawn?")
        self.slack.plan_faults("files.getUploadURLExternal", *[Fault(status=500)] * 3)
        await self.slack.click_button(self.ada, offer_message, "Export all")
        await self.wait_until_quiet()
        blocks_json = json.dumps([message.blocks for message in self.answers_in(self.direct_of_ada)])
        self.link = LINK.findall(blocks_json)[0]

    async def _ask_as_ada(self, words: str) -> SlackMessage:
        question, _ = await self.slack.post_as_person(self.ada, self.direct_of_ada, words)
        await self.wait_until_quiet()
        answers = self.answers_in(self.direct_of_ada)
        return next(message for message in answers if message.thread_ts == question.ts)

    async def make_offers(self, question_by_cell: Mapping[Cell, str]) -> None:
        for cell, question in question_by_cell.items():
            await self.slack.post_as_person(self.seats[cell].person, self.seats[cell].direct, question)
        await self.wait_until_quiet()
        for cell in question_by_cell:
            self.offers[cell] = self.answers_in(self.seats[cell].direct)[-1]
        for cell in question_by_cell.keys() & {("download", "all")}:
            self.slack.plan_faults("files.getUploadURLExternal", *[Fault(status=500)] * 3)
            await self.slack.click_button(self.seats[cell].person, self.offers[cell], "Export all")
            await self.wait_until_quiet()
            self.offers[cell] = self.answers_in(self.seats[cell].direct)[-1]

    # -- ways

    def begin_watching(self) -> None:
        self.watched_from = len(self.slack.calls)

    async def use_way(self, cell: Cell, words: str) -> None:
        seat = self.seats[cell]
        current = replace(seat, person=self.slack.workspace.users[seat.person.id])
        await self.ways[cell[0]](self, current, words, self.offers.get(cell))

    async def wait_until_quiet(self) -> None:
        await wait_until_no_turn_is_open(self.bot)

    async def fetch(self, person: SlackMember, address: str) -> None:
        url = address if address.startswith("http") else self.port + address
        async with self.http.get(url) as response:
            self.fetched.append(
                FetchedPage(person=person.id, text=shown_page_of(response.headers, await response.text()))
            )

    async def click_in_view(
        self, person: SlackMember, action: str, value: str, view: Mapping[str, Any] | None = None
    ) -> None:
        """Click a button of a Home tab or of this view, even if the person's does not show it."""
        button = {"type": "button", "action_id": action, "block_id": "b", "value": value, "action_ts": "1.0"}
        interaction = {
            **self.slack.interaction_payload(person, "block_actions"),
            "view": _view_of(person, view or a_view("home", "home")),
            "actions": [button],
        }
        await self.slack.deliver_interaction(interaction)

    async def submit_view(self, person: SlackMember, view: Mapping[str, Any]) -> None:
        """Submit a modal that was never opened, and record the response that the person sees."""
        interaction = {**self.slack.interaction_payload(person, "view_submission"), "view": _view_of(person, view)}
        response = await self.slack.deliver_interaction(interaction)
        self.fetched.append(FetchedPage(person=person.id, text=response.body))

    async def clarification_of(self, turn: str) -> str:
        return await load_clarification_of(self.bot, turn)

    async def post_any_message(self, seat: SlackSeat) -> SlackMessage:
        message, _ = await self.slack.post_as_person(seat.person, seat.direct, "hello")
        return message

    def answers_in(self, channel: SlackChannel) -> list[SlackMessage]:
        return self.slack.workspace.bot_messages(channel.id)

    # -- what is seen

    def texts_seen_at(self, cell: Cell) -> list[str]:
        """As JSON."""
        seat = self.seats[cell]
        places = {seat.channel.id, seat.direct.id}
        sent_arguments = [
            call.arguments
            for call in self.slack.calls[self.watched_from :]
            if self._reaches(call.arguments, seat, places)
        ]
        fetched_texts = [answer.text for answer in self.fetched if answer.person == seat.person.id]
        ephemeral_messages = [
            message for message in self.slack.workspace.messages if message.visible_to == seat.person.id
        ]
        home_views = [view.content for user, view in self.slack.workspace.homes.items() if user == seat.person.id]
        ephemeral_contents = [{"text": message.text, "blocks": message.blocks} for message in ephemeral_messages]
        files = [text for arguments in sent_arguments for text in self._file_texts(arguments)]
        return [*map(json.dumps, [*sent_arguments, *ephemeral_contents, *home_views]), *fetched_texts, *files]

    def _reaches(self, arguments: Mapping[str, Any], seat: SlackSeat, places: set[str]) -> bool:
        trigger = self.slack.triggers.get(str(arguments.get("trigger_id")))
        people = {arguments.get("user"), arguments.get("user_id"), trigger.user if trigger else None}
        is_own_view = arguments.get("view_id") == _view_of(seat.person, {})["id"]
        return (
            is_own_view
            or seat.person.id in people
            or bool(places & {arguments.get("channel"), arguments.get("channel_id")})
        )

    def _file_texts(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        for file_reference in arguments.get("files", []):
            file = self.slack.workspace.files[file_reference["id"]]
            yield f"{file.name} {file.title} {(file.content or b'').decode('utf-8-sig')}"


@asynccontextmanager
async def open_slack_town(
    home: Path, ways: Mapping[str, SlackWay], *, admins: Sequence[PersonId] = ()
) -> AsyncGenerator[SlackTown]:
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(SlackServer())
        port = open_port(stack)
        environ = {
            "PARLEY_EMBEDDER": "none",
            "PARLEY_ADMINS": ",".join(admins),
            "PARLEY_PUBLIC_URL": port.address,
            "SLACK_BOT_TOKEN": TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": slack.api_url,
            "PARLEY_SLACK_THREADS": "true",
        }
        slack.scopes |= slack.optional_scopes
        bot = await stack.enter_async_context(open_application(load_settings(home, environ).settings))
        surface = slack_surface(bot)
        assert surface is not None
        slack.app_url = f"{port.address}{EVENTS_PATH}"
        await port.serve_surface(bot, surface, stack)
        await stack.enter_async_context(running_workers(bot, limit_s=TOWN_LIMIT_S))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        ada = slack.workspace.add_user(SlackMember(id="U0ADA", name="Ada"))
        slack.workspace.add_group(SlackUsergroup(id=ENTITLED, handle="entitled", name="Entitled", members=[ada.id]))
        town = SlackTown(slack=slack, bot=bot, http=http, port=port.address, ada=ada, ways=ways)
        await town.grant(SECRET, f"user:slack:{TEAM}:{ada.id}")
        await town.grant(OPEN, EVERYONE)
        yield town


def user_of(name: str) -> str:
    return f"U{name.upper()}"


def a_view(kind: str, callback: str, metadata: str = "", **fields: Any) -> dict[str, Any]:
    """A view as Slack sends it. `fields`: element values by block; a block has one element with the block's name."""
    state = {"values": {name: {name: value} for name, value in fields.items()}}
    view: dict[str, Any] = {"id": "V0FORGED", "hash": "1.a", "type": kind, "callback_id": callback, "blocks": []}
    return {**view, "private_metadata": metadata, "state": state}


def _view_of(person: SlackMember, view: Mapping[str, Any]) -> dict[str, Any]:
    """The view as one of this person's, so that what it is replaced by was shown to them."""
    return {**view, "id": f"V0FORGED{person.id}"}


def turn_of(message: SlackMessage) -> str:
    return str((message.metadata or {})["event_payload"]["turn"])
