"""Clauses that open a set instead of narrowing it: "retired or not", "past and present", "the expired ones too".

They name a state of the documents only to say that it makes no difference.
"""

import re

from agent.rules.words.small_talk import HasMeaning, split_clauses

_NOUN_FOR_ANY = r"(?:ones?|those|things|stuff)"
_WORDS = r"(?:[a-z'’-]+\s+){1,2}?"
_OR_NOT = re.compile(
    rf"(?:whether\s+)?(?:(?:it|they)(?:\s+(?:is|are|was|were)|['’](?:s|re))\s+)?{_WORDS}or\s+not(?:\s+yet)?\W*"
    r"|whether\s+or\s+not\s.*",
    re.IGNORECASE | re.DOTALL,
)
_TOO = r"(?:\s+(?:too|as\s+well|also|included|please|pls))"
_INCLUDED = re.compile(
    rf"(?:(?:please|also|and|even)\s+)*(?!no\b|not\b|without\b|except\b)(?:the\s+|any\s+)?{_WORDS}{_NOUN_FOR_ANY}{_TOO}+\W*"
    rf"|(?:the\s+)?{_WORDS}[a-z]+s\s+included\W*"
    rf"|(?:(?:please|also|and)\s+)*(?:count|include|add)\s+(?:in\s+)?(?:the\s+|any\s+)?{_WORDS}{_NOUN_FOR_ANY}{_TOO}*\W*",
    re.IGNORECASE,
)
_OPPOSITES = (
    ("past", "present"), ("past", "current"), ("present", "former"), ("current", "former"), ("dead", "alive"),
    ("living", "dead"), ("living", "deceased"), ("active", "inactive"), ("old", "new"), ("open", "closed"),
    ("big", "small"), ("large", "small"), ("young", "old"), ("alone", "with others"), ("early", "late"),
)  # fmt: skip
_PAIRS = "|".join(
    rf"{first}\s+(?:or|and)\s+{second}" for pair in _OPPOSITES for first, second in (pair, pair[::-1])
).replace("with others", r"with\s+others")
_PREFIXED = (
    r"(?P<base>[a-z]{3,})\s+(?:or|and)\s+(?:un|in|non-?)(?P=base)"
    r"|(?:un|in|non-?)(?P<stem>[a-z]{3,})\s+(?:or|and)\s+(?P=stem)"
)
_BOTH = re.compile(rf"(?:both\s+)?\b(?:{_PAIRS}|{_PREFIXED})\b(?:\s+(?:ones|alike))?", re.IGNORECASE)


def blank_open_alternatives(question: str, has_meaning: HasMeaning) -> str:
    """Returns the question, as long as before, without the clauses that make no difference.

    Two opposites are kept if the documents know both: they may have a third state.
    """
    clauses = list(split_clauses(question))
    text = question
    for start, end in clauses[1:]:
        text = text[:start] + _read_clause(text[start:end]) + text[end:]
    return _BOTH.sub(lambda match: _blank_opposites(match, has_meaning), text)


def _read_clause(clause: str) -> str:
    """Returns spaces in place of a clause that makes no difference."""
    return " " * len(clause) if _OR_NOT.fullmatch(clause) or _INCLUDED.fullmatch(clause) else clause


def _blank_opposites(match: re.Match[str], has_meaning: HasMeaning) -> str:
    middle = re.search(r"\s(?:or|and)\s", match[0], re.IGNORECASE)
    if middle is None:
        return match[0]
    first, last = match.start() + middle.start(), match.start() + middle.end()
    knows_both = has_meaning(match.start(), first) and has_meaning(last, match.end())
    return match[0] if knows_both else " " * len(match[0])
