"""Links beside those of the lexicon: words of measure, words like a label, other fields of the same name."""

from collections.abc import Iterator, Sequence

from agent.english.function_words import DISTINCT_WORDS, FILLER_WORDS, GROUPING_WORDS, MEASURE_NOUNS, PERIOD_WORDS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention, LinkMeaning, PartialMatch, SpanLink, ValueMatch
from agent.rules.linking.label_similarity import WordSimilarities
from agent.rules.linking.link_filter import is_content_word
from agent.rules.words.tokens import QuestionToken, tokenize_question
from storage.search.schema import FieldType

_WORDS_BEFORE_COUNTED = FILLER_WORDS | DISTINCT_WORDS
_SIMILAR_WEIGHT = 0.3  # of a hint by similarity in meaning: less than that of a hint by a word of the schema


def is_grouping_period(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "By month": whether the word is a period to group by rather than a part of a value."""
    is_single_period = (
        link.last - link.first == 1
        and isinstance(link.meaning, PartialMatch)
        and tokens[link.first].word in PERIOD_WORDS
    )
    return is_single_period and link.first > 0 and tokens[link.first - 1].word in GROUPING_WORDS


def counts_something_else(link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]) -> bool:
    """ "How many *owners* …": whether "how many" counts a noun, and so is not a name of the field for a quantity.

    "How many oak tables" does ask for it: what is counted is a value.
    """
    words = [token.word for token in tokens[link.first : link.last]]
    if words != ["how", "many"] or not isinstance(link.meaning, FieldMention) or link.last >= len(tokens):
        return False
    counted = link.last
    while counted < len(tokens) - 1 and tokens[counted].word in _WORDS_BEFORE_COUNTED:
        counted += 1
    counts_value = any(
        isinstance(other.meaning, (ValueMatch, PartialMatch)) and 0 <= other.first - counted <= 1 for other in links
    )
    return is_content_word(tokens[counted]) and not counts_value


def find_similar_field_links(
    tokens: Sequence[QuestionToken], links: Sequence[SpanLink], similarities: WordSimilarities
) -> list[SpanLink]:
    """Returns a hint for each word without a meaning that means nearly the same as the label of one field."""
    covered = {index for link in links for index in range(link.first, link.last)}
    similar_fields = (
        (index, similarities.find_similar_field(token.word))
        for index, token in enumerate(tokens)
        if index not in covered and not token.is_quoted and is_content_word(token)
    )
    return [
        SpanLink(first=index, last=index + 1, meaning=FieldMention(name, is_hint=True), weight=_SIMILAR_WEIGHT)
        for index, name in similar_fields
        if name is not None
    ]


def find_measure_links(lexicon: BucketLexicon, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
    for index, token in enumerate(tokens):
        noun = MEASURE_NOUNS.get(token.word)
        if noun is None or (index and tokens[index - 1].word == "how" and token.word == "long"):
            continue  # "how long" asks for a duration
        for text in (noun, noun.split()[0]):
            noun_tokens = tokenize_question(text, lexicon.analyser)
            for link in lexicon.find_links(noun_tokens):
                if isinstance(link.meaning, FieldMention) and link.first == 0 and link.last == len(noun_tokens):
                    yield SpanLink(first=index, last=index + 1, meaning=link.meaning, weight=1.0)


def modifies_measure(link: SpanLink, links: Sequence[SpanLink], lexicon: BucketLexicon) -> bool:
    """ "A *high* rating": whether a number is named right after the adjective, so that it measures this number."""
    return any(
        isinstance(other.meaning, FieldMention)
        and not other.meaning.is_hint
        and other.first == link.last
        and lexicon.get_field(other.meaning.field, other.meaning.column).type in (FieldType.NUMBER, FieldType.MONEY)
        for other in links
    )


def find_homonyms(selected_links: Sequence[SpanLink], mention_links: Sequence[SpanLink]) -> list[SpanLink]:
    """Returns links to other fields with the same name as a selected mention: "voltage" may be input or output."""
    spans = {
        (link.first, link.last)
        for link in selected_links
        if isinstance(link.meaning, FieldMention) and not link.meaning.is_hint
    }
    asked_spans = {
        (link.first, link.last)
        for link in selected_links
        if isinstance(link.meaning, FieldMention) and link.meaning.is_question
    }
    return [
        link
        for link in mention_links
        if (link.first, link.last) in spans
        and link not in selected_links
        and ((link.first, link.last) not in asked_spans or asks_for_field(link.meaning))
    ]


def asks_for_field(meaning: LinkMeaning) -> bool:
    """ "Who *repaired* …": whether a question word and a verb ask for the field."""
    return isinstance(meaning, FieldMention) and meaning.is_question
