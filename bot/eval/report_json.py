"""The report of an evaluation as JSON, with every question, so that a later run can be compared with it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from bot.eval.model_usage import count_plan_differences, difference_kind_of, usage_by_set
from bot.eval.report import (
    REPORT_VERSION,
    JsonObject,
    JudgedQuestion,
    ReportColumn,
    count_confusions,
    measure_means_of,
    time_quantiles_of,
)

_MAX_SHOWN_IDS, _MAX_SHOWN_CHARACTERS = 10, 400


def report_to_json(columns: Sequence[ReportColumn], unscored: Mapping[str, int]) -> JsonObject:
    """The whole report with every question, so that a later run can be compared with it."""
    return {
        "version": REPORT_VERSION,
        "columns": {column.name: _column_to_json(column) for column in columns},
        "unscored": dict(unscored),
    }


def _column_to_json(column: ReportColumn) -> JsonObject:
    return {
        "lines": [
            {
                "set": mean.set_name,
                "kind": mean.kind,
                "category": mean.category,
                "measure": mean.measure,
                "n": mean.question_count,
                "mean": round(mean.mean, 4),
            }
            for mean in measure_means_of(column)
        ],
        "confusion": [
            {"expected": expected, "got": actual, "n": count}
            for (expected, actual), count in count_confusions(column).items()
        ],
        "ms": {name: None if ms is None else round(ms, 1) for name, ms in time_quantiles_of(column).items()},
        "remarks": list(column.remarks),
        "model": [asdict(usage) for usage in usage_by_set(column)],
        "plan_differences": [asdict(difference) for difference in count_plan_differences(column)],
        "questions": [_judged_question_to_json(judged) for judged in column.judged_questions],
    }


def _judged_question_to_json(judged: JudgedQuestion) -> JsonObject:
    question, result, gold = judged.question, judged.result, judged.question.gold
    return {
        "set": judged.set_name,
        "query_id": question.query_id,
        "kind": question.kind,
        "category": question.category,
        "question": question.query,
        "right": round(judged.score.right, 4),
        "measures": {name: round(value, 4) for name, value in judged.score.measures.items()},
        "expected": {
            "behaviour": judged.score.expected,
            "answer": gold.answer,
            "count": gold.count,
            "doc_ids": list(gold.doc_ids[:_MAX_SHOWN_IDS]),
            "filter": gold.filter,
        },
        "got": {
            "behaviour": judged.score.actual,
            "text": str(result["text"])[:_MAX_SHOWN_CHARACTERS],
            "count": result["count"],
            "values": result["values"],
            "cited": [citation["doc_id"] for citation in result["citations"]],
            "first hits": [hit["doc_id"] for hit in result["hits"][:3]],
            "missing": sorted(set(gold.doc_ids) - set(result["doc_ids"]))[:_MAX_SHOWN_IDS]
            if _has_document_set(judged)
            else [],
            "extra": _extra_documents_of(judged)[:_MAX_SHOWN_IDS] if _has_document_set(judged) else [],
        },
        "plan": {
            "route": result["route"],
            "filters": result["filters"],
            "legs": [{"question": leg["question"], "filters": leg["filters"]} for leg in result["legs"]],
            "assumptions": result["assumptions"],
        },
        "reasoner": result["reasoner"],
        "model_calls": result["model_calls"],
        "tokens": result["tokens"],
        "cost_usd": result["cost_usd"],
        "plan_difference": difference_kind_of(judged),
        "cpu_ms": None if judged.cpu_ms is None else round(judged.cpu_ms, 1),
        "agent_ms": round(judged.agent_ms, 1),
    }


def _has_document_set(judged: JudgedQuestion) -> bool:
    return judged.question.kind in ("list", "aggregate")


def _extra_documents_of(judged: JudgedQuestion) -> list[str]:
    gold = judged.question.gold
    return sorted(set(judged.result["doc_ids"]) - {*gold.doc_ids, *gold.unjudged_doc_ids})
