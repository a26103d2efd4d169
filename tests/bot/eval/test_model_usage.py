"""Calls, tokens, costs and plan differences of a run."""

from typing import Any

from bot.eval.model_usage import DifferenceCount, SetUsage, count_plan_differences, usage_by_set
from bot.eval.report import JudgedQuestion, ReportColumn, judge_question
from bot.eval.report_json import report_to_json
from bot.eval.tables import difference_rows, usage_rows
from tests.bot.eval.results import a_question, a_result


def a_judged_list(
    set_name: str,
    *found_doc_ids: str,
    calls: int = 0,
    cost_usd: float | None = None,
    difference: str | None = None,
    fallback: str = "",
) -> JudgedQuestion:
    """The document `a` is expected."""
    reasoning: dict[str, Any] = {
        "fallbacks": {"decompose": fallback} if fallback else {},
        "plan_difference": difference and {"kind": difference, "model_plan": "", "rule_plan": ""},
    }
    result = a_result(
        doc_ids=list(found_doc_ids),
        model_calls=calls,
        tokens={"in": 100 * calls, "out": 10 * calls},
        cost_usd=cost_usd,
        reasoning=reasoning,
    )
    return judge_question(set_name, a_question(behaviour="list", doc_ids=["a"]), result, cpu_ms=None)


COLUMN = ReportColumn(
    name="metadata",
    judged_questions=(
        a_judged_list("deeds", "a", calls=1, cost_usd=0.25, difference="same"),
        a_judged_list("deeds", "b", calls=2, cost_usd=0.5, difference="conditions"),
        a_judged_list("deeds", "a", calls=1, cost_usd=0.25, difference="conditions"),
        a_judged_list("deeds", "a"),
        a_judged_list("mines", "a", calls=1, cost_usd=None, fallback="timed out"),
    ),
)


def test_calls_tokens_and_costs_are_summed_by_set() -> None:
    assert usage_by_set(COLUMN) == [
        SetUsage(
            set_name="deeds",
            question_count=4,
            asked_count=3,
            calls=4,
            input_tokens=400,
            output_tokens=40,
            cost_usd=1.0,
            most_calls=2,
            fallback_count=0,
        ),
        SetUsage(
            set_name="mines",
            question_count=1,
            asked_count=1,
            calls=1,
            input_tokens=100,
            output_tokens=10,
            cost_usd=None,
            most_calls=1,
            fallback_count=1,
        ),
    ]
    assert usage_rows(COLUMN)[1:] == [
        ("deeds", "4", "3", "4", "2", "400", "40", "$1.0000", "$0.2500", "0"),
        ("mines", "1", "1", "1", "1", "100", "10", "unknown", "unknown", "1"),
    ]


def test_plan_differences_are_counted_by_set_and_kind_with_the_right_answers() -> None:
    assert count_plan_differences(COLUMN) == [
        DifferenceCount(set_name="deeds", kind="conditions", question_count=2, right_count=1),
        DifferenceCount(set_name="deeds", kind="same", question_count=1, right_count=1),
        DifferenceCount(set_name="mines", kind="not compared", question_count=1, right_count=1),
    ]
    assert difference_rows(COLUMN)[1] == ("deeds", "conditions", "67%", "2", "1")


def test_a_run_of_the_rules_alone_has_no_usage() -> None:
    column = ReportColumn(name="metadata", judged_questions=(a_judged_list("deeds", "a"),))

    assert (usage_rows(column), difference_rows(column)) == ([], [])


def test_the_report_has_both_and_each_question_its_own() -> None:
    [column] = report_to_json([COLUMN], {})["columns"].values()

    assert [usage["calls"] for usage in column["model"]] == [4, 1]
    assert [difference["kind"] for difference in column["plan_differences"]] == ["conditions", "same", "not compared"]
    question = column["questions"][1]
    assert (question["model_calls"], question["tokens"], question["cost_usd"]) == (2, {"in": 200, "out": 20}, 0.5)
    assert question["plan_difference"] == "conditions"
