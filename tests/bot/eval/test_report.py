"""Means, confusions, the worst, and what changed since an earlier report."""

import json
from pathlib import Path

import pytest

from bot.eval.load import UnreadableSet
from bot.eval.report import Column, Judged, confusion, judged, lines_of, quantile, read_report, report_json, worst
from bot.eval.tables import changed_sentences, confusion_rows, explanations, measure_rows, plain, time_sentence
from tests.bot.eval.results import a_question, a_result


def of_list(query_id: str, *found: str, category: str = "law") -> Judged:
    """Two documents are expected: a and b."""
    question = a_question("list", query_id, category, behaviour="list", doc_ids=["a", "b"])
    stages = [{"name": "decompose", "ms": 1.5}, {"name": "search", "ms": 2.0}]
    result = a_result(doc_ids=list(found), outcome="answer" if found else "no_results", stages=stages)
    return judged("deeds", question, result, cpu_ms=10.0)


def a_column(*members: Judged) -> Column:
    return Column(name="metadata", judged=members)


def test_means_are_by_set_kind_and_category() -> None:
    column = a_column(of_list("q1", "a", "b"), of_list("q2", "a"), of_list("q3", "a", "b", category="year"))

    means = {(line.category, line.measure): round(line.mean, 3) for line in lines_of(column)}

    assert means[None, "right"] == 0.667
    assert means[None, "recall"] == 0.833
    assert (means["law", "right"], means["year", "right"]) == (0.5, 1)


def test_a_confusion_tells_what_came_instead() -> None:
    column = a_column(of_list("q1", "a", "b"), of_list("q2"))

    assert confusion(column) == {("list", "list"): 1, ("list", "no_result"): 1}
    assert confusion_rows(column) == [("expected \\ got", "list", "no_result"), ("list", "1", "1")]


def test_the_worst_come_first_and_the_right_not_at_all() -> None:
    column = a_column(of_list("q1", "a", "b"), of_list("q3", "a"), of_list("q2", "a"), of_list("q4"))

    assert [one.question.query_id for one in worst(column)] == ["q4", "q2", "q3"]


def test_an_explanation_has_the_plan_and_both_behaviours() -> None:
    (text,) = explanations(a_column(of_list("q4")))

    assert "expected list" in text
    assert "got no_result" in text
    assert "route structured" in text


def test_a_report_holds_against_a_later_one(tmp_path: Path) -> None:
    before, now = a_column(of_list("q1", "a", "b"), of_list("q2")), a_column(of_list("q1"), of_list("q2", "a", "b"))
    path = tmp_path / "before.json"
    path.write_text(json.dumps(report_json([before], {})), encoding="utf-8")

    earlier = read_report(path)

    assert list(changed_sentences(earlier, [now])) == [
        "WRONG NOW: [metadata] deeds q1: What is right?",
        "right now: [metadata] deeds q2: What is right?",
    ]
    assert list(changed_sentences(earlier, [before])) == []


def test_a_table_shows_what_was_gained(tmp_path: Path) -> None:
    path = tmp_path / "before.json"
    path.write_text(json.dumps(report_json([a_column(of_list("q1"))], {})), encoding="utf-8")

    rows = measure_rows([a_column(of_list("q1", "a", "b"))], read_report(path), categories=False)

    assert rows[0] == ("set", "kind", "measure", "n", "metadata")
    assert rows[1] == ("deeds", "list", "right", "1", "1.000 (+1.000)")
    assert plain(rows).splitlines()[1].startswith("deeds  list  right")


def test_times_are_told_by_quantile() -> None:
    assert [quantile([3.0, 1.0, 2.0, 4.0], share) for share in (0.5, 0.95)] == [2.0, 4.0]
    assert quantile([], 0.5) is None
    assert "CPU ms a question p50 10.0, p95 10.0; in the agent p50 3.5" in time_sentence(a_column(of_list("q1")))


@pytest.mark.parametrize("text", ["", "[]", '{"version": 1}', '{"version": 99, "columns": {}}'])
def test_what_is_no_report_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(UnreadableSet, match=r"odd\.json"):
        read_report(path)
