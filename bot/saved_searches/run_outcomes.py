"""What a run of a saved search has to be remembered by until its report is posted, and its JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any as Json

from storage.sql.saved_search_store import RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRunOutcome:
    """`record` is stored once the report is posted; None: the search was stopped, or is looked at again later."""

    is_silent: bool  # there is nothing to report
    record: RunRecord | None = None


def run_outcome_to_json(outcome: SearchRunOutcome) -> dict[str, Json]:
    record = outcome.record
    return {
        "silent": outcome.is_silent,
        "record": None
        if record is None
        else {
            "search": record.position,
            "due_at": record.due_at.isoformat(),
            "seen": dict(record.seen),
            "index_state": record.index_state,
            "pauses": record.pauses,
        },
    }


def run_outcome_from_json(data: Mapping[str, Json]) -> SearchRunOutcome:
    """Raises `LookupError` or `ValueError` for other JSON."""
    record = data["record"]
    if record is None:
        return SearchRunOutcome(is_silent=data["silent"])
    return SearchRunOutcome(
        is_silent=data["silent"],
        record=RunRecord(
            position=record["search"],
            due_at=datetime.fromisoformat(record["due_at"]),
            seen=record["seen"],
            index_state=record["index_state"],
            pauses=record["pauses"],
        ),
    )
