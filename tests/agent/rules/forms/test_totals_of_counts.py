""" "In total" beside "how many": documents are counted, and no field is added up."""

from pathlib import Path

import pytest

from agent.english.commands import is_help_request
from storage.search.ids import FieldName
from storage.search.plan import AggregateFunction, ComputeNumbers
from tests.agent.rules.nested.mining import open_home_of

FILES = {
    "repairs.csv": "id,place,material_eur,total_eur\nR-1,Ghent,40,90\nR-2,Ghent,20,60\nR-3,Bruges,10,30\n",
}


@pytest.mark.parametrize(
    ("question", "function", "field"),
    [
        ("how many repairs are there in total?", AggregateFunction.COUNT, None),
        ("how many documents do we have in total", AggregateFunction.COUNT, None),
        ("what did the repairs in Ghent cost in total?", AggregateFunction.SUM, "total_eur"),
    ],
)
async def test_a_count_in_total_adds_up_no_field(
    tmp_path: Path, question: str, function: AggregateFunction, field: str | None
) -> None:
    async with open_home_of(tmp_path, FILES, frozenset({"repairs"})) as home:
        planned = await home.plan_question(question)
    form = planned.plan.legs[0].answer_form

    assert isinstance(form, ComputeNumbers)
    assert form.functions == (function,)
    assert form.field == (FieldName(field) if field else None)


@pytest.mark.parametrize(
    "question",
    ["What kinds of documents are there?", "what types of documents do you have", "what can I ask you about?"],
)
def test_a_question_about_the_documents_there_are_gets_the_overview(question: str) -> None:
    assert is_help_request(question)
