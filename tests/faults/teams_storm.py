"""Teams in a storm of faults, over the strict stand-in.

Teams cannot be asked which messages Parley has posted. So where a fault hides the id of a new message from Parley, the
turn shows a second one, which is better than none; such repeats are counted apart, and every other one is a fault of
Parley's.
"""

import contextlib
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from adapters.teams.posting.render import MessagePlace, teams_message_for
from adapters.teams.receiving.http_endpoint import MESSAGES_PATH
from bot.surface.json_codec import reply_from_json
from bot.surface.replies import FilePart, Reply
from tests.faults.storm import (
    CHANNEL_COUNT,
    PERSON_COUNT,
    AskedQuestion,
    FaultKind,
    QuestionKey,
    ShownAnswers,
    StoredAnswer,
)
from tests.scenarios.surfaces.teams import settings_of
from tests.scenarios.surfaces.teams_messages import group_messages, is_about_file, offers_file, shown_text_of
from tests.stand_ins.teams.activity_checker import attachments_of
from tests.stand_ins.teams.conversing import TeamsActionNotPossible
from tests.stand_ins.teams.json_parts import object_of
from tests.stand_ins.teams.server import TeamsFault, TeamsServer
from tests.stand_ins.teams.tenancy import CONSENT_CARD, TenantConversation, TenantMessage

MAX_PENDING_PER_CALL: Final = 2
CALLS: Final = ("send", "send", "send", "update", "update", "member", "members", "token", "openid", "upload")
MESSAGES_IN_FLIGHT: Final = 16  # at most, when the process is killed
WEIGHTS: Final = {
    FaultKind.BUSY: 20,
    FaultKind.BROKEN: 27,
    FaultKind.CUT: 17,
    FaultKind.LOST: 14,
    FaultKind.DUPLICATE: 12,
    FaultKind.REORDER: 6,
    FaultKind.KILL: 2,
    FaultKind.HANG: 2,
    FaultKind.ENDED: 4,
}


