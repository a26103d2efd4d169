"""Names that people type without capitals: "boats of kerr", "what does teague owe", "anything from strand?".

A word without a capital is a part of a name only where a name would stand, and nothing else of its noun phrase is
there: "faults with electrical wiring" names no company "Strand Electrical".
"""

import re
from collections.abc import Sequence
from functools import cache

from agent.english.function_words import EVERYDAY_WORDS, FORMS_OF_BE, STOP_WORDS
from agent.english.inflection import PARTICIPLE_ENDINGS
from agent.english.light_words import is_light_word
from agent.rules.words.tokens import QuestionToken
from storage.text.vocabulary import load_vocabulary

_TITLES = frozenset("mr mrs ms miss dr prof mister".split())
_WORDS_BEFORE_NAMES = frozenset("by from of for with to".split())
_AUXILIARIES = frozenset("did does".split())
_VERBS_OF_HAVING = frozenset("have own do need get".split())
_WORDS_OF_FRAGMENTS = frozenset("and or what about how for ok then with by from".split())  # "what about bas?"
_CONJUNCTIONS = frozenset({"or", "and", "vs", "versus"})
_VERBS_OF_PAYING = frozenset("owe owes unpaid pay paid bill billed charge charged".split())  # "what do we owe kerr"
_TIME_WORDS = frozenset(
    "this last next since still yet already today yesterday tomorrow pls please thx thanks too now currently".split()
)
_NO_NAME = re.compile(r"\w+(?:ing|ed|ly)")
_MIN_LETTERS = 3


def is_uncapitalised_name(tokens: Sequence[QuestionToken], first: int, last: int, *, has_partner: bool) -> bool:
    """Whether `tokens[first:last]` stand where a name would, in a question that is typed without capitals.

    `has_partner`: it appears beside "or" with a part of another name of the same field: "priya or daan".
    """
    if any(token.is_name and token.word.isalpha() and not token.begins_sentence for token in tokens):
        return False  # whoever writes capitals would have written this one
    words = [token.word for token in tokens[first:last]]
    if not all(map(_may_be_name, words)) or max(map(len, words)) < _MIN_LETTERS:
        return False
    outside = {token.word for token in (*tokens[:first], *tokens[last:])}
    if has_partner or (outside and outside <= _WORDS_OF_FRAGMENTS):
        return True
    while first and len(tokens[first - 1].word) == 1:
        first -= 1  # "o'brien" is two tokens
    before = tokens[first - 1].word if first else ""
    if before in _TITLES:
        return True
    following = tokens[last] if last < len(tokens) else None
    ends_phrase = (
        following is None or following.word in STOP_WORDS or following.word in _TIME_WORDS or following.word.isdigit()
    )
    if before == "by" and (first < 2 or not tokens[first - 2].word.endswith(PARTICIPLE_ENDINGS)):
        return False  # "reports by house" are grouped, "owned by kerr" names somebody
    ends_phrase = ends_phrase or (following is not None and following.begins_sentence)
    if before in _WORDS_BEFORE_NAMES:
        return ends_phrase
    if before in _VERBS_OF_PAYING and ends_phrase and not any(map(is_ordinary_word, words)):
        return True
    is_predicate = before in FORMS_OF_BE and first > 1  # "which boats are electrical"
    if ends_phrase and before in STOP_WORDS and not is_predicate and not any(map(is_ordinary_word, words)):
        return True  # "who has the pixel"
    return before in _AUXILIARIES and following is not None and following.word not in STOP_WORDS - _VERBS_OF_HAVING


def find_partners(tokens: Sequence[QuestionToken], first: int, last: int) -> Sequence[QuestionToken]:
    """Returns the words on the other side of an "or" or "and" beside `tokens[first:last]`, that may be names too."""
    after = tokens[last + 1 : last + 2] if last < len(tokens) and tokens[last].word in _CONJUNCTIONS else ()
    before = tokens[first - 2 : first - 1] if first > 1 and tokens[first - 1].word in _CONJUNCTIONS else ()
    return [token for token in (*before, *after) if _may_be_name(token.word)]


def is_ordinary_word(word: str) -> bool:
    """Whether the word, or its basic form, is one of everyday or business life."""
    forms = (word, word.removesuffix("s"), word.removesuffix("es"))
    return any(form in _ordinary_words() for form in forms)


@cache
def _ordinary_words() -> frozenset[str]:
    vocabularies = (load_vocabulary(language) for language in ("de", "es", "fr"))
    return frozenset[str]().union(*(vocabulary.english_words for vocabulary in vocabularies if vocabulary is not None))


def _may_be_name(word: str) -> bool:
    is_known = word in EVERYDAY_WORDS or word in STOP_WORDS or is_light_word(word)
    return word.isalpha() and not is_known and _NO_NAME.fullmatch(word) is None
