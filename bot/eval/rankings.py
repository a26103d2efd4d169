"""Measures of a ranking against a set of relevant documents, as trec_eval has them for binary judgements."""

from collections.abc import Sequence, Set
from math import log2


def ndcg(ranking: Sequence[str], relevant: Set[str], depth: int = 10) -> float:
    """Normalised discounted cumulative gain of the first `depth`; 0 where nothing is relevant."""
    gain = sum(1 / log2(at + 2) for at, doc_id in enumerate(ranking[:depth]) if doc_id in relevant)
    ideal = sum(1 / log2(at + 2) for at in range(min(depth, len(relevant))))
    return gain / ideal if ideal else 0.0


def average_precision(ranking: Sequence[str], relevant: Set[str]) -> float:
    """Its mean over questions is MAP."""
    found, total = 0, 0.0
    for at, doc_id in enumerate(ranking, start=1):
        if doc_id in relevant:
            found += 1
            total += found / at
    return total / len(relevant) if relevant else 0.0


def recall(ranking: Sequence[str], relevant: Set[str], depth: int) -> float:
    return len(relevant & set(ranking[:depth])) / len(relevant) if relevant else 0.0