@dataclass
class TeamsStorm:
    """Fulfils `StormProduct`. A question's place is its conversation, its thread the conversation with the root."""

    teams: TeamsServer
    name: str = "teams"
    fault_weights: Mapping[FaultKind, int] = field(default_factory=lambda: WEIGHTS)
    _pending: list[tuple[FaultKind, str, TeamsFault]] = field(default_factory=list[tuple[FaultKind, str, TeamsFault]])
    _messages: dict[QuestionKey, TenantMessage] = field(default_factory=dict[QuestionKey, TenantMessage])
    _offers: dict[str, str] = field(default_factory=dict[str, str])  # ids of offered files, by message
    _accepted: set[str] = field(default_factory=set[str])  # ids of messages whose file was accepted
    _kills: list[int] = field(default_factory=list[int])  # the number of messages when the process was killed

    def __post_init__(self) -> None:
        tenant = self.teams.tenant
        self._people = [tenant.add_person(f"P{n}") for n in range(PERSON_COUNT)]
        self._places = [tenant.personal_chat_of(person) for person in self._people]
        team = tenant.add_team("Storm", *self._people)
        self._places += [tenant.add_channel(team, f"Channel {n}") for n in range(CHANNEL_COUNT)]

    def connect_app(self, address: str) -> dict[str, str]:
        self.teams.app_url = f"{address}{MESSAGES_PATH}"
        return settings_of(self.teams)

    # -- messages

    def post_question(self, rng: random.Random, text: str, after: AskedQuestion | None) -> AskedQuestion:
        tenant = self.teams.tenant
        place = rng.choice(self._places) if after is None else tenant.conversations[after.place]
        is_personal = place.kind == "personal"
        person = tenant.people[place.members[0]] if is_personal else rng.choice(self._people)
        message_id = tenant.next_activity_id()
        root = "" if is_personal else (after.thread.rpartition(";messageid=")[2] if after is not None else message_id)
        address = f"{place.id};messageid={root}" if root else place.id
        activity = {
            **self.teams.base_activity("message", person, place, address, message_id),
            **self.teams.text_fields(person, place, text, mention=not is_personal),
        }
        message = TenantMessage(id=message_id, conversation=place.id, sender=person.id, activity=activity, thread=root)
        tenant.messages.append(message)
        question = AskedQuestion(key=(address, message_id), place=place.id, thread=address)
        self._messages[question.key] = message
        return question

    async def deliver_question(self, question: AskedQuestion, copy: int) -> bool:
        """Teams repeats a delivery unchanged."""
        delivery = await self.teams.deliver_activity(self._messages[question.key].activity, repeats=0)
        return delivery.is_accepted

    def key_of(self, conversation: str, message: str) -> QuestionKey:
        return conversation.split(":", 2)[2], message

    async def use_answers(self) -> bool:
        """People accept every file that is offered to them. True while an accepted file is on its way."""
        for message in self.teams.tenant.bot_messages():
            if offers_file(message):
                self._offers[message.id] = _offer_id_of(message)
                if message.id not in self._accepted:
                    await self._accept_file(message)
        return any(self._is_awaited(message_id) for message_id in self._offers)

    async def _accept_file(self, message: TenantMessage) -> None:
        """Where the answer comes too late, the person clicks again."""
        [owner] = self.teams.tenant.conversations[message.conversation].members
        with contextlib.suppress(TeamsActionNotPossible):
            delivery = await self.teams.accept(self.teams.tenant.people[owner], message)
            if delivery.is_accepted:
                self._accepted.add(message.id)

    def _is_awaited(self, message_id: str) -> bool:
        shown = [message for message in self.teams.tenant.bot_messages() if message.id == message_id]
        return any(offers_file(message) for message in shown)

    # -- faults

    def plan_fault(self, rng: random.Random, kind: FaultKind) -> None:
        waiting = self.teams.faults.pending
        name = rng.choice([call for call in CALLS if len(waiting[call]) < MAX_PENDING_PER_CALL])
        fault = _build_fault(rng, kind)
        self._pending.append((kind, name, fault))
        self.teams.plan_faults(name, fault)

    def take_triggered_faults(self) -> list[FaultKind]:
        waiting = self.teams.faults.pending
        triggered = [
            (kind, name, fault)
            for kind, name, fault in self._pending
            if not any(fault is waiting_fault for waiting_fault in waiting[name])
        ]
        for entry in triggered:
            self._pending.remove(entry)
        return [kind for kind, _, _ in triggered]

    @property
    def pending_fault_count(self) -> int:
        return len(self._pending)

    def clear_faults(self) -> None:
        self.teams.faults.pending.clear()

    def end_stream(self, rng: random.Random) -> bool:
        """As if two minutes had passed."""
        streams = [stream for stream in self.teams.streams.values() if stream.is_open]
        if not streams:
            return False
        rng.choice(streams).ending = "Content stream finished due to exceeded streaming time."
        return True

    def note_kill(self) -> None:
        self._kills.append(len(self.teams.tenant.messages))

    # -- answers

    def collect_answers(self, questions: Sequence[AskedQuestion], answers: Sequence[StoredAnswer]) -> ShownAnswers:
        shown = {group[0].id: group for group in group_messages(self.teams.tenant.bot_messages())}
        answering_ids = {answer.message for answer in answers}
        strays = [group[0] for group in shown.values() if self._is_stray(group[0], answering_ids)]
        offers = Counter(offer for message, offer in self._offers.items() if not self._is_explained(message))
        return ShownAnswers(
            answered=frozenset(answer.turn for answer in answers if answer.message in shown),
            doubled=(
                *(_describe(message) for message in strays if not self._is_explained(message.id)),
                *(_describe(card) for group in shown.values() for card in self._repeated_cards_in(group)),
                *(f"{offer}: offered {count} times" for offer, count in offers.items() if count > 1),
            ),
            unfinished=(
                *(
                    f"{answer.key}: {_describe(shown[answer.message][0])}"
                    for answer in answers
                    if answer.message in shown and not self._shows_reply(shown[answer.message], answer)
                ),
                *(f"{message_id}: the file was not handed over" for message_id in self._undelivered_ids()),
            ),
            explained=tuple(_describe(message) for message in strays if self._is_explained(message.id)),
            streamed=len(self.teams.streams),
        )

    def _is_stray(self, message: TenantMessage, answering_ids: set[str | None]) -> bool:
        """Whether a message answers no turn and is about no file."""
        return message.id not in answering_ids and message.id not in self._offers and not is_about_file(message)

    def _repeated_cards_in(self, group: Sequence[TenantMessage]) -> list[TenantMessage]:
        """The cards below a message that show again what a card before them shows."""
        cards = [card for card in group[1:] if not self._is_explained(card.id)]
        return [
            card for position, card in enumerate(cards) if card.cards in [other.cards for other in cards[:position]]
        ]

    def _is_explained(self, message_id: str) -> bool:
        """Whether a fault has hidden the message's id from Parley, or the process was killed soon after."""
        if message_id in self.teams.hidden_ids:
            return True
        position = [message.id for message in self.teams.tenant.messages].index(message_id)
        return any(kill - MESSAGES_IN_FLIGHT <= position < kill for kill in self._kills)

    def _undelivered_ids(self) -> list[str]:
        """Accepted offers without a finished upload. An offer that was repeated is answered in one of its messages."""
        messages = {message.id: message for message in self.teams.tenant.bot_messages()}
        return [
            message_id for message_id in self._accepted if message_id in messages and offers_file(messages[message_id])
        ]

    def _shows_reply(self, group: Sequence[TenantMessage], answer: StoredAnswer) -> bool:
        if answer.outcome is None:
            return False
        reply = reply_from_json(json.loads(answer.outcome)["reply"])
        conversation = self.teams.tenant.conversations[group[0].conversation]
        shown = _words_of("\n".join(map(shown_text_of, group)))
        return any(final <= shown for final in _final_words_of(reply, conversation)) and not _is_streaming(group[0])


