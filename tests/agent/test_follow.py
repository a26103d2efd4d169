"""Messages that go on with what was asked before, over the parcels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest

from agent.reasoner import Planned, WantsExport, WantsStartOver
from agent.rules.commands import exports, further, goes_back, starts_over, without_file
from agent.rules.comparing import with_superlative
from agent.rules.reasoner import RuleReasoner
from storage.search.conditions import Compare, Condition, Not, Op, conjuncts
from storage.search.ids import FieldName
from storage.search.plan import Combine, Compute, Function, Group, ListDocuments, Plan, ReadFields
from storage.search.schema import SchemaOrder
from tests.agent.test_reading import MATERIAL, compare, planned

CARRIER, WEIGHT = FieldName("carrier"), FieldName("weight")
BLUE_VAN = compare("carrier", Op.EQ, "Blue Van")
HEAVY = compare("weight", Op.GT, 5.0)


def plans(*questions: str) -> list[Plan]:
    """Each plan goes on with those before it."""
    before: list[Plan] = []
    for question in questions:
        before.append(after(before, question).plan)
    return before


def after(before: Sequence[Plan], question: str) -> Planned:
    last = before[-1] if before else None
    material = replace(MATERIAL, last=last, earlier=tuple(before[:-1]))
    return cast(Planned, RuleReasoner().decompose(question, material))


def conditions(plan: Plan) -> list[Condition]:
    return [*conjuncts(plan.legs[0].search.clauses[0].condition)]


@pytest.mark.parametrize("said", ["undo that", "Go back!", "take that back, please", "ok, undo", "back", "previous"])
def test_going_back_is_a_command(said: str) -> None:
    assert goes_back(said)
    assert not starts_over(said)


@pytest.mark.parametrize("said", ["which parcels went back?", "undo the parcel", "parcels that came back", "go"])
def test_words_of_going_back_in_a_question_are_no_command(said: str) -> None:
    assert not goes_back(said)


WAYS_TO_EXPORT = [
    *(
        "as CSV",
        "export them",
        "csv please",
        "export all 1,042 as CSV",
        "can I have that as a spreadsheet?",
        "make a csv",
    ),
    *(
        "give me all of them as an Excel file",
        "put them in a spreadsheet",
        "export now",
        "let me download them",
        "xlsx",
    ),
]


@pytest.mark.parametrize("said", WAYS_TO_EXPORT)
def test_a_file_of_what_was_found_is_a_command(said: str) -> None:
    [last] = plans("list all parcels")

    assert exports(said, last) == last.legs[-1].id


@pytest.mark.parametrize(
    "said",
    [
        *("Export all parcels of Blue Van as CSV", "list the parcels of Blue Van as a spreadsheet, please"),
        *("Could you download the parcels of Blue Van?", "parcels of Blue Van in Excel format"),
    ],
)
def test_a_file_may_be_asked_for_at_once(said: str) -> None:
    wanted = RuleReasoner().decompose(said, MATERIAL)

    assert isinstance(wanted, WantsExport)
    assert conditions(wanted.plan) == [BLUE_VAN]


@pytest.mark.parametrize("said", ["export licences of 2022", "download speed of routers", "what is in Excel 4?"])
def test_documents_about_files_are_no_wish_for_one(said: str) -> None:
    assert without_file(said) is None


@pytest.mark.parametrize(
    "said", ["who exports parcels?", "parcels with excel manuals", "what is a csv column?", "them"]
)
def test_words_of_files_in_a_question_are_no_command(said: str) -> None:
    [last] = plans("list all parcels")

    assert exports(said, last) is None


@pytest.mark.parametrize(
    ("said", "many"),
    [("more", None), ("the next ten", 10), ("show me 5 more", 5), ("next page", None), ("another three", 3)],
)
def test_more_is_asked_for_with_or_without_a_number(said: str, many: int | None) -> None:
    more = further(said)
    assert more is not None
    assert more.many == many


@pytest.mark.parametrize("said", ["more than 5", "more parcels by Blue Van", "the next month", "continue with parcels"])
def test_a_constraint_is_not_more_of_the_same(said: str) -> None:
    assert further(said) is None


def test_the_plan_before_the_last_comes_back() -> None:
    before = plans("parcels by Blue Van", "only over 5 kg")
    back = after(before, "undo that")
    assert (back.plan, back.goes_back) == (before[0], True)


def test_before_the_first_question_there_is_nothing() -> None:
    back = RuleReasoner().decompose("go back", replace(MATERIAL, last=plans("parcels by Blue Van")[-1]))
    assert back == WantsStartOver(nothing_before=True)


def test_some_of_them_are_some_of_them_whatever_the_field() -> None:
    (first,) = plans("parcels by Blue Van")
    some = after([first], "how many of them are by Redline Post?")
    assert conditions(some.plan) == [BLUE_VAN, compare("carrier", Op.EQ, "Redline Post")]


def test_another_value_takes_the_place_of_the_old_one() -> None:
    (first,) = plans("parcels by Blue Van over 5 kg")
    other = after([first], "the same for Redline Post")
    assert set(conditions(other.plan)) == {HEAVY, compare("carrier", Op.EQ, "Redline Post")}
    assert other.kept == ("weight > 5 kg",)


def test_a_month_is_of_the_year_that_was_spoken_of() -> None:
    (first,) = plans("parcels by Blue Van in 2024")
    march = after([first], "and in March?")
    assert compare("sent", Op.BETWEEN, ("2024-03-01", "2024-03-31")) in conditions(march.plan)


def test_the_others_of_a_few_are_looked_up_and_those_of_a_narrower_set_are_the_rest() -> None:
    few = after(plans("parcels by Blue Van", "the 2 heaviest"), "the others")
    assert [(pick.places, pick.but) for pick in few.picks] == [((1, 2), True)]
    rest = after(plans("parcels by Blue Van", "only over 5 kg"), "without those")
    assert conditions(rest.plan) == [BLUE_VAN, Not(HEAVY)]


def test_the_most_of_a_few_is_one_of_them() -> None:
    best = after(plans("parcels by Blue Van", "the 3 heaviest"), "which of them is longer?")
    order = SchemaOrder(field=FieldName("length"), descending=True)
    assert best.plan.legs[0].wanted == ListDocuments(order=order, limit=1)
    assert [pick.places for pick in best.picks] == [(1, 2, 3)]


def test_what_was_shown_is_set_side_by_side_as_far_as_there_is() -> None:
    both = after(plans("parcels by Blue Van"), "compare them")
    assert both.plan.combine is Combine.COMPARE
    assert [(pick.places, pick.if_there) for pick in both.picks] == [((at,), True) for at in (1, 2, 3, 4)]
    two = after(plans("parcels by Blue Van"), "compare the two by weight")
    assert [pick.if_there for pick in two.picks] == [False, False]
    assert {type(leg.wanted) for leg in two.plan.legs} == {ReadFields}


def test_the_last_two_numbers_are_compared_and_go_on_together() -> None:
    before = plans("how many parcels came by Blue Van in 2023?", "and by Redline Post?")
    both = after(before, "compare the two")
    assert [leg.search for leg in both.plan.legs] == [one.legs[0].search for one in before]
    later = after([*before, both.plan], "and in 2024?")
    assert all("2024-12-31" in str(leg.search) for leg in later.plan.legs)
    third = after([*before, both.plan], "what about Northern Star?")
    assert len(third.plan.legs) == 3


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("which of them is heavier?", "which of them is heaviest?"),
        ("which one is more expensive?", "which one is most expensive?"),
        ("which has the longer term?", "which has the longest term?"),
        ("which of them are longer than 5 m?", "which of them are longer than 5 m?"),
        ("parcels heavier", "parcels heavier"),
    ],
)
def test_of_what_was_shown_the_one_that_is_more_is_the_one_that_is_most(said: str, meant: str) -> None:
    assert with_superlative(said) == meant


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many different carriers are there?", Compute(functions=(Function.DISTINCT,), field=CARRIER)),
        ("Which carriers are there?", Compute(
            functions=(Function.DISTINCT,), field=CARRIER, group=Group(field=CARRIER))),
        ("List all carriers of parcels over 5 kg", Compute(
            functions=(Function.DISTINCT,), field=CARRIER, group=Group(field=CARRIER))),
        ("Median weight of the parcels", Compute(functions=(Function.MEDIAN,), field=WEIGHT)),
        ("Parcels by carrier", Compute(functions=(Function.COUNT,), group=Group(field=CARRIER))),
        ("Average weight per carrier", Compute(
            functions=(Function.AVERAGE,), field=WEIGHT, group=Group(field=CARRIER))),
        ("The total and the average weight of parcels by Blue Van", Compute(
            functions=(Function.SUM, Function.AVERAGE), field=WEIGHT)),
    ],
)  # fmt: skip
def test_numbers_are_asked_for_in_many_ways(question: str, expected: Compute) -> None:
    assert planned(question).plan.legs[0].wanted == expected


def test_a_share_is_a_part_beside_its_whole() -> None:
    plan = planned("What percentage of parcels in 2024 were by Blue Van?").plan
    wanted = plan.legs[0].wanted
    sent = compare("sent", Op.BETWEEN, ("2024-01-01", "2024-12-31"))
    assert isinstance(wanted, Compute) and wanted.whole is not None  # noqa: PT018
    assert set(conditions(plan)) == {BLUE_VAN, sent}
    assert wanted.whole.clauses[0].condition == sent


def test_a_share_of_money_is_no_share_of_documents() -> None:
    wanted = planned("What share of the postage was paid to Blue Van?").plan.legs[0].wanted
    assert not isinstance(wanted, Compute) or wanted.whole is None


def test_of_them_a_share_is_of_what_was_asked_about() -> None:
    (first,) = plans("parcels by Blue Van")
    share = after([first], "what share of them are over 5 kg?").plan.legs[0]
    assert isinstance(share.wanted, Compute)
    assert share.wanted.whole == first.legs[0].search
    assert set(conjuncts(share.search.clauses[0].condition)) == {BLUE_VAN, HEAVY}


def test_a_list_that_goes_on_has_what_was_shown_before_it() -> None:
    more = plans("parcels by Blue Van", "more", "the next three")
    assert [one.legs[0].wanted for one in more[1:]] == [
        ListDocuments(limit=10, skip=10),
        ListDocuments(limit=3, skip=20),
    ]
    narrower = after(more, "only over 5 kg").plan.legs[0].wanted
    assert narrower == ListDocuments()


def test_the_values_stand_where_a_comparison_names_them_tersely() -> None:
    assert isinstance(BLUE_VAN, Compare)
    for question in ("Blue Van / Redline Post: weight", "Weight: Blue Van vs Redline Post"):
        plan = planned(question).plan
        assert plan.combine is Combine.COMPARE, question
        assert ["Blue Van" in str(leg.search.clauses) for leg in plan.legs] == [True, False]


def test_a_comparison_by_period_adds_up_each() -> None:
    plan = planned("Blue Van vs Redline Post by year").plan
    assert {cast(Compute, leg.wanted).functions for leg in plan.legs} == {(Function.SUM,)}
    assert all(cast(Compute, leg.wanted).group is not None for leg in plan.legs)
