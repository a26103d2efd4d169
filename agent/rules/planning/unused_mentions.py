"""Names of fields in a question that the plan of a set makes no use of: they restrict it in a way not understood."""

from collections.abc import Iterator

from agent.english.function_words import EVERYDAY_WORDS, GROUPING_WORDS, IDENTIFYING_NOUNS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.empty_phrases import find_keeping_phrases
from agent.rules.words.tokens import looks_plural
from storage.search.conditions import fields_of
from storage.search.ids import FieldName
from storage.search.plan import AnswerForm


def words_of_unused_mentions(
    reading: BucketReading, answer_form: AnswerForm, lexicon: BucketLexicon
) -> tuple[str, ...]:
    """Returns the words, as folded, of the mentioned fields that neither a condition nor the form of answer uses.

    A number of documents rests on every field that the question names: "how many *tasks* have been given in the
    meetings" counts no meetings. A list may show a field, unless its name is part of the noun: "*complaint* letters".
    As a part of the noun, a field that every document has restricts nothing: "*customer* orders".
    """
    if not answer_form.names_a_set or (answer_form.lists_documents and answer_form.list_order is not None):
        return ()
    used = _fields_of_form(answer_form).union(*map(fields_of, reading.conditions))
    keeping = find_keeping_phrases(reading.tokens, lexicon.noun_stems)
    return tuple(
        " ".join(token.word for token in reading.tokens[link.first : link.last])
        for link in _unused_links(reading, used)
        if not keeping.issuperset(range(link.first, link.last))
        and not _numbers_documents(link, reading, lexicon)
        and (not _is_known_of_all(link, lexicon) if _modifies_noun(link, reading) else answer_form.is_document_count)
    )


def _fields_of_form(answer_form: AnswerForm) -> frozenset[FieldName]:
    groups = (answer_form.grouping, answer_form.second_grouping)
    names = (answer_form.computed_field, *(group.field for group in groups if group is not None))
    return frozenset(name for name in names if name is not None)


def _unused_links(reading: BucketReading, used: frozenset[FieldName]) -> Iterator[SpanLink]:
    for link in reading.links:
        meaning = link.meaning
        if not isinstance(meaning, FieldMention) or meaning.is_hint or meaning.is_question or meaning.field in used:
            continue
        word_before = reading.tokens[link.first - 1].word if link.first else ""
        if (
            meaning in reading.asked_mentions
            and word_before not in GROUPING_WORDS
            and not _leads_to_value(link, reading)
        ):
            yield link


def _leads_to_value(link: SpanLink, reading: BucketReading) -> bool:
    """Whether a value follows the field's name, as in "*paid* in cash": the name then only introduces the value."""
    following = [other for other in reading.links if other.first >= link.last]
    if not following:
        return False
    nearest = min(following, key=lambda other: other.first)
    words_between = {token.word for token in reading.tokens[link.last : nearest.first]}
    return isinstance(nearest.meaning, ValueMatch | PartialMatch) and words_between <= EVERYDAY_WORDS


def _numbers_documents(link: SpanLink, reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "How many *item codes* are …", "how many *customers*": whether the words stand for the documents."""
    before = tuple(token.word for token in reading.tokens[max(link.first - 2, 0) : link.first])
    is_counted = before == ("how", "many") and looks_plural(reading.tokens[link.last - 1])
    is_number = reading.tokens[link.last - 1].word in IDENTIFYING_NOUNS
    return (
        (is_number or is_counted)
        and isinstance(link.meaning, FieldMention)
        and lexicon.is_identifying(link.meaning.field)
    )


def _is_known_of_all(link: SpanLink, lexicon: BucketLexicon) -> bool:
    return isinstance(link.meaning, FieldMention) and lexicon.is_known_of_all(link.meaning.field)


def _modifies_noun(link: SpanLink, reading: BucketReading) -> bool:
    return any(isinstance(other.meaning, BucketNoun) and other.first == link.last for other in reading.links)
