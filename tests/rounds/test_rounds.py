"""The rounds that have been looked at hold their scores: a change that loses answers, or asserts more, shows here.

The limits leave room for two questions. To save time, only the first choice of a reply is clicked here. First scores,
measured unseen, are in `first_scores.json`.
"""

from pathlib import Path

import pytest

from tests.rounds.measure import measure_rounds
from tests.rounds.scoring import JudgedReply, RoundQuestion, Truth, Verdict, judge_first_reply, share_of, states_truth

ROOM = 0.034  # two questions of sixty
SCORES = {  # the share right or asked back, and the share wrong
    "r01_clinics": (0.61, 0.033),
    "r02_housing": (0.36, 0.05),
    "r03_islands": (0.71, 0.067),
    "r04_brewery": (0.55, 0.017),
    "r05_insurance": (0.38, 0.067),
    "r06_transit": (0.68, 0.017),
    "r07_museum": (0.53, 0.017),
    "r08_school": (0.43, 0.067),
    "r09_shipping": (0.76, 0.067),
    "r10_racing": (0.83, 0.017),
    "r13_handwerk": (0.55, 0.05),
    "r14_verlag": (0.51, 0.05),
    "r15_traiteur": (0.8, 0.05),
    "r16_talleres": (0.67, 0.05),
    "r17_theatre": (0.3, 0.04),
    "r18_lawoffice": (0.22, 0.06),
    "r19_stadtwerke": (0.2, 0.02),
    "r20_hotel": (0.42, 0.04),
    "r21_engineering": (0.3, 0.06),
    "r22_spedition": (0.36, 0.04),
    "r23_hospice": (0.32, 0.14),
    "r24_orchestra": (0.28, 0.1),
    "r25_genossenschaft": (0.3, 0.05),
    "r26_harbour": (0.48, 0.12),
    "r27_softwarehouse": (0.32, 0.12),
    "r28_vet": (0.42, 0.1),
    "r29_builder": (0.28, 0.18),
    "r30_facilities": (0.48, 0.06),
    "r31_wines": (0.68, 0.06),
    "r32_tours": (0.26, 0.16),
    "r33_parts_maker": (0.5, 0.12),
    "r34_festival": (0.36, 0.06),
    "r35_pharmacy": (0.48, 0.12),
    "r36_housing_repairs": (0.36, 0.06),
    "r37_ski_area": (0.32, 0.12),
    "r38_fair_rental": (0.22, 0.1),
    "r39_dental_supplies": (0.84, 0.02),
    "r40_town_hall": (0.82, 0.04),
    "r41_consultancy": (0.66, 0.1),
    "r42_coffee_roaster": (0.52, 0.12),
    "r43_bike_shops": (0.5, 0.14),
    "r44_language_school": (0.6, 0.08),
    "r45_vet_clinics": (0.86, 0.02),
    "r46_electricians": (0.86, 0.04),
    "r47_software_house": (0.84, 0.04),
    "r48_garden_wholesale": (0.8, 0.075),
    "r49_food_charity": (0.82, 0.05),
    "r50_letting_agents": (0.7, 0.1),
    "r51_opticians": (0.82, 0.08),
    "r52_it_support": (0.75, 0.075),
    "r53_paper_office": (0.725, 0.125),
    "r54_tool_hire": (0.6, 0.15),
    "r55_sports_centre": (0.5, 0.15),
    "r56_brewery": (0.65, 0.025),
    "r57_surveyors": (0.7, 0.05),
    "r58_nurseries": (0.35, 0.075),
}


@pytest.mark.parametrize("name", SCORES)
async def test_a_round_holds_its_scores(name: str, tmp_path: Path) -> None:
    led, wrong = SCORES[name]

    replies = (await measure_rounds([name], tmp_path, in_one_home=False, max_clicks=1))[name]

    assert len(replies) in (40, 50, 60)
    assert share_of(Verdict.RIGHT, replies) + share_of(Verdict.ASKED_BACK, replies) >= led - ROOM
    assert share_of(Verdict.WRONG, replies) <= wrong + ROOM


