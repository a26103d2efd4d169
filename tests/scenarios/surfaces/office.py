"""A chat product with Parley at work in it, as the scenarios use it: people ask, read, click and attach files.

A scenario talks to a `ChatOffice` alone and never asks which product is behind it. The products differ in a
`SurfaceDriver` each, and in their `SurfaceAbility`s.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from sqlalchemy import func, select

from agent.reasoner import Reasoner
from bot.application import Application
from bot.bootstrap import utc_now
from bot.dialogue.question_agent import QuestionAgent
from bot.ids import BucketId, ConversationId, PersonId, Subject
from storage.sql.stores.turns import turns
from tests.scenarios.surfaces.abilities import SurfaceAbility

WAITING_LIMIT_S = 60.0


@dataclass(frozen=True, kw_only=True)
class OfficePerson:
    """A person of the product. `key`: the product's own id for them."""

    id: PersonId
    name: str
    key: str


@dataclass(frozen=True, kw_only=True)
class ChatPlace:
    """Where people write: a channel, or a person's private chat with Parley. `key`: the product's own id for it."""

    key: str
    owner: OfficePerson | None = None  # of a private chat


@dataclass(frozen=True, kw_only=True)
class OfferedFile:
    """A file that a person attaches. `link`: where people open it in the product; empty where it has no link."""

    name: str
    content: bytes
    media_type: str
    id: str = ""
    link: str = ""


@dataclass(frozen=True, kw_only=True)
class ReceivedFile:
    """A file that Parley has handed over, as the person has it after a download."""

    name: str
    content: bytes


@dataclass(frozen=True, kw_only=True)
class SentMessage:
    """A person's message. `thread`: where an answer to it stands, as the product names it."""

    id: str
    place: ChatPlace
    thread: str
    author: OfficePerson


@dataclass(frozen=True, kw_only=True)
class ShownChoice:
    """A choice as it can be clicked; `count` is None where the label has none. `handle`: what a click sends."""

    label: str
    count: int | None
    handle: str


@dataclass(frozen=True, kw_only=True)
class ShownAnswer:
    """A message of Parley's that belongs to a turn, as it was shown when it was read."""

    id: str
    place: ChatPlace
    thread: str
    conversation: ConversationId
    text: str  # everything that a person reads, without the labels of buttons for the turn itself
    choices: tuple[ShownChoice, ...] = ()
    links: tuple[str, ...] = ()  # targets that can be opened
    tables: tuple[tuple[tuple[str, ...], ...], ...] = ()  # rows with the header first; empty where shown as text

    @property
    def count_by_label(self) -> dict[str, int]:
        """The counts of the choices that have a count."""
        return {choice.label: choice.count for choice in self.choices if choice.count is not None}

    def find_choice(self, label: str) -> ShownChoice:
        """The first choice whose label begins with `label`."""
        return next(choice for choice in self.choices if choice.label.startswith(label))


class SurfaceDriver(Protocol):
    """The actions of people in one product, and what they see there."""

    def private_place_of(self, person: OfficePerson) -> ChatPlace: ...

    def subject_of(self, place: ChatPlace) -> Subject | None:
        """The subject that a grant for the place names; None where every person there may see everything."""
        ...

    async def add_guest(self, place: ChatPlace) -> OfficePerson:
        """Adds a guest to the organisation and to a channel. Only with `GUESTS`."""
        ...

    async def upload_file(self, person: OfficePerson, file: OfferedFile) -> OfferedFile:
        """The file, ready to be attached. Only with `ATTACHMENTS`."""
        ...

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
        """Sends a message to Parley: with a mention where the product needs one. Returns once Parley has accepted it.

        Without a `thread` the message begins a new conversation, where the product has several in one place.
        """
        ...

    async def click_choice(self, person: OfficePerson, answer: ShownAnswer, choice: ShownChoice) -> None:
        """Clicks the choice as `answer` showed it, even if the message no longer shows it."""
        ...

    async def edit_text(self, message: SentMessage, text: str) -> None:
        """Only with `EDITS`."""
        ...

    async def delete_message(self, message: SentMessage) -> None:
        """Only with `EDITS`."""
        ...

    async def remove_file(self, message: SentMessage, file: OfferedFile) -> None:
        """Removes a file from a message. Only with `REMOVABLE_ATTACHMENTS`."""
        ...

    async def load_answers(self) -> list[ShownAnswer]:
        """All messages that belong to a turn, in the order in which they were posted, as they are now."""
        ...

    async def load_notices(self, person: OfficePerson) -> list[str]:
        """The messages that only this person sees. Only with `PRIVATE_NOTICES`."""
        ...

    async def load_files(self) -> list[ReceivedFile]:
        """All files that Parley has handed over in messages that are still there, in order."""
        ...

    async def remove_app(self, place: ChatPlace) -> None:
        """People remove Parley from a channel. Only with `REMOVAL`."""
        ...

    async def deactivate_person(self, person: OfficePerson) -> None:
        """The organisation deactivates the person. Only with `DEACTIVATION`."""
        ...

    def fail_downloads(self, *failures: "DownloadFailure") -> None:
        """The next requests for the content of attached files fail, one after another. Only with `ATTACHMENTS`."""
        ...

    def count_downloads(self) -> int:
        """How often the content of an attached file was handed out. Only with `ATTACHMENTS`."""
        ...


