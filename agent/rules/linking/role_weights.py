"""Weighs the fields that share a value by the word beside it: "reports Ann *approved*"."""

from collections.abc import Sequence
from dataclasses import replace

from agent.english.function_words import ARRIVAL_WORDS, DEPARTURE_WORDS, STOP_WORDS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, SpanLink, ValueMatch
from agent.rules.words.tokens import QuestionToken, looks_plural
from storage.search.schema import FieldType

_ROLE_WEIGHT = 1.0  # for the field that a word beside the value names
_OWN_NAME_WEIGHT = 0.6  # for the field that names the document itself
_MAX_DISTANCE = 4  # tokens between the value and the word that names its role
_CLAUSE_ENDS = frozenset("and or but".split())
_ARTICLES = frozenset("a an any the".split())
_CONTAINING_WORDS = frozenset(
    """contain contains containing contained include includes including included have has having with without""".split()
)
_PLACE_PREPOSITIONS = frozenset("in at on within inside near through across along from".split())


def weigh_by_role(
    link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken], lexicon: BucketLexicon
) -> SpanLink:
    """ "Reports Ann *approved*": returns the link with more weight if a word beside the value names its field.

    Only where another field has the same value. Without such a word, a name is that of the document itself. What a
    document contains is a member of its list and not its kind: "contains a *waiver*".
    """
    if _is_flag_read_as_value(link, links, lexicon):
        return replace(link, weight=link.weight + _ROLE_WEIGHT)
    if not isinstance(link.meaning, ValueMatch) or not rivals_of(link, links):
        return link
    is_list = lexicon.get_field(link.meaning.field, link.meaning.column).type is FieldType.LIST
    if is_list and _is_contained(link, links, tokens):
        return replace(link, weight=link.weight + _ROLE_WEIGHT)
    if role_word_index(link, tokens, lexicon) is not None:
        return replace(link, weight=link.weight + _ROLE_WEIGHT)
    names_document = lexicon.is_identifying(link.meaning.field) and not _asks_for_several(links, tokens)
    names_document = names_document and not is_place_of_noun(link, links, tokens)
    return replace(link, weight=link.weight + _OWN_NAME_WEIGHT) if names_document else link


def _is_flag_read_as_value(link: SpanLink, links: Sequence[SpanLink], lexicon: BucketLexicon) -> bool:
    """Whether the words are all of a flag's name, while a document has them as a value: a flag is plain yes or no."""
    return (
        isinstance(link.meaning, FieldMention)
        and not link.meaning.is_hint
        and lexicon.is_flag(link.meaning)
        and any(
            isinstance(other.meaning, ValueMatch) and (other.first, other.last) == (link.first, link.last)
            for other in links
        )
    )


def _is_contained(link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]) -> bool:
    """ "Contains a *waiver*", "contains a renewal and a *waiver*": whether a word of having appears before the value.

    Only an article, or another value of the same list, may appear between.
    """
    index = link.first - 1
    while index > 0 and tokens[index].word in _ARTICLES:
        index -= 1
    if index >= 0 and tokens[index].word in _CLAUSE_ENDS:
        return any(
            other.last == index and _has_same_field(other, link) and _is_contained(other, links, tokens)
            for other in links
        )
    return index >= 0 and tokens[index].word in _CONTAINING_WORDS


def _has_same_field(link: SpanLink, other: SpanLink) -> bool:
    return (
        isinstance(link.meaning, ValueMatch)
        and isinstance(other.meaning, ValueMatch)
        and (link.meaning.field, link.meaning.column) == (other.meaning.field, other.meaning.column)
    )


def is_place_of_noun(link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]) -> bool:
    """ "The smallest town *in* Elmet" is not the town called Elmet: whether the value says where documents are."""
    index = link.first - 1
    while index > 0 and tokens[index].word == "the":
        index -= 1
    is_place = index > 0 and tokens[index].word in _PLACE_PREPOSITIONS
    return is_place and any(isinstance(other.meaning, BucketNoun) and other.last <= index for other in links)


def _asks_for_several(links: Sequence[SpanLink], tokens: Sequence[QuestionToken]) -> bool:
    """Whether the bucket's noun appears in the plural: "reports of Ann" are not the document called Ann."""
    return any(isinstance(link.meaning, BucketNoun) and looks_plural(tokens[link.last - 1]) for link in links)


def rivals_of(link: SpanLink, links: Sequence[SpanLink]) -> list[SpanLink]:
    """Returns the links that read the words of a value as a value of another field."""
    meaning = link.meaning
    if not isinstance(meaning, ValueMatch):
        return []
    return [
        other
        for other in links
        if isinstance(other.meaning, ValueMatch)
        and (other.first, other.last) == (link.first, link.last)
        and other.meaning.field != meaning.field
        and (other.meaning.column is None) is (meaning.column is None)
    ]


def role_word_index(link: SpanLink, tokens: Sequence[QuestionToken], lexicon: BucketLexicon) -> int | None:
    """Returns the nearest token beside the value that is of the family of its field's name; None for no value."""
    if not isinstance(link.meaning, ValueMatch):
        return None
    after = range(link.last, min(link.last + _MAX_DISTANCE, len(tokens)))
    before = range(link.first - 1, max(link.first - _MAX_DISTANCE, 0) - 1, -1)
    follows_direction = link.first > 0 and tokens[link.first - 1].word in DEPARTURE_WORDS | ARRIVAL_WORDS
    for indexes in (before,) if follows_direction else (before, after):  # "*from* Ashby arriving in …"
        for index in indexes:
            word = tokens[index].word
            if word in _CLAUSE_ENDS or (word == "of" and index < link.first):
                break  # "the skipper *of* the Dipper" asks for the skipper
            if word not in STOP_WORDS and link.meaning.field in lexicon.roles.fields_of_family(
                word, (link.meaning.field,)
            ):
                return index
    return None
