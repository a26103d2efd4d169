"""String folding for comparisons, and the protocol of text analysers."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple, Protocol

_NORMALIZED_AT_ONCE = 200  # characters
_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f]+")  # all of the category Cc


def fold_text(text: str) -> str:
    """Returns `text` in the form for comparisons: NFKD without marks, casefolded, each run of white space one blank.

    Control characters count as blanks. Idempotent. Every engine stores this form with each string, so that no engine's
    own folding decides which documents match.
    """
    # Most values are ASCII, which needs no decomposition.
    lowered = text.lower() if text.isascii() else drop_marks(decompose_text(decompose_text(text).casefold()))
    return " ".join((lowered if lowered.isprintable() else _CONTROL_CHARACTERS.sub(" ", lowered)).split())


def decompose_text(text: str) -> str:
    """Returns the text in NFKD, except that combining marks keep their order where very many follow one another.

    Sorting them takes time that grows with the square of their number, so the text is decomposed piece by piece.
    """
    if len(text) <= _NORMALIZED_AT_ONCE:
        return unicodedata.normalize("NFKD", text)
    pieces = (text[start : start + _NORMALIZED_AT_ONCE] for start in range(0, len(text), _NORMALIZED_AT_ONCE))
    return "".join([unicodedata.normalize("NFKD", piece) for piece in pieces])


def drop_marks(text: str) -> str:
    """Returns a decomposed text without its combining marks."""
    marks = {ord(character): None for character in set(text) if unicodedata.combining(character)}
    return text.translate(marks) if marks else text


class AnalysedTerm(NamedTuple):
    """An analysed term and its position `text[start:end]`, in code points. A tuple, since a corpus has millions."""

    text: str
    start: int
    end: int


class IndexTerms(NamedTuple):
    """The parts of a text that an engine indexes: its terms joined by blanks, and its distinct folded words."""

    joined_terms: str
    words: set[str]


class Analyser(Protocol):
    """Divides text into terms. All engines index the same terms, so that they agree on every set and phrase."""

    @property
    def language(self) -> str:
        """The stemmer's language, ISO 639-1; empty: no stemming."""
        ...

    @property
    def version(self) -> str:
        """A version string that changes whenever the terms of any text can change."""
        ...

    def extract_terms(self, text: str) -> Sequence[AnalysedTerm]:
        """Returns all terms in order, stemmed, without a stop list. A term has only letters and digits."""
        ...

    def extract_words(self, text: str) -> Sequence[AnalysedTerm]:
        """Returns the words at the positions of `extract_terms`, folded but not stemmed, for spelling suggestions."""
        ...

    def index_terms_of(self, text: str) -> IndexTerms:
        """Returns the results of `extract_terms` and `extract_words` without positions; several times as fast."""
        ...

    def joined_terms_of(self, texts: Sequence[str]) -> Sequence[str]:
        """Returns the `joined_terms` of `index_terms_of` for each text; fast for very many short texts."""
        ...

    def is_inside_term(self, text: str, position: int) -> bool:
        """Whether a term crosses `position`, so that `text[:position]` and `text[position:]` have other terms.

        It may be True for any position behind a thousand combining marks.
        """
        ...
