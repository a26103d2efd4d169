"""Weighs the meanings of words by the words and meanings beside them."""

from collections.abc import Sequence
from dataclasses import replace

from agent.english.function_words import (
    ARRIVAL_WORDS,
    DEPARTURE_WORDS,
    DESTINATION_FIELD_WORDS,
    FORMS_OF_BE,
    LACK_WORDS,
    ORIGIN_FIELD_WORDS,
    PREPOSITIONS,
)
from agent.english.gradable_adjectives import function_of_superlative
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, LinkMeaning, PartialMatch, SpanLink, ValueMatch
from agent.rules.linking.role_weights import is_place_of_noun
from agent.rules.words.tokens import QuestionToken, looks_plural
from storage.search.analyser import fold_text
from storage.search.conditions import TITLE_FIELD
from storage.search.ids import FieldName
from storage.search.schema import FieldType

_MIN_CERTAIN_WEIGHT = 1.5  # weight from which a value link needs no support from its neighbours
_OWN_FIELD_BONUS = 1.0  # weight added to a value right after the name of its field
_TITLE_IN_SET_PENALTY = 0.6  # weight taken from a title, if another field of the set holds the name
_FRAGMENT_PENALTY = (
    1.5  # weight taken from the last words of a value, if they are the name of what documents are called
)
_SUPPORTED_HINT_WEIGHT = 1.7  # weight of a hint beside a literal of the field's type: less than the field's name
_ROUTE_BONUS = 1.2  # weight added to each of two places that "to" connects, if its field says from or to where
_WORDS_BEFORE_TO = frozenset("over across on through up down".split())
_MAX_DIRECTION_DISTANCE = 5  # tokens between a word of direction and its place
_WORDS_BEFORE_OWN_VALUE = FORMS_OF_BE | frozenset("of named called as the a an".split())
_WORDS_BETWEEN_OWN_VALUES = _WORDS_BEFORE_OWN_VALUE | PREPOSITIONS
_WORDS_FOR_DAYS = frozenset("date dates day days".split())
_ASKING_WORDS = frozenset("which what per each every different by".split())


def weigh_in_context(
    link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken], lexicon: BucketLexicon
) -> SpanLink:
    """Returns the link with its weight adjusted by its neighbours."""
    meaning = link.meaning
    if isinstance(meaning, FieldMention) and not meaning.is_hint:
        if names_documents(link, links, tokens):
            return replace(link, weight=link.weight - 0.5)  # "parts" names the documents rather than a field
        is_likely = (
            _precedes_own_value(link, meaning, links, tokens)
            or _follows_asking_word(link, tokens)
            or _follows_lack_word(link, tokens)
        )
        return replace(link, weight=link.weight + 1.0) if is_likely else link
    if _is_end_of_value(link) and _is_name_of_documents(link, links, lexicon):
        return replace(link, weight=link.weight - _FRAGMENT_PENALTY)
    if isinstance(meaning, (ValueMatch, PartialMatch)) and _is_word_of_label(link, meaning, links, tokens, lexicon):
        return replace(link, weight=link.weight - _FRAGMENT_PENALTY)
    if isinstance(meaning, ValueMatch) and _is_title_beside_set(link, meaning, links, tokens):
        return replace(link, weight=link.weight - _TITLE_IN_SET_PENALTY)
    if isinstance(meaning, (ValueMatch, PartialMatch)) and _follows_own_field(link, meaning, links, tokens):
        link = replace(link, weight=link.weight + _OWN_FIELD_BONUS)
    if not is_whole_value(meaning) or not isinstance(meaning, (ValueMatch, PartialMatch)):
        return link
    link = _weigh_by_direction(link, meaning, tokens, lexicon)
    if isinstance(meaning, ValueMatch) and link.weight < _MIN_CERTAIN_WEIGHT:
        return replace(link, weight=3.0) if _follows_field_name(link, meaning, links) else link
    return replace(link, weight=link.weight - 1.5) if _is_plural_kind(link, meaning, links, tokens) else link


def _is_word_of_label(
    link: SpanLink,
    meaning: ValueMatch | PartialMatch,
    links: Sequence[SpanLink],
    tokens: Sequence[QuestionToken],
    lexicon: BucketLexicon,
) -> bool:
    """ "*Account* manager": whether a word only shares its stem with a value, and is one of a longer field's name.

    "*Completion* date" names the day, where a status is "complete", too.
    """
    if link.last < len(tokens) and tokens[link.last].word in _WORDS_FOR_DAYS:
        return any(
            isinstance(other.meaning, FieldMention)
            and (other.first, other.last) == (link.first, link.last)
            and lexicon.get_field(other.meaning.field, other.meaning.column).type is FieldType.DATE
            for other in links
        )
    values = (meaning.value,) if isinstance(meaning, ValueMatch) else meaning.values
    written = " ".join(token.word for token in tokens[link.first : link.last])
    if any(written in fold_text(value).split() or written == fold_text(value) for value in values):
        return False
    return any(
        isinstance(other.meaning, FieldMention)
        and not other.meaning.is_hint
        and other.last - other.first > link.last - link.first
        and other.first <= link.first
        and link.last <= other.last
        and {token.word for token in tokens[other.first : other.last]}
        <= set(fold_text(lexicon.get_field(other.meaning.field, other.meaning.column).label).split())
        for other in links
    )


