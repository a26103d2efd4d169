"""Questions that were edited or deleted: their earlier turns are stopped and forgotten, and their choices and the files
that they offer withdrawn.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from agent.outcome import StartOverOutcome
from bot.attachments.attachments import ConversationAttachments
from bot.conversation.clarifications import ClarificationOffers
from bot.conversation.exports import ExportFiles
from bot.conversation.file_offers import FileOffers
from bot.conversation.json_result import result_to_json
from bot.conversation.notices import QUESTION_DELETED_NOTICE
from bot.conversation.plan_history import state_without_turns
from bot.conversation.reply_builder import notice_reply_for
from bot.conversation.turn_result import TurnResult, result_request_of, turn_result_from_json, turn_result_to_json
from bot.ids import ConversationId, MessageId, TurnId
from bot.surface.inbound import Inbound
from bot.surface.json_codec import inbound_from_row
from bot.surface.replies import FilePart, FullTextPart
from bot.translation import translate_message
from bot.turns.stop_requests import STOPPED, StopRequests, stopped_turn_result
from bot.turns.turn_actions import full_text_id
from storage.sql.database import SqlDatabase
from storage.sql.stores.conversations import ConversationStore
from storage.sql.stores.inbox import ClaimedTurn, TurnInbox
from storage.sql.stores.turns import Turn

MessageLookup = Callable[[TurnId], Awaitable[MessageId | None]]

# Ending of a turn whose question was edited before the answer, once its free edits were used up
EDITED: Final = "edited"
MAX_FREE_EDITS: Final = 3  # of one message, before its answer
WITHDRAWN: Final = "withdrawn"  # ending of a deletion's turn


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedMessage:
    """A message that Parley posted, and the names of the files that came with it."""

    message: MessageId
    file_names: frozenset[str]


class QuestionRevisions:
    def __init__(
        self,
        *,
        inbox: TurnInbox,
        stop_requests: StopRequests,
        clarifications: ClarificationOffers,
        exports: ExportFiles,
        file_offers: FileOffers,
        attachments: ConversationAttachments,
        database: SqlDatabase,
    ) -> None:
        self._inbox, self._stop_requests, self._clarifications, self._exports = (
            inbox,
            stop_requests,
            clarifications,
            exports,
        )
        self._file_offers = file_offers
        self._attachments, self._conversations = attachments, ConversationStore(database)

    async def stop_earlier_versions(self, turn: TurnId) -> None:
        """Stops the turns of earlier versions, since nobody waits for them any more."""
        for version in await self._inbox.list_earlier_versions(turn):
            if version.finished_at is None:
                await self._stop_requests.request_stop(TurnId(version.id), "")

    async def forget_earlier_versions(
        self, claimed: ClaimedTurn, inbound: Inbound, find_message: MessageLookup
    ) -> list[MessageId]:
        """Forgets the state of earlier versions, and withdraws the files that they offer. Returns the messages that
        answered them, the latest one last.

        A version that failed, and whose failure could not be posted, ends here. `find_message` finds the message of a
        turn that was posted but not recorded.
        """
        versions = await self._inbox.list_earlier_versions(claimed.turn.id)
        for version in versions:
            if version.finished_at is None:
                await self._end_version(claimed, version)
        await self._attachments.forget_removed_files(inbound)
        turns = [TurnId(version.id) for version in versions]
        await self._clarifications.withdraw_offers(turns)
        full_texts = [await self._full_text_turns(inbound.conversation, turn) for turn in turns]
        showing_turns = [TurnId(turn.id) for turn in chain.from_iterable(full_texts)]
        await self._file_offers.withdraw_offers([*turns, *showing_turns])
        await self._forget_turns(inbound.conversation, turns)
        messages = [
            MessageId(version.placeholder) if version.placeholder else await find_message(TurnId(version.id))
            for version in versions
        ]
        return list(dict.fromkeys(message for message in messages if message is not None))

    async def ending_of(self, turn: TurnId) -> str:
        """How a turn ends that a later version has replaced. The first few edits do not count as questions; later ones
        do.
        """
        return STOPPED if len(await self._inbox.list_earlier_versions(turn)) < MAX_FREE_EDITS else EDITED

    async def withdraw_replies(self, claimed: ClaimedTurn, inbound: Inbound) -> list[PostedMessage]:
        """Forgets the replies to the message, and to the choices that its author then made; removes their files and
        links. Returns the posted messages, the latest one first.
        """
        versions = await self._inbox.list_earlier_versions(claimed.turn.id)
        derived = await self._collect_derived_turns(versions, inbound)
        turns = [TurnId(turn.id) for turn in derived]
        await self._clarifications.withdraw_offers(turns)
        await self._exports.withdraw_files(turns)
        await self._file_offers.withdraw_offers(turns)
        await self._forget_turns(inbound.conversation, turns)
        return [_posted_message_of(turn) for turn in reversed(derived) if turn.placeholder]

    async def _collect_derived_turns(self, versions: Sequence[Turn], inbound: Inbound) -> list[Turn]:
        """The versions, the turns of choices that the same person made, and the turns that sent their full text."""
        collected, new = {turn.id: turn for turn in versions}, list(versions)
        while new:
            turn_ids = [TurnId(turn.id) for turn in new]
            choosers = [await self._inbox.find_turn(id_) for id_ in await self._clarifications.find_choosers(turn_ids)]
            same_person = [turn for turn in choosers if turn is not None and turn.person == inbound.person]
            full_texts = [await self._full_text_turns(inbound.conversation, id_) for id_ in turn_ids]
            new = [turn for turn in (*same_person, *chain.from_iterable(full_texts)) if turn.id not in collected]
            collected |= {turn.id: turn for turn in new}
        return list(collected.values())

    async def _full_text_turns(self, conversation: ConversationId, turn: TurnId) -> list[Turn]:
        full_text_turns: list[Turn] = []
        while True:
            number = len(full_text_turns) + 1
            full_text_turn = await self._inbox.find_by_message(conversation, full_text_id(turn, number))
            if full_text_turn is None:
                return full_text_turns
            full_text_turns.append(full_text_turn)

    async def _forget_turns(self, conversation: ConversationId, turns: Sequence[TurnId]) -> None:
        """Removes the turns from every state of the conversation, whatever rights the state was saved under."""
        for state in await self._conversations.list_states(conversation):
            if (remaining := state_without_turns(state, turns)) != state:
                await self._conversations.save_state(remaining)

    async def _end_version(self, claimed: ClaimedTurn, version: Turn) -> None:
        turn_result = stopped_turn_result(inbound_from_row(version), TurnId(version.id), "", ())
        await self._inbox.end_version(claimed, version.id, turn_result_to_json(turn_result), STOPPED)


def _posted_message_of(turn: Turn) -> PostedMessage:
    reply = None if turn.outcome is None else turn_result_from_json(turn.outcome).reply
    file_names = (part.name for part in (reply.parts if reply else ()) if isinstance(part, (FilePart, FullTextPart)))
    picture_names = reply.pictures_by_name if reply else ()
    return PostedMessage(message=MessageId(turn.placeholder or ""), file_names=frozenset((*file_names, *picture_names)))


def deletion_turn_result(inbound: Inbound, turn: TurnId) -> TurnResult:
    """The result of a deletion's turn. Its reply is shown only where other people wrote after the answer."""
    notice = translate_message(QUESTION_DELETED_NOTICE)
    result = result_to_json(result_request_of(inbound, turn, ""), StartOverOutcome(text=notice))
    return TurnResult(reply=notice_reply_for(turn, notice), result=result, ending=WITHDRAWN)
