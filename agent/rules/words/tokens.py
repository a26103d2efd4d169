"""Tokenization of a question: words and stems of the analyser with their positions, and quotations."""

import re
from dataclasses import dataclass
from functools import lru_cache

from storage.search.analyser import Analyser

_QUOTED_PHRASE = re.compile(r"[\"“”„«»]([^\"“”„«»]{1,300})[\"“”„«»]")
_MIN_MEN_LETTERS = 5
_NO_PLURALS = frozenset("specimen regimen abdomen acumen stamen".split())
_SENTENCE_ENDS = (".", "?", "!", ";")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionToken:
    """The token at `question[start:end]`; `word` is folded, `stem` comes from the bucket's analyser."""

    word: str
    stem: str
    start: int
    end: int
    is_quoted: bool = False
    begins_sentence: bool = False
    is_name: bool = False  # capitalised inside the sentence, or with a digit: a name or an identifier

    def __hash__(self) -> int:
        return hash((self.start, self.stem))  # tells nearly all tokens apart; links are looked up by tokens often


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedPhrase:
    """A phrase in quotation marks: `question[start:end]` includes the marks, `text` does not."""

    text: str
    start: int
    end: int


def find_quotations(question: str) -> tuple[QuotedPhrase, ...]:
    return tuple(
        QuotedPhrase(text=match[1].strip(), start=match.start(), end=match.end())
        for match in _QUOTED_PHRASE.finditer(question)
        if match[1].strip()
    )


def looks_plural(token: QuestionToken) -> bool:
    """Whether the token looks like an English plural: a regular one, or one like "workmen"."""
    return singular_of_men(token.word) is not None or (
        token.word.endswith("s") and not token.word.endswith(("ss", "us", "is"))
    )


def singular_of_men(word: str) -> str | None:
    """ "Workmen": returns the singular; None for other words."""
    is_plural = word.endswith("men") and len(word) >= _MIN_MEN_LETTERS and word not in _NO_PLURALS
    return f"{word.removesuffix('men')}man" if is_plural else None


def _looks_like_name(question: str, start: int, end: int) -> bool:
    written = question[start:end]
    return written != "I" and any(c.isupper() or c.isdigit() for c in written)


def _begins_sentence(question: str, start: int) -> bool:
    """Whether only blanks precede, or a mark that ends a sentence and blanks."""
    before = question[:start]
    text = before.rstrip()
    return not text or (len(text) < start and text.endswith(_SENTENCE_ENDS))


@lru_cache(maxsize=256)
def tokenize_question(
    question: str, analyser: Analyser, quotations: tuple[QuotedPhrase, ...] = ()
) -> tuple[QuestionToken, ...]:
    """Returns all tokens in order. Cached, since all buckets of one language give the same tokens."""
    pairs = zip(analyser.extract_words(question), analyser.extract_terms(question), strict=True)
    return tuple(
        QuestionToken(
            word=word.text,
            stem=term.text,
            start=word.start,
            end=word.end,
            is_name=_looks_like_name(question, word.start, word.end),
            begins_sentence=_begins_sentence(question, word.start),
            is_quoted=any(quotation.start <= word.start < quotation.end for quotation in quotations),
        )
        for word, term in pairs
    )