def _weigh_by_direction(
    link: SpanLink, meaning: ValueMatch | PartialMatch, tokens: Sequence[QuestionToken], lexicon: BucketLexicon
) -> SpanLink:
    """ "*From* Arvo *to* Belk": returns the link with more weight if its field fits the word of direction before it."""
    if meaning.column is not None:
        return link
    field = lexicon.get_field(meaning.field)
    field_words = {*fold_text(field.label).split(), *map(fold_text, field.plain_synonyms)}
    if _begins_route(link, tokens):
        return replace(link, weight=link.weight + _ROUTE_BONUS) if field_words & ORIGIN_FIELD_WORDS else link
    if _ends_route(link, tokens):
        return replace(link, weight=link.weight + _ROUTE_BONUS) if field_words & DESTINATION_FIELD_WORDS else link
    for index in range(link.first - 1, max(link.first - _MAX_DIRECTION_DISTANCE, 0) - 1, -1):
        word = tokens[index].word
        if word in DEPARTURE_WORDS | ARRIVAL_WORDS:
            fits_direction = field_words & (ORIGIN_FIELD_WORDS if word in DEPARTURE_WORDS else DESTINATION_FIELD_WORDS)
            return replace(link, weight=link.weight + 0.5) if fits_direction else link
    return link


def _begins_route(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "*Arvo* to Belk", "*Arvo* over to Belk": whether a place right before "to" and another name."""
    last = link.last + (link.last < len(tokens) and tokens[link.last].word in _WORDS_BEFORE_TO)
    return last + 1 < len(tokens) and tokens[last].word == "to" and tokens[last + 1].is_name


def _ends_route(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "Arvo to *Belk*": whether a place right after "to" and another name."""
    before = link.first - 2 - (link.first > 2 and tokens[link.first - 2].word in _WORDS_BEFORE_TO)
    return link.first > 1 and tokens[link.first - 1].word == "to" and tokens[before].is_name


def weigh_as_date(
    link: SpanLink, date_tokens: set[int], tokens: Sequence[QuestionToken], lexicon: BucketLexicon
) -> SpanLink:
    """ "Closed in October": returns a mention of a date field with more weight if a date follows.

    Beside a date, a verb that only hints at the field is a mention of it: "let go after 2020".
    """
    meaning = link.meaning
    if (
        not isinstance(meaning, FieldMention)
        or lexicon.get_field(meaning.field, meaning.column).type is not FieldType.DATE
    ):
        return link
    next_index = link.last + (link.last < len(tokens) and tokens[link.last].word in PREPOSITIONS)
    if not {link.last, next_index} & date_tokens:
        return link
    if meaning.is_hint and meaning.is_question:
        return replace(link, meaning=replace(meaning, is_hint=False), weight=_SUPPORTED_HINT_WEIGHT)
    return link if meaning.is_hint else replace(link, weight=link.weight + 1.0)


def _is_end_of_value(link: SpanLink) -> bool:
    """Whether the words are only a part of a value."""
    meaning = link.meaning
    if isinstance(meaning, ValueMatch):
        return len(fold_text(meaning.value).split()) > link.last - link.first
    return isinstance(meaning, PartialMatch)


def _is_name_of_documents(link: SpanLink, links: Sequence[SpanLink], lexicon: BucketLexicon) -> bool:
    """ "*Courses* with a restaurant": whether the words name what identifies the documents, and only end a value."""
    return any(
        isinstance(other.meaning, FieldMention)
        and not other.meaning.is_hint
        and other.meaning.column is None
        and (other.first, other.last) == (link.first, link.last)
        and lexicon.is_identifying(other.meaning.field)
        for other in links
    )


def _is_title_beside_set(
    link: SpanLink, meaning: ValueMatch, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]
) -> bool:
    """ "The *islands* bordering Ovra": whether a title restricts a set that another field relates to the title."""
    is_value_too = any(
        isinstance(other.meaning, ValueMatch)
        and (other.first, other.last) == (link.first, link.last)
        and other.meaning.field != TITLE_FIELD
        for other in links
    )
    if meaning.field != TITLE_FIELD or not is_value_too:
        return False
    if is_place_of_noun(link, links, tokens):
        return True
    nouns = (other for other in links if isinstance(other.meaning, BucketNoun) and other.last <= link.first)
    return any(looks_plural(tokens[noun.last - 1]) and link.first - noun.last > 0 for noun in nouns)


def _follows_own_field(
    link: SpanLink, meaning: ValueMatch | PartialMatch, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]
) -> bool:
    """ "*Registered at* the Ashby branch": whether the name of its field and an article at most precede the value."""
    return not _is_inside_longer_value(link, links) and any(
        isinstance(other.meaning, FieldMention)
        and not other.meaning.is_hint
        and (other.meaning.field, other.meaning.column) == (meaning.field, meaning.column)
        and 0 <= link.first - other.last <= 2
        and all(token.word in _WORDS_BETWEEN_OWN_VALUES for token in tokens[other.last : link.first])
        for other in links
    )


