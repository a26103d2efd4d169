"""Clarifications: stored with opaque ids, found again by a click or a typed reply, used once, expired visibly.

A click is looked up first and used last, right before its answer is said: a search that fails does not use it up.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from agent.outcome import Choice
from bot.access import Access, scope_key
from bot.answers import Offer
from bot.codec import audience_from_json, audience_to_json
from bot.errors import ChoiceMade, ExpiredChoice, NotYourChoice, RightsChanged, UnknownChoice
from bot.ids import ChoiceId, ClarificationId, ConversationId, TurnId
from bot.inbound import Audience, Inbound, Operator, Private, Shared
from bot.replies import Button, Choices
from storage.search.codec import choice_from_json, choice_to_json, plan_from_json, plan_to_json
from storage.search.ids import Generation, LegId
from storage.search.plan import Plan
from storage.search.refinement import Action, Refinement
from storage.search.text import fold
from storage.sql.clarifications import AlreadyUsed, Clarification, Expired, NewChoice, NewClarification, Unknown, Used
from storage.sql.clarifications import Choice as StoredChoice
from storage.sql.clarifications import Clarifications as ClarificationStore
from storage.sql.database import Database

LIFE: Final = timedelta(hours=24)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_POSITION = re.compile(
    r"(?:the |number |no |option )?(?:(?P<number>\d{1,3})(?:st|nd|rd|th)?|(?P<word>"
    + "|".join((*_ORDINALS, "last"))
    + r"))(?: one| option)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """What is offered, of which plan, as counted in which generation of the index."""

    plan: Plan
    choices: tuple[Choice, ...]
    generation: Generation


@dataclass(frozen=True, slots=True, kw_only=True)
class Clicked:
    """A choice that counts: what it does to which leg of which plan, and what it promised."""

    clarification: ClarificationId
    turn: TurnId  # the one that asked back: its message shows the buttons
    choice: ChoiceId
    label: str
    count: int | None
    leg: LegId
    does: Refinement | Action
    plan: Plan
    question: str


class Clarifications:
    """Of all conversations. `life` is how long a choice stands."""

    def __init__(self, database: Database, access: Access, *, life: timedelta = LIFE) -> None:
        self._store, self._now, self._life = ClarificationStore(database), database.now, life
        self._access = access

    async def store(self, inbound: Inbound, turn: TurnId, scope_key: str, offered: Offered) -> Offer | None:
        """The choices, with an id each. None where there are none."""
        if not offered.choices:
            return None
        stored = await self._store.store(
            NewClarification(
                conversation=inbound.conversation,
                turn=turn,
                scope_key=scope_key,
                audience=audience_to_json(inbound.audience),
                plan=plan_to_json(offered.plan),
                question=offered.plan.question,
                generation=offered.generation,
                expires_at=self._now() + self._life,
                choices=tuple(map(_new, offered.choices)),
            )
        )
        ids = [ChoiceId(choice.id) for choice in stored.choices]
        return Offer(
            clarification=ClarificationId(stored.id),
            expires=stored.expires_at,
            choices=tuple(zip(ids, offered.choices, strict=True)),
        )

    async def look_up(self, choice: ChoiceId, inbound: Inbound) -> Clicked:
        """What a click leads to, if it would count now. Raises `ChoiceRefused`, an error for each way it would not."""
        offered = await self._store.choice(choice)
        if offered is None or offered.clarification.conversation != inbound.conversation:
            raise UnknownChoice()
        await self._check(offered.clarification, inbound.audience)
        return _clicked(offered.clarification, offered.choice)

    async def offered(
        self, clarification: ClarificationId, conversation: ConversationId, audience: Audience
    ) -> Choices:
        """All that a clarification offers, if a click would count now and it was found with the rights of now.

        Raises `ChoiceRefused`.
        """
        found = await self._store.find(clarification)
        if found is None or found.conversation != conversation:
            raise UnknownChoice()
        await self._check(found, audience)
        await self._check_rights(found, audience)
        buttons = (
            Button(id=ChoiceId(one.id), label=one.label, count=one.count, kind=one.kind) for one in found.choices
        )
        return Choices(clarification=clarification, buttons=tuple(buttons), expires=found.expires_at)

    async def _check(self, clarification: Clarification, audience: Audience) -> None:
        """Whether it still stands, and was put to whoever clicks. What was chosen is said to the same rights alone."""
        if not same_readers(audience_from_json(clarification.audience), audience):
            raise NotYourChoice()
        if clarification.used_choice is not None:
            await self._check_rights(clarification, audience)
            raise ChoiceMade(_label(clarification, clarification.used_choice), clarification.used_by or "")
        if clarification.expires_at <= self._now():
            raise ExpiredChoice()

    async def _check_rights(self, clarification: Clarification, audience: Audience) -> None:
        if scope_key(await self._access.scope(audience)) != clarification.scope_key:
            raise RightsChanged()

    async def use(self, choice: ChoiceId, turn: TurnId, *, by: str) -> None:
        """The click counts, and no other: for this turn again, when it is tried again. `by`: the clicker's name.

        Raises `ChoiceRefused`.
        """
        match await self._store.use(choice, by=_storable(by), turn=turn):
            case Used():
                return
            case AlreadyUsed(label=label, by=by):
                raise ChoiceMade(label, by)
            case Expired():
                raise ExpiredChoice()
            case Unknown():
                raise UnknownChoice()

    async def typed(self, text: str, inbound: Inbound, scope_key: str, *, by_place: bool = True) -> ChoiceId | None:
        """The choice that a message names, of the newest clarification if it is open: its label before its position.

        Not `by_place`: only its label, for after an answer "the second one" is a document of it.
        """
        newest = await self._store.open_in(inbound.conversation, scope_key)
        if newest is None or not same_readers(audience_from_json(newest.audience), inbound.audience):
            return None
        chosen = _labelled(text, newest) or (_numbered(text, newest) if by_place else None)
        return None if chosen is None else ChoiceId(chosen.id)

    async def choosers(self, turns: Sequence[TurnId]) -> list[TurnId]:
        """The turns that made a choice of what these offered."""
        return list(map(TurnId, await self._store.choosers(turns)))

    async def withdraw(self, turns: Sequence[TurnId]) -> None:
        """What these turns offered counts no more: what they said is gone."""
        await self._store.withdraw(turns)

    async def expire(self, *, but: Collection[str] = ()) -> list[TurnId]:
        """The turns whose clarification has just expired: their messages are to say so. Each is given once.

        `but`: surfaces whose messages another process changes.
        """
        return [TurnId(clarification.turn) for clarification in await self._store.expire(but=but)]


def _new(choice: Choice) -> NewChoice:
    payload = {"leg": choice.leg, "does": choice_to_json(choice.does)}
    return NewChoice(label=choice.label, count=choice.count, kind=choice.kind.value, payload=payload)


def _clicked(clarification: Clarification, choice: StoredChoice) -> Clicked:
    return Clicked(
        clarification=ClarificationId(clarification.id),
        turn=TurnId(clarification.turn),
        choice=ChoiceId(choice.id),
        label=choice.label,
        count=choice.count,
        leg=LegId(choice.payload["leg"]),
        does=choice_from_json(choice.payload["does"]),
        plan=plan_from_json(dict(clarification.plan)),
        question=clarification.question,
    )


def _storable(name: str) -> str:
    """A name as every database can hold it."""
    return name.encode(errors="replace").decode().replace("\x00", "")


def _label(clarification: Clarification, choice: str) -> str:
    return next(one.label for one in clarification.choices if one.id == choice)


def same_readers(asked: Audience, clicking: Audience) -> bool:
    """Whether a click comes from where the question was put: from any reader of the channel, or from the one person."""
    match asked:
        case Operator():
            return isinstance(clicking, Operator)
        case Private(person=person):
            return isinstance(clicking, Private) and clicking.person == person
        case Shared(channel=channel):
            return isinstance(clicking, Shared) and clicking.channel == channel


def _labelled(text: str, clarification: Clarification) -> StoredChoice | None:
    said = _plain(text)
    for choice in clarification.choices:
        shown = {choice.label, f"{choice.label} · {choice.count}", f"{choice.label} ({choice.count})"}
        if said in map(_plain, shown):
            return choice
    return None


def _numbered(text: str, clarification: Clarification) -> StoredChoice | None:
    match = _POSITION.fullmatch(_plain(text))
    if match is None:
        return None
    number = int(match["number"]) if match["number"] else None
    if match["word"]:
        number = len(clarification.choices) if match["word"] == "last" else _ORDINALS.index(match["word"]) + 1
    if number is None or not 1 <= number <= len(clarification.choices):
        return None
    return clarification.choices[number - 1]


def _plain(text: str) -> str:
    return fold(text).strip(" .!\"'“”‘’#").replace(",", "")
