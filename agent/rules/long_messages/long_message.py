"""Brings a long message into a short form before the rules read it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agent.assumptions import ExcerptRead
from agent.decomposition import Decomposition, ExportRequest, PlannedQuestion
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.long_messages.list_conditions import ListReading, apply_list, read_list
from agent.rules.long_messages.list_entries import find_pasted_list
from agent.rules.long_messages.message_excerpt import take_excerpt
from storage.search.ids import BucketId


@dataclass(frozen=True, slots=True)
class ShortMessage:
    """What the rules read of a message: `text`, with one entry in place of a list, and an excerpt if it is long.

    `text_without_list`: to be read first where that says what the documents in the list are asked for; empty: never.
    """

    text: str
    text_without_list: str
    is_excerpt: bool
    list_reading: ListReading | None

    def complete_decision(
        self, decomposition: Decomposition, lexicons: Mapping[BucketId, BucketLexicon]
    ) -> Decomposition:
        """Returns the decision on the text as that on the message: with the whole list, and what was read of it."""
        if self.list_reading is not None:
            decomposition = apply_list(decomposition, self.list_reading, tuple(lexicons))
        if self.is_excerpt and isinstance(decomposition, (PlannedQuestion, ExportRequest)):
            excerpt = ExcerptRead(text=self.text)
            return replace(decomposition, assumptions=(excerpt, *decomposition.assumptions))
        return decomposition


def shorten_message(message: str, lexicons: Mapping[BucketId, BucketLexicon]) -> ShortMessage:
    """Returns the message itself unless it is long."""
    pasted_list = find_pasted_list(message)
    list_reading = None if pasted_list is None else read_list(message, pasted_list, lexicons)
    excerpt = take_excerpt(message if list_reading is None else list_reading.text)
    without_list = "" if list_reading is None else take_excerpt(list_reading.text_without_list).text
    return ShortMessage(excerpt.text, without_list, is_excerpt=excerpt.is_cut, list_reading=list_reading)
