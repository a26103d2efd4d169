"""Ordering passages by what they say, without a model; and the protocol of a model that has its say beside that.

The order without a model weighs, beside the ranks, how much of the question's rare words a passage or its title holds,
and which words that follow each other in the question stand close together in it. Its weights were set on public
question sets of five kinds (contracts, companies' pages, manuals, abstracts, yes-or-no questions) and rounded: none of
them is fine.
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
JUDGED = 1.0  # what a reranker's judgement adds at most: as much as one more collector
_CLOSE = 30  # code points between two words that stand together
_HEAD = 3  # code points in which a stem and its words agree; the last may differ ("parti", party)
_KEPT_TEXTS = 2_048
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """A content word of the question: its stem, and its weight by rarity (0 to 1)."""

    word: str
    stem: str
    weight: float
    known: bool  # some visible document holds it


class Reranker(Protocol):
    """Judges how well each of a few passages answers a question. Optional: without it, or late, no question is lost."""

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One finite number a text, in the order of `texts`; higher is better, equal texts are judged alike.

        Any scale will do: scores are compared within one call alone. No texts have no scores. Takes any strings, also
        empty ones, and reads of a long text what it can. Does not block the event loop and is not waited for beyond the
        caller's deadline: cancelled, it ends at once, and can be asked again. Asks no network that nobody set up.
        Raises `RerankerUnavailable`, and nothing else.
        """
        ...


class Spotter:
    """Finds the words of given stems in texts; analyses only words that begin like one. Keeps what it found."""

    def __init__(self, stems: Iterable[str], analyser: Analyser) -> None:
        self._stems, self._analyser = frozenset(stems), analyser
        self._heads = frozenset(stem[:_HEAD] for stem in self._stems)
        self._short = frozenset(stem for stem in self._stems if len(stem) < _HEAD)
        self._known: dict[str, str | None] = {}
        self._found: dict[str, dict[str, list[int]]] = {}

    def found(self, text: str) -> dict[str, list[int]]:
        """The stems that stand in `text`, each with where in the folded text."""
        if text not in self._found:
            if len(self._found) >= _KEPT_TEXTS:
                self._found.clear()
            self._found[text] = self._look(folded(text))
        return self._found[text]

    def _look(self, text: str) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        heads, short = self._heads, self._short
        for match in _WORD.finditer(text):
            word = match[0]
            if word[:_HEAD] in heads or (short and word[:1] in short) or word[:2] in short:
                stem = self._stem(word)
                if stem is not None:
                    places.setdefault(stem, []).append(match.start())
        return places

    def _stem(self, word: str) -> str | None:
        if word not in self._known:
            terms = [term.text for term in self._analyser.terms(word)]
            self._known[word] = next((term for term in terms if term in self._stems), None)
        return self._known[word]


@lru_cache(maxsize=16)
def spotter_of(stems: frozenset[str], analyser: Analyser) -> Spotter:
    """One for the same stems, so that a text is looked through once a question."""
    return Spotter(stems, analyser)


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


def relative(scores: Sequence[float]) -> list[float]:
    """The scores of one call, 0 for the least to 1 for the best; 0 for all where they are alike."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(one - low) / (high - low) if high > low else 0.0 for one in scores]


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
