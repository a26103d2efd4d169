"""Whether a sentence answers a yes-or-no question with yes or with no. Both are closed word classes of English."""

import re

from agent.english.function_words import STOP_WORDS, YES_NO_VERBS
from storage.search.analyser import Analyser, fold_text

_WORD = re.compile(r"[^\W_]+(?:['’]\w+)?")
_QUESTION_VERBS = YES_NO_VERBS | {"am", "might", "shall"}
_SENTENCE_END = re.compile(r"[.?!;]\s+")
_CLAUSE_END = re.compile(r"[,;:–—]\s|\s(?:but|while|whereas)\s")
_MAX_NEGATED_DISTANCE = 5  # words after a negation, in which what it negates stands
_FORBIDDING = frozenset(
    """forbidden forbid forbids prohibited prohibit prohibits banned ban bans barred disallowed impossible cannot
    rejected refused declined denied excluded""".split()
)
_NEGATIONS = _FORBIDDING | frozenset("no not never nobody none nothing nowhere neither nor without".split())
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
    """Whether the message, or its last sentence, begins with a verb: "I have a dog. May I bring it?"."""
    sentences = [sentence for sentence in _SENTENCE_END.split(question.strip()) if sentence.strip()]
    starts = {next(iter(fold_text(part).split()), "") for part in (question, *sentences[-1:])}
    return not starts.isdisjoint(_QUESTION_VERBS)


def verdict_of(sentence: str, question: str, analyser: Analyser) -> bool | None:
    """Returns True for yes and False for no; None if the sentence holds only in part, or for a doubtful question.

    It says no only if it negates a word of the question, or a permission. A sentence without a negation says yes only
    if it permits what the question asks leave for.
    """
    words, asked = _words_of(sentence), _words_of(question)
    if any(_is_negation(word) for word in asked - words):
        return None
    told = _clause_that_tells(sentence, question, analyser)
    own = set(told)
    if own & _RESTRICTIONS - asked:
        return None
    if any(_is_negation(word) for word in own - asked):
        return False if _negates_asked_word(told, asked, analyser) else None
    if any(_is_negation(word) for word in words - asked) or words & _RESTRICTIONS - asked:
        return None
    asks_leave = _PERMISSION_QUESTION.search(question) is not None or bool(asked & {"allowed", "permitted"})
    return True if asks_leave and words & _PERMISSIONS else None


def _clause_that_tells(sentence: str, question: str, analyser: Analyser) -> list[str]:
    """Returns the words of the part of the sentence with most words of the question: "…, not in the *rock garden*"."""
    stems = _content_stems_of(question, analyser)
    clauses = [_WORD.findall(fold_text(clause)) for clause in _CLAUSE_END.split(sentence)]
    shares = [len(stems & _content_stems_of(" ".join(clause), analyser)) for clause in clauses]
    whole = len(stems & _content_stems_of(sentence, analyser))
    is_one_clause = max(shares) == whole and shares.count(max(shares)) == 1
    return clauses[shares.index(max(shares))] if is_one_clause else _WORD.findall(fold_text(sentence))


def _negates_asked_word(words: list[str], asked: set[str], analyser: Analyser) -> bool:
    """Whether a word of the question, or a permission, appears right after a negation; "no" may end the clause."""
    stems = _content_stems_of(" ".join(asked), analyser)
    for index, word in enumerate(words):
        following = words[index + 1 : index + 1 + _MAX_NEGATED_DISTANCE]
        is_asked = bool(set(following) & _PERMISSIONS or stems & _content_stems_of(" ".join(following), analyser))
        if _is_negation(word) and (is_asked or word in _FORBIDDING):
            return True
    return False


def _content_stems_of(text: str, analyser: Analyser) -> set[str]:
    words = " ".join(word for word in _WORD.findall(fold_text(text)) if word not in STOP_WORDS)
    return {term.text for term in analyser.extract_terms(words)}


def _words_of(text: str) -> set[str]:
    return set(_WORD.findall(fold_text(text)))


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith(("n't", "n’t"))
