"""A question as tokens: the analyser's words and stems with their place in the question, quotations apart."""

import re
from dataclasses import dataclass
from functools import lru_cache

from storage.search.text import Analyser

_QUOTED = re.compile(r"[\"“”„«»]([^\"“”„«»]{1,300})[\"“”„«»]")


_IDENTIFIER = re.compile(r"(?=[^\W_]*[^\W\d_])(?=(?:\D*\d){2})[^\W_]+(?:-[^\W_]+)*")
_SHORTEST = 5  # characters of an identifier
_BEGINS = re.compile(r"(?:^|[.?!;]\s)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """`question[start:end]`; `word` folded, `stem` as the bucket's analyser has it."""

    word: str
    stem: str
    start: int
    end: int
    quoted: bool = False
    begins_sentence: bool = False
    is_name: bool = False  # capitalised inside the sentence, or with a digit: a name or an identifier


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """Words within quotation marks: `question[start:end]` with the marks, `text` without."""

    text: str
    start: int
    end: int


def quotations_of(question: str) -> tuple[Quotation, ...]:
    return tuple(
        Quotation(text=match[1].strip(), start=match.start(), end=match.end())
        for match in _QUOTED.finditer(question)
        if match[1].strip()
    )


def is_plural(token: Token) -> bool:
    """Whether it looks like a regular English plural."""
    return token.word.endswith("s") and not token.word.endswith(("ss", "us", "is"))


def _is_name(question: str, start: int, end: int) -> bool:
    written = question[start:end]
    return any(c.isupper() or c.isdigit() for c in written)


@lru_cache(maxsize=256)
def tokens_of(question: str, analyser: Analyser, quotations: tuple[Quotation, ...] = ()) -> tuple[Token, ...]:
    """All tokens in order. Remembered: the buckets of one language read the same."""
    pairs = zip(analyser.words(question), analyser.terms(question), strict=True)
    return tuple(
        Token(
            word=word.text,
            stem=term.text,
            start=word.start,
            end=word.end,
            is_name=_is_name(question, word.start, word.end),
            begins_sentence=_BEGINS.search(question, 0, word.start) is not None,
            quoted=any(q.start <= word.start < q.end for q in quotations),
        )
        for word, term in pairs
    )


def is_identifier(word: str) -> bool:
    """ "BC240", "INV-2041": letters and several digits in one word."""
    return _IDENTIFIER.fullmatch(word) is not None and len(word) >= _SHORTEST