RESULT = {
    "outcome": "answer", "text": "The lamp was lit on **3 May 2024** [1].", "count": None, "doc_ids": ["lamps.csv#4"],
    "values": [], "groups": [], "legs": [], "choices": [],
}  # fmt: skip


LISTED = RESULT | {"text": "2 people.", "count": 2, "doc_ids": ["1", "2"], "titles": ["Ada Moor", "Ben Orr"]}


@pytest.mark.parametrize(
    ("truth", "result", "expected"),
    [
        (Truth(values=("2024-05-03",)), RESULT, Verdict.RIGHT),
        (Truth(values=("Ada", "Ben")), LISTED, Verdict.RIGHT),
        (Truth(values=("Ada", "Cid")), LISTED, Verdict.WRONG),
        (Truth(values=("Ada", "Ben")), LISTED | {"titles": ["Ada Moor", "Ben Orr", "Cid Roe"]}, Verdict.WRONG),
        (Truth(values=("Ada", "Ben")), LISTED | {"doc_ids": ["1", "2", "3"]}, Verdict.WRONG),
        (Truth(values=("2024-05-04",)), RESULT, Verdict.WRONG),
        (Truth(documents=("lamps.csv#4",)), RESULT, Verdict.RIGHT),
        (Truth(documents=("lamps.csv#4", "lamps.csv#5")), RESULT, Verdict.WRONG),
        (Truth(nothing=True), RESULT, Verdict.WRONG),
        (Truth(nothing=True), RESULT | {"outcome": "no_results"}, Verdict.RIGHT),
        (Truth(values=("2024-05-03",)), RESULT | {"outcome": "no_results"}, Verdict.NOT_FOUND),
        (Truth(number=12.0), RESULT | {"values": [{"value": 12.004}]}, Verdict.RIGHT),
        (Truth(number=12.0), RESULT | {"values": [{"value": 13}]}, Verdict.WRONG),
        (Truth(number=3.0), RESULT | {"count": 3}, Verdict.RIGHT),
        (Truth(groups={"North": 2.0}), RESULT | {"groups": [{"label": "north", "value": 2.0}]}, Verdict.RIGHT),
        (Truth(yes_no="yes"), RESULT | {"text": "**Yes**: it is lit."}, Verdict.RIGHT),
        (Truth(yes_no="no"), RESULT | {"text": "**Yes**: it is lit."}, Verdict.WRONG),
        (Truth(documents=("4",)), RESULT, Verdict.RIGHT),
        (Truth(documents=("4", "5")), RESULT, Verdict.WRONG),
        (Truth(documents=("5",)), RESULT, Verdict.WRONG),
        (Truth(documents=("a",)), RESULT | {"doc_ids": ["old/a.txt"]}, Verdict.RIGHT),
        (Truth(documents=("a",)), RESULT | {"doc_ids": ["old/a.txt", "old/b.txt"]}, Verdict.WRONG),
        (Truth(documents=("a", "b")), RESULT | {"outcome": "overload", "count": 2, "doc_ids": []}, Verdict.RIGHT),
        (Truth(ask=True), RESULT | {"outcome": "ambiguous"}, Verdict.RIGHT),
    ],
)
def test_a_reply_is_judged_by_the_truth(truth: Truth, result: dict[str, object], expected: Verdict) -> None:
    assert judge_first_reply(truth, result) is expected


def test_each_part_of_a_compound_truth_may_stand_in_another_leg() -> None:
    legs: list[dict[str, object]] = [{"outcome": "answer", "count": 4, "doc_ids": [], "values": [], "groups": []}]
    parts = Truth(parts=(Truth(values=("2024-05-03",)), Truth(number=4.0)))

    assert states_truth(parts, RESULT | {"legs": legs})
    assert not states_truth(parts, RESULT | {"legs": []})


def test_a_share_is_of_all_replies() -> None:
    question = RoundQuestion(id="q", kind="list", turns=("?",), truth=Truth(nothing=True))
    replies = [JudgedReply(question=question, verdict=verdict, result={}) for verdict in (Verdict.RIGHT, Verdict.WRONG)]

    assert share_of(Verdict.WRONG, replies) == 0.5
