"""Means, confusions, the worst questions, and changes since an earlier report."""

import json
from pathlib import Path

import pytest

from bot.eval.eval_sets import UnreadableEvalSet
from bot.eval.report import (
    JudgedQuestion,
    ReportColumn,
    count_confusions,
    judge_question,
    measure_means_of,
    quantile_of,
    read_report,
    worst_questions_of,
)
from bot.eval.report_json import report_to_json
from bot.eval.tables import (
    align_rows,
    change_sentences,
    confusion_rows,
    explain_worst_questions,
    measure_rows,
    time_sentence_for,
)
from tests.bot.eval.results import a_question, a_result


def a_judged_list(query_id: str, *found_doc_ids: str, category: str = "law") -> JudgedQuestion:
    """Two documents are expected: a and b."""
    question = a_question("list", query_id, category, behaviour="list", doc_ids=["a", "b"])
    stages = [{"name": "decompose", "ms": 1.5}, {"name": "search", "ms": 2.0}]
    result = a_result(doc_ids=list(found_doc_ids), outcome="answer" if found_doc_ids else "no_results", stages=stages)
    return judge_question("deeds", question, result, cpu_ms=10.0)


def a_column(*members: JudgedQuestion) -> ReportColumn:
    return ReportColumn(name="metadata", judged_questions=members)


def test_means_are_by_set_kind_and_category() -> None:
    column = a_column(
        a_judged_list("q1", "a", "b"), a_judged_list("q2", "a"), a_judged_list("q3", "a", "b", category="year")
    )

    means = {(line.category, line.measure): round(line.mean, 3) for line in measure_means_of(column)}

    assert means[None, "right"] == 0.667
    assert means[None, "recall"] == 0.833
    assert (means["law", "right"], means["year", "right"]) == (0.5, 1)


def test_confusions_count_the_actual_behaviour() -> None:
    column = a_column(a_judged_list("q1", "a", "b"), a_judged_list("q2"))

    assert count_confusions(column) == {("list", "list"): 1, ("list", "no_result"): 1}
    assert confusion_rows(column) == [("expected \\ got", "list", "no_result"), ("list", "1", "1")]


def test_the_worst_questions_come_first_and_right_ones_are_left_out() -> None:
    column = a_column(
        a_judged_list("q1", "a", "b"), a_judged_list("q3", "a"), a_judged_list("q2", "a"), a_judged_list("q4")
    )

    assert [judged_question.question.query_id for judged_question in worst_questions_of(column)] == ["q4", "q2", "q3"]


def test_an_explanation_has_the_plan_and_both_behaviours() -> None:
    (text,) = explain_worst_questions(a_column(a_judged_list("q4")))

    assert "expected list" in text
    assert "got no_result" in text
    assert "route structured" in text


def test_changes_since_an_earlier_report_are_listed(tmp_path: Path) -> None:
    earlier_column, later_column = (
        a_column(a_judged_list("q1", "a", "b"), a_judged_list("q2")),
        a_column(a_judged_list("q1"), a_judged_list("q2", "a", "b")),
    )
    path = tmp_path / "before.json"
    path.write_text(json.dumps(report_to_json([earlier_column], {})), encoding="utf-8")

    earlier = read_report(path)

    assert list(change_sentences(earlier, [later_column])) == [
        "WRONG NOW: [metadata] deeds q1: What is right?",
        "right now: [metadata] deeds q2: What is right?",
    ]
    assert list(change_sentences(earlier, [earlier_column])) == []


def test_a_table_shows_the_change_since_the_earlier_report(tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    path.write_text(json.dumps(report_to_json([a_column(a_judged_list("q1"))], {})), encoding="utf-8")

    rows = measure_rows([a_column(a_judged_list("q1", "a", "b"))], read_report(path), categories=False)

    assert rows[0] == ("set", "kind", "measure", "n", "metadata")
    assert rows[1] == ("deeds", "list", "right", "1", "1.000 (+1.000)")
    assert align_rows(rows).splitlines()[1].startswith("deeds  list  right")


def test_times_are_reported_as_quantiles() -> None:
    assert [quantile_of([3.0, 1.0, 2.0, 4.0], share) for share in (0.5, 0.95)] == [2.0, 4.0]
    assert quantile_of([], 0.5) is None
    assert "CPU ms a question p50 10.0, p95 10.0; in the agent p50 3.5" in time_sentence_for(
        a_column(a_judged_list("q1"))
    )


@pytest.mark.parametrize("text", ["", "[]", '{"version": 1}', '{"version": 99, "columns": {}}'])
def test_an_error_names_a_file_that_is_no_report(text: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(UnreadableEvalSet, match=r"odd\.json"):
        read_report(path)
