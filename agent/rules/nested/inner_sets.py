"""Reads the words for an inner set: its condition, and its order where only the first of it is meant."""

from dataclasses import dataclass, replace

from agent.rules.cues.function_phrases import find_superlatives
from agent.rules.forms.recognisers import answer_form_of, drop_form_words
from agent.rules.linking.lexicon import BucketLexicon
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.conditions import MATCH_ALL, TEXT_FIELD, TITLE_FIELD, Condition, fields_of
from storage.search.plan import AnswerForm
from storage.search.schema import SchemaOrder

_LIST_REQUEST = "show "


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerSet:
    """A set of one bucket as read from words of a question."""

    condition: Condition
    order: SchemaOrder | None = None
    limit: int = 1  # of an ordered set
    has_noun: bool
    is_certain: bool  # all conditions rest on whole values or numbers

    @property
    def is_everything(self) -> bool:
        """Whether it is the whole bucket, which no question means by an inner set."""
        return self.order is None and self.condition == MATCH_ALL


def list_request_for(inner_text: str) -> str:
    """Returns a question that asks for the documents that the words name."""
    return _LIST_REQUEST + inner_text


def inner_set_of(reading: BucketReading, lexicon: BucketLexicon) -> InnerSet | None:
    """Returns the set that the reading of a list request describes; None if it leaves words unexplained."""
    reading = drop_form_words(reading, lexicon)
    answer_form = answer_form_of(reading, lexicon)
    if reading.unlinked_quotations or count_unexplained(reading, answer_form):
        return None
    if not answer_form.lists_documents:
        return None
    order = answer_form.list_order
    return InnerSet(
        condition=reading.condition,
        order=order,
        limit=(answer_form.list_limit or 1) if order is not None else 1,
        has_noun=reading.has_noun,
        is_certain=reading.is_exact and bool(reading.conditions),
    )


def count_unexplained(reading: BucketReading, answer_form: AnswerForm) -> int:
    """Returns how many words and phrases of the question the reading leaves without use in this form of answer."""
    words = [token.word for token in reading.tokens]
    superlatives = find_superlatives(words, reading)
    uses_superlative = answer_form.list_order is not None or bool(answer_form.computed_functions)
    text_conditions = [
        condition for condition in reading.conditions if fields_of(condition) & {TEXT_FIELD, TITLE_FIELD}
    ]
    used_fields = {name for _, name in answer_form.requested_fields}
    used_fields |= {answer_form.computed_field}
    used_fields |= {answer_form.list_order.field} if answer_form.list_order is not None else set()
    used_fields |= {answer_form.grouping.field} if answer_form.grouping is not None else set()
    unused_mentions = {
        mention.field for mention in reading.asked_mentions if not mention.is_hint and mention.field not in used_fields
    }
    return (
        len(reading.unlinked_words)
        + len(text_conditions)
        + max(len(superlatives) - uses_superlative, 0)
        + len(unused_mentions)
    )


def without_alternatives(reading: BucketReading) -> BucketReading:
    return replace(reading, equal_alternatives=(), fallback_alternatives=(), wider_alternatives=())
