"""Scores for right and wrong results of each kind of question."""

import pytest

from bot.eval.score import score_result
from tests.bot.eval.results import a_condition, a_passage, a_question, a_result, all_of

EVIDENCE = {"doc_id": "d1", "text": "thirty days", "start": 50, "end": 80, "page": None}


def test_a_list_is_right_if_it_is_exactly_the_set() -> None:
    question = a_question(behaviour="list", doc_ids=["a", "b"])

    exact = score_result(question, a_result(doc_ids=["b", "a"]))
    half = score_result(question, a_result(doc_ids=["a", "c"]))

    assert exact.right == 1
    assert (half.right, half.measures["precision"], half.measures["recall"]) == (0, 0.5, 0.5)


def test_unjudged_documents_count_neither_as_right_nor_as_wrong() -> None:
    question = a_question(behaviour="list", doc_ids=["a"], unjudged_doc_ids=["u"])

    assert score_result(question, a_result(doc_ids=["a", "u"])).right == 1


def test_a_list_of_only_unjudged_documents_counts_as_no_result() -> None:
    question = a_question(behaviour="no_result", unjudged_doc_ids=["u"])

    assert score_result(question, a_result(doc_ids=["u"])).right == 1
    assert score_result(question, a_result(doc_ids=["u", "x"])).right == 0
    assert score_result(question, a_result(outcome="no_results")).measures["behaviour@0"] == 1


@pytest.mark.parametrize(("outcome", "right"), [("overload", 1), ("answer", 0), ("no_results", 0), ("failed", 0)])
def test_too_many_documents_expect_a_clarification(outcome: str, right: float) -> None:
    question = a_question(behaviour="clarify_too_many", count=130)

    assert score_result(question, a_result(outcome=outcome)).measures["behaviour@100+"] == right


def test_the_filter_of_a_list_is_compared() -> None:
    question = a_question(behaviour="list", doc_ids=["a"], filter=all_of(a_condition("law", "has", "Texas")))

    correct = score_result(question, a_result(doc_ids=["a"], filters=[a_condition("law", "has", "texas")]))
    wrong = score_result(question, a_result(doc_ids=["a"], filters=[a_condition("law", "has", "Ohio")]))

    assert (correct.measures["filter"], wrong.measures["filter"]) == (1, 0)


def test_a_lookup_needs_the_answer_and_its_document() -> None:
    question = a_question("lookup", behaviour="answer", doc_ids=["d1"], answer="30 days")
    cited = [a_passage("d1")]

    assert score_result(question, a_result(text="It is 30 days.", citations=cited)).right == 1
    assert score_result(question, a_result(text="It is 60 days.", citations=cited)).right == 0
    assert score_result(question, a_result(text="It is 30 days.", citations=[a_passage("d2")])).right == 0


def test_evidence_counts_from_its_rank() -> None:
    question = a_question("lookup", doc_ids=["d1"], answer="30 days", evidence=[EVIDENCE])
    hits = [a_passage("d2", 0, 100), a_passage("d1", 80, 120), a_passage("d1", 0, 60)]

    measures = score_result(question, a_result(hits=hits)).measures

    assert (measures["evidence@1"], measures["evidence@3"]) == (0, 1)
    assert measures["evidence cited"] == 0


def test_a_passage_on_the_same_page_has_the_evidence() -> None:
    question = a_question("yes_no", answer="Yes", evidence=[{**EVIDENCE, "page": 3}])

    measures = score_result(question, a_result(hits=[a_passage("d1", 500, 600, page=3)])).measures

    assert measures["evidence@1"] == 1


def test_evidence_that_was_not_located_is_not_measured() -> None:
    question = a_question("qa", doc_ids=["d1"], answer="x", evidence=[{"doc_id": "d1", "text": "reworded"}])

    score = score_result(question, a_result(hits=[a_passage("d1")]))

    assert "evidence@1" not in score.measures
    assert score.right == score.measures["document@1"] == 1


@pytest.mark.parametrize(
    ("value", "unit", "doc_ids", "right"),
    [(14.4, "EUR", ["a"], 1), (14.4, "USD", ["a"], 0), (14.5, "EUR", ["a"], 0), (14.4, "EUR", ["a", "b"], 0)],
)
def test_a_sum_is_right_in_value_currency_and_set(value: float, unit: str, doc_ids: list[str], right: float) -> None:
    question = a_question("aggregate", doc_ids=["a"], answer=14.4, currency="EUR")

    assert score_result(question, a_result(values=[{"value": value, "unit": unit}], doc_ids=doc_ids)).right == right


def test_a_comparison_needs_both_documents() -> None:
    question = a_question(
        "compare",
        doc_ids=["d1", "d2"],
        answer={"d1": "Texas", "d2": "Ohio"},
        sub_questions=["What is the law of the lease?", "What is the law of the loan?"],
    )
    result = a_result(
        text="Texas · Ohio",
        hits=[a_passage("d1"), a_passage("d2")],
        citations=[a_passage("d1")],
        sub_questions=["the law of the lease", "the law of the loan"],
    )

    score = score_result(question, result)

    assert (score.right, score.measures["both cited"], score.measures["answer"]) == (1, 0, 1)
    assert score.measures["sub_questions"] == pytest.approx(0.8)
    assert score_result(question, result | {"hits": [a_passage("d1")]}).right == 0


def test_a_ranking_counts_each_document_once() -> None:
    question = a_question("qrels", doc_ids=["d1", "d2"])
    hits = [a_passage("d1"), a_passage("d1", 100, 200), a_passage("d2")]

    assert score_result(question, a_result(hits=hits)).right == 1


def test_a_question_without_an_answer_needs_nothing_found() -> None:
    question = a_question("null_query", behaviour="no_result", answer="Insufficient information.")

    assert score_result(question, a_result(outcome="no_results")).right == 1
    assert score_result(question, a_result(outcome="answer")).right == 0


def test_a_filter_is_extracted_from_all_legs_together() -> None:
    question = a_question(
        "comparison_query", answer="yes", filter=all_of(a_condition("source", "in", ["The Verge", "CNET"]))
    )
    legs = [{"filters": [a_condition("source", "eq", name)]} for name in ("CNET", "The Verge")]

    assert score_result(question, a_result(text="Yes.", filters=None, legs=legs)).measures["filter"] == 1
    assert score_result(question, a_result(text="Yes.", filters=None, legs=legs[:1])).measures["filter recall"] == 0.5


def test_a_table_question_is_scored_by_its_answer() -> None:
    question = a_question("table_qa", doc_ids=["t1"], answer=["19"])

    assert score_result(question, a_result(text="19", hits=[a_passage("t1")])).right == 1
    assert score_result(question, a_result(text="18", hits=[a_passage("t1")])).right == 0
