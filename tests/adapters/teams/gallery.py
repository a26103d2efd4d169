"""One example of each message that the adapter shows in Teams, by the name of its golden file."""

from collections.abc import Mapping
from typing import Final

from adapters.teams.payloads.json_values import JsonObject
from adapters.teams.posting.cards import attach_card, more_choices_card_for, steps_card_for
from adapters.teams.posting.render import (
    MessagePlace,
    full_text_messages_for,
    full_text_of,
    teams_message_for,
    with_choices_settled,
)
from bot.ids import ClarificationId
from bot.surface.replies import ChosenPart, FilePart, PicturePart, Reply, ReplyPart, ShownCitation, TablePart, TextPart
from bot.turns.turn_actions import SearchStep, TurnSteps
from tests.adapters.slack.gallery import EVERY_CHOICE, PARTS, choices_part_of, numbered_buttons, reply_with_parts


def picture_in(part: ReplyPart) -> PicturePart:
    assert isinstance(part, PicturePart)
    return part


PERSONAL: Final = MessagePlace(is_personal=True)
SHARED: Final = MessagePlace(is_personal=False)
DRAWN: Final = MessagePlace(is_personal=True, drawn_pictures={picture_in(PARTS["picture"]): b"a small file"})
PDF: Final = "https://example.org/contracts/c-1449.pdf"

NOTICE_PERIOD: Final = TextPart(
    markdown="Notice period: **30 days** [1], **60 days** [2].",
    sources=(
        ShownCitation(marker="1", title="Lease C-1449", page=4, url=PDF, quote="By notice of 30 days in writing."),
        ShownCitation(marker="2", title="Lease C-1456", page=2, url=None, quote="It ends by notice of 60 days."),
    ),
)
ASKED_BACK: Final = reply_with_parts(
    TextPart(markdown="I found **233 receipts**, more than the 100 that I list.\n\nWhich of them? By vendor:"),
    choices_part_of(*numbered_buttons(2)),
)
LONG_TEXT: Final = TextPart(markdown="\n\n".join(f"Paragraph {n}. {'word ' * 200}" for n in range(1, 31)))
LONG_TABLE: Final = TablePart(
    caption="300 of 300", columns=("Document", "Total"), rows=tuple((f"Receipt {n}", f"{n}.00") for n in range(1, 301))
)
MANY_SOURCES: Final = TextPart(
    markdown=" ".join(f"Fact {n} [{n}]." for n in range(1, 24)),
    sources=tuple(
        ShownCitation(marker=str(n), title=f"Report {n} {'of the year ' * 8}", page=n, url=PDF, quote="A fact. " * 30)
        for n in range(1, 24)
    ),
)
_STEPS: Final = TurnSteps(
    route="long_text",
    reasoner="model",
    elapsed_ms=41.7,
    steps=(
        SearchStep(tool="search_text", criteria="receipts: “grip” <at>x</at>", documents=1_042, elapsed_ms=3.04),
        SearchStep(tool="annotations_aggregate", criteria="", documents=1, elapsed_ms=0.2),
    ),
    reasoning_lines=("compose: 0.4 ms, taken over by the rules (timed out)",),
)


def message_of(*parts: ReplyPart, place: MessagePlace = PERSONAL) -> JsonObject:
    return teams_message_for(reply_with_parts(*parts), place)


def message_with_card(card: JsonObject) -> JsonObject:
    return {"type": "message", "attachments": [attach_card(card)]}


def linked_place(reply: Reply) -> MessagePlace:
    """A personal chat in which no file of the reply could be offered."""
    paths = frozenset(part.path for part in reply.parts if isinstance(part, FilePart))
    return MessagePlace(is_personal=True, linked_paths=paths)


MESSAGES: Final[Mapping[str, JsonObject]] = {
    **{name: message_of(part) for name, part in PARTS.items()},
    "answer": message_of(NOTICE_PERIOD, PARTS["table"], PARTS["about"]),
    "answer-with-many-sources": message_of(MANY_SOURCES),
    "asked-back": teams_message_for(ASKED_BACK, SHARED),
    "asked-back-and-chosen": teams_message_for(
        with_choices_settled(ASKED_BACK, ChosenPart(label="Vendor 2", by="Ada")), SHARED
    ),
    "every-choice": message_of(EVERY_CHOICE),
    "file-as-link": teams_message_for(reply_with_parts(PARTS["file"]), linked_place(reply_with_parts(PARTS["file"]))),
    "file-in-a-channel": message_of(
        TextPart(markdown="Here is **receipts.csv** with 1,042 rows."), PARTS["file"], place=SHARED
    ),
    "picture": message_of(PARTS["picture"], PARTS["table"], place=DRAWN),
    "more-choices": message_of(choices_part_of(*numbered_buttons(80), *EVERY_CHOICE.buttons[-6:])),
    "more-choices-opened": message_with_card(more_choices_card_for(numbered_buttons(200)[60:], ClarificationId("c1"))),
    "shortened-table": message_of(LONG_TABLE),
    "shortened-text": message_of(LONG_TEXT),
    "steps": message_with_card(steps_card_for(_STEPS)),
    "whole-in-a-channel": message_of(PARTS["whole"], place=SHARED),
    "whole-in-a-channel-follows": full_text_messages_for(full_text_of(reply_with_parts(NOTICE_PERIOD)))[0],
    "working": message_of(PARTS["progress"], PARTS["stop"], place=SHARED),
}
