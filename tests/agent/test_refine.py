"""How the parts of a set read on buttons."""

import pytest

from agent.refine import narrowing
from storage.search.ids import BucketId, FieldName, Generation, LegId
from storage.search.index import Answers, Facet, RangeCount, RangeFacet
from storage.search.plan import Clause, Leg, ListDocuments, Search
from storage.search.schema import Field, FieldType, Schema

BUCKET = BucketId("parcels")


@pytest.mark.parametrize(
    ("field", "labels"),
    [
        (Field(name=FieldName("year"), type=FieldType.NUMBER), ["1990 to under 2005", "2005 and up"]),
        (
            Field(name=FieldName("weight"), type=FieldType.NUMBER, unit="g"),
            ["1,990 to under 2,005 g", "2,005 g and up"],
        ),
    ],
)
def test_ranges_say_their_unit_once_and_a_number_that_may_be_a_year_plainly(field: Field, labels: list[str]) -> None:
    search = Search(clauses=(Clause(bucket=BUCKET),))
    leg = Leg(id=LegId("a"), question="parcels", search=search, wanted=ListDocuments())
    facet = Facet(search, field.name)
    cells = RangeFacet(
        ranges=(RangeCount(low=1990.0, high=2005.0, count=4), RangeCount(low=2005.0, high=None, count=5)), missing=0
    )

    _, offered = narrowing(
        leg, Answers(Generation("1"), {facet: cells}), [facet], {BUCKET: Schema(bucket=BUCKET, fields=(field,))}
    )

    assert [one.label for one in offered] == labels
