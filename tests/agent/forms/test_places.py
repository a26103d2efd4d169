""" "Where" asks for the place of a thing, not for the thing."""

from pathlib import Path

import pytest

from tests.agent.rules.nested.mining import open_home_of

KEYS = (
    "site,key_set,held_at,hook\n"
    "Elm Court,Plant room,Cabinet 1 at the depot,4\nTarn Yard,Main gate,Porter's lodge,5\n"
    "Moss Lane,Lift room,Cabinet 2 at the depot,6\nQuay House,Roof hatch,Porter's lodge,7\n"
)


@pytest.mark.parametrize("question", ["where are the keys for Tarn Yard?", "where are the keys of Elm Court kept"])
async def test_where_asks_for_the_field_that_says_where_a_thing_is_kept(tmp_path: Path, question: str) -> None:
    async with open_home_of(tmp_path, {"keys.csv": KEYS}, frozenset({"keys"})) as home:
        planned = await home.plan_question(question)

    (leg,) = planned.plan.legs
    assert [str(field) for _, field in leg.answer_form.requested_fields] == ["held_at"]
