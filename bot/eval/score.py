"""Scores a result by the kind of its question. Every measure is between 0 and 1; the report has their means.

`right` is the score of the question as a whole:
- list: the expected behaviour and, if there is something to list, exactly the expected documents;
- lookup, yes_no: the answer, outside the titles of cited documents; a lookup must also cite a gold document;
- aggregate: value, currency and the set of documents;
- compare: both documents among the first ten passages;
- qa: the evidence among the first ten passages if it was located, else a gold document;
- qrels: nDCG@10, a value between 0 and 1;
- `…_query`: no result if none is expected, else exactly the values of the gold filter;
- table_qa: the answer.

Questions without located evidence have no evidence measures. Unjudged documents count neither as right nor as wrong.
A passage has the evidence if it overlaps the evidence, or is on the same page of the same document.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any as Json

from bot.eval.answer_matching import contains_all_words, is_short_answer, remove_titles, split_words, states_answer
from bot.eval.eval_sets import EvalQuestion, GoldEvidence
from bot.eval.filter_comparison import equal_values_of, is_same_filter
from bot.eval.ranking_measures import average_precision, ndcg_at, recall_at

_BEHAVIOUR_BY_OUTCOME = {"no_results": "no_result", "overload": "clarify_too_many"}  # other outcomes keep their name
_OVERLOAD_LIMIT = 100  # documents; a longer list asks back
_VALUE_TOLERANCE = 0.005  # half a cent in a sum
ResultJson = Mapping[str, Json]
Measures = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionScore:
    """`right`: between 0 and 1. `expected` and `actual` are behaviours."""

    right: float
    expected: str
    actual: str
    measures: Mapping[str, float]


def score_result(question: EvalQuestion, result: ResultJson) -> QuestionScore:
    """Score a result in the format of `parley ask --json`."""
    actual, expected = _behaviour_of(question, result), question.gold.behaviour or "answer"
    measures = _measures_for(question, result, actual)
    return QuestionScore(right=measures["right"], expected=expected, actual=actual, measures=measures)


def _measures_for(question: EvalQuestion, result: ResultJson, actual: str) -> Measures:
    match question.kind:
        case "list":
            return _score_list(question, result, actual)
        case "lookup" | "yes_no":
            return _score_lookup(question, result)
        case "aggregate":
            return _score_aggregate(question, result)
        case "compare":
            return _score_comparison(question, result)
        case "qrels":
            return _score_ranking(question, result)
        case "table_qa":
            return _score_table_question(question, result)
        case kind if kind.endswith("_query"):
            return _score_multihop(question, result, actual)
        case _:
            return _score_open_question(question, result)


def _behaviour_of(question: EvalQuestion, result: ResultJson) -> str:
    """The gold behaviour that corresponds to the result's outcome."""
    outcome = str(result["outcome"])
    if outcome == "answer" and question.kind == "list":
        is_no_result = (
            question.gold.behaviour == "no_result" and result["doc_ids"] and not _judged_documents_of(question, result)
        )
        return "no_result" if is_no_result else "list"
    return _BEHAVIOUR_BY_OUTCOME.get(outcome, outcome)


# -- sets


def _judged_documents_of(question: EvalQuestion, result: ResultJson) -> set[str]:
    return set(result["doc_ids"]) - set(question.gold.unjudged_doc_ids)


def _gold_documents_of(question: EvalQuestion) -> set[str]:
    return set(question.gold.doc_ids) - set(question.gold.unjudged_doc_ids)


def _score_list(question: EvalQuestion, result: ResultJson, actual: str) -> Measures:
    behaviour_score = float(actual == question.gold.behaviour)
    measures: Measures = {"behaviour": behaviour_score}
    match question.gold.behaviour:
        case "no_result":
            measures |= {"behaviour@0": behaviour_score, "right": behaviour_score}
        case "clarify_too_many":
            measures |= {f"behaviour@{_OVERLOAD_LIMIT}+": behaviour_score, "right": behaviour_score}
        case _:
            measures |= _document_set_measures(_gold_documents_of(question), _judged_documents_of(question, result))
            measures["right"] = measures["exact"]
    if question.gold.filter is not None:
        measures["filter"] = float(is_same_filter(question.gold.filter, result["filters"]))
    return measures


