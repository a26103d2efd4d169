"""Clarifications: stored with opaque ids, found by a click or a typed reply, used once, and visibly expired.

A choice is looked up first and marked as used last, right before its answer is posted. A failed search leaves it open.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from agent.languages.command_phrases import parse_foreign_position
from agent.outcome import Choice
from agent.translation.languages import DEFAULT_LANGUAGE, use_language
from agent.translation.local_formats import localize_count
from bot.access.audience_scope import AccessResolver, scope_key_of
from bot.conversation.reply_builder import StoredOffer
from bot.errors import (
    ChoiceAlreadyMade,
    ChoiceNumberTooHigh,
    ExpiredChoice,
    NotYourChoice,
    RightsChanged,
    UnknownChoice,
)
from bot.ids import ChoiceId, ClarificationId, ConversationId, TurnId
from bot.surface.inbound import Audience, Inbound, have_same_readers
from bot.surface.json_codec import audience_from_json, audience_to_json
from bot.surface.replies import ChoiceButton, ChoicesPart
from storage.quantities.spelled_numbers import ORDINALS_BY_WORD, alternatives_of
from storage.search.analyser import fold_text
from storage.search.codec import choice_from_json, choice_to_json, plan_from_json, plan_to_json
from storage.search.ids import Generation, LegId
from storage.search.plan import Plan
from storage.search.refinement import Action, Refinement
from storage.sql.database import SqlDatabase
from storage.sql.stores.clarifications import (
    ChoiceAlreadyUsed,
    ChoiceUnknown,
    ChoiceUsed,
    ClarificationExpired,
    NewChoice,
    NewClarification,
    StoredClarification,
)
from storage.sql.stores.clarifications import ClarificationStore as ClarificationStore
from storage.sql.stores.clarifications import StoredChoice as StoredChoice

CHOICE_LIFETIME: Final = timedelta(hours=24)
_MAX_EXPIRED_OFFERS: Final = 64  # whose messages one process updates within the lease, even if each update times out
_EXPIRY_LEASE: Final = timedelta(minutes=5)
_BARE_NUMBER = re.compile(r"\d{1,2}")
_POSITION_PATTERN = re.compile(
    r"(?:the |number |no |option )?(?:(?P<number>\d{1,3})(?:st|nd|rd|th)?|(?P<word>"
    rf"{alternatives_of(ORDINALS_BY_WORD)}|last))(?: one| option)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedChoices:
    """The choices to offer, their plan, and the generation of the index in which they were counted."""

    plan: Plan
    choices: tuple[Choice, ...]
    generation: Generation


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedChoice:
    """A valid choice: its effect on one leg of a plan, and the label and count that its button showed."""

    clarification: ClarificationId
    turn: TurnId  # the turn that asked; its message shows the buttons
    choice: ChoiceId
    label: str
    count: int | None
    leg: LegId
    effect: Refinement | Action
    plan: Plan
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredOffer:
    """The turn whose offer has expired, and the language of its reply."""

    clarification: ClarificationId
    turn: TurnId
    language: str


class ClarificationOffers:
    """The clarifications of all conversations. `lifetime` is how long a choice stays open."""

    def __init__(self, database: SqlDatabase, access: AccessResolver, *, lifetime: timedelta = CHOICE_LIFETIME) -> None:
        self._store, self._now, self._lifetime = ClarificationStore(database), database.utc_now, lifetime
        self._access = access

    async def store_offer(
        self, inbound: Inbound, turn: TurnId, scope_key: str, offered_choices: OfferedChoices
    ) -> StoredOffer | None:
        """Store the choices and return them with an id each; None if there are no choices."""
        if not offered_choices.choices:
            return None
        stored = await self._store.store_clarification(
            NewClarification(
                conversation=inbound.conversation,
                turn=turn,
                scope_key=scope_key,
                audience=audience_to_json(inbound.audience),
                plan=plan_to_json(offered_choices.plan),
                question=offered_choices.plan.question,
                generation=offered_choices.generation,
                expires_at=self._now() + self._lifetime,
                choices=tuple(map(_new_choice_of, offered_choices.choices)),
            )
        )
        ids = [ChoiceId(choice.id) for choice in stored.choices]
        return StoredOffer(
            clarification=ClarificationId(stored.id),
            expires_at=stored.expires_at,
            choices=tuple(zip(ids, offered_choices.choices, strict=True)),
        )

    async def look_up_choice(self, choice: ChoiceId, inbound: Inbound) -> SelectedChoice:
        """The choice behind a click, if it is valid now. Raises a subclass of `ChoiceRefused` for each other case."""
        offered = await self._store.find_offered_choice(choice)
        if offered is None or offered.clarification.conversation != inbound.conversation:
            raise UnknownChoice()
        with use_language(_language_of(offered.clarification)):
            await self._check_is_clickable(offered.clarification, inbound.audience)
        return _selected_choice_of(offered.clarification, offered.choice)

    async def load_offered_choices(
        self, clarification: ClarificationId, conversation: ConversationId, audience: Audience
    ) -> ChoicesPart:
        """All choices of a clarification that is still open and was made under the audience's current rights.

        Raises `ChoiceRefused`.
        """
        stored = await self._store.find_clarification(clarification)
        if stored is None or stored.conversation != conversation:
            raise UnknownChoice()
        with use_language(_language_of(stored)):
            await self._check_is_clickable(stored, audience)
            await self._check_rights(stored, audience)
            counts = {choice.id: localize_count(choice.count) for choice in stored.choices}
        buttons = (
            ChoiceButton(
                id=ChoiceId(choice.id),
                label=choice.label,
                count=choice.count,
                kind=choice.kind,
                local_count=counts[choice.id],
            )
            for choice in stored.choices
        )
        return ChoicesPart(clarification=clarification, buttons=tuple(buttons), expires=stored.expires_at)

    async def _check_is_clickable(self, clarification: StoredClarification, audience: Audience) -> None:
        """Check that the clarification is open and was shown to this audience. Raises `ChoiceRefused`.

        The error names the earlier choice only if the rights are unchanged.
        """
        if not have_same_readers(audience_from_json(clarification.audience), audience):
            raise NotYourChoice()
        if clarification.used_choice is not None:
            await self._check_rights(clarification, audience)
            raise ChoiceAlreadyMade(_label_of(clarification, clarification.used_choice), clarification.used_by or "")
        if clarification.expires_at <= self._now():
            raise ExpiredChoice()

    async def _check_rights(self, clarification: StoredClarification, audience: Audience) -> None:
        if scope_key_of(await self._access.scope_for_audience(audience)) != clarification.scope_key:
            raise RightsChanged()

    async def use_choice(self, choice: ChoiceId, turn: TurnId, *, clicker_name: str) -> None:
        """Mark the choice as used by this turn. A retry of the same turn may use it again.

        Raises `ChoiceRefused`.
        """
        match await self._store.use_choice(choice, by=_storable_name(clicker_name), turn=turn):
            case ChoiceUsed():
                return
            case ChoiceAlreadyUsed(used_label=used_label, used_by=used_by):
                raise ChoiceAlreadyMade(used_label, used_by)
            case ClarificationExpired():
                raise ExpiredChoice()
            case ChoiceUnknown():
                raise UnknownChoice()

    async def match_typed_choice(
        self, text: str, inbound: Inbound, scope_key: str, *, allow_ordinals: bool = True
    ) -> ChoiceId | None:
        """The choice of the newest open clarification that a message names by its label, else by its position.

        Without `allow_ordinals` only a bare number names a position: after an answer, "the second one" is a document.
        With it, raises `ChoiceNumberTooHigh` for a bare number of one or two digits beyond the last choice.
        """
        newest = await self._store.find_open_clarification(inbound.conversation, scope_key)
        if newest is None or not have_same_readers(audience_from_json(newest.audience), inbound.audience):
            return None
        may_name_position = allow_ordinals or _normalise_text(text).isdecimal()
        chosen = _find_by_label(text, newest) or (_find_by_position(text, newest) if may_name_position else None)
        if chosen is None and allow_ordinals and newest.choices:
            _check_position_exists(text, newest)
        return None if chosen is None else ChoiceId(chosen.id)

    async def find_choosers(self, turns: Sequence[TurnId]) -> list[TurnId]:
        """The turns that used a choice offered by these turns."""
        return list(map(TurnId, await self._store.list_choosing_turns(turns)))

    async def withdraw_offers(self, turns: Sequence[TurnId]) -> None:
        """Withdraw the unused offers of these turns, whose replies were deleted."""
        await self._store.withdraw_unused_offers(turns)

    async def claim_expired_offers(self, *, exclude_surfaces: Collection[str] = ()) -> list[ExpiredOffer]:
        """Expire some of the due clarifications; the messages of their turns must show the expiry, and then
        `note_expiry_shown`. Another process gets an offer for which this does not happen soon.

        `exclude_surfaces`: surfaces whose messages another process updates.
        """
        claimed = await self._store.claim_expired_clarifications(
            _EXPIRY_LEASE, limit=_MAX_EXPIRED_OFFERS, exclude_surfaces=exclude_surfaces
        )
        return [
            ExpiredOffer(
                clarification=ClarificationId(clarification.id),
                turn=TurnId(clarification.turn),
                language=_language_of(clarification),
            )
            for clarification in claimed
        ]

    async def note_expiry_shown(self, offer: ExpiredOffer) -> None:
        """Record that the message shows the expiry, or cannot."""
        await self._store.note_expiry_shown(offer.clarification)


def _language_of(clarification: StoredClarification) -> str:
    return str(clarification.plan.get("language", DEFAULT_LANGUAGE))


def _new_choice_of(choice: Choice) -> NewChoice:
    payload = {"leg": choice.leg, "does": choice_to_json(choice.effect)}
    return NewChoice(label=choice.label, count=choice.count, kind=choice.kind.value, payload=payload)


def _selected_choice_of(clarification: StoredClarification, choice: StoredChoice) -> SelectedChoice:
    return SelectedChoice(
        clarification=ClarificationId(clarification.id),
        turn=TurnId(clarification.turn),
        choice=ChoiceId(choice.id),
        label=choice.label,
        count=choice.count,
        leg=LegId(choice.payload["leg"]),
        effect=choice_from_json(choice.payload["does"]),
        plan=plan_from_json(dict(clarification.plan)),
        question=clarification.question,
    )


def _storable_name(name: str) -> str:
    """The name without characters that a database cannot store."""
    return name.encode(errors="replace").decode().replace("\x00", "")


def _label_of(clarification: StoredClarification, choice: str) -> str:
    return next(stored_choice.label for stored_choice in clarification.choices if stored_choice.id == choice)


def _find_by_label(text: str, clarification: StoredClarification) -> StoredChoice | None:
    typed_text = _normalise_text(text)
    for choice in clarification.choices:
        labels = [choice.label]
        for count in (f"{choice.count}", *(f"{choice.count or 0:,}".replace(",", mark) for mark in ". ’")):
            labels += [f"{choice.label} · {count}", f"{choice.label} ({count})"]
        if typed_text in map(_normalise_text, labels):
            return choice
    return None


def _find_by_position(text: str, clarification: StoredClarification) -> StoredChoice | None:
    typed_text, count = _normalise_text(text), len(clarification.choices)
    number = _parse_english_position(typed_text, count) or parse_foreign_position(typed_text, count)
    if number is None or not 1 <= number <= len(clarification.choices):
        return None
    return clarification.choices[number - 1]


def _check_position_exists(text: str, clarification: StoredClarification) -> None:
    """Raises `ChoiceNumberTooHigh`."""
    typed_text = _normalise_text(text)
    if _BARE_NUMBER.fullmatch(typed_text):
        raise ChoiceNumberTooHigh(int(typed_text), len(clarification.choices))


def _parse_english_position(text: str, count: int) -> int | None:
    match = _POSITION_PATTERN.fullmatch(text)
    if match is None:
        return None
    if match["number"]:
        return int(match["number"])
    return count if match["word"] == "last" else ORDINALS_BY_WORD[match["word"]]


def _normalise_text(text: str) -> str:
    return fold_text(text).strip(" .!¡\"'“”‘’#").replace(",", "").replace(" :", ":")
