"""Whether a sentence answers a yes-or-no question with yes or with no. Both are closed word classes of English."""

import re

from agent.english.function_words import YES_NO_VERBS
from storage.search.analyser import fold_text

_WORD = re.compile(r"[^\W_]+(?:['’]\w+)?")
_NEGATIONS = frozenset(
    """no not never nobody none nothing nowhere neither nor without cannot forbidden forbid forbids prohibited prohibit
    prohibits banned ban bans barred disallowed impossible""".split()
)
_PERMISSIONS = frozenset(
    """may can allowed allow allows permitted permit permits welcome free fine ok okay yes possible always""".split()
)
# A sentence with one of them holds under a condition, or in a part of the cases.
_RESTRICTIONS = frozenset("only unless except if but until provided otherwise however although before after".split())
_PERMISSION_QUESTION = re.compile(
    r"""^(?:may|can|could|might)\b
    | \b(?:allowed|permitted|possible|forbidden|ok|okay|alright|fine) [ ]? (?:to\b|for\b|if\b|in\b|on\b|at\b|\W*$)""",
    re.IGNORECASE | re.VERBOSE,
)


def is_yes_no_question(question: str) -> bool:
    return next(iter(fold_text(question).split()), "") in YES_NO_VERBS


def verdict_of(sentence: str, question: str) -> bool | None:
    """Returns True for yes and False for no; None if the sentence holds only in part, or for a doubtful question.

    A sentence without a negation says yes only if it permits what the question asks leave for.
    """
    words = _words_of(sentence)
    asked = _words_of(question)
    negations = {word for word in words if _is_negation(word)} - {word for word in asked if _is_negation(word)}
    if any(_is_negation(word) for word in asked - words) or words & _RESTRICTIONS - asked:
        return None
    if negations:
        return False
    asks_leave = _PERMISSION_QUESTION.search(question) is not None or bool(asked & {"allowed", "permitted"})
    return True if asks_leave and words & _PERMISSIONS else None


def _words_of(text: str) -> set[str]:
    return set(_WORD.findall(fold_text(text)))


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith(("n't", "n’t"))
