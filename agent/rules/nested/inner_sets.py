"""Reads the words for an inner set: its condition, and its order where only the first of it is meant."""

from collections.abc import Set
from dataclasses import dataclass, replace

from agent.rules.cues.function_phrases import find_superlatives, requested_limit
from agent.rules.cues.question_subject import NUMERIC_TYPES
from agent.rules.cues.ranked_fields import is_descending, ordering_fields
from agent.rules.forms.recognisers import drop_form_words, has_other_words
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.words.tokens import looks_plural
from storage.search.conditions import MATCH_ALL, TEXT_FIELD, TITLE_FIELD, Condition, fields_of
from storage.search.ids import FieldName
from storage.search.plan import AnswerForm, ListDocuments
from storage.search.schema import SchemaOrder

_LIST_REQUEST = "show "
_TEXT_FIELDS = frozenset({TEXT_FIELD, TITLE_FIELD})
_AMOUNT_SUPERLATIVES = frozenset({"most", "least", "fewest"})
_PLURAL_LIMIT = 10  # of "the largest branches", as in a list


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


def inner_set_of(reading: BucketReading, lexicon: BucketLexicon, keys: Set[FieldName]) -> InnerSet | None:
    """Returns the set that the reading of a list request describes; None if it leaves words unexplained.

    `keys` are fields that name documents of the bucket: a word for such a field is a noun for the documents.
    """
    if has_other_words(reading):
        return None
    reading = _take_keys_as_nouns(drop_form_words(reading, lexicon), keys)
    order = _order_of(reading, lexicon)
    limit = _limit_of(reading) if order is not None else 1
    answer_form = ListDocuments(order=order)
    if reading.unlinked_quotations or count_unexplained(reading, answer_form):
        return None
    return InnerSet(
        condition=reading.condition,
        order=order,
        limit=limit,
        has_noun=reading.has_noun,
        is_certain=reading.is_exact and bool(reading.conditions),
    )


def _take_keys_as_nouns(reading: BucketReading, keys: Set[FieldName]) -> BucketReading:
    mentions = tuple(mention for mention in reading.asked_mentions if mention.field not in keys)
    if mentions == reading.asked_mentions:
        return reading
    nouns = [link for link in reading.links if isinstance(link.meaning, FieldMention) and link.meaning.field in keys]
    is_plural = any(looks_plural(reading.tokens[link.last - 1]) for link in nouns)
    return replace(
        reading, asked_mentions=mentions, has_noun=True, has_plural_noun=reading.has_plural_noun or is_plural
    )


def _order_of(reading: BucketReading, lexicon: BucketLexicon) -> SchemaOrder | None:
    """ "The *oldest* branch", "the town with the *most inhabitants*"."""
    words = [token.word for token in reading.tokens]
    for phrase in find_superlatives(words, reading):
        names = ordering_fields(phrase, words, reading, lexicon)
        if names:
            field = lexicon.get_field(names[0])
            return SchemaOrder(field=field.name, descending=is_descending(phrase, words, field))
    for link in reading.links:
        if isinstance(link.meaning, FieldMention) and link.first and words[link.first - 1] in _AMOUNT_SUPERLATIVES:
            field = lexicon.get_field(link.meaning.field, link.meaning.column)
            if link.meaning.column is None and field.type in NUMERIC_TYPES:
                return SchemaOrder(field=field.name, descending=words[link.first - 1] == "most")
    return None


def _limit_of(reading: BucketReading) -> int:
    words = [token.word for token in reading.tokens]
    return requested_limit(words, reading) or (_PLURAL_LIMIT if reading.has_plural_noun else 1)


def count_unexplained(reading: BucketReading, answer_form: AnswerForm) -> int:
    """Returns how many words and phrases of the question the reading leaves without use in this form of answer."""
    words = [token.word for token in reading.tokens]
    superlatives = find_superlatives(words, reading)
    uses_superlative = answer_form.list_order is not None or bool(answer_form.computed_functions)
    text_conditions = [condition for condition in reading.conditions if fields_of(condition) & _TEXT_FIELDS]
    return (
        len(reading.unlinked_words)
        + len(text_conditions)
        + max(len(superlatives) - uses_superlative, 0)
        + len(_unused_mentions(reading, answer_form))
    )


def _unused_mentions(reading: BucketReading, answer_form: AnswerForm) -> set[FieldName]:
    used_fields = {name for _, name in answer_form.requested_fields} | {answer_form.computed_field}
    used_fields |= {part.field for part in (answer_form.list_order, answer_form.grouping) if part is not None}
    return {mention.field for mention in reading.asked_mentions if not mention.is_hint} - used_fields
