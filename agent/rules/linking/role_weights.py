"""Weighs the fields that share a value by the word beside it: "reports Ann *approved*"."""

from collections.abc import Sequence
from dataclasses import replace

from agent.english.function_words import ARRIVAL_WORDS, DEPARTURE_WORDS, STOP_WORDS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, SpanLink, ValueMatch
from agent.rules.words.tokens import QuestionToken, looks_plural

_ROLE_WEIGHT = 1.0  # for the field that a word beside the value names
_OWN_NAME_WEIGHT = 0.6  # for the field that names the document itself
_MAX_DISTANCE = 4  # tokens between the value and the word that names its role
_CLAUSE_ENDS = frozenset("and or but".split())
_PLACE_PREPOSITIONS = frozenset("in at on within inside near through across along from".split())


def weigh_by_role(
    link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken], lexicon: BucketLexicon
) -> SpanLink:
    """ "Reports Ann *approved*": returns the link with more weight if a word beside the value names its field.

    Only where another field has the same value. Without such a word, a name is that of the document itself.
    """
    if not isinstance(link.meaning, ValueMatch) or not rivals_of(link, links):
        return link
    if role_word_index(link, tokens, lexicon) is not None:
        return replace(link, weight=link.weight + _ROLE_WEIGHT)
    names_document = lexicon.is_identifying(link.meaning.field) and not _asks_for_several(links, tokens)
    names_document = names_document and not is_place_of_noun(link, links, tokens)
    return replace(link, weight=link.weight + _OWN_NAME_WEIGHT) if names_document else link


def is_place_of_noun(link: SpanLink, links: Sequence[SpanLink], tokens: Sequence[QuestionToken]) -> bool:
    """ "The smallest town *in* Elmet" is not the town called Elmet: whether the value says where documents are."""
    index = link.first - 1
    while index > 0 and tokens[index].word == "the":
        index -= 1
    is_place = index > 0 and tokens[index].word in _PLACE_PREPOSITIONS
    return is_place and any(isinstance(other.meaning, BucketNoun) and other.last <= index for other in links)


def _asks_for_several(links: Sequence[SpanLink], tokens: Sequence[QuestionToken]) -> bool:
    """Whether the bucket's noun stands in the plural: "reports of Ann" are not the document called Ann."""
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
