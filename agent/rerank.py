"""Ordering passages by what they say: the built-in way, which needs no model, and the protocol of one that does.

The built-in way weighs, beside the ranks, how much of the question's rare words a passage or its title holds, and which
words that follow each other in the question stand close together in it. The weights were set on public question sets of
five kinds (contracts, companies' pages, manuals, abstracts, yes-or-no questions) and rounded: none of them is fine.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from storage.search.index import Hit
from storage.search.text import Analyser

BODY, TITLE, CLOSE = 0.4, 0.15, 0.3  # what coverage, the title's coverage and closeness add to a score of up to 2
_CLOSE = 30  # code points between two words that stand together
_SHORT_STEM = 3  # code points; the last of a longer stem may be another in the word ("parti", party)


class Reranker(Protocol):
    """Scores passages by how well each answers a question: a model that reads both."""

    @property
    def name(self) -> str: ...

    async def scores(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """One for each passage, in their order, higher is better. Does not block the event loop.

        Raises `RerankerFailed` when there are none to be had.
        """
        ...


class RerankerFailed(Exception):
    """The model gave no scores; the order that needs no model stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """A content word of the question: its stem, and its weight by rarity (0 to 1)."""

    word: str
    stem: str
    weight: float
    known: bool  # some visible document holds it


class Spotter:
    """Finds the words of given stems in texts, without analysing what begins like none of them."""

    def __init__(self, stems: Iterable[str], analyser: Analyser) -> None:
        self._stems, self._analyser = frozenset(stems), analyser
        heads = sorted({stem[:-1] if len(stem) > _SHORT_STEM else stem for stem in self._stems}, key=len, reverse=True)
        self._words = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, heads))})[^\W_]*") if heads else None
        self._known: dict[str, str | None] = {}

    def found(self, text: str) -> dict[str, list[int]]:
        """The stems that stand in `text`, each with where in the folded text."""
        places: dict[str, list[int]] = {}
        if self._words is None:
            return places
        for match in self._words.finditer(folded(text)):
            stem = self._stem(match[0])
            if stem is not None:
                places.setdefault(stem, []).append(match.start())
        return places

    def _stem(self, word: str) -> str | None:
        if word not in self._known:
            terms = [term.text for term in self._analyser.terms(word)]
            self._known[word] = next((term for term in terms if term in self._stems), None)
        return self._known[word]


@lru_cache(maxsize=512)
def folded(text: str) -> str:
    """`text` in lower case without marks, as the analyser's words are."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in plain if not unicodedata.combining(c))


def relevance(hit: Hit, question: Sequence[Weighted], spotter: Spotter) -> float:
    """0 to 0.85: how much of the question the passage and its title hold, and how close together."""
    body, title = spotter.found(hit.text), spotter.found(hit.title)
    return BODY * share(question, body) + TITLE * share(question, title) + CLOSE * _closeness(question, body)


def share(question: Sequence[Weighted], held: Mapping[str, object] | frozenset[str]) -> float:
    """The share (0 to 1) of the question's weight whose words are among those held."""
    total = sum(one.weight for one in question)
    return sum(one.weight for one in question if one.stem in held) / total if total else 0.0


def _closeness(question: Sequence[Weighted], places: Mapping[str, Sequence[int]]) -> float:
    """The share (0 to 1) of the question's neighbouring words that stand close together."""
    pairs = [(one, other, one.weight + other.weight) for one, other in pairwise(question)]
    total = sum(weight for _, _, weight in pairs)
    held = sum(weight for one, other, weight in pairs if _near(places.get(one.stem, ()), places.get(other.stem, ())))
    return held / total if total else 0.0


def _near(some: Sequence[int], others: Sequence[int]) -> bool:
    return any(abs(one - other) <= _CLOSE for one in some for other in others)
