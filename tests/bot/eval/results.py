"""Builders for evaluation questions and results, with defaults for what a test does not set."""

from collections.abc import Mapping
from typing import Any

from bot.eval.eval_sets import EvalQuestion, GoldLabels

JsonObject = dict[str, Any]


def a_question(kind: str = "list", query_id: str = "q1", category: str | None = None, **gold: Any) -> EvalQuestion:
    return EvalQuestion(
        query_id=query_id, query="What is right?", kind=kind, category=category, gold=GoldLabels(**gold)
    )


def a_result(**fields: Any) -> JsonObject:
    """A result in the format of `parley ask --json`."""
    empty: JsonObject = {
        "outcome": "answer",
        "text": "",
        "count": None,
        "doc_ids": [],
        "values": [],
        "legs": [],
        "hits": [],
        "citations": [],
        "filters": [],
        "sub_questions": [],
        "sub_queries": [],
        "decomposed": False,
        "meta": {"total_candidates": 0, "returned": 0, "sub_query_count": 0},
        "assumptions": [],
        "route": "structured",
        "stages": [],
        "reasoner": "rule",
        "model_calls": 0,
        "tokens": {"in": 0, "out": 0},
        "cost_usd": None,
    }
    return empty | fields


def a_passage(doc_id: str, start: int = 0, end: int = 100, page: int | None = None, text: str = "") -> JsonObject:
    return {"doc_id": doc_id, "start": start, "end": end, "page": page, "text": text, "title": f"Title of {doc_id}"}


def a_condition(field: str, op: str, value: object) -> JsonObject:
    return {"field": field, "op": op, "value": value}


def all_of(*conditions: Mapping[str, Any]) -> JsonObject:
    return {"all": list(conditions)}
