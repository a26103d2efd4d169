"""Comparing condition trees by their meaning."""

import pytest

from bot.eval.filter_comparison import equal_values_of, is_same_filter
from tests.bot.eval.results import JsonObject, a_condition, all_of

YEARS = a_condition("year", "between", [2008, 2011])
EITHER = a_condition("kind", "in", ["a", "b"])


@pytest.mark.parametrize(
    ("gold", "actual"),
    [
        (a_condition("law", "has", "Texas"), a_condition("law", "eq", "TEXAS")),
        (YEARS, all_of(a_condition("year", "lte", 2011), a_condition("year", "gte", 2008))),
        (a_condition("date", "gt", "2020-12-31"), a_condition("date", "gte", "2021-01-01")),
        (EITHER, {"any": [a_condition("kind", "eq", "b"), a_condition("kind", "eq", "a")]}),
        (a_condition("kind", "eq", "a"), {"any": [a_condition("kind", "eq", "a")]}),
        (
            a_condition("items", "text_contains", "tire"),
            {"row": "items", "all": [a_condition("name", "contains", "Tire")], "words": "tires"},
        ),
        (a_condition("items", "text_contains", "tire"), a_condition("text", "contains", "tire")),
        (a_condition("items", "text_contains", "tire"), a_condition("items", "contains", "tire")),
    ],
)
def test_equivalent_conditions_are_the_same_filter(gold: JsonObject, actual: JsonObject) -> None:
    assert is_same_filter(all_of(gold), [actual])


@pytest.mark.parametrize(
    "actual",
    [
        [],
        None,
        [a_condition("law", "has", "Ohio")],
        [a_condition("law", "contains", "Texas")],
        [a_condition("law", "has", "Texas"), a_condition("year", "eq", 2020)],
        {"not": a_condition("law", "has", "Texas")},
    ],
)
def test_conditions_with_another_meaning_are_another_filter(actual: object) -> None:
    assert not is_same_filter(all_of(a_condition("law", "has", "Texas")), actual)


def test_values_are_found_anywhere_in_a_tree() -> None:
    tree = {
        "any": [
            all_of(a_condition("source", "eq", "The Age"), a_condition("year", "eq", 2023)),
            a_condition("source", "in", ["CNET", "Wired"]),
        ]
    }

    assert equal_values_of(tree, "source") == {"the age", "cnet", "wired"}
