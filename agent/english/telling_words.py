"""Tells which English words of a question say what it is about, so that a reply may quote them."""

from collections.abc import Sequence

from agent.english.function_words import (
    AGGREGATE_WORDS,
    EMPTY_WORDS,
    EVERYDAY_WORDS,
    FILLER_WORDS,
    PRONOUNS_OF_PERSONS,
    STOP_WORDS,
)
from agent.english.light_words import is_light_word

_WORDS_OF_ASKING = PRONOUNS_OF_PERSONS | EVERYDAY_WORDS | EMPTY_WORDS | FILLER_WORDS | STOP_WORDS | AGGREGATE_WORDS
_NEGATED_VERBS = "is are was were do does did has have had ca could wo would should must need".split()
_SHORTENED_VERBS = "whats thats hows whos wheres theres youre theyre theyd theyll youve weve ive im dunno lemme".split()
# Contractions as people type them, without the apostrophe.
TYPED_CONTRACTIONS = frozenset((*(f"{verb}nt" for verb in _NEGATED_VERBS), *_SHORTENED_VERBS, "cant"))
_PREPOSITIONS = frozenset(
    "after below above beside beyond despite except near off past since till toward unlike".split()
)
_TITLES_OF_PERSONS = frozenset("mr mrs ms miss dr prof sir".split())
_ABBREVIATIONS = frozenset("inc incl exc excl eg ie vs approx ca nr".split())


def tells_subject(word: str) -> bool:
    """Whether documents would have the folded word if they were about it; not "him", "average", "pull" or "dont"."""
    if len(word) == 1 or word in _TITLES_OF_PERSONS:
        return False
    if word in _WORDS_OF_ASKING or word in TYPED_CONTRACTIONS or word in _PREPOSITIONS or word in _ABBREVIATIONS:
        return False
    return not is_light_word(word)


def select_telling_words(words: Sequence[str]) -> tuple[str, ...]:
    """Returns the words that say what the question is about, in their order. Of a phrase one such word is enough."""
    return tuple(word for word in words if any(tells_subject(part) for part in word.casefold().split()))
