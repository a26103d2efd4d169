"""Questions and results as the evaluation sees them, with what a test does not care for filled in."""

from collections.abc import Mapping
from typing import Any

from bot.eval.load import Gold, Question

Object = dict[str, Any]


def a_question(kind: str = "list", query_id: str = "q1", category: str | None = None, **gold: Any) -> Question:
    return Question(query_id=query_id, query="What is right?", kind=kind, category=category, gold=Gold(**gold))


def a_result(**given: Any) -> Object:
    """As `parley ask --json` has it."""
    empty: Object = {
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
        "assumptions": [],
        "route": "structured",
        "stages": [],
    }
    return empty | given


def a_passage(doc_id: str, start: int = 0, end: int = 100, page: int | None = None, text: str = "") -> Object:
    return {"doc_id": doc_id, "start": start, "end": end, "page": page, "text": text, "title": f"Title of {doc_id}"}


def a_condition(field: str, op: str, value: object) -> Object:
    return {"field": field, "op": op, "value": value}


def all_of(*conditions: Mapping[str, Any]) -> Object:
    return {"all": list(conditions)}
