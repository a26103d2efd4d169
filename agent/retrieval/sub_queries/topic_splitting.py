"""Splits a question about the text at its joints into sub-queries: the parts that may be topics of their own.

The halves of a long question are no sub-queries: ranked by them too, 232 such questions of three sets had a lower nDCG.
"""

import re
from collections.abc import Callable, Sequence

MAX_SUB_QUERIES = 4  # the question itself included
MIN_CONTENT_WORDS = 2  # of a sub-query
# The blanks before a joint are read as a whole, from their start, so that the time is linear in their number.
_START = r"(?<![\s,;.])"
_JOINTS = tuple(
    re.compile(joint, re.IGNORECASE)
    for joint in (
        # "parking in the yard versus parking on the street"
        rf"{_START}\s++(?:vs\.?|versus|(?:as\s+)?(?:compared|opposed)\s+(?:to|with)"
        r"|in\s+(?:comparison|contrast)\s+(?:to|with)|rather\s+than)\s+",
        # "cleaning the filter and then storing the pump"
        rf"{_START}[\s,;.]++(?<=[\s,;])(?:and\s+|but\s+)?(?:then|after\s+that|afterwards|next|finally)\b(?:\s+also\b)?,?\s+"
        rf"|{_START}\s++(?:and|but)\s+also\s+",
        # "cleaning the filter, storing the pump and returning parts"
        rf"{_START}[\s,;]++(?<=\s)(?:and|or|as\s+well\s+as|along\s+with)\s+|{_START}\s*+[,;]\s+",
    )
)


def split_topics(question: str, content_words_of: Callable[[str], Sequence[str]]) -> tuple[str, ...]:
    """Returns the question and the parts between its joints, at most `MAX_SUB_QUERIES`; without joints the question.

    The joints are those of comparisons, else of sequences, else of conjunctions. A part with fewer than
    `MIN_CONTENT_WORDS` different content words stays with its neighbour. `content_words_of` returns the words of a text
    that say what it is about.
    """
    whole = question.strip()
    for joint in _JOINTS:
        topics = _join_short_parts(joint.split(whole), content_words_of)
        if len(topics) > 1:
            return (whole, *topics[: MAX_SUB_QUERIES - 1])
    return (whole,)


def _join_short_parts(parts: Sequence[str], content_words_of: Callable[[str], Sequence[str]]) -> list[str]:
    """Returns the parts, a short one joined with the part before it (the first one with the part after it)."""

    def is_short(text: str) -> bool:
        return len(set(content_words_of(text))) < MIN_CONTENT_WORDS

    joined: list[str] = []
    for part in map(str.strip, parts):
        if joined and (is_short(part) or is_short(joined[-1])):
            joined[-1] = f"{joined[-1]} {part}"
        else:
            joined.append(part)
    return list(dict.fromkeys(joined))
