"""Actions on a turn: stop it, rate it, show its steps, show its full text.

The person must belong to the turn's audience. An action that shows contents again checks the current rights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any as Json
from typing import Final

from agent.outcome import StartOverOutcome
from bot.access.audience_scope import AccessResolver
from bot.attachments.attachments import ConversationAttachments
from bot.conversation.json_result import result_to_json
from bot.conversation.reasoning_record import describe_reasoning, describe_stages
from bot.conversation.turn_result import TurnResult, result_request_of, turn_result_from_json
from bot.errors import (
    AnswerNoLongerVisible,
    AnswerNotFound,
    DocumentsUnreachable,
    NotYourAnswer,
    TurnActionRefused,
    TurnAlreadyEnded,
    UnreadableTurn,
)
from bot.ids import ConversationId, MessageId, PersonId, TurnId
from bot.surface.inbound import Audience, FullTextRequest, Inbound, have_same_readers
from bot.surface.json_codec import audience_from_json, inbound_from_row
from bot.surface.replies import FullTextPart, Reply
from bot.turns.feedback import AnswerFeedback, FeedbackVerdict
from bot.turns.stop_requests import StopRequests
from storage.search.codec import condition_from_json
from storage.search.conditions import Condition, OrCondition, conjuncts_of
from storage.search.errors import IndexUnavailable
from storage.search.ids import BucketId
from storage.search.index import ScopedIndex, SearchIndex
from storage.search.schema import Schema
from storage.sql.errors import SqlError
from storage.sql.stores.inbox import TurnInbox
from storage.sql.stores.turns import Turn

_SEARCH_LABELS: Final[Mapping[str, str]] = {
    "search_text": "Searched texts",
    "search_semantic": "Compared by meaning",
    "annotations_search": "Looked for documents",
    "annotations_aggregate": "Counted",
    "get_document_metadata": "Read values",
}
_COUNTING_TOOL: Final = "annotations_aggregate"
_ROUTE_LABELS: Final[Mapping[str, str]] = {
    "structured": "Searched values and counts",
    "hybrid": "Searched passages of texts",
    "long_text": "Searched a long document",
}
SHOWN_ENDING: Final = "shown"  # the ending of a turn that has shown the full text of another turn


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnActor:
    """The person who acts, and the conversation and audience of the message, as the chat product reports them."""

    conversation: ConversationId
    audience: Audience
    person: PersonId
    name: str  # not escaped


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStep:
    """One search of a turn. `criteria` is raw text."""

    tool: str
    criteria: str
    documents: int
    elapsed_ms: float

    @property
    def label(self) -> str:
        """What was done, in words."""
        return _SEARCH_LABELS.get(self.tool, self.tool)

    @property
    def result_text(self) -> str:
        """ "4 documents found, 1.2 ms". What is counted has no documents."""
        documents = f"{self.documents:,} document{'' if self.documents == 1 else 's'} found, "
        return f"{'' if self.tool == _COUNTING_TOOL else documents}{self.elapsed_ms:,.1f} ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSteps:
    """How an answer was found. The lines are raw text: the stages with their times, and what a language model did."""

    route: str
    reasoner: str
    elapsed_ms: float
    steps: tuple[SearchStep, ...]
    stage_lines: tuple[str, ...] = ()
    reasoning_lines: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """ "Searched a long document, by rules, in 42 ms"."""
        searched = _ROUTE_LABELS.get(self.route, "Nothing was searched")
        reasoner = {"rule": "by rules", "model": "with a language model"}.get(self.reasoner)
        return ", ".join([searched, *([reasoner] if reasoner else []), f"in {self.elapsed_ms:,.0f} ms"])


MAX_FULL_TEXT_TRIES: Final = 5  # tries to show the full text of one turn that have failed


def full_text_id(turn: TurnId, number: int) -> str:
    """The event id and message id of the `number`th try to show the full text of a turn."""
    return f"whole:{turn}:{number}"


class FullTextStatus(StrEnum):
    """The status of a turn that shows the full text of another turn."""

    OPEN = "open"
    SHOWN = "shown"
    FAILED = "failed"


class TurnActionHandler:
    def __init__(
        self,
        *,
        inbox: TurnInbox,
        access: AccessResolver,
        index: SearchIndex,
        attachments: ConversationAttachments,
        feedback: AnswerFeedback,
        stop_requests: StopRequests,
    ) -> None:
        self._inbox, self._access, self._index, self._attachments = inbox, access, index, attachments
        self._feedback, self._stop_requests = feedback, stop_requests

    async def stop_turn(self, turn: TurnId, actor: TurnActor) -> None:
        """Stop a running turn. Raises `TurnActionRefused`."""
        await self._load_addressed_turn(turn, actor)
        if not await self._stop_requests.request_stop(turn, actor.name):
            raise TurnAlreadyEnded()

    async def try_stop_turn(self, turn: TurnId, actor: TurnActor) -> bool:
        """The same for a stop that nobody waits for. False where the turn was not stopped, also because the database
        does not answer.
        """
        try:
            await self.stop_turn(turn, actor)
        except (TurnActionRefused, SqlError):
            return False
        return True

    async def stop_conversation(self, actor: TurnActor) -> None:
        """Stop the running turns of the conversation. The chat product guarantees that the person can read it."""
        await self._stop_requests.stop_conversation(actor.conversation, actor.name)

    async def rate_turn(self, turn: TurnId, actor: TurnActor, verdict: FeedbackVerdict, reason: str = "") -> None:
        """Record the person's rating in place of an earlier one. Raises `TurnActionRefused`."""
        await self._load_addressed_turn(turn, actor)
        await self._feedback.record_verdict(turn, actor.person, verdict, reason)

    async def find_turn_of_reply(self, conversation: ConversationId, message: MessageId) -> TurnId | None:
        """The turn whose reply is in this message; None for any other message."""
        turn = await self._inbox.find_by_reply(conversation, message)
        return None if turn is None else TurnId(turn)

    async def load_steps(self, turn: TurnId, actor: TurnActor) -> TurnSteps:
        """The searches behind the turn's answer. Raises `TurnActionRefused`."""
        turn_result = await self._load_visible_result(turn, actor)
        schemas = await self._load_schemas(actor)
        attempts = await self._inbox.list_attempts(turn)
        steps = tuple(
            SearchStep(
                tool=attempt.tool,
                criteria=describe_search_arguments(attempt.arguments, schemas),
                documents=attempt.documents,
                elapsed_ms=attempt.ms,
            )
            for attempt in attempts
        )
        result = turn_result.result
        return TurnSteps(
            route=result["route"] or "",
            reasoner=result["reasoner"] or "",
            elapsed_ms=result["ms"],
            steps=steps,
            stage_lines=tuple(describe_stages(result, turn_result.reasoning)),
            reasoning_lines=tuple(describe_reasoning(result, turn_result.reasoning)),
        )

    async def check_full_text(self, turn: TurnId, actor: TurnActor) -> None:
        """Check that the turn's full text may be shown again in its conversation. Raises `TurnActionRefused`."""
        await self._load_visible_result(turn, actor)

    async def may_read_text(self, turn: TurnId) -> bool:
        """Whether the turn's audience may still see its text: its own, or that of the turn whose full text it shows.

        Fulfils `bot.conversation.file_offers.TextAccess`. Raises `DocumentsUnreachable`.
        """
        stored_turn = await self._inbox.find_turn(turn)
        if stored_turn is None:
            return False
        actor = TurnActor(
            conversation=ConversationId(stored_turn.conversation),
            audience=audience_from_json(stored_turn.audience),
            person=PersonId(stored_turn.person),
            name="",
        )
        try:
            body = inbound_from_row(stored_turn).body
            await self._load_visible_result(body.turn if isinstance(body, FullTextRequest) else turn, actor)
        except DocumentsUnreachable:
            raise
        except (TurnActionRefused, UnreadableTurn):
            return False
        return True

    async def full_text_result(self, turn: TurnId, inbound: Inbound, own_turn: TurnId) -> TurnResult:
        """The result of the turn `own_turn`, which shows the full text of `turn`. Raises `TurnActionRefused`."""
        actor = TurnActor(
            conversation=inbound.conversation,
            audience=inbound.audience,
            person=inbound.person,
            name=inbound.person_name,
        )
        full_reply = (await self._load_visible_result(turn, actor)).reply
        name = f"answer-{turn[-8:]}.txt"
        result = result_to_json(result_request_of(inbound, own_turn, ""), StartOverOutcome(text=name))
        return TurnResult(
            reply=Reply(turn=own_turn, parts=(FullTextPart(name=name, reply=full_reply),)),
            result=result,
            ending=SHOWN_ENDING,
        )

    async def full_text_status_of(self, inbound: Inbound) -> FullTextStatus:
        """The status of the turn that was accepted earlier with this message id."""
        stored_turn = await self._inbox.find_by_message(inbound.conversation, inbound.message_id)
        if stored_turn is None or stored_turn.finished_at is None:
            return FullTextStatus.OPEN
        ending = None if stored_turn.outcome is None else turn_result_from_json(stored_turn.outcome).ending
        return (
            FullTextStatus.SHOWN
            if ending == SHOWN_ENDING and stored_turn.delivered_at is not None
            else FullTextStatus.FAILED
        )

    async def _load_addressed_turn(self, turn: TurnId, actor: TurnActor) -> Turn:
        stored_turn = await self._inbox.find_turn(turn)
        if stored_turn is None or stored_turn.conversation != actor.conversation:
            raise AnswerNotFound()
        if not have_same_readers(audience_from_json(stored_turn.audience), actor.audience):
            raise NotYourAnswer()
        return stored_turn

    async def _load_visible_result(self, turn: TurnId, actor: TurnActor) -> TurnResult:
        """The turn's result, if its audience may still see all that it is based on. Raises `TurnActionRefused`."""
        stored_turn = await self._load_addressed_turn(turn, actor)
        if stored_turn.outcome is None:
            raise AnswerNotFound()
        turn_result = turn_result_from_json(stored_turn.outcome)
        if turn_result.provenance is None:
            raise AnswerNoLongerVisible()
        scoped_index = await self._load_scoped_index(actor)
        files = await self._attachments.readable_file_ids(actor.conversation, actor.audience)
        try:
            may_be_seen = await turn_result.provenance.is_visible(scoped_index, files)
        except IndexUnavailable as exc:
            raise DocumentsUnreachable() from exc
        if not may_be_seen:
            raise AnswerNoLongerVisible()
        return turn_result

    async def _load_schemas(self, actor: TurnActor) -> Mapping[BucketId, Schema]:
        index = await self._load_scoped_index(actor)
        try:
            return await index.load_schemas()
        except IndexUnavailable as exc:
            raise DocumentsUnreachable() from exc

    async def _load_scoped_index(self, actor: TurnActor) -> ScopedIndex:
        """Raises `DocumentsUnreachable`: the scope names the buckets that the index has."""
        try:
            return self._index.within_scope(await self._access.scope_for_audience(actor.audience))
        except IndexUnavailable as exc:
            raise DocumentsUnreachable() from exc


