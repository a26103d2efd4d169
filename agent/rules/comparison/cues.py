"""Comparison cues: finds the words that compare, and masks them so that the rest can be read for each side."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agent.english.function_words import SUPERLATIVE_PHRASES
from agent.rules.literals.literal_types import QuestionLiteral
from storage.quantities.days import ENGLISH_MONTH_PATTERN
from storage.quantities.money import BARE_SIGN_PATTERN

_COMPARING_WORDS = re.compile(
    r"\b(?:in\s+)?compar(?:e[sd]?|ing|ison|isons|ative|atively)\b(?:\s+(?:to|with|against|between|of)\b)?"
    r"|\bcontrast(?:s|ed|ing)?\b(?:\s+(?:with|between|to)\b)?"
    r"|\bdiffer(?:s|ed|ing)?\b(?:\s+from\b)?|\bdifferen(?:ces?|tly|t(?=\s+(?:from|than|to)\b|\s*[?.!,]|\s*$))\b"
    r"(?:\s+(?:between|from|than|to)\b)?"
    r"|\bdistinguish(?:es)?\b|\bside\s+by\s+side\b|\bversus\b|\bvs\.?(?=\s)|(?<!\d)(?<!\d\s)(?<!\.)\b(?-i:v)\.?(?=\s)"
    r"|\bstacks?\s+up\b|\bin\s+common\b"
    r"|\bsimilarit(?:y|ies)\b(?:\s+between\b)?|\b(?:the\s+)?same\b|\bidentical\b|\balike\b|\bsimilar\b"
    r"|\b(?:relative|as\s+opposed)\s+to\b|\bas\s+against\b|\bset\s+against\b|\brespectively\b|\bwhich\s+of\b"
    r"|\bof\s+the\s+two\b",
    re.IGNORECASE,
)
_COMPARATIVES = frozenset(
    """more less fewer better worse longer shorter higher lower larger smaller bigger greater cheaper dearer older newer
    younger earlier later sooner heavier lighter wider narrower taller deeper shallower thicker thinner faster slower
    stronger weaker warmer colder hotter cooler denser stricter looser safer easier harder richer poorer broader closer
    further farther""".split()
)  # they count only in a question with "than", "or" or a comma
AMOUNT_COMPARATIVES = frozenset({"more", "fewer", "less"})  # of what, another word says
_CHOICE_QUESTION = re.compile(
    r"\W*(?:and\s+)?(?:which|who|what)\s+(?:of\s+(?:them|those|these|the\s+\w+)|ones?\b|is|are|has|have|was)",
    re.IGNORECASE,
)
# "Compared to other vendors": the question names no second side, so it asks about the first side only.
_UNNAMED_OTHERS = re.compile(
    r"\b(?:compar\w+|differ\w*|versus|vs\.?|than|opposed|unlike|relative)\s+"
    r"(?:(?:to|with|from|than|against|between)\s+)?"
    r"(?:(?:any|all|most|many|the|its|their)\s+)?other\s+\w+",
    re.IGNORECASE,
)
_SUPERLATIVE_BY_COMPARATIVE = {
    word: f"{word.removesuffix('er')}est" for word in _COMPARATIVES if word.endswith("er")
} | {
    "more": "highest", "greater": "highest", "larger": "highest", "bigger": "highest", "less": "lowest",
    "fewer": "lowest", "smaller": "lowest", "later": "latest", "newer": "newest", "better": "best", "worse": "worst",
    "dearer": "dearest",
}  # fmt: skip

_THIS_AND_LAST = re.compile(
    rf"(?P<first>\bthis\s+(?P<name>{ENGLISH_MONTH_PATTERN}|spring|summer|autumn|fall|winter)\b.{{1,80}}?)\blast\s+(?P=name)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskedQuestion:
    """A question with its comparing words replaced by spaces. The rest applies to each side."""

    text: str  # as long as the question
    cue_spans: tuple[tuple[int, int], ...]  # the blanked words
    is_explicit: bool  # the question compares explicitly
    comparatives: tuple[str, ...]  # "longer", "more": they compare only if the question names two things


def mask_comparison(question: str, literals: Sequence[QuestionLiteral] = ()) -> MaskedQuestion:
    """Returns the question without its comparing words, but keeps comparisons with a number ("5 A or more")."""
    cue_spans = [match.span() for match in _COMPARING_WORDS.finditer(question)]
    is_explicit = any(
        question[start:end].lower() not in ("which of",) for start, end in cue_spans
    ) or _has_named_choice(question)
    if re.match(r"\s*why\b", question, re.IGNORECASE) or _UNNAMED_OTHERS.search(question):
        return MaskedQuestion(
            text=question, cue_spans=(), is_explicit=False, comparatives=()
        )  # asks for a reason, or for a difference from unnamed things
    may_grade = bool(re.search(r"\b(?:than|or)\b|,", question, re.IGNORECASE))
    word_spans = [match.span() for match in re.finditer(r"\w+", question)] if may_grade else []
    taken_spans = [*cue_spans, *((literal.start, literal.end) for literal in literals)]
    comparative_spans = [
        span
        for span in word_spans
        if not any(start <= span[0] < end for start, end in taken_spans) and _is_comparative(question, span)
    ]
    text = question
    for start, end in (*cue_spans, *comparative_spans):
        text = text[:start] + " " * (end - start) + text[end:]
    return MaskedQuestion(
        text=text,
        cue_spans=tuple(sorted((*cue_spans, *comparative_spans))),
        is_explicit=is_explicit,
        comparatives=tuple(question[start:end].lower() for start, end in comparative_spans),
    )


def date_last_after_this(question: str) -> str:
    """Returns "this June … *June last year*" for "this June … *last June*": a side is read without the other."""
    return _THIS_AND_LAST.sub(r"\g<first>\g<name> last year", question)


def find_comparatives(question: str) -> tuple[str, ...]:
    """Returns the comparatives that compare the sides: "longer", not "longer than 5 m"."""
    spans = [match.span() for match in re.finditer(r"\w+", question)]
    return tuple(question[start:end].lower() for start, end in spans if _is_comparative(question, (start, end)))


def compares_tenure(words: Sequence[str]) -> bool:
    """ "Who has *been* with us *longer*": whether a time since a beginning is compared, and no length of a thing."""
    return "been" in words and not {"longer", "shorter"}.isdisjoint(words)


def replace_comparatives(question: str) -> str:
    """Replaces comparatives by superlatives: "which of them is longer?" asks for the longest."""
    if not _CHOICE_QUESTION.match(question) or re.search(r"\bthan\b", question, re.IGNORECASE):
        return question
    replaced = re.sub(r"\bmore(?=\s+(?:expensive|costly|recent)\b)", "most", question, flags=re.IGNORECASE)
    replaced = re.sub(r"\bless(?=\s+expensive\b)", "least", replaced, flags=re.IGNORECASE)
    return re.sub(r"\w+", lambda match: _SUPERLATIVE_BY_COMPARATIVE.get(match[0].lower(), match[0]), replaced)


def split_ranges(question: MaskedQuestion) -> MaskedQuestion:
    """Returns the question with ranges of dates or numbers split into two things: "compare 2023 to 2024"."""
    text = re.sub(r"(?<=\d)(\s+)to(\s+)(?=\w+)", r"\1or\2", question.text)
    return replace(question, text=re.sub(r"(?<=\d)\s*[-–]\s*(?=\d{4}\b)", lambda match: ";".ljust(len(match[0])), text))


def _has_named_choice(question: str) -> bool:
    """ "Which of A and B has the longest …": whether a superlative chooses between named things."""
    words = tuple(re.findall(r"\w+", question.lower()))
    return bool(re.search(r"\bwhich of\b", question, re.I)) and any(
        phrase in SUPERLATIVE_PHRASES for phrase in _unigrams_and_bigrams(words)
    )


def _unigrams_and_bigrams(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield from ((word,) for word in words)
    yield from pairwise(words)


_NUMBER_AFTER_THAN = re.compile(rf"\s+than\s+(?:{BARE_SIGN_PATTERN}|\w{{0,3}}\s?\d)", re.IGNORECASE)


def _is_comparative(question: str, span: tuple[int, int]) -> bool:
    """Whether the word is a comparative that compares the sides, not a value with a number ("more than 50")."""
    precedes_number = _NUMBER_AFTER_THAN.match(question[span[1] :])
    return question[span[0] : span[1]].lower() in _COMPARATIVES and not precedes_number
