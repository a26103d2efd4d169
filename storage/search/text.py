"""The fold that strings compare after, and what an analyser is."""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple, Protocol


def fold(text: str) -> str:
    """`text` as comparisons see it: NFKD, marks off, casefolded, blanks and control characters squeezed to one blank.

    Idempotent. Stored beside each string in every engine, so that no engine's own folding decides a set.
    """
    if text.isascii():  # nothing to decompose; most values
        lowered = text.lower()
    else:
        decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
        lowered = "".join(c for c in decomposed if not unicodedata.combining(c))
    if lowered.isprintable():
        return " ".join(lowered.split())
    return " ".join("".join(" " if unicodedata.category(c) == "Cc" else c for c in lowered).split())


class Term(NamedTuple):
    """An analysed term and where it stood: `text[start:end]`, in code points. A tuple, since a corpus has millions."""

    text: str
    start: int
    end: int


class Unplaced(NamedTuple):
    """The terms of a text joined by blanks, and its folded words, each once: what an engine indexes."""

    terms: str
    words: set[str]


class Analyser(Protocol):
    """Turns text into the terms that both engines index, so that sets and phrases agree by construction."""

    @property
    def language(self) -> str:
        """ISO 639-1 of the stemmer, or empty for none."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever the terms of any text could change."""
        ...

    def terms(self, text: str) -> Sequence[Term]:
        """All terms in order, stemmed, none trimmed. A term holds letters and digits only: no blank, no quote."""
        ...

    def words(self, text: str) -> Sequence[Term]:
        """The same positions as `terms`, folded but not stemmed: what spelling suggestions are made of."""
        ...

    def unplaced(self, text: str) -> Unplaced:
        """What `terms` and `words` give, without the places: several times as fast."""
        ...

    def each(self, texts: Sequence[str]) -> Sequence[str]:
        """The terms of each text joined by blanks, as `unplaced` gives them: for very many short texts."""
        ...

    def is_split(self, text: str, at: int) -> bool:
        """Whether `text[:at]` and `text[at:]` have other terms than the whole: a term goes across."""
        ...
