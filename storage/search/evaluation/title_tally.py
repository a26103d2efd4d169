"""Counts the titles of documents for a vocabulary; both engines count them alike."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from storage.search.analyser import fold_text
from storage.search.index import ValueCount

MAX_TITLED_DOCUMENTS = 50_000
"""The titles of a larger bucket are left out of the vocabulary: nearly every document adds one."""


def count_titles(title_counts: Mapping[str, int]) -> tuple[ValueCount, ...]:
    """Returns the titles that are equal when folded as one value, the most frequent first, ties by code point.

    `title_counts` has the number of documents with each title as written; blank titles are left out.
    """
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for title, count in title_counts.items():
        if title.strip():
            spellings[fold_text(title)][title] += count
    counts = {folded: sum(counter.values()) for folded, counter in spellings.items()}
    ordered = sorted(counts, key=lambda folded: (-counts[folded], folded))
    return tuple(ValueCount(value=_usual_spelling(spellings[folded]), count=counts[folded]) for folded in ordered)


def _usual_spelling(spelling_counts: Mapping[str, int]) -> str:
    return min(spelling_counts, key=lambda spelling: (-spelling_counts[spelling], spelling))