def _build_fault(rng: random.Random, kind: FaultKind) -> TeamsFault:
    match kind:
        case FaultKind.BUSY:
            return TeamsFault(status=429, retry_after=rng.choice((1, 1, 1, 2)))
        case FaultKind.BROKEN:
            return TeamsFault(status=rng.choice((412, 500, 502, 503, 504)))
        case FaultKind.LOST:
            return TeamsFault(takes_effect=True)
        case FaultKind.HANG:
            return TeamsFault(hang=True)
        case _:
            return TeamsFault()  # cut


def _offer_id_of(message: TenantMessage) -> str:
    [card] = attachments_of(message.activity, CONSENT_CARD)
    return json.dumps(object_of(object_of(card, "content"), "acceptContext"), sort_keys=True)


def _final_words_of(reply: Reply, conversation: TenantConversation) -> list[Counter[str]]:
    """The words of the final messages that are possible for a reply: with offered files, or with links to them."""
    is_personal = conversation.kind == "personal"
    paths = (
        frozenset(part.path for part in reply.parts if isinstance(part, FilePart)) if is_personal else frozenset[str]()
    )
    places = [MessagePlace(is_personal=is_personal), MessagePlace(is_personal=is_personal, linked_paths=paths)]
    return [_words_of(_shown_text_for(teams_message_for(reply, place))) for place in places]


def _shown_text_for(activity: Mapping[str, Any]) -> str:
    """Without what is behind the markers: a card lists the sources in another way."""
    content = {name: value for name, value in json.loads(json.dumps(activity)).items() if name != "entities"}
    return shown_text_of(TenantMessage(id="final", conversation="", sender="", activity=content))


def _words_of(text: str) -> Counter[str]:
    return Counter(text.split())


def _is_streaming(message: TenantMessage) -> bool:
    return message.activity.get("type") == "typing"


def _describe(message: TenantMessage) -> str:
    return f"{message.address}, {message.id}: {message.visible_text()!r}"
