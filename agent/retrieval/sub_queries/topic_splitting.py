"""Splits a question about the text at its joints into sub-queries: the parts that may be topics of their own.

The halves of a long question are not sub-queries: ranked by them too, 232 such questions of three sets had a lower
nDCG.
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
        topics = _split_at_joint(whole, joint, content_words_of)
        if len(topics) > 1:
            return (whole, *topics[: MAX_SUB_QUERIES - 1])
    return (whole,)


def _split_at_joint(text: str, joint: re.Pattern[str], content_words_of: Callable[[str], Sequence[str]]) -> list[str]:
    """Returns the parts, a short one with the part before it (the first one with the part after it)."""

    def is_short(part: tuple[int, int]) -> bool:
        return len(set(content_words_of(text[slice(*part)]))) < MIN_CONTENT_WORDS

    matches = list(joint.finditer(text))
    starts, ends = [0, *(match.end() for match in matches)], [*(match.start() for match in matches), len(text)]
    spans: list[tuple[int, int]] = []
    for part in zip(starts, ends, strict=True):
        if spans and (is_short(part) or is_short(spans[-1])):
            spans[-1] = (spans[-1][0], part[1])
        else:
            spans.append(part)
    return list(dict.fromkeys(text[start:end].strip() for start, end in spans))
