"""The labels of facet values on buttons."""

import pytest

from agent.compose.choices.choice_labels import describe_choice
from agent.refine.facets import choose_best_facet
from storage.search.ids import BucketId, FieldName, Generation, LegId
from storage.search.index import FacetRequest, IndexAnswers, RangeCount, RangeFacet
from storage.search.plan import Clause, Leg, ListDocuments, Search
from storage.search.schema import FieldType, Schema, SchemaField

BUCKET = BucketId("parcels")


@pytest.mark.parametrize(
    ("field", "labels"),
    [
        (SchemaField(name=FieldName("year"), type=FieldType.NUMBER), ["1990 to under 2005", "2005 and up"]),
        (
            SchemaField(name=FieldName("weight"), type=FieldType.NUMBER, unit="g"),
            ["1,990 to under 2,005 g", "2,005 g and up"],
        ),
    ],
)
def test_range_labels_have_one_unit_and_possible_years_have_no_separators(
    field: SchemaField, labels: list[str]
) -> None:
    search = Search(clauses=(Clause(bucket=BUCKET),))
    leg = Leg(id=LegId("a"), question="parcels", search=search, answer_form=ListDocuments())
    facet = FacetRequest(search, field.name)
    answer = RangeFacet(
        ranges=(RangeCount(low=1990.0, high=2005.0, count=4), RangeCount(low=2005.0, high=None, count=5)),
        missing_count=0,
    )

    _, candidates = choose_best_facet(
        leg, IndexAnswers(Generation("1"), {facet: answer}), [facet], {BUCKET: Schema(bucket=BUCKET, fields=(field,))}
    )

    assert [describe_choice(candidate.label, {}) for candidate in candidates] == labels
