"""Posts the replies of turns to Teams: the first message, its updates, its files and private replies.

Fulfils `bot.surface.outbox.Outbox`. Teams has no look-up of messages, so the message of a turn is remembered here.
After a lost process or a lost answer a turn may show a second message, which is better than none.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final

from cachetools import FIFOCache
from structlog.typing import FilteringBoundLogger

from adapters.teams.addresses import TeamsAddress
from adapters.teams.connector.calls import MAX_ATTEMPTS, PostingCalls
from adapters.teams.conversations import find_newest_url
from adapters.teams.errors import (
    InvalidActivity,
    TeamsError,
    TeamsRefusal,
    TeamsThrottled,
    TeamsUnreachable,
)
from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.posting.protocols import FileSender, FurtherMessageRecords, ServiceUrlSource, StreamStopListener
from adapters.teams.posting.render import (
    MessagePlace,
    full_text_messages_for,
    full_text_of,
    is_progress,
    progress_text_of,
    teams_message_for,
    with_choices_settled,
    written_text_of,
)
from adapters.teams.posting.single_message import sent_messages_for
from adapters.teams.posting.streams import ChatStreams, StreamContent, StreamOwner, TeamsStreamPace
from bot.errors import PictureFailed
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.pictures.picture_look import CHAT_LOOK
from bot.pictures.rendering import render_picture
from bot.surface.outbox import MessageGone, OpenedMessage, OpeningContent, OutboxFailed
from bot.surface.replies import ChoicesPart, ChosenPart, FilePart, FullTextPart, PicturePart, Reply

TYPING_TIMEOUT_S: Final = 1.0
FILE_BUDGET_S: Final = 20.0  # a file that cannot be offered sooner is shown as a link
_MAX_REMEMBERED: Final = 10_000
_GONE_STATUS, _FORBIDDEN_STATUS, _TOO_LARGE_STATUS = 404, 403, 413


@dataclass(slots=True, kw_only=True)
class _TeamsPosting:
    """What all threads share. The caches are by conversation in Teams, and turn, message or person."""

    calls: PostingCalls
    streams: ChatStreams
    files: FileSender | None
    service_urls: ServiceUrlSource | None
    further_messages: FurtherMessageRecords
    log: FilteringBoundLogger
    messages: FIFOCache[tuple[str, TurnId], MessageId] = field(default_factory=lambda: FIFOCache(_MAX_REMEMBERED))
    attached: FIFOCache[tuple[str, MessageId], frozenset[str]] = field(
        default_factory=lambda: FIFOCache(_MAX_REMEMBERED)
    )
    linked_paths: FIFOCache[tuple[str, MessageId], frozenset[str]] = field(
        default_factory=lambda: FIFOCache(_MAX_REMEMBERED)
    )
    cards_below: FIFOCache[tuple[str, MessageId], tuple[str, ...]] = field(
        default_factory=lambda: FIFOCache(_MAX_REMEMBERED)
    )  # ids of the messages with the cards of a message
    private_chats: FIFOCache[tuple[str, str], str] = field(default_factory=lambda: FIFOCache(_MAX_REMEMBERED))


class TeamsOutbox:
    """Call `start` and `close` once each."""

    def __init__(
        self,
        calls: PostingCalls,
        *,
        files: FileSender | None,
        service_urls: ServiceUrlSource | None,
        further_messages: FurtherMessageRecords,
        on_stop: StreamStopListener,
        log: FilteringBoundLogger,
        pace: TeamsStreamPace | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without `files`, files are links and long texts are messages in personal chats as well."""
        self.streams = ChatStreams(calls, on_stop, log, pace=pace, clock=clock)
        self._posting = _TeamsPosting(
            calls=calls,
            streams=self.streams,
            files=files,
            service_urls=service_urls,
            further_messages=further_messages,
            log=log,
        )

    async def start(self) -> None:
        await self.streams.start()

    async def close(self) -> None:
        await self.streams.close()

    def thread_for(self, conversation: ConversationId, address: Mapping[str, str]) -> "TeamsThread":
        return TeamsThread(self._posting, conversation, TeamsAddress.from_mapping(address))


