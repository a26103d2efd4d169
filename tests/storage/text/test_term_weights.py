"""The weights of a query's terms in several buckets."""

from hypothesis import given
from hypothesis import strategies as st

from storage.text.term_weights import inverse_document_frequency, term_weights_by_bucket


@given(sizes=st.lists(st.integers(1, 1000), min_size=1, max_size=4), data=st.data())
def test_a_weight_lies_between_the_rarity_in_the_bucket_and_in_all(sizes: list[int], data: st.DataObject) -> None:
    counts = [{"pump": data.draw(st.integers(0, size))} for size in sizes]
    overall = inverse_document_frequency(sum(count["pump"] for count in counts), sum(sizes))

    weights = term_weights_by_bucket(["pump"], counts, sizes)

    for weight, count, size in zip(weights, counts, sizes, strict=True):
        own = inverse_document_frequency(count["pump"], size)
        assert ("pump" in weight) is (count["pump"] > 0)
        assert min(own, overall) - 1e-9 <= weight.get("pump", own) <= max(own, overall) + 1e-9


@given(size=st.integers(1, 1000), count=st.integers(0, 999))
def test_a_rarer_term_has_no_lower_weight(size: int, count: int) -> None:
    count = min(count, size - 1)

    assert inverse_document_frequency(count, size) > inverse_document_frequency(count + 1, size) >= 0
