"""What a superlative measures in the documents of a bucket."""

from collections.abc import Iterator, Sequence

from agent.english.gradable_adjectives import scale_of_superlative
from agent.rules.composition.phrases import SetOrder
from agent.rules.cues.function_phrases import find_superlatives
from agent.rules.cues.question_subject import MEASURABLE_TYPES, NUMERIC_TYPES
from agent.rules.cues.ranked_fields import fields_called, is_descending, may_measure, ordering_fields
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.nested.inner_sets import list_request_for
from agent.rules.reading.question_reader import QuestionReader
from storage.search.ids import BucketId, FieldName

_AMOUNTS = {"most": True, "fewest": False, "least": False}


def orders_of_superlative(words: Sequence[str], bucket: BucketId, reader: QuestionReader) -> tuple[SetOrder, ...]:
    """ "The *largest* province": returns the orders that may be meant, the equally likely ones together."""
    lexicon = reader.lexicons[bucket]
    noun = lexicon.schema.label
    reading = reader.read_in_bucket(list_request_for(f"the {' '.join(words)} {noun}"), bucket)
    question_words = [token.word for token in reading.tokens]
    if len(words) == 2 and words[0] in ("most", "least"):
        named = lexicon.roles.fields_of_family(words[1], lexicon.roles.numbers)
        if named:
            return tuple(SetOrder(field=name, descending=words[0] == "most") for name in named)
    for phrase in find_superlatives(question_words, reading):
        names = ordering_fields(phrase, question_words, reading, lexicon)
        return tuple(
            SetOrder(field=name, descending=is_descending(phrase, question_words, lexicon.get_field(name)))
            for name in names
        )
    return ()


def order_by_field(words: Sequence[str], bucket: BucketId, field: FieldName, lexicon: BucketLexicon) -> SetOrder | None:
    """ "The *highest* density", "the *most* inhabitants": returns the order; None if the field has no order."""
    schema_field = lexicon.get_field(field)
    amount = _AMOUNTS.get(words[0]) if len(words) == 1 else None
    if amount is not None:
        return SetOrder(field=field, descending=amount) if schema_field.type in NUMERIC_TYPES else None
    found = scale_of_superlative(tuple(words))
    if found is None or schema_field.type not in MEASURABLE_TYPES or not may_measure(schema_field, found[1]):
        return None
    return SetOrder(field=field, descending=found[1].is_high_end)


def orders_named_by_superlative(words: Sequence[str], lexicon: BucketLexicon) -> Iterator[SetOrder]:
    """ "The *lowest* point" of places with a `lowest elevation`: yields the order by numbers of that name."""
    found = scale_of_superlative(tuple(words))
    if found is not None:
        for name in fields_called(words, lexicon):
            yield SetOrder(field=name, descending=found[1].is_high_end)