class TeamsThread:
    """A personal chat, a group chat, or one thread of a channel."""

    def __init__(self, posting: _TeamsPosting, conversation: ConversationId, address: TeamsAddress) -> None:
        self._posting, self._conversation, self._address = posting, conversation, address
        self._calls, self._streams, self._log = posting.calls, posting.streams, posting.log
        self._chat = address.conversation

    async def post_message(self, reply: Reply) -> MessageId:
        async with translate_teams_errors():
            return await self._post(reply)

    async def open_message(self, person: PersonId, opening: OpeningContent) -> OpenedMessage | None:
        """In a personal chat the answer gets some time to become ready, and else the progress streams. Elsewhere the
        progress is posted at once.
        """
        may_stream = self._address.is_personal and self._streams.may_begin_stream(self._chat)
        if may_stream:
            await opening.wait_for_reply(self._streams.pace.patience_s)
        reply = await opening.get_current_reply()
        if reply is None:
            return None
        async with translate_teams_errors():
            message = await self._begin_stream(person, reply) if may_stream and is_progress(reply) else None
            return OpenedMessage(message=message or await self._post(reply), reply=reply)

    async def update_message(self, message: MessageId, reply: Reply) -> None:
        async with translate_teams_errors(gone_status=_GONE_STATUS):
            await self._update(message, reply)

    async def attach_files(self, message: MessageId, reply: Reply) -> None:
        async with translate_teams_errors():
            if self._place.is_personal and self._posting.files is not None:
                await self._offer_files(self._posting.files, message, reply)
            else:
                await self._post_full_texts(message, reply)

    async def find_message(
        self, turn: TurnId, *, other_messages: Collection[MessageId] | None = None
    ) -> MessageId | None:
        return self._posting.messages.get((self._chat, turn))

    async def show_chosen(self, message: MessageId, reply: Reply, chosen: ChosenPart) -> None:
        """The cards with further choices show the choice alone. After a click, the clicked card shows it where the
        message itself is gone.
        """
        is_shown = await self._show_settled(message, with_choices_settled(reply, chosen))
        choice_alone = teams_message_for(replace(reply, parts=(chosen,)), self._place)
        async with translate_teams_errors():
            for card in self._more_cards_for(reply):
                with suppress(TeamsRefusal):
                    await self._calls.update_activity(await self._service_url(), self._chat, card, choice_alone)
                    is_shown = True
        if not is_shown:
            raise MessageGone()

    async def show_activity(self) -> None:
        try:
            async with asyncio.timeout(TYPING_TIMEOUT_S):
                await self._calls.send_activity(await self._service_url(), self._chat, {"type": "typing"}, attempts=1)
        except (TeamsError, TimeoutError) as exc:
            self._log.info("teams typing not shown", reason=type(exc).__name__)

    async def post_privately(self, person: PersonId, reply: Reply) -> None:
        """In the personal chat. Teams refuses that where the person has not installed the app: then this fails, and the
        caller shows the reply where the question was asked.
        """
        async with translate_teams_errors():
            if self._address.is_personal:
                await self._post(reply)
                return
            chat = await self._private_chat_of(person)
            for activity in sent_messages_for(await self._render_message(reply, MessagePlace(is_personal=False))):
                await self._calls.send_activity(await self._service_url(), chat, activity)

    # Messages

    @property
    def _place(self) -> MessagePlace:
        return MessagePlace(is_personal=self._address.is_personal and self._posting.files is not None)

    def _place_of(self, message: MessageId) -> MessagePlace:
        linked_paths = self._posting.linked_paths.get((self._chat, message), frozenset[str]())
        return MessagePlace(is_personal=self._place.is_personal, linked_paths=linked_paths)

    async def _render_message(self, reply: Reply, place: MessagePlace) -> JsonObject:
        """The message without the pictures that cannot be drawn."""
        drawn = dict[PicturePart, bytes]()
        for picture in reply.pictures_by_name.values():
            try:
                drawn[picture] = await render_picture(picture, CHAT_LOOK)
            except PictureFailed as exc:
                self._log.warning("teams picture not shown", turn_id=reply.turn, reason=type(exc.__cause__).__name__)
        return teams_message_for(reply, replace(place, drawn_pictures=drawn))

    async def _service_url(self) -> str:
        return await find_newest_url(
            self._posting.service_urls,
            tenant=self._address.tenant,
            conversation=self._chat,
            known_url=self._address.service_url,
        )

    async def _post(self, reply: Reply) -> MessageId:
        first, *cards = sent_messages_for(await self._render_message(reply, self._place))
        message = await self._calls.send_activity(await self._service_url(), self._chat, first)
        if not message:
            raise TeamsUnreachable("the new message has no id")
        self._remember_message(reply.turn, message)
        await self._show_cards_below(MessageId(message), cards)
        return MessageId(message)

    async def _show_cards_below(
        self, message: MessageId, cards: Sequence[JsonObject], attempts: int = MAX_ATTEMPTS
    ) -> None:
        """Updates the cards that appear below the message, adds missing ones and deletes the others. A card that cannot
        be updated, as somebody has deleted it, is posted again.
        """
        service_url, key = await self._service_url(), (self._chat, message)
        shown = list(self._posting.cards_below.get(key, ()))
        for position, card in enumerate(cards):
            if position < len(shown):
                with suppress(TeamsRefusal):
                    await self._calls.update_activity(service_url, self._chat, shown[position], card, attempts=attempts)
                    continue
            shown[position : position + 1] = [await self._send_further_message(message, card)]
            self._posting.cards_below[key] = tuple(shown)
        for superfluous in shown[len(cards) :]:
            with suppress(TeamsRefusal):
                await self._calls.delete_activity(service_url, self._chat, superfluous)
        self._posting.cards_below[key] = tuple(shown[: len(cards)])

    async def _send_further_message(self, message: MessageId, activity: JsonObject) -> str:
        """Posts and notes a message that belongs to the reply of `message`. If it cannot be noted, it is deleted,
        because it could not be withdrawn later.
        """
        service_url = await self._service_url()
        further = await self._calls.send_activity(service_url, self._chat, activity)
        try:
            await self._posting.further_messages.note_message(self._conversation, message, MessageId(further))
        except OutboxFailed:
            with suppress(TeamsError):
                await self._calls.delete_activity(service_url, self._chat, further)
            raise
        return further

    async def _show_settled(self, message: MessageId, settled_reply: Reply) -> bool:
        """False where the message is gone, and so is the clicked card."""
        clicked = MessageId(self._address.clarification_card)
        if clicked and clicked != message:  # the card appears below the message
            self._posting.cards_below.setdefault((self._chat, message), (clicked,))
        for shown_message in dict.fromkeys(filter(None, (message, clicked))):
            with suppress(MessageGone):
                await self.update_message(shown_message, settled_reply)
                return True
        return False

    def _more_cards_for(self, offer: Reply) -> Sequence[str]:
        """The messages with further choices of the reply's clarification, as far as the turn knows them."""
        clarifications = {part.clarification for part in offer.parts if isinstance(part, ChoicesPart)}
        return [card.message for card in self._address.more_cards if card.clarification in clarifications]

    def _remember_message(self, turn: TurnId, message: str) -> MessageId:
        self._posting.messages[self._chat, turn] = MessageId(message)
        return MessageId(message)

    async def _begin_stream(self, person: PersonId, progress: Reply) -> MessageId | None:
        owner = StreamOwner(
            turn=progress.turn,
            conversation=self._conversation,
            person=person,
            chat=self._chat,
            service_url=await self._service_url(),
        )
        message = await self._streams.begin_stream(owner, StreamContent(activity=progress_text_of(progress)))
        return None if message is None else self._remember_message(progress.turn, message)

    async def _update(self, message: MessageId, reply: Reply) -> None:
        if self._streams.has_open_stream(self._chat, message):
            if await self._update_stream(message, reply):
                return
            try:
                await self._rewrite(message, reply)
            except TeamsRefusal as exc:  # Teams does not say which of its ended streams can be changed
                raise TeamsRefusal(_GONE_STATUS, exc.code) from exc
            return
        try:
            await self._rewrite(message, reply)
        except TeamsRefusal as exc:
            if not self._address.is_personal and exc.status != _TOO_LARGE_STATUS:
                # For a deleted message in a channel's thread, Teams answers 403 (microsoft/BotFramework-Services#269).
                raise TeamsRefusal(_GONE_STATUS, exc.code) from exc
            if exc.status != _FORBIDDEN_STATUS:
                raise
            await self._take_over_stream(message, reply)

    async def _update_stream(self, message: MessageId, reply: Reply) -> bool:
        """False where the message is to be rewritten."""
        if is_progress(reply):
            content = StreamContent(activity=progress_text_of(reply), written=written_text_of(reply))
            return await self._streams.show_content(self._chat, message, content)
        first, *cards = sent_messages_for(await self._render_message(reply, self._place_of(message)), is_split=True)
        is_shown = await self._streams.end_stream(self._chat, message, first)
        if is_shown:
            await self._show_cards_below(message, cards)
        return is_shown

    async def _take_over_stream(self, message: MessageId, reply: Reply) -> None:
        """The message may be the stream of a lost process, which ends here; if not, it counts as gone."""
        first, *cards = sent_messages_for(await self._render_message(reply, self._place_of(message)), is_split=True)
        try:
            await self._streams.end_unknown_stream(await self._service_url(), self._chat, message, first)
        except TeamsRefusal as exc:
            raise TeamsRefusal(_GONE_STATUS, exc.code) from exc
        await self._show_cards_below(message, cards)

    async def _rewrite(self, message: MessageId, reply: Reply) -> None:
        """Progress is tried once only, because newer progress or the answer follows."""
        attempts = 1 if is_progress(reply) else MAX_ATTEMPTS
        is_split = bool(self._posting.cards_below.get((self._chat, message)))
        first, *cards = sent_messages_for(await self._render_message(reply, self._place_of(message)), is_split=is_split)
        await self._calls.update_activity(await self._service_url(), self._chat, message, first, attempts=attempts)
        await self._show_cards_below(message, cards, attempts)

    async def _private_chat_of(self, person: PersonId) -> str:
        member = self._address.asker_id or person.rpartition(":")[2]
        key = (self._address.tenant, member)
        if key not in self._posting.private_chats:
            self._posting.private_chats[key] = await self._calls.create_conversation(
                await self._service_url(), tenant=self._address.tenant, bot_id=self._address.bot_id, member=member
            )
        return self._posting.private_chats[key]

    # Files

    async def _offer_files(self, files: FileSender, message: MessageId, reply: Reply) -> None:
        """Files that cannot be offered are shown as links. A full text has no link, so its turn is repeated."""
        key, has_new_link = (self._chat, message), False
        for file in _file_parts_in(reply):
            if self._is_attached(message, file.path):
                continue
            try:
                async with asyncio.timeout(FILE_BUDGET_S):
                    await files.offer_file(self._address, reply.turn, message, file)
            except (TeamsError, TimeoutError, OSError) as exc:
                self._log.warning("teams file not offered", turn_id=reply.turn, reason=type(exc).__name__)
                self._posting.linked_paths[key] = self._posting.linked_paths.get(key, frozenset()) | {file.path}
                has_new_link = True
            self._note_attached(message, file.path)
        if has_new_link:
            await self._rewrite(message, reply)
        for part in _full_text_parts_in(reply):
            if not self._is_attached(message, part.name):
                await self._offer_full_text(files, message, reply.turn, part)
                self._note_attached(message, part.name)

    async def _offer_full_text(self, files: FileSender, message: MessageId, turn: TurnId, part: FullTextPart) -> None:
        try:
            async with asyncio.timeout(FILE_BUDGET_S):
                await files.offer_text(self._address, turn, message, name=part.name, text=full_text_of(part.reply))
        except (TimeoutError, OSError) as exc:
            raise TeamsUnreachable(f"the file was not offered: {type(exc).__name__}") from exc

    async def _post_full_texts(self, message: MessageId, reply: Reply) -> None:
        """As further messages; a repeated call goes on where the one before has failed."""
        for part in _full_text_parts_in(reply):
            for number, activity in enumerate(full_text_messages_for(full_text_of(part.reply))):
                key = f"{part.name} {number}"
                if not self._is_attached(message, key):
                    await self._send_further_message(message, activity)
                    self._note_attached(message, key)

    def _is_attached(self, message: MessageId, key: str) -> bool:
        return key in self._posting.attached.get((self._chat, message), frozenset[str]())

    def _note_attached(self, message: MessageId, key: str) -> None:
        place = (self._chat, message)
        self._posting.attached[place] = self._posting.attached.get(place, frozenset[str]()) | {key}


def _file_parts_in(reply: Reply) -> Sequence[FilePart]:
    return [part for part in reply.parts if isinstance(part, FilePart)]


def _full_text_parts_in(reply: Reply) -> Sequence[FullTextPart]:
    return [part for part in reply.parts if isinstance(part, FullTextPart)]


@asynccontextmanager
async def translate_teams_errors(*, gone_status: int | None = None) -> AsyncGenerator[None]:
    """`gone_status`: the status that says that a message is gone."""
    try:
        yield
    except TeamsThrottled as exc:
        raise OutboxFailed(str(exc), retry=True, retry_after_s=exc.retry_after_s) from exc
    except TeamsRefusal as exc:
        raise MessageGone() if exc.status == gone_status else OutboxFailed(str(exc), retry=False) from exc
    except InvalidActivity as exc:
        raise OutboxFailed(str(exc), retry=False) from exc
    except TeamsError as exc:
        raise OutboxFailed(str(exc), retry=True) from exc
