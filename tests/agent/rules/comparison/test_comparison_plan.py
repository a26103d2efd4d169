"""The sides of a comparison, with the parcels of `test_bucket_reading`."""

from dataclasses import replace
from typing import cast

from agent.decomposition import PlannedQuestion
from storage.search.conditions import ComparisonOperator as Op
from storage.search.index import IndexVocabulary
from storage.search.plan import LegCombination
from tests.agent.rules.reading.test_bucket_reading import (
    QUESTION_CONTEXT,
    VOCABULARY,
    comparison_on,
    decompose_question,
    vocabulary_of_values,
)

CONTEXT = replace(
    QUESTION_CONTEXT,
    vocabulary=IndexVocabulary(
        generation=VOCABULARY.generation,
        document_counts=VOCABULARY.document_counts,
        fields=(
            *(known for known in VOCABULARY.fields if known.field != "carrier"),
            vocabulary_of_values("carrier", "direct", "agency", "portal"),
        ),
    ),
)


def test_a_side_leaves_out_the_value_that_the_other_side_has_for_itself() -> None:
    question = "how many parcels via direct and via travel agencies compared"
    planned = cast(PlannedQuestion, decompose_question(question, CONTEXT))
    assert planned.plan.combination is LegCombination.COMPARE
    assert [leg.search.clauses[0].condition for leg in planned.plan.legs] == [
        comparison_on("carrier", Op.EQ, "direct"),
        comparison_on("carrier", Op.EQ, "agency"),
    ]
