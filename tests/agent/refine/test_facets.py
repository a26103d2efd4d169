"""Choices divide a set by values that people choose by."""

import pytest

from agent.refine.facets import sorts_documents
from storage.search.index import FacetAnswer, ValueCount, ValueFacet


def facet_of(**counts: int) -> FacetAnswer:
    values = tuple(ValueCount(value=value, count=count) for value, count in counts.items())
    return ValueFacet(values=values, distinct_count=len(values), other_count=0, missing_count=0, is_overlapping=False)


def test_a_few_values_that_documents_share_sort_them() -> None:
    assert sorts_documents(facet_of(costumes=9, metalwork=8, joinery=3))
    assert sorts_documents(facet_of(**{"2030": 9, "2031": 8}))


@pytest.mark.parametrize(
    "counts",
    [
        {"19:30": 5, "16:00": 4},
        {"10": 5, "12": 7},
        {"D-107": 4, "D-118": 5},
        {"Gala": 1, "Hamlet": 1, "Carmen": 1, "Faust": 1},
        {"asked for a berth nearer to the showers": 3, "insurance copy is still to come": 4},
    ],
)
def test_times_numbers_titles_and_remarks_do_not_sort_them(counts: dict[str, int]) -> None:
    assert not sorts_documents(facet_of(**counts))
