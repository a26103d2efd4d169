"""BM25's parameters and the weights of a query's terms: the same in both engines and in relevance feedback."""

import math
from collections.abc import Mapping, Sequence

# Robertson et al. 1994. Passages have similar lengths, abstracts and whole pages do not: B lies between the two optima.
BM25_K1, BM25_B = 1.2, 0.6


def inverse_document_frequency(matching_count: int, total_count: int) -> float:
    """Returns the inverse document frequency in Lucene's form, which is never negative."""
    return math.log(1 + (total_count - matching_count + 0.5) / (matching_count + 0.5))


def term_weights_by_bucket(
    terms: Sequence[str], counts: Sequence[Mapping[str, int]], sizes: Sequence[int]
) -> list[dict[str, float]]:
    """Returns for each bucket the weights of the terms: the average of the IDF in it and the IDF in all buckets.

    With the IDF of the bucket alone, scores of different buckets are not comparable: a term that is frequent in one
    bucket and rare in the others would have its highest weight in the buckets where it matters least. `counts` has the
    texts with each term by bucket, `sizes` the texts of each bucket. A term that a bucket lacks has no weight there.
    """
    overall_weights = {
        term: inverse_document_frequency(sum(bucket_counts[term] for bucket_counts in counts), sum(sizes))
        for term in terms
    }
    return [
        {
            term: (inverse_document_frequency(bucket_counts[term], size) + overall_weights[term]) / 2
            for term in terms
            if bucket_counts[term]
        }
        for bucket_counts, size in zip(counts, sizes, strict=True)
    ]
