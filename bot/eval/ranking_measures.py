"""Measures of a ranking against a set of relevant documents, as trec_eval defines them for binary judgements."""

from collections.abc import Sequence, Set
from math import log2


def ndcg_at(ranking: Sequence[str], relevant: Set[str], depth: int = 10) -> float:
    """Normalised discounted cumulative gain of the first `depth` documents; 0 if nothing is relevant."""
    gain = sum(1 / log2(rank + 2) for rank, doc_id in enumerate(ranking[:depth]) if doc_id in relevant)
    ideal = sum(1 / log2(rank + 2) for rank in range(min(depth, len(relevant))))
    return gain / ideal if ideal else 0.0


def average_precision(ranking: Sequence[str], relevant: Set[str]) -> float:
    """Average precision of one question; its mean over questions is MAP. 0 if nothing is relevant."""
    hits, total = 0, 0.0
    for rank, doc_id in enumerate(ranking, start=1):
        if doc_id in relevant:
            hits += 1
            total += hits / rank
    return total / len(relevant) if relevant else 0.0


def recall_at(ranking: Sequence[str], relevant: Set[str], depth: int) -> float:
    return len(relevant & set(ranking[:depth])) / len(relevant) if relevant else 0.0