@dataclass(frozen=True, kw_only=True)
class DownloadFailure:
    """A request that fails. `status` None: the connection breaks."""

    status: int | None = None
    retry_after_s: int | None = None


@dataclass(frozen=True, kw_only=True)
class BotSetup:
    """How the bot of an office is opened. Without workers it accepts messages but does not answer them."""

    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    agent: QuestionAgent | None = None
    reasoner: Reasoner | None = None
    clock: Callable[[], datetime] = utc_now
    with_workers: bool = True


class ChatProduct(Protocol):
    """A product with its people, places and messages, which survive Parley's process."""

    @property
    def name(self) -> str: ...

    @property
    def abilities(self) -> frozenset[SurfaceAbility]: ...

    def connect_bot(self, home: Path, setup: BotSetup) -> "AbstractAsyncContextManager[ChatOffice]":
        """Opens a bot with this home and serves the product with it until the end of the context."""
        ...


@dataclass(kw_only=True)
class ChatOffice:
    """Ada and Bob write in `general`, and in `lobby` where there are channels.

    Where there are no channels, `general` and `lobby` are Ada's private place. Where there is no second person, Bob is
    Ada.
    """

    driver: SurfaceDriver
    bot: Application
    ada: OfficePerson
    bob: OfficePerson
    general: ChatPlace
    lobby: ChatPlace
    attaching_place: ChatPlace  # where Ada can attach files

    @property
    def colleague(self) -> OfficePerson:
        """A second person in `general`: Bob in a channel, else Ada."""
        return self.bob if self.general.owner is None else self.general.owner

    async def grant(self, bucket: BucketId, *places: ChatPlace) -> None:
        """Grants the bucket in these places. Changes nothing where everyone may see everything."""
        for place in places:
            if (subject := self.driver.subject_of(place)) is not None:
                await self.bot.grants.grant_bucket_access(bucket, subject, by="operator")

    def private_place_of(self, person: OfficePerson) -> ChatPlace:
        return self.driver.private_place_of(person)

    async def send(
        self,
        text: str,
        *files: OfferedFile,
        by: OfficePerson | None = None,
        place: ChatPlace | None = None,
        in_thread_of: ShownAnswer | SentMessage | None = None,
        deliveries: int = 1,
    ) -> SentMessage:
        """Sends a message and waits for nothing. By default Ada writes in `general`, or beside `in_thread_of`."""
        return await self.driver.send_text(
            by or self.ada,
            place or (in_thread_of.place if in_thread_of is not None else self.general),
            text,
            thread=None if in_thread_of is None else in_thread_of.thread,
            files=files,
            deliveries=deliveries,
        )

    async def ask(
        self,
        text: str,
        *files: OfferedFile,
        by: OfficePerson | None = None,
        place: ChatPlace | None = None,
        in_thread_of: ShownAnswer | SentMessage | None = None,
    ) -> ShownAnswer:
        """Sends a message as `send` does. Returns the finished answer."""
        known_ids = await self._load_known_ids()
        await self.send(text, *files, by=by, place=place, in_thread_of=in_thread_of)
        return await self._load_next_answer(known_ids)

    async def click(self, answer: ShownAnswer, label: str, *, by: OfficePerson | None = None) -> ShownAnswer:
        """Clicks the choice whose label begins with `label`; by default Ada does. Returns the finished answer."""
        known_ids = await self._load_known_ids()
        await self.driver.click_choice(by or self.ada, answer, answer.find_choice(label))
        return await self._load_next_answer(known_ids)

    async def list_answers(self) -> list[ShownAnswer]:
        return await self.driver.load_answers()

    async def reload(self, answer: ShownAnswer) -> ShownAnswer | None:
        """The message as it is now; None if it is gone."""
        return next((shown for shown in await self.driver.load_answers() if shown.id == answer.id), None)

    async def list_files(self) -> list[ReceivedFile]:
        return await self.driver.load_files()

    async def wait_until_quiet(self) -> None:
        """Waits until no turn is open. Raises `TimeoutError`."""
        open_turns = select(func.count()).select_from(turns).where(turns.c.finished_at.is_(None))

        async def is_quiet() -> bool:
            return not await self.bot.database.run_read(lambda connection: connection.execute(open_turns).scalar_one())

        await self.wait_until(is_quiet)

    async def wait_until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        """Raises `TimeoutError`."""
        async with asyncio.timeout(WAITING_LIMIT_S):
            while not await condition():  # noqa: ASYNC110 - the database and the products set no event
                await asyncio.sleep(0.02)

    async def wait_for_answer_with(self, phrase: str) -> ShownAnswer:
        """The first answer whose text has the phrase. Raises `TimeoutError`."""
        found: list[ShownAnswer] = []

        async def is_shown() -> bool:
            found.extend(answer for answer in await self.list_answers() if phrase in answer.text)
            return bool(found)

        await self.wait_until(is_shown)
        return found[0]

    async def _load_known_ids(self) -> frozenset[str]:
        return frozenset(answer.id for answer in await self.list_answers())

    async def _load_next_answer(self, known_ids: frozenset[str]) -> ShownAnswer:
        """The first answer that is not known, once its turn has ended."""
        await self.wait_until_quiet()
        new_answers = [answer for answer in await self.list_answers() if answer.id not in known_ids]
        assert new_answers, "the message was not answered"
        return new_answers[0]