def describe_search_arguments(arguments: Mapping[str, Json], schemas: Mapping[BucketId, Schema]) -> str:
    """Returns the criteria of a recorded search as raw text: conditions in the words of answers, required words, text.

    A bucket without a schema here, such as that of attached files, has the names of its fields.
    """
    buckets_by_criteria: dict[str, list[str]] = {}  # with the same criteria, they are named together
    for clause in arguments.get("filters", ()):
        buckets_by_criteria.setdefault(_describe_clause(clause, schemas), []).append(clause["bucket"])
    parts = [f"{', '.join(buckets)}: {criteria}" for criteria, buckets in buckets_by_criteria.items()]
    parts += [f"“{arguments['query']}”"] if "query" in arguments else []
    parts += [f"field {arguments['field']}"] if arguments.get("field") else []
    return "; ".join(parts)


def _describe_clause(clause: Mapping[str, Json], schemas: Mapping[BucketId, Schema]) -> str:
    bucket = BucketId(clause["bucket"])
    schema = schemas.get(bucket, Schema(bucket=bucket, fields=()))
    members = conjuncts_of(condition_from_json(clause["condition"]))
    conditions = " and ".join(_describe_member(member, schema, schemas) for member in members)
    words = " ".join(f"“{word}”" for word in clause.get("required", ()))
    return " ".join(filter(None, (conditions, words))) or "everything"


def _describe_member(condition: Condition, schema: Schema, schemas: Mapping[BucketId, Schema]) -> str:
    from agent.compose.phrases.conditions import describe_condition

    words = describe_condition(condition, schema, schemas)
    return f"({words})" if isinstance(condition, OrCondition) else words