def _is_inside_longer_value(link: SpanLink, links: Sequence[SpanLink]) -> bool:
    """ "The *Exclusive* Supply Agreement": whether the words are a part of a longer value, which is what is meant."""
    return any(
        isinstance(other.meaning, ValueMatch)
        and other.first <= link.first
        and link.last <= other.last
        and other.last - other.first > link.last - link.first
        for other in links
    )


def _follows_field_name(link: SpanLink, meaning: ValueMatch, links: Sequence[SpanLink]) -> bool:
    """ "Group 3": whether the field of the value is mentioned right before it."""
    return any(
        isinstance(other.meaning, FieldMention)
        and other.meaning.field == meaning.field
        and 0 <= link.first - other.last <= 1
        for other in links
    )


def _precedes_own_value(
    link: SpanLink, meaning: FieldMention, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]
) -> bool:
    """ "The shop is Acme": whether a value of the mentioned field follows the mention."""
    return any(
        isinstance(other.meaning, (ValueMatch, PartialMatch))
        and (other.meaning.field, other.meaning.column) == (meaning.field, meaning.column)
        and 0 <= other.first - link.last <= 2
        and all(token.word in _WORDS_BEFORE_OWN_VALUE for token in tokens[link.last : other.first])
        and not _is_inside_longer_value(other, links)
        for other in links
    )


def _follows_asking_word(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "Which shop", "per currency", "how many different vendors": whether such a word precedes the mention."""
    return link.first > 0 and tokens[link.first - 1].word in _ASKING_WORDS


def _follows_lack_word(link: SpanLink, tokens: Sequence[QuestionToken]) -> bool:
    """ "Without a completion date": whether a word such as "without" precedes a mention of several words."""
    word_before = tokens[link.first - 1].word if link.first else ""
    if word_before in ("a", "an", "any") and link.first > 1:
        word_before = tokens[link.first - 2].word
    return word_before in LACK_WORDS and link.last - link.first > 1


def _is_plural_kind(
    link: SpanLink, meaning: ValueMatch | PartialMatch, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]
) -> bool:
    """ "Supply agreements": whether the words name a kind of document, although they equal one value in the plural."""
    is_name = all(token.is_name for token in tokens[link.first : link.last]) or meaning.field == TITLE_FIELD
    if not is_name and any(_splits_into_kind_and_noun(link, other, links) for other in links):
        return True
    last_token = tokens[link.last - 1]
    value = meaning.value if isinstance(meaning, ValueMatch) else meaning.values[0]
    is_plural = looks_plural(last_token) and last_token.word not in fold_text(value)
    ends_with_noun = any(
        isinstance(other.meaning, BucketNoun) and other.last == link.last and other.first > link.first
        for other in links
    )
    return is_plural and ends_with_noun


def names_documents(link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]) -> bool:
    """ "Orders in 2024", "the oldest order": whether a noun for the documents stands on the span of the link."""
    is_compared = link.first > 0 and function_of_superlative((tokens[link.first - 1].word,)) is not None
    is_noun = is_compared or looks_plural(tokens[link.last - 1])
    return is_noun and any(_is_noun_on_same_span(other, link) for other in links)


def names_documents_in_plural(link: SpanLink, tokens: Sequence[QuestionToken], lexicon: BucketLexicon) -> bool:
    """ "The four *jobs* …": whether the link is a mention, in the plural, of what identifies the documents."""
    meaning = link.meaning
    return (
        isinstance(meaning, FieldMention)
        and meaning.column is None
        and looks_plural(tokens[link.last - 1])
        and lexicon.is_identifying(meaning.field)
    )


def _is_noun_on_same_span(other_link: SpanLink, link: SpanLink) -> bool:
    return isinstance(other_link.meaning, BucketNoun) and (other_link.first, other_link.last) == (link.first, link.last)


def _splits_into_kind_and_noun(link: SpanLink, kind_link: SpanLink, links: Sequence[SpanLink]) -> bool:
    """Whether a category of another field and a noun of the bucket together cover the span of `link`."""
    is_kind = (
        isinstance(kind_link.meaning, (ValueMatch, PartialMatch))
        and kind_link is not link
        and _field_name_of(kind_link) != _field_name_of(link)
    )
    if not is_kind or kind_link.first != link.first or kind_link.last >= link.last:
        return False
    return any(
        isinstance(other.meaning, BucketNoun) and (other.first, other.last) == (kind_link.last, link.last)
        for other in links
    )


def _field_name_of(link: SpanLink) -> FieldName | None:
    return None if isinstance(link.meaning, BucketNoun) else link.meaning.field


def is_whole_value(meaning: LinkMeaning) -> bool:
    return isinstance(meaning, ValueMatch) or (isinstance(meaning, PartialMatch) and meaning.is_single_name)
