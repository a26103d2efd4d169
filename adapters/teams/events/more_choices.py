"""Remembers the cards with further choices, so that the turn of a choice can show it on them.

They are posted by the process that receives the clicks, and a turn may run in another process: it finds them in its
address. Nothing of them is stored. A click on a forgotten card whose clarification is over is answered in words.
"""

from dataclasses import replace
from typing import Final

from cachetools import TTLCache

from adapters.teams.addresses import MoreChoicesCard, TeamsAddress
from adapters.teams.events.listeners import AcceptInbound
from bot.conversation.clarifications import CHOICE_LIFETIME
from bot.ids import ClarificationId, ConversationId, TurnId
from bot.surface.inbound import Inbound

_MAX_CONVERSATIONS: Final = 10_000
_MAX_CARDS: Final = 5  # of a conversation: the newest ones


class MoreChoicesMemory:
    def __init__(self, accept: AcceptInbound) -> None:
        self._accept = accept
        self._cards: TTLCache[ConversationId, tuple[MoreChoicesCard, ...]] = TTLCache(
            _MAX_CONVERSATIONS, CHOICE_LIFETIME.total_seconds()
        )

    def note_card(self, conversation: ConversationId, clarification: ClarificationId, message: str) -> None:
        """`message` shows further choices of the clarification."""
        card = MoreChoicesCard(message=message, clarification=clarification)
        self._cards[conversation] = (*self._cards.get(conversation, ()), card)[-_MAX_CARDS:]

    async def accept_inbound(self, inbound: Inbound) -> TurnId | None:
        """Accepts the inbound with the cards of its conversation in its address. Fulfils `AcceptInbound`."""
        known_cards = self._cards.get(inbound.conversation)
        if known_cards:
            address = TeamsAddress.from_mapping(inbound.address)
            cards = tuple(dict.fromkeys((*address.more_cards, *known_cards)))
            completed_address = replace(address, more_cards=cards).to_mapping()
            inbound = replace(inbound, address={**inbound.address, **completed_address})
        return await self._accept(inbound)
