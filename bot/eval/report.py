"""The report of an evaluation: means, confusion counts, times, worst questions, changes since an earlier report."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any as Json
from typing import cast

from bot.eval.eval_sets import EvalQuestion, UnreadableEvalSet
from bot.eval.score import QuestionScore, ResultJson, score_result

REPORT_VERSION = 1
WORST_COUNT = 20
_RIGHT_THRESHOLD = 0.5  # a score of at least this counts as right when reports are compared
JsonObject = dict[str, Json]
MeasureKey = tuple[str, str, str]  # set, kind, measure


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuestion:
    """A question with its result and score."""

    set_name: str
    question: EvalQuestion
    result: ResultJson
    score: QuestionScore
    cpu_ms: float | None  # of the whole turn; None if several ran at once

    @property
    def is_right(self) -> bool:
        return self.score.right >= _RIGHT_THRESHOLD

    @property
    def agent_ms(self) -> float:
        """Wall time of the agent's stages."""
        return sum(float(stage["ms"]) for stage in self.result["stages"])


def judge_question(set_name: str, question: EvalQuestion, result: ResultJson, cpu_ms: float | None) -> JudgedQuestion:
    return JudgedQuestion(
        set_name=set_name, question=question, result=result, score=score_result(question, result), cpu_ms=cpu_ms
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportColumn:
    """All questions asked in one mode: `metadata`, `metadata alone`, `extracted`, `extracted alone`."""

    name: str
    judged_questions: tuple[JudgedQuestion, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureMean:
    """The mean of a measure over the `question_count` questions that have it. `category`: None for the whole kind."""

    set_name: str
    kind: str
    category: str | None
    measure: str
    question_count: int
    mean: float


# -- means


def measure_means_of(column: ReportColumn) -> list[MeasureMean]:
    """The means by set and kind: `right` first, then the other measures, then `right` of each category."""
    groups: dict[tuple[str, str], list[JudgedQuestion]] = defaultdict(list)
    for judged in column.judged_questions:
        groups[judged.set_name, judged.question.kind].append(judged)
    return [
        measure_mean
        for (set_name, kind), members in groups.items()
        for measure_mean in _means_of_kind(set_name, kind, members)
    ]


def _means_of_kind(set_name: str, kind: str, members: Sequence[JudgedQuestion]) -> Iterator[MeasureMean]:
    measures = dict.fromkeys(["right", *(measure for judged in members for measure in judged.score.measures)])
    for measure in measures:
        yield _mean_of_measure(set_name, kind, None, measure, members)
    categories = sorted({judged.question.category for judged in members if judged.question.category})
    for category in categories if len(categories) > 1 else ():
        yield _mean_of_measure(
            set_name, kind, category, "right", [judged for judged in members if judged.question.category == category]
        )


def _mean_of_measure(
    set_name: str, kind: str, category: str | None, measure: str, members: Sequence[JudgedQuestion]
) -> MeasureMean:
    values = [judged.score.measures[measure] for judged in members if measure in judged.score.measures]
    mean = sum(values) / len(values)
    return MeasureMean(
        set_name=set_name, kind=kind, category=category, measure=measure, question_count=len(values), mean=mean
    )


def count_confusions(column: ReportColumn) -> dict[tuple[str, str], int]:
    """The number of questions for each pair of expected and actual behaviour, the most frequent pair first."""
    counts = Counter((judged.score.expected, judged.score.actual) for judged in column.judged_questions)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def quantile_of(values: Sequence[float], share: float) -> float | None:
    """The quantile by nearest rank; None if there are no values."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None


def time_quantiles_of(column: ReportColumn) -> dict[str, float | None]:
    """Milliseconds per question: CPU time of the whole turn, and wall time of the agent's stages."""
    cpu = [judged.cpu_ms for judged in column.judged_questions if judged.cpu_ms is not None]
    agent = [judged.agent_ms for judged in column.judged_questions if judged.result["stages"]]
    return {
        "cpu_p50": quantile_of(cpu, 0.5),
        "cpu_p95": quantile_of(cpu, 0.95),
        "agent_p50": quantile_of(agent, 0.5),
        "agent_p95": quantile_of(agent, 0.95),
    }


def worst_questions_of(column: ReportColumn, count: int = WORST_COUNT) -> list[JudgedQuestion]:
    """The questions with a score below 1, the worst first; ties in order of set and id."""

    def sort_key(judged: JudgedQuestion) -> tuple[float, float, str, str]:
        measures = judged.score.measures
        return (judged.score.right, sum(measures.values()) / len(measures), judged.set_name, judged.question.query_id)

    return sorted(
        (judged_question for judged_question in column.judged_questions if judged_question.score.right < 1),
        key=sort_key,
    )[:count]


# -- comparison with an earlier report


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectnessChange:
    """A question that was right and is now wrong, or the reverse."""

    column: str
    set_name: str
    query_id: str
    question: str
    is_right: bool  # now


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierReport:
    """An earlier report: means by column and key, and scores by column, set and query id."""

    means_by_column: Mapping[str, Mapping[MeasureKey, float]]
    scores_by_column: Mapping[str, Mapping[tuple[str, str], float]]

    def find_changes(self, columns: Iterable[ReportColumn]) -> list[CorrectnessChange]:
        """The changes of the questions that are in both reports, those that are now wrong first."""
        changes = [
            CorrectnessChange(
                column=column.name,
                set_name=judged.set_name,
                query_id=judged.question.query_id,
                question=judged.question.query,
                is_right=judged.is_right,
            )
            for column in columns
            for judged in column.judged_questions
            if (
                earlier_score := self.scores_by_column.get(column.name, {}).get(
                    (judged.set_name, judged.question.query_id)
                )
            )
            is not None
            and (earlier_score >= _RIGHT_THRESHOLD) != judged.is_right
        ]
        return sorted(changes, key=lambda change: change.is_right)


def read_report(path: Path) -> EarlierReport:
    """Read a report of `report_to_json`. Raises `UnreadableEvalSet`, and `OSError` for a file that cannot be read."""
    try:
        data = cast(JsonObject, json.loads(path.read_text(encoding="utf-8")))
        if data["version"] != REPORT_VERSION:
            raise UnreadableEvalSet(str(path), f"it is a report of version {data['version']}, not {REPORT_VERSION}")
        columns = cast(dict[str, JsonObject], data["columns"])
        return EarlierReport(
            means_by_column={name: dict(_parse_means(column["lines"])) for name, column in columns.items()},
            scores_by_column={name: dict(_parse_scores(column["questions"])) for name, column in columns.items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise UnreadableEvalSet(str(path), "it is not a report of an evaluation") from exc


def _parse_means(lines: Iterable[JsonObject]) -> Iterator[tuple[MeasureKey, float]]:
    for line in lines:
        if line["category"] is None:
            yield (line["set"], line["kind"], line["measure"]), float(line["mean"])


def _parse_scores(questions: Iterable[JsonObject]) -> Iterator[tuple[tuple[str, str], float]]:
    for question in questions:
        yield (question["set"], question["query_id"]), float(question["right"])
