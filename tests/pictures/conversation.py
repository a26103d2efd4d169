"""A conversation of two people with Parley, and single questions: the replies that docs/slack.md shows."""

from typing import Final

from adapters.slack.posting.render import with_choices_settled
from bot.application import Application
from bot.cli.speaker import new_conversation_id, speaker_for
from bot.ids import ChoiceId, ConversationId, PersonId
from bot.surface.inbound import ButtonClick, InboundBody, TextMessage
from bot.surface.replies import ChosenPart, Reply
from bot.turns.turn_processor import FinishedTurn
from tests.pictures.example_home import ADA

_CHOSEN: Final = "Redwood Tire & Wheel"
_SINGLE_QUESTIONS: Final = {
    "answer": "How often must the air filter of the battery cabinet B-120 be replaced?",
    "help": "What can you answer?",
    "nothing": "Contracts with ACME for 2031",
}


async def play_conversation(bot: Application) -> dict[str, Reply]:
    """Returns the replies by the names of their pictures."""
    conversation = new_conversation_id()
    asked = await _take_turn(bot, ADA, TextMessage("List every tire purchase receipt"), conversation)
    choice = next(choice for choice in asked.result["choices"] if choice["label"] == _CHOSEN)
    await _take_turn(bot, ADA, ButtonClick(ChoiceId(choice["id"])), conversation)
    narrowed = await _take_turn(bot, ADA, TextMessage("only 2024"), conversation)
    single = {
        name: (await _take_turn(bot, ADA, TextMessage(question), new_conversation_id())).reply
        for name, question in _SINGLE_QUESTIONS.items()
    }
    settled = with_choices_settled(asked.reply, ChosenPart(label=_CHOSEN, by="Ada"))
    return {"overload": asked.reply, "chosen": settled, "table": narrowed.reply, **single}


async def _take_turn(
    bot: Application, person: PersonId, body: InboundBody, conversation: ConversationId
) -> FinishedTurn:
    turn = await bot.accept_inbound(speaker_for(person).inbound_for(body, conversation))
    assert turn is not None
    return await bot.run_turn(turn)
