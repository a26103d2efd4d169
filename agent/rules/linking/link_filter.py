"""Link filter: drops links to values whose words are in the question only by chance."""

import re
from collections.abc import Sequence
from functools import lru_cache

from agent.english.date_roles import SETTLED_WORDS
from agent.english.function_words import (
    AGGREGATE_WORDS,
    CONTRACTED_NEGATIONS,
    FILLER_WORDS,
    NEGATIONS,
    ORDERING_WORDS,
    QUESTION_WORDS,
    SMALL_NUMBERS,
    STOP_WORDS,
    SUMMARY_WORDS,
)
from agent.english.gradable_adjectives import adjective_of_superlative
from agent.english.state_words import name_words_of
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, SpanLink, ValueMatch
from agent.rules.linking.span_selection import has_known_unit
from agent.rules.literals.literal_types import LiteralSpan, QuantityLiteral, QuestionLiteral
from agent.rules.literals.uncapitalised_names import is_ordinary_word
from agent.rules.words.tokens import QuestionToken
from storage.search.schema import FieldType, Schema

_UNINFORMATIVE_WORDS = STOP_WORDS | FILLER_WORDS | AGGREGATE_WORDS | SUMMARY_WORDS | ORDERING_WORDS
_MAX_REMEMBERED_WORDS = 4096
_WORD_PATTERN = re.compile(r"\w+")
_ARTICLES = frozenset("a an any some the more".split())
_WORDS_BEFORE_ITEMS = frozenset(
    """with without for of on or and contain contains containing include includes including list lists listing bought
    buy buys buying purchased purchase sold sell sells mention mentions mentioning about have has having get got item
    items all every""".split()
)
_COUNTING_WORDS = frozenset("count number".split())
_MAX_NEGATION_DISTANCE = 4  # tokens: "have *not* yet been *paid*"
_NEGATING_WORDS = CONTRACTED_NEGATIONS | NEGATIONS | frozenset({"still", "yet"})
_NOUNS_OF_MONEY = frozenset("rent rents hire lease".split())  # "rented", "hired" and "leased" are states
_WORDS_BEFORE_AMOUNTS = frozenset(
    "the their his her our your my its most more much average total monthly weekly yearly annual in of".split()
)
_MAX_IDENTIFIED_VALUES = 3
_WORDS_BEFORE_NAMES = frozenset("from by at with of for in via".split())


def filter_links(
    links: Sequence[SpanLink],
    tokens: Sequence[QuestionToken],
    literal_spans: Sequence[LiteralSpan],
    lexicon: BucketLexicon,
) -> list[SpanLink]:
    """Returns the links without those that are probably coincidental matches.

    If no noun names the bucket's documents, a single common word is not a name. If nothing matches firmly, a word that
    is only a part of values is not a match either. Beside the noun of a kind, a word is not a value of a field that
    only other kinds have.
    """
    if not links:
        return []
    links = [
        link
        for link in links
        if not _is_total_of_count(link, tokens)
        and not _is_state_of_amount(link, tokens, lexicon)
        and not _is_amount_for_state(link, tokens)
    ]
    nouns = [link for link in links if isinstance(link.meaning, BucketNoun)]
    links = _drop_values_of_other_kinds(links, lexicon.schema)
    links = [link for link in links if not _is_partial_item(link) or _stands_as_noun(link, tokens, nouns)]
    if nouns:
        return links
    kept_links = [
        link
        for link in links
        if not _is_coincidental(link, tokens, lexicon) and not _is_name_fragment(link, links, tokens, lexicon)
    ]
    has_firm_match = any(_is_firm_match(link) for link in kept_links) or any(
        _is_measure(literal, lexicon) for literal, _, _ in literal_spans
    )
    fields_with_whole_values = {_field_key_of(link) for link in kept_links if _is_firm_match(link)}
    mentioned_fields = {
        (link.meaning.field, link.meaning.column)
        for link in kept_links
        if isinstance(link.meaning, FieldMention) and not link.meaning.is_hint
    }

    def is_expected(link: SpanLink) -> bool:
        """ "What does Kerr own": whether the field is spoken of, or something else matches firmly.

        "Who looks after Talvora" asks for a field of the document that the part of a name stands for.
        """
        key = _field_key_of(link)
        if key in mentioned_fields or (has_firm_match and key not in fields_with_whole_values):
            return True
        return bool(mentioned_fields) and _may_identify(link, tokens, lexicon)

    return [link for link in kept_links if not _is_weak_match(link) or is_expected(link)]


