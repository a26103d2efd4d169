"""Relevance of passages without a model, and the protocol of an optional reranking model.

Beside the ranks, the relevance counts how much of the question's rare words a passage or its title covers, and whether
neighbouring words of the question appear close together in the passage. The weights were tuned on public question sets
of five kinds (contracts, companies' pages, manuals, abstracts, yes-or-no questions) and rounded: small changes make no
difference.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from storage.search.analyser import Analyser, decompose_text, drop_marks
from storage.search.index import PassageHit

# Maximum score bonuses: coverage of the question by the passage, coverage by its title, proximity. Ranks score up to 2.
BODY_WEIGHT, TITLE_WEIGHT, PROXIMITY_WEIGHT = 0.4, 0.15, 0.3
RERANKER_WEIGHT = 1.5  # the most that a reranker's score adds: more than the words alone
_MAX_DISTANCE = 30  # code points between two words that count as close
_PREFIX_LENGTH = 3  # code points that a stem shares with its words; later ones may differ ("parti", "party")
_CACHED_TEXTS = 2_048
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTerm:
    """A content word of the question: its stem, and its weight by rarity (0 to 1)."""

    word: str
    stem: str
    weight: float
    is_known: bool  # some visible document contains it


class Reranker(Protocol):
    """Scores how well each of a few passages answers a question. Optional: answers do not depend on it."""

    async def score_passages(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Returns one finite number per text, in the order of `texts`; higher is better, equal texts get equal scores.

        Any scale is allowed, since scores are compared only within one call. No texts give no scores. Accepts any
        strings, including empty ones; it may cut long texts. Does not block the event loop. The caller cancels the call
        at its deadline: then it ends at once, and a later call works. Uses no network unless it was configured to.
        Raises only `RerankerUnavailable`.
        """
        ...


class StemMatcher:
    """Finds words of given stems in texts; analyses only words with the prefix of a stem. Caches its results."""

    def __init__(self, stems: Iterable[str], analyser: Analyser) -> None:
        self._stems, self._analyser = frozenset(stems), analyser
        self._prefixes = frozenset(stem[:_PREFIX_LENGTH] for stem in self._stems)
        self._short_stems = frozenset(stem for stem in self._stems if len(stem) < _PREFIX_LENGTH)
        self._stem_by_word: dict[str, str | None] = {}
        self._positions_by_text: dict[str, dict[str, list[int]]] = {}

    def find_stems(self, text: str) -> dict[str, list[int]]:
        """Returns the stems that occur in `text`, each with its positions in the folded text."""
        if text not in self._positions_by_text:
            if len(self._positions_by_text) >= _CACHED_TEXTS:
                self._positions_by_text.clear()
            self._positions_by_text[text] = self._scan_text(fold_text(text))
        return self._positions_by_text[text]

    def _scan_text(self, text: str) -> dict[str, list[int]]:
        positions: dict[str, list[int]] = {}
        prefixes, short_stems = self._prefixes, self._short_stems
        for match in _WORD.finditer(text):
            word = match[0]
            if (
                word[:_PREFIX_LENGTH] in prefixes
                or (short_stems and word[:1] in short_stems)
                or word[:2] in short_stems
            ):
                stem = self._stem_of_word(word)
                if stem is not None:
                    positions.setdefault(stem, []).append(match.start())
        return positions

    def _stem_of_word(self, word: str) -> str | None:
        if word not in self._stem_by_word:
            terms = [term.text for term in self._analyser.extract_terms(word)]
            self._stem_by_word[word] = next((term for term in terms if term in self._stems), None)
        return self._stem_by_word[word]


@lru_cache(maxsize=64)  # for some twenty questions at once, with a few parts each
def stem_matcher_for(stems: frozenset[str], analyser: Analyser) -> StemMatcher:
    """Returns the same matcher for the same stems, so that each text is scanned once per question."""
    return StemMatcher(stems, analyser)


@lru_cache(maxsize=512)
def fold_text(text: str) -> str:
    """Returns `text` in lower case without diacritics, like the words of the analyser."""
    if text.isascii():
        return text.lower()
    return drop_marks(decompose_text(text).casefold())


def relevance_of_hit(hit: PassageHit, query_terms: Sequence[QueryTerm], matcher: StemMatcher) -> float:
    """Returns 0 to 0.85: how much of the question the passage and its title cover, and how close its words are."""
    body, title = matcher.find_stems(hit.text), matcher.find_stems(hit.title)
    return (
        BODY_WEIGHT * matched_share_of(query_terms, body)
        + TITLE_WEIGHT * matched_share_of(query_terms, title)
        + PROXIMITY_WEIGHT * _proximity_of_terms(query_terms, body)
    )


def normalize_scores(scores: Sequence[float]) -> list[float]:
    """Returns the scores of one call scaled from 0 (lowest) to 1 (best); all 0 where they are equal."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


def matched_share_of(query_terms: Sequence[QueryTerm], matched_stems: Mapping[str, object] | frozenset[str]) -> float:
    """Returns the share (0 to 1) of the question's weight whose stems are in `matched_stems`."""
    total = sum(term.weight for term in query_terms)
    return sum(term.weight for term in query_terms if term.stem in matched_stems) / total if total else 0.0


def _proximity_of_terms(query_terms: Sequence[QueryTerm], positions: Mapping[str, Sequence[int]]) -> float:
    """Returns the share (0 to 1) of the question's neighbouring words that appear close together."""
    pairs = [(term, following, term.weight + following.weight) for term, following in pairwise(query_terms)]
    total = sum(weight for _, _, weight in pairs)
    close = sum(
        weight
        for term, following, weight in pairs
        if _are_close(positions.get(term.stem, ()), positions.get(following.stem, ()))
    )
    return close / total if total else 0.0


def _are_close(positions: Sequence[int], other_positions: Sequence[int]) -> bool:
    """Whether two of the positions are close; both are in ascending order."""
    for position in positions:
        index = bisect_left(other_positions, position - _MAX_DISTANCE)
        if index < len(other_positions) and other_positions[index] <= position + _MAX_DISTANCE:
            return True
    return False
