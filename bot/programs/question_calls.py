"""Questions, clicks and exports of other programs: turns like those of people, whose result the caller waits for."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from agent.limits import AnswerLimits
from bot.dialogue.questions import validate_question
from bot.errors import InvalidCall, NothingToExport, UnknownChoice, UnknownConversation, UnknownTurn
from bot.ids import ChoiceId, ConversationId, PersonId, TurnId
from bot.programs.callers import ProgramCaller
from bot.programs.failures import plain_failures
from bot.progress import ProgressCallback, ignore_progress
from bot.surface.inbound import ButtonClick, Inbound, InboundBody, TextMessage
from bot.surface.markdown import strip_markup
from bot.turns.stop_requests import StopRequests
from bot.turns.turn_actions import TurnActionHandler, TurnActor
from bot.turns.turn_processor import FinishedTurn

_EXPORT_COMMAND: Final = "export"
_ID_PATTERN: Final = re.compile(r"[\w:.-]{1,200}", re.ASCII)  # what Parley makes ids of; no database gets another


class QuestionTurns(Protocol):
    """The parts of the application that run turns. `Application` has them."""

    @property
    def clock(self) -> Callable[[], datetime]: ...

    @property
    def limits(self) -> AnswerLimits: ...

    @property
    def stop_requests(self) -> StopRequests: ...

    @property
    def turn_actions(self) -> TurnActionHandler: ...

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None: ...

    async def run_turn(
        self, turn: TurnId, *, limits: AnswerLimits | None = None, report_progress: ProgressCallback = ignore_progress
    ) -> FinishedTurn: ...

    async def load_finished_turn(self, turn: TurnId) -> FinishedTurn | None: ...

    def list_conversation_people(self, conversation: ConversationId) -> Awaitable[frozenset[PersonId]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionCall:
    """A question, or the click on a choice that an earlier result of the conversation offered.

    `max_hits`: ranked passages to report; `max_documents`: document ids to report.
    """

    question: str | None = None
    choice: str | None = None
    conversation: str | None = None
    buckets: tuple[str, ...] = ()
    max_hits: int = 10
    max_documents: int = 100


class ProgramQuestions:
    """Asks in the name of a caller. A conversation belongs to the person who began it, in the same protocol."""

    def __init__(self, turns: QuestionTurns) -> None:
        self._turns = turns

    async def ask(
        self, call: QuestionCall, caller: ProgramCaller, report_progress: ProgressCallback = ignore_progress
    ) -> FinishedTurn:
        """The finished turn of the question or the click. Raises `BotError`."""
        with plain_failures():
            body = _body_of(call)
            conversation = await self._find_conversation(call.conversation, caller)
            return await self._run_turn(body, conversation, call, caller, report_progress)

    async def export(
        self, call: QuestionCall, caller: ProgramCaller, report_progress: ProgressCallback = ignore_progress
    ) -> FinishedTurn:
        """The turn with the file: of all that the question finds, else of what the conversation found last.

        Raises `NothingToExport` and what `ask` raises.
        """
        with plain_failures():
            conversation = await self._find_conversation(call.conversation, caller)
            body = TextMessage(validate_question(call.question or _EXPORT_COMMAND))
            finished = await self._run_turn(body, conversation, call, caller, report_progress)
            if call.question is not None and _may_offer_file(finished):
                choice = _export_choice_of(finished)
                click = TextMessage(_EXPORT_COMMAND) if choice is None else ButtonClick(choice)
                finished = await self._run_turn(click, conversation, call, caller, report_progress)
            if finished.error is None and not finished.result["files"]:
                raise NothingToExport(strip_markup(finished.result["text"]).split("\n")[0])
            return finished

    async def load_result(self, turn: str, caller: ProgramCaller) -> FinishedTurn:
        """An earlier turn of the caller's, whose answer the caller may still see.

        Raises `UnknownConversation` for any other, `TurnActionRefused`, and `ProgramCallFailed`.
        """
        with plain_failures():
            try:
                finished = await self._turns.load_finished_turn(TurnId(turn)) if _is_id(turn) else None
            except UnknownTurn as exc:
                raise UnknownConversation() from exc
            if finished is None or not await self._is_owned_by(caller, finished.conversation):
                raise UnknownConversation()
            actor = TurnActor(
                conversation=finished.conversation, audience=caller.audience, person=caller.person, name=caller.name
            )
            await self._turns.turn_actions.check_full_text(finished.turn, actor)
            return finished

    async def _find_conversation(self, written_id: str | None, caller: ProgramCaller) -> ConversationId:
        if written_id is None:
            return caller.new_conversation()
        conversation = ConversationId(written_id)
        if not _is_id(written_id) or not await self._is_owned_by(caller, conversation):
            raise UnknownConversation()
        return conversation

    async def _is_owned_by(self, caller: ProgramCaller, conversation: ConversationId) -> bool:
        if not caller.may_own(conversation):
            return False
        return await self._turns.list_conversation_people(conversation) == frozenset((caller.person,))

    async def _run_turn(
        self,
        body: InboundBody,
        conversation: ConversationId,
        call: QuestionCall,
        caller: ProgramCaller,
        report_progress: ProgressCallback,
    ) -> FinishedTurn:
        inbound = caller.build_inbound(body, conversation, self._turns.clock(), call.buckets)
        turn = await self._turns.accept_inbound(inbound)
        if turn is None:
            raise InvalidCall("This call was sent before; send it again.")
        limits = replace(self._turns.limits, reported_hits=call.max_hits, reported_documents=call.max_documents)
        try:
            return await self._turns.run_turn(turn, limits=limits, report_progress=report_progress)
        except asyncio.CancelledError:
            # Else the conversation's next turn would begin with this one, for which nobody waits any more.
            await asyncio.shield(self._turns.stop_requests.request_stop(turn, caller.person))
            raise


def _body_of(call: QuestionCall) -> InboundBody:
    """Raises `InvalidCall`, `InvalidQuestion`."""
    if (call.question is None) == (call.choice is None):
        raise InvalidCall("Give either a `question`, or a `choice` with the `conversation` that offered it.")
    if call.choice is None:
        return TextMessage(validate_question(call.question or ""))
    if call.conversation is None:
        raise InvalidCall("A `choice` needs the `conversation` that offered it.")
    if not _is_id(call.choice):
        raise UnknownChoice()
    return ButtonClick(ChoiceId(call.choice))


def _is_id(text: str) -> bool:
    return _ID_PATTERN.fullmatch(text) is not None


def _may_offer_file(finished: FinishedTurn) -> bool:
    result = finished.result
    is_set = result["outcome"] in ("answer", "overload") and bool(result["count"])
    return finished.error is None and is_set and not result["files"]


def _export_choice_of(finished: FinishedTurn) -> ChoiceId | None:
    return next((ChoiceId(choice["id"]) for choice in finished.result["choices"] if choice["kind"] == "export"), None)