def _may_identify(link: SpanLink, tokens: Sequence[QuestionToken], lexicon: BucketLexicon) -> bool:
    """Whether the words are a part of so few names that they may mean one of them, and no words of everyday life.

    Only of English documents: elsewhere a capital does not tell a name.
    """
    if not isinstance(link.meaning, PartialMatch) or len(link.meaning.values) > _MAX_IDENTIFIED_VALUES:
        return False
    is_english = lexicon.analyser.language == "en"
    return is_english and not any(is_ordinary_word(token.word) for token in tokens[link.first : link.last])


def _is_total_of_count(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "How many documents are there *in total*": whether the word belongs to the count and names no field."""
    words = [token.word for token in tokens]
    is_counted = "many" in words[: link.first] or bool(_COUNTING_WORDS & set(words[: link.first]))
    return (
        isinstance(link.meaning, FieldMention)
        and is_counted
        and words[link.first : link.last] == ["total"]
        and words[max(link.first - 1, 0)] == "in"
    )


def _is_amount_for_state(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "How much is *the rent*": whether the word is the money, and only shares its stem with the state "rented"."""
    is_noun = link.last == link.first + 1 and tokens[link.first].word in _NOUNS_OF_MONEY
    before = {token.word for token in tokens[max(link.first - 2, 0) : link.first]}
    value = link.meaning.value if isinstance(link.meaning, ValueMatch) else ""
    return (
        is_noun
        and isinstance(link.meaning, ValueMatch)
        and tokens[link.first].word not in str(value).casefold()
        and not before.isdisjoint(_WORDS_BEFORE_AMOUNTS)
    )


def _is_state_of_amount(link: SpanLink, tokens: Sequence[QuestionToken], lexicon: BucketLexicon) -> bool:
    """ "That we haven't *paid*": whether the word speaks of an event, and only shares its stem with "total to pay".

    An amount that a document lacks says nothing of the event.
    """
    meaning = link.meaning
    words = {token.word for token in tokens[link.first : link.last]}
    if not isinstance(meaning, FieldMention) or meaning.column is not None or not words <= SETTLED_WORDS:
        return False
    field = lexicon.get_field(meaning.field)
    before = {token.word for token in tokens[max(link.first - _MAX_NEGATION_DISTANCE, 0) : link.first]}
    return (
        field.type in (FieldType.NUMBER, FieldType.MONEY)
        and not words & name_words_of(field)
        and not before.isdisjoint(_NEGATING_WORDS)
    )


def _drop_values_of_other_kinds(links: Sequence[SpanLink], schema: Schema) -> list[SpanLink]:
    """ "A policy on *travel*" is about no cost centre, if only budgets have one."""
    kind_field = schema.kind_field
    named = {
        link.meaning.value
        for link in links
        if isinstance(link.meaning, ValueMatch) and kind_field is not None and link.meaning.field == kind_field.name
    }

    def may_have(link: SpanLink) -> bool:
        if not named or not isinstance(link.meaning, (ValueMatch, PartialMatch)):
            return True
        kinds = schema.by_name[link.meaning.field].kinds if link.meaning.field in schema.by_name else ()
        return not kinds or not named.isdisjoint(kinds)

    return [link for link in links if may_have(link)]


def _field_key_of(link: SpanLink) -> object:
    """Returns the field of a value link; parts of values are ignored in a field with a whole value."""
    return (link.meaning.field, link.meaning.column) if isinstance(link.meaning, (ValueMatch, PartialMatch)) else None


def _is_partial_item(link: SpanLink) -> bool:
    return _is_weak_match(link) and isinstance(link.meaning, PartialMatch) and link.meaning.column is not None


def _stands_as_noun(link: SpanLink, tokens: Sequence[QuestionToken], nouns: Sequence[SpanLink]) -> bool:
    """Whether the words are in the position of a noun: "receipts *with* apple juice", "*4* tires", "*tire* receipts".

    This excludes verbs and adjectives that are also part of an item's name.
    """
    if link.last - link.first > 1 or link.first == 0 or tokens[link.first].is_quoted:
        return True
    if any(noun.first == link.last for noun in nouns):
        return True
    index = link.first - 1
    while index > 0 and tokens[index].word in _ARTICLES:
        index -= 1
    return (
        tokens[index].word in _WORDS_BEFORE_ITEMS or tokens[index].word.isdigit() or tokens[index].word in SMALL_NUMBERS
    )


def _is_weak_match(link: SpanLink) -> bool:
    return isinstance(link.meaning, PartialMatch) and not (link.meaning.by_head_words or link.meaning.is_single_name)


def _is_firm_match(link: SpanLink) -> bool:
    return isinstance(link.meaning, ValueMatch) or (isinstance(link.meaning, PartialMatch) and not _is_weak_match(link))


def _is_measure(literal: QuestionLiteral, lexicon: BucketLexicon) -> bool:
    return isinstance(literal, QuantityLiteral) and bool(
        literal.currency or (literal.unit and has_known_unit(literal, lexicon)) or not literal.is_bare
    )


def _is_coincidental(link: SpanLink, tokens: Sequence[QuestionToken], lexicon: BucketLexicon) -> bool:
    """Whether the link is a single lower-case word without a sign of a name, or the opening of the question."""
    meaning = link.meaning
    if not isinstance(meaning, (ValueMatch, PartialMatch)) or meaning.column is not None:
        return False
    if link.last - link.first > 1:
        return _is_question_opening(link, tokens)
    if _is_weak_match(link):
        return False  # the lexicon links a part of a name only where a name stands
    token = tokens[link.first]
    before = tokens[link.first - 1].word if link.first else ""
    is_name = (
        token.is_name or token.is_quoted or before in _WORDS_BEFORE_NAMES or _is_uncased_name(link, tokens, lexicon)
    )
    return not is_name and not lexicon.is_categorical(meaning.field)


def _is_uncased_name(link: SpanLink, tokens: Sequence[QuestionToken], lexicon: BucketLexicon) -> bool:
    """ "how large is elmet": whether the word is the name of a document in a question without any capital letter."""
    meaning = link.meaning
    return (
        isinstance(meaning, ValueMatch)
        and meaning.value[:1].isupper()
        and lexicon.is_identifying(meaning.field)
        and not any(token.is_name for token in tokens)
    )


def _is_question_opening(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "Who is eligible": whether the words are the beginning of the question, which may equal a heading."""
    span_tokens = tokens[link.first : link.last]
    return (
        span_tokens[0].word in QUESTION_WORDS
        and span_tokens[0].begins_sentence
        and sum(map(is_content_word, span_tokens)) <= 1
    )


def _is_name_fragment(
    link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken], lexicon: BucketLexicon
) -> bool:
    """ "Series" in "Pad Series": whether the word is part of a longer name that is not a value of the list."""
    meaning = link.meaning
    if not isinstance(meaning, (ValueMatch, PartialMatch)) or link.last - link.first > 1:
        return False
    token = tokens[link.first]
    is_list_value = lexicon.get_field(meaning.field, meaning.column).type is FieldType.LIST
    if not is_list_value or not token.is_name or token.is_quoted:
        return False
    neighbours = [index for index in (link.first - 1, link.last) if 0 <= index < len(tokens)]
    return any(
        _continues_name(tokens[index]) and not any(other.first <= index < other.last for other in links)
        for index in neighbours
    )


def _continues_name(token: QuestionToken) -> bool:
    """Whether the token is part of a name: capitalised, and not the first word of a sentence."""
    return token.is_name and not token.begins_sentence and not token.is_quoted


def content_coverage(tokens: Sequence[QuestionToken], unlinked_words: Sequence[str]) -> float:
    """Returns the share (0 to 1) of the question's content words that have a meaning; 1 without content words."""
    total = sum(is_content_word(token) for token in tokens)
    unlinked_set = set(_WORD_PATTERN.findall(" ".join(unlinked_words).casefold()))
    unlinked = sum(is_content_word(token) for token in tokens if token.word in unlinked_set) if unlinked_set else 0
    return 1.0 if not total else max(0.0, 1.0 - unlinked / total)


def is_content_word(token: QuestionToken) -> bool:
    """Whether the token is about the subject of the question and not about its form."""
    return _tells_subject(token.word, token.is_name)


@lru_cache(maxsize=_MAX_REMEMBERED_WORDS)
def _tells_subject(word: str, is_name: bool) -> bool:
    """Remembered, since every bucket asks it of the same words several times."""
    if word in _UNINFORMATIVE_WORDS or (adjective_of_superlative(word) is not None and not is_name):
        return False
    return len(word) > 1 or word.isdigit()


def has_whole_name(links: Sequence[SpanLink], tokens: Sequence[QuestionToken], lexicon: BucketLexicon) -> bool:
    """Whether a link is a whole name: several words, or one word written as a name."""
    return any(_is_firm_match(link) and _is_whole_name(link, tokens, lexicon) for link in links)


def _is_whole_name(link: SpanLink, tokens: Sequence[QuestionToken], lexicon: BucketLexicon) -> bool:
    span_tokens, meaning = tokens[link.first : link.last], link.meaning
    if not isinstance(meaning, (ValueMatch, PartialMatch)):
        return False
    is_written_as_name = all(token.is_name or token.is_quoted or token.word in STOP_WORDS for token in span_tokens)
    is_category = lexicon.is_categorical(meaning.field, meaning.column)
    if not is_category:
        return is_written_as_name or len(span_tokens) > 1
    is_multiword_category = (
        len(span_tokens) > 1 and lexicon.get_field(meaning.field, meaning.column).type is FieldType.CATEGORY
    )
    return (is_written_as_name and link.first > 0) or is_multiword_category  # "the battery cabinet"
