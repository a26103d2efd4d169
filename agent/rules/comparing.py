"""The few words that compare, and a question without them, so that what is left reads as what is asked of each side."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agent.rules.atoms import Literal
from agent.rules.language import SUPERLATIVES

_COMPARING = re.compile(
    r"\b(?:in\s+)?compar(?:e[sd]?|ing|ison|isons|ative|atively)\b(?:\s+(?:to|with|against|between|of)\b)?"
    r"|\bcontrast(?:s|ed|ing)?\b(?:\s+(?:with|between|to)\b)?"
    r"|\bdiffer(?:s|ed|ing)?\b(?:\s+from\b)?|\bdifferen(?:ces?|tly|t(?=\s+(?:from|than|to)\b|\s*[?.!,]|\s*$))\b(?:\s+(?:between|from|than|to)\b)?"
    r"|\bdistinguish(?:es)?\b|\bside\s+by\s+side\b|\bversus\b|\bvs\.?(?=\s)|(?<!\d)(?<!\d\s)(?<!\.)\b(?-i:v)\.?(?=\s)|\bstacks?\s+up\b|\bin\s+common\b"
    r"|\bsimilarit(?:y|ies)\b(?:\s+between\b)?|\b(?:the\s+)?same\b|\bidentical\b|\balike\b|\bsimilar\b"
    r"|\b(?:relative|as\s+opposed)\s+to\b|\bas\s+against\b|\bset\s+against\b|\brespectively\b|\bwhich\s+of\b"
    r"|\bof\s+the\s+two\b",
    re.IGNORECASE,
)
_GRADED = frozenset(
    """more less fewer better worse longer shorter higher lower larger smaller bigger greater cheaper dearer older newer
    younger earlier later sooner heavier lighter wider narrower taller deeper shallower thicker thinner faster slower
    stronger weaker warmer colder hotter cooler denser stricter looser safer easier harder richer poorer broader closer
    further farther""".split()
)  # they count only beside "than" or "or"
_CHOOSES = re.compile(
    r"\W*(?:and\s+)?(?:which|who|what)\s+(?:of\s+(?:them|those|these|the\s+\w+)|ones?\b|is|are|has|have|was)",
    re.IGNORECASE,
)
# "Compared to other vendors": no second side is named, so what the documents say of the first is asked.
_UNNAMED = re.compile(
    r"\b(?:compar\w+|differ\w*|versus|vs\.?|than|opposed|unlike|relative)\s+(?:(?:to|with|from|than|against|between)\s+)?"
    r"(?:(?:any|all|most|many|the|its|their)\s+)?other\s+\w+",
    re.IGNORECASE,
)
_SUPERLATIVE = {one: f"{one.removesuffix('er')}est" for one in _GRADED if one.endswith("er")} | {
    "more": "highest", "greater": "highest", "larger": "highest", "bigger": "highest", "less": "lowest",
    "fewer": "lowest", "smaller": "lowest", "later": "latest", "newer": "newest", "better": "best", "worse": "worst",
    "dearer": "dearest",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A question with its comparing words blanked out, so that what is left reads as what is asked of each side."""

    text: str  # as long as the question
    cues: tuple[tuple[int, int], ...]  # the blanked words
    explicit: bool  # compares in so many words
    graded: tuple[str, ...]  # "longer", "more": compares if there are two to choose from


def masked(question: str, literals: Sequence[Literal] = ()) -> Masked:
    """The question without its comparing words; those that compare a number with a field ("5 A or more") stay."""
    cues = [match.span() for match in _COMPARING.finditer(question)]
    explicit = any(question[a:b].lower() not in ("which of",) for a, b in cues) or _of_several(question)
    if re.match(r"\s*why\b", question, re.IGNORECASE) or _UNNAMED.search(question):
        return Masked(text=question, cues=(), explicit=False, graded=())  # asks for a reason, or for what sets it apart
    graded = bool(re.search(r"\b(?:than|or)\b|,", question, re.IGNORECASE))
    more = [match.span() for match in re.finditer(r"\w+", question)] if graded else []
    taken = [*cues, *((one.start, one.end) for one in literals)]
    kept = [one for one in more if not any(a <= one[0] < b for a, b in taken) and _is_graded(question, one)]
    text = question
    for a, b in (*cues, *kept):
        text = text[:a] + " " * (b - a) + text[b:]
    return Masked(
        text=text,
        cues=tuple(sorted((*cues, *kept))),
        explicit=explicit,
        graded=tuple(question[a:b].lower() for a, b in kept),
    )


def graded_words(question: str) -> tuple[str, ...]:
    """The words that set one thing above another: "longer", not "longer than 5 m"."""
    spans = [match.span() for match in re.finditer(r"\w+", question)]
    return tuple(question[a:b].lower() for a, b in spans if _is_graded(question, (a, b)))


def with_superlative(question: str) -> str:
    """ "Which of them is longer?": the longest of them."""
    if not _CHOOSES.match(question) or re.search(r"\bthan\b", question, re.IGNORECASE):
        return question
    most = re.sub(r"\bmore(?=\s+(?:expensive|costly|recent)\b)", "most", question, flags=re.IGNORECASE)
    most = re.sub(r"\bless(?=\s+expensive\b)", "least", most, flags=re.IGNORECASE)
    return re.sub(r"\w+", lambda one: _SUPERLATIVE.get(one[0].lower(), one[0]), most)


def without_ranges(question: Masked) -> Masked:
    """Days and numbers that "to" or a dash joins as two things: "compare 2023 to 2024"."""
    text = re.sub(r"(?<=\d)(\s+)to(\s+)(?=\w+)", r"\1or\2", question.text)
    return replace(question, text=re.sub(r"(?<=\d)\s*[-–]\s*(?=\d{4}\b)", lambda one: ";".ljust(len(one[0])), text))


def _of_several(question: str) -> bool:
    """ "Which of A and B has the longest …": a superlative among those that are named."""
    words = tuple(re.findall(r"\w+", question.lower()))
    return bool(re.search(r"\bwhich of\b", question, re.I)) and any(one in SUPERLATIVES for one in _grams(words))


def _grams(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield from ((word,) for word in words)
    yield from pairwise(words)


def _is_graded(question: str, span: tuple[int, int]) -> bool:
    """A comparative that compares the sides, rather than something with a number ("more than 50")."""
    followed = re.match(r"\s+than\s+(?:[$€£]|\w{0,3}\s?\d)", question[span[1] :], re.IGNORECASE)
    return question[span[0] : span[1]].lower() in _GRADED and not followed