def _document_set_measures(gold: set[str], actual: set[str]) -> Measures:
    shared_count = len(gold & actual)
    return {
        "precision": shared_count / len(actual) if actual else 0.0,
        "recall": shared_count / len(gold) if gold else 0.0,
        "exact": float(gold == actual),
    }


def _score_aggregate(question: EvalQuestion, result: ResultJson) -> Measures:
    gold = question.gold
    near_values = [
        computed_value for computed_value in result["values"] if _is_near_value(computed_value["value"], gold.answer)
    ]
    currency = float(
        gold.currency is None or any(computed_value["unit"] == gold.currency for computed_value in near_values)
    )
    exact = float(_gold_documents_of(question) == _judged_documents_of(question, result))
    value = float(bool(near_values))
    return {"value": value, "currency": currency, "set": exact, "right": value * currency * exact}


def _is_near_value(value: Json, gold: Json) -> bool:
    return isinstance(value, (int, float)) and isinstance(gold, (int, float)) and abs(value - gold) < _VALUE_TOLERANCE


# -- passages


def _overlaps_evidence(passage: Mapping[str, Json], evidence: GoldEvidence) -> bool:
    if passage["doc_id"] != evidence.doc_id:
        return False
    if evidence.page is not None and passage["page"] == evidence.page:
        return True
    start, end = passage["start"], passage["end"]
    if None in (start, end, evidence.start, evidence.end):
        return False
    return bool(start < evidence.end and evidence.start < end)


def _evidence_measures(question: EvalQuestion, result: ResultJson) -> Measures:
    """Whether located evidence is among the first passages, and among the citations."""
    located_evidence = [evidence for evidence in question.gold.evidence if evidence.is_located]
    if not located_evidence:
        return {}
    hit_has_evidence = [
        any(_overlaps_evidence(hit, evidence) for evidence in located_evidence) for hit in result["hits"]
    ]
    is_cited = any(
        _overlaps_evidence(citation, evidence) for citation in result["citations"] for evidence in located_evidence
    )
    measures = {f"evidence@{depth}": float(any(hit_has_evidence[:depth])) for depth in (1, 3, 10)}
    return measures | {"evidence cited": float(is_cited)}


def _document_ids_of(passages: Sequence[Mapping[str, Json]]) -> list[str]:
    """The documents of the passages in order, each once."""
    return list(dict.fromkeys(str(passage["doc_id"]) for passage in passages))


def _document_hit_measures(question: EvalQuestion, result: ResultJson) -> Measures:
    """Whether a gold document is among the documents of the first passages."""
    gold, hits = set(question.gold.doc_ids), result["hits"]
    if not gold:
        return {}
    return {f"document@{depth}": float(bool(gold & set(_document_ids_of(hits[:depth])))) for depth in (1, 10)}


def _is_cited(doc_id: str, result: ResultJson) -> bool:
    return any(citation["doc_id"] == doc_id for citation in result["citations"])


# -- questions about documents


def _score_lookup(question: EvalQuestion, result: ResultJson) -> Measures:
    gold = question.gold
    cited = any(_is_cited(doc_id, result) for doc_id in gold.doc_ids)
    text_without_titles = remove_titles((citation["title"] for citation in result["citations"]), result["text"])
    states_gold = result["outcome"] == "answer" and states_answer(gold.answer, text_without_titles, gold.unit)
    answer = float(states_gold and (cited or question.kind == "yes_no"))
    return {"answer": answer, "right": answer, "document cited": float(cited)} | _evidence_measures(question, result)


def _score_open_question(question: EvalQuestion, result: ResultJson) -> Measures:
    measures = _document_hit_measures(question, result) | _evidence_measures(question, result)
    if is_short_answer(question.gold.answer):
        measures["answer"] = float(_states_short_answer(question.gold.answer, result))
    right = measures.get("evidence@10", measures.get("document@10", measures.get("answer", 0.0)))
    return measures | {"right": right}


def _states_short_answer(gold: Json, result: ResultJson) -> bool:
    """Whether the reply or a citation states the gold answer or contains all its words."""
    texts = [str(result["text"]), *(str(text["text"]) for text in result["citations"])]
    return any(
        states_answer(gold, text) or (isinstance(gold, str) and contains_all_words(gold, text)) for text in texts
    )


