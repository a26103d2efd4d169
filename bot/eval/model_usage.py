"""What a run of an evaluation asked of language models: calls, tokens and costs by set, and how plans differed."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any as Json
from typing import Final

from bot.eval.report import JudgedQuestion, ReportColumn

NO_DIFFERENCE: Final = "not compared"  # the kind of a question whose plans were not compared


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUsage:
    """The usage for the questions of a set. `cost_usd` is None if the price of a call is unknown."""

    set_name: str
    question_count: int
    asked_count: int  # questions with at least one call
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    most_calls: int  # for one question
    fallback_count: int  # questions with a stage that rules took over


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceCount:
    """How often the plans of the model and of the rules differed in a way, and how many of these answers are right."""

    set_name: str
    kind: str
    question_count: int
    right_count: int


def usage_by_set(column: ReportColumn) -> list[SetUsage]:
    """In the order of the sets; empty if no model was called."""
    groups: dict[str, list[JudgedQuestion]] = defaultdict(list)
    for judged in column.judged_questions:
        groups[judged.set_name].append(judged)
    usages = [_usage_of_set(name, members) for name, members in groups.items()]
    return usages if any(usage.calls or usage.fallback_count for usage in usages) else []


def _usage_of_set(name: str, members: Sequence[JudgedQuestion]) -> SetUsage:
    asked = [judged.result for judged in members if judged.result["model_calls"]]
    costs = [result["cost_usd"] for result in asked]
    known_costs = [cost for cost in costs if cost is not None]
    return SetUsage(
        set_name=name,
        question_count=len(members),
        asked_count=len(asked),
        calls=sum(result["model_calls"] for result in asked),
        input_tokens=sum(result["tokens"]["in"] for result in asked),
        output_tokens=sum(result["tokens"]["out"] for result in asked),
        cost_usd=sum(known_costs) if len(known_costs) == len(costs) else None,
        most_calls=max((result["model_calls"] for result in asked), default=0),
        fallback_count=sum(bool(_reasoning_of(judged).get("fallbacks")) for judged in members),
    )


def count_plan_differences(column: ReportColumn) -> list[DifferenceCount]:
    """By set, the most frequent kind first. Leaves out questions without a call."""
    counts: Counter[tuple[str, str]] = Counter()
    right_counts: Counter[tuple[str, str]] = Counter()
    for judged in column.judged_questions:
        if judged.result["model_calls"]:
            key = (judged.set_name, difference_kind_of(judged) or NO_DIFFERENCE)
            counts[key] += 1
            right_counts[key] += judged.is_right
    set_names = list(dict.fromkeys(judged.set_name for judged in column.judged_questions))
    return [
        DifferenceCount(set_name=name, kind=kind, question_count=count, right_count=right_counts[name, kind])
        for (name, kind), count in sorted(counts.items(), key=lambda item: (set_names.index(item[0][0]), -item[1]))
    ]


def difference_kind_of(judged: JudgedQuestion) -> str | None:
    """None if the plans were not compared."""
    difference = _reasoning_of(judged).get("plan_difference")
    return None if difference is None else str(difference["kind"])


def _reasoning_of(judged: JudgedQuestion) -> Mapping[str, Json]:
    return judged.result.get("reasoning", {})  # a question that was not asked has none
