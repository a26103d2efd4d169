"""What an evaluation comes to: means of measures, confusions, times, the worst questions, changes since a report."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any as Json
from typing import cast

from bot.eval.load import Question, UnreadableSet
from bot.eval.score import Result, Score, scored

VERSION = 1
WORST = 20
_HALF = 0.5  # from here on a question counts as right, for what changed
_SHOWN_IDS, _SHOWN_TEXT = 10, 400
Object = dict[str, Json]
Key = tuple[str, str, str]  # set, kind, measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question, what came of it, and how good that is."""

    set: str
    question: Question
    result: Result
    score: Score
    cpu_ms: float | None  # of the whole turn; None where several ran at once

    @property
    def is_right(self) -> bool:
        return self.score.right >= _HALF

    @property
    def agent_ms(self) -> float:
        """Of the agent's stages alone, by the clock."""
        return sum(float(stage["ms"]) for stage in self.result["stages"])


def judged(set_name: str, question: Question, result: Result, cpu_ms: float | None) -> Judged:
    return Judged(set=set_name, question=question, result=result, score=scored(question, result), cpu_ms=cpu_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One way of asking all questions: `metadata`, `metadata alone`, `extracted`, `extracted alone`."""

    name: str
    judged: tuple[Judged, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The mean of a measure over the `n` questions that have it. `category`: None for all of the kind."""

    set: str
    kind: str
    category: str | None
    measure: str
    n: int
    mean: float


# -- means


def lines_of(column: Column) -> list[Line]:
    """By set and kind, `right` first, then the other measures; then `right` of each category."""
    groups: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in column.judged:
        groups[one.set, one.question.kind].append(one)
    return [line for (name, kind), members in groups.items() for line in _lines(name, kind, members)]


def _lines(name: str, kind: str, members: Sequence[Judged]) -> Iterator[Line]:
    measures = dict.fromkeys(["right", *(measure for one in members for measure in one.score.measures)])
    for measure in measures:
        yield _line(name, kind, None, measure, members)
    categories = sorted({one.question.category for one in members if one.question.category})
    for category in categories if len(categories) > 1 else ():
        yield _line(name, kind, category, "right", [one for one in members if one.question.category == category])


def _line(name: str, kind: str, category: str | None, measure: str, members: Sequence[Judged]) -> Line:
    values = [one.score.measures[measure] for one in members if measure in one.score.measures]
    mean = sum(values) / len(values)
    return Line(set=name, kind=kind, category=category, measure=measure, n=len(values), mean=mean)


def confusion(column: Column) -> dict[tuple[str, str], int]:
    """How often a behaviour was expected and another came; the most frequent first."""
    counts = Counter((one.score.expected, one.score.got) for one in column.judged)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def quantile(values: Sequence[float], share: float) -> float | None:
    """By nearest rank; None of nothing."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None


def times(column: Column) -> dict[str, float | None]:
    """Milliseconds a question: processor time of the whole turn, and the agent's stages by the clock."""
    cpu = [one.cpu_ms for one in column.judged if one.cpu_ms is not None]
    agent = [one.agent_ms for one in column.judged if one.result["stages"]]
    return {
        "cpu_p50": quantile(cpu, 0.5),
        "cpu_p95": quantile(cpu, 0.95),
        "agent_p50": quantile(agent, 0.5),
        "agent_p95": quantile(agent, 0.95),
    }


def worst(column: Column, count: int = WORST) -> list[Judged]:
    """What is not quite right, the worst first; of equals by set and id."""

    def order(one: Judged) -> tuple[float, float, str, str]:
        measures = one.score.measures
        return (one.score.right, sum(measures.values()) / len(measures), one.set, one.question.query_id)

    return sorted((one for one in column.judged if one.score.right < 1), key=order)[:count]


# -- as JSON


def report_json(columns: Sequence[Column], unscored: Mapping[str, int]) -> Object:
    """All of it, question by question, so that a later run can be held against it."""
    return {"version": VERSION, "columns": {one.name: _column_json(one) for one in columns}, "unscored": dict(unscored)}


def _column_json(column: Column) -> Object:
    return {
        "lines": [
            {
                "set": line.set,
                "kind": line.kind,
                "category": line.category,
                "measure": line.measure,
                "n": line.n,
                "mean": round(line.mean, 4),
            }
            for line in lines_of(column)
        ],
        "confusion": [{"expected": expected, "got": got, "n": n} for (expected, got), n in confusion(column).items()],
        "ms": {name: None if ms is None else round(ms, 1) for name, ms in times(column).items()},
        "remarks": list(column.remarks),
        "questions": [_judged_json(one) for one in column.judged],
    }


def _judged_json(one: Judged) -> Object:
    question, result, gold = one.question, one.result, one.question.gold
    return {
        "set": one.set,
        "query_id": question.query_id,
        "kind": question.kind,
        "category": question.category,
        "question": question.query,
        "right": round(one.score.right, 4),
        "measures": {name: round(value, 4) for name, value in one.score.measures.items()},
        "expected": {
            "behaviour": one.score.expected,
            "answer": gold.answer,
            "count": gold.count,
            "doc_ids": list(gold.doc_ids[:_SHOWN_IDS]),
            "filter": gold.filter,
        },
        "got": {
            "behaviour": one.score.got,
            "text": str(result["text"])[:_SHOWN_TEXT],
            "count": result["count"],
            "values": result["values"],
            "cited": [citation["doc_id"] for citation in result["citations"]],
            "first hits": [hit["doc_id"] for hit in result["hits"][:3]],
            "missing": sorted(set(gold.doc_ids) - set(result["doc_ids"]))[:_SHOWN_IDS] if _has_set(one) else [],
            "extra": _extra(one)[:_SHOWN_IDS] if _has_set(one) else [],
        },
        "plan": {
            "route": result["route"],
            "filters": result["filters"],
            "legs": [{"question": leg["question"], "filters": leg["filters"]} for leg in result["legs"]],
            "assumptions": result["assumptions"],
        },
        "cpu_ms": None if one.cpu_ms is None else round(one.cpu_ms, 1),
        "agent_ms": round(one.agent_ms, 1),
    }


def _has_set(one: Judged) -> bool:
    return one.question.kind in ("list", "aggregate")


def _extra(one: Judged) -> list[str]:
    gold = one.question.gold
    return sorted(set(one.result["doc_ids"]) - {*gold.doc_ids, *gold.unjudged_doc_ids})


# -- against an earlier report


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A question that was right and is wrong now, or the other way round."""

    column: str
    set: str
    query_id: str
    question: str
    is_right: bool  # now


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A report read back: means by column and key, and what was right."""

    means: Mapping[str, Mapping[Key, float]]
    right: Mapping[str, Mapping[tuple[str, str], float]]

    def changes(self, columns: Iterable[Column]) -> list[Change]:
        """Of questions that both have; those that went wrong first."""
        found = [
            Change(
                column=column.name,
                set=one.set,
                query_id=one.question.query_id,
                question=one.question.query,
                is_right=one.is_right,
            )
            for column in columns
            for one in column.judged
            if (before := self.right.get(column.name, {}).get((one.set, one.question.query_id))) is not None
            and (before >= _HALF) != one.is_right
        ]
        return sorted(found, key=lambda change: change.is_right)


def read_report(path: Path) -> Earlier:
    """What `report_json` made. Raises `UnreadableSet`, and `OSError` for a file that cannot be read."""
    try:
        data = cast(Object, json.loads(path.read_text(encoding="utf-8")))
        if data["version"] != VERSION:
            raise UnreadableSet(str(path), f"it is a report of version {data['version']}, not {VERSION}")
        columns = cast(dict[str, Object], data["columns"])
        return Earlier(
            means={name: dict(_means(one["lines"])) for name, one in columns.items()},
            right={name: dict(_rights(one["questions"])) for name, one in columns.items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise UnreadableSet(str(path), "it is no report of an evaluation") from exc


def _means(lines: Iterable[Object]) -> Iterator[tuple[Key, float]]:
    for one in lines:
        if one["category"] is None:
            yield (one["set"], one["kind"], one["measure"]), float(one["mean"])


def _rights(questions: Iterable[Object]) -> Iterator[tuple[tuple[str, str], float]]:
    for one in questions:
        yield (one["set"], one["query_id"]), float(one["right"])