def _score_comparison(question: EvalQuestion, result: ResultJson) -> Measures:
    gold, answer = question.gold, question.gold.answer
    top_doc_ids = set(_document_ids_of(result["hits"][:10]))
    has_both = float(set(gold.doc_ids) <= top_doc_ids)
    measures = {
        "both@10": has_both,
        "both cited": float(all(_is_cited(doc_id, result) for doc_id in gold.doc_ids)),
        "sub_questions": mean_best_overlap(gold.sub_questions, result["sub_questions"]),
        "right": has_both,
    }
    if isinstance(answer, dict):
        measures["answer"] = float(all(states_answer(value, result["text"]) for value in answer.values()))  # pyright: ignore
    located_evidence = [evidence for evidence in gold.evidence if evidence.is_located]
    if {evidence.doc_id for evidence in located_evidence} == set(gold.doc_ids):
        overlapped_doc_ids = {
            evidence.doc_id
            for evidence in located_evidence
            for hit in result["hits"][:10]
            if _overlaps_evidence(hit, evidence)
        }
        measures["evidence both@10"] = float(overlapped_doc_ids == set(gold.doc_ids))
    return measures


def mean_best_overlap(gold: Sequence[str], actual: Sequence[str]) -> float:
    """The mean, over the gold questions, of the best word overlap (F1) with an actual question."""
    best_overlaps = [
        max((_word_overlap_f1(gold_question, actual_question) for actual_question in actual), default=0.0)
        for gold_question in gold
    ]
    return sum(best_overlaps) / len(best_overlaps) if best_overlaps else 0.0


def _word_overlap_f1(left: str, right: str) -> float:
    left_words, right_words = set(split_words(left)), set(split_words(right))
    return (
        2 * len(left_words & right_words) / (len(left_words) + len(right_words)) if left_words and right_words else 0.0
    )


def _score_ranking(question: EvalQuestion, result: ResultJson) -> Measures:
    ranking, relevant = _document_ids_of(result["hits"]), set(question.gold.doc_ids)
    gain = ndcg_at(ranking, relevant)
    return {
        "nDCG@10": gain,
        "MAP": average_precision(ranking, relevant),
        "recall@100": recall_at(ranking, relevant, 100),
        "right": gain,
    }


def _score_table_question(question: EvalQuestion, result: ResultJson) -> Measures:
    answer = float(result["outcome"] == "answer" and states_answer(question.gold.answer, result["text"]))
    return _document_hit_measures(question, result) | {"answer": answer, "right": answer}


def _score_multihop(question: EvalQuestion, result: ResultJson, actual: str) -> Measures:
    gold = question.gold
    if gold.behaviour == "no_result":
        return {"no answer": float(actual == "no_result"), "right": float(actual == "no_result")}
    ranking = _document_ids_of(result["hits"])
    answer = float(actual == "answer" and _states_multihop_answer(gold.answer, result))
    measures: Measures = {"recall@10": recall_at(ranking, set(gold.doc_ids), 10), "answer": answer}
    filter_measures = _filter_value_measures(question, result)
    return measures | filter_measures | {"right": filter_measures.get("filter", answer)}


def _states_multihop_answer(gold: Json, result: ResultJson) -> bool:
    if isinstance(gold, str) and gold.casefold() in ("yes", "no"):
        return states_answer(gold, result["text"])
    return _states_short_answer(gold, result)


def _filter_value_measures(question: EvalQuestion, result: ResultJson) -> Measures:
    """Compares, field by field, the values in equalities of the gold filter with those in the filters of all legs."""
    members: Sequence[Mapping[str, Json]] = (question.gold.filter or {}).get("all", [])
    fields = sorted({str(member["field"]) for member in members})
    if not fields:
        return {}
    trees = [result["filters"], *(leg["filters"] for leg in result["legs"])]
    expected = {(field, value) for field in fields for value in equal_values_of(question.gold.filter, field)}
    actual = {(field, value) for field in fields for tree in trees for value in equal_values_of(tree, field)}
    shared_count = len(expected & actual)
    return {
        "filter": float(expected == actual),
        "filter precision": shared_count / len(actual) if actual else 0.0,
        "filter recall": shared_count / len(expected) if expected else 0.0,
    }
