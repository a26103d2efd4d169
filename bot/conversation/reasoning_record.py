"""What a reasoner did in a turn: as JSON that is stored with the turn, and as lines that people read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any as Json
from typing import Final

from agent.compose.phrases.nouns import format_count, label_noun_of
from agent.outcome import ModelUsage
from agent.reasoning_log import EvidenceReview, ModelCallRecord, PlanDifference, ReasoningLog
from agent.translation.message_catalogues import mark_message

JsonObject = dict[str, Json]

_TOLD_WAIT_MS: Final = 100  # a shorter wait before a call is not told
# What a stage does, by its name in logs and results.
_STAGE_LABELS: Final[Mapping[str, str]] = {
    "decompose": mark_message("reading the question"),
    "validate": mark_message("checking the conditions"),
    "search": mark_message("searching"),
    "embed": mark_message("comparing by meaning"),
    "rerank": mark_message("ordering the passages"),
    "loop": mark_message("searching with a model"),
    "check": mark_message("reading the documents"),
    "review": mark_message("judging what was found"),
    "offer": mark_message("counting the choices"),
    "compose": mark_message("writing the answer"),
    "combine": mark_message("joining the answers"),
    "verify": mark_message("checking the answer"),
}
_DIFFERENCE_WORDS: Final[Mapping[str, str]] = {
    "same": "the rules make the same plan",
    "bucket": "the rules would search other buckets",
    "conditions": "the rules would search with other conditions",
    "form": "the rules would answer in another form",
    "parts": "the rules would split the question otherwise",
    "rules_incomplete": "the rules do not understand all of the question",
}


def label_of_stage(name: str) -> str:
    """What the stage does, in words that are translated where they are shown; its name where none is known."""
    return _STAGE_LABELS.get(name, name)


def usage_fields_of(reasoner: str, usage: ModelUsage) -> JsonObject:
    """The fields of a result about the reasoner and its model."""
    return {
        "reasoner": reasoner,
        "model_calls": usage.calls,
        "tokens": {"in": usage.input_tokens, "out": usage.output_tokens},
        "cost_usd": usage.cost_usd,
    }


def logged_fields_of(log: ReasoningLog) -> JsonObject:
    """The same fields, also for a turn that failed or was stopped."""
    return usage_fields_of("model" if log.used_model else "rule", log.usage)


def reasoning_to_json(log: ReasoningLog) -> JsonObject:
    """Empty if no model was called and no stage fell back. Has no texts of calls."""
    if not (log.calls or log.fallbacks or log.plan_difference):
        return {}
    return {
        "calls": [_call_to_json(call, _stage_of(call, log)) for call in log.calls],
        "fallbacks": dict(log.fallbacks),
        "unavailable": None if log.unavailability is None else str(log.unavailability),
        "complexity": log.complexity,
        "sub_queries": [{"question": part.question, "purpose": part.purpose} for part in log.sub_queries],
        "reviews": [_review_to_json(review) for review in log.reviews],
        "plan_difference": None if log.plan_difference is None else _difference_to_json(log.plan_difference),
    }


def _stage_of(call: ModelCallRecord, log: ReasoningLog) -> str:
    """The stage in which the call was made: the first that ended after it; empty for a call after the last stage."""
    return next((stage.name for stage in log.stages if stage.ended_at >= call.ended_at), "")


def _call_to_json(call: ModelCallRecord, stage: str) -> JsonObject:
    return {
        "prompt": call.prompt,
        "stage": stage,
        "model": call.model,
        "ms": round(call.ms, 1),
        "waited_ms": round(call.waited_ms, 1),
        "tokens": {"in": call.input_tokens, "out": call.output_tokens},
        "cost_usd": call.cost_usd,
        "error": call.error or None,
    }


def _review_to_json(review: EvidenceReview) -> JsonObject:
    return {
        "question": review.question,
        "completeness": review.completeness,
        "reasoning": review.reasoning,
        "missing": list(review.missing),
        "queries": list(review.queries),
    }


def _difference_to_json(difference: PlanDifference) -> JsonObject:
    return {"kind": difference.kind, "model_plan": difference.model_plan, "rule_plan": difference.rule_plan}


def debug_fields_of(reasoning: Mapping[str, Json]) -> JsonObject:
    """The fields that `--debug` adds to a result: the model calls, and what else the reasoner did."""
    other_fields = {name: value for name, value in reasoning.items() if name != "calls"}
    return {"calls": reasoning.get("calls", []), "reasoning": other_fields}


def describe_stages(result: Mapping[str, Json], reasoning: Mapping[str, Json]) -> Iterator[str]:
    """Yields lines of raw text: the stages with their times, the tokens and cost of their model calls, and which of
    them the rules took over.

    `result` has the format of `parley ask --json`. `reasoning` may be empty.
    """
    calls = reasoning.get("calls", ())
    for name, stages in _by_name(result["stages"]).items():
        yield _describe_stage(name, stages, [call for call in calls if call.get("stage") == name])
    names = {stage["name"] for stage in result["stages"]}
    for name, reason in reasoning.get("fallbacks", {}).items():
        if name not in names:
            yield f"{label_of_stage(name)}: {_describe_fallback(reason)}"


def describe_reasoning(result: Mapping[str, Json], reasoning: Mapping[str, Json]) -> Iterator[str]:
    """Yields lines of raw text: what a model did. Takes the same as `describe_stages`.

    The lines tell the kind of a plan difference, not the plans, and how complete a model found the evidence, not why.
    """
    if reasoning.get("calls"):
        yield _describe_usage(result, reasoning["calls"])
        yield from map(_describe_call, reasoning["calls"])
    if reasoning.get("complexity"):
        yield f"complex: {reasoning['complexity']}"
    yield from _describe_sub_queries(reasoning.get("sub_queries", ()))
    yield from map(_describe_completeness, reasoning.get("reviews", ()))
    if difference := reasoning.get("plan_difference"):
        yield f"compared with the rules: {_DIFFERENCE_WORDS.get(difference['kind'], difference['kind'])}"


def describe_plans(reasoning: Mapping[str, Json]) -> Iterator[str]:
    """Yields the two plans, where they differ, for operators."""
    difference = reasoning.get("plan_difference")
    if difference and difference["kind"] != "same":
        yield f"plan of the model: {difference['model_plan']}"
        yield f"plan of the rules: {difference['rule_plan']}"


def describe_reviews(reasoning: Mapping[str, Json]) -> Iterator[str]:
    """Yields why a model found the evidence complete or not, in its own words, for operators."""
    for review in reasoning.get("reviews", ()):
        parts = [f"{_describe_completeness(review)}: {review['reasoning']}"]
        parts += [f"missing: {'; '.join(review['missing'])}"] if review["missing"] else []
        parts += [f"searched again: {'; '.join(review['queries'])}"] if review["queries"] else []
        yield " · ".join(parts)


def _describe_completeness(review: Mapping[str, Json]) -> str:
    question = f" for {review['question']}" if review["question"] else ""
    return f"evidence{question}: {review['completeness']:.0%} complete"


def _by_name(stages: Sequence[Mapping[str, Json]]) -> Mapping[str, Sequence[Mapping[str, Json]]]:
    """The stages by name, in the order of their first round."""
    by_name = dict[str, list[Mapping[str, Json]]]()
    for stage in stages:
        by_name.setdefault(stage["name"], []).append(stage)
    return by_name


def _describe_stage(name: str, rounds: Sequence[Mapping[str, Json]], calls: Sequence[Mapping[str, Json]]) -> str:
    """`rounds`: the stage once for each round of the search."""
    parts = [format_ms(sum(stage["ms"] for stage in rounds))]
    parts += [f"in {len(rounds)} rounds"] if len(rounds) > 1 else []
    parts += [_describe_tokens(_usage_of(calls))] if calls else []
    parts += [_describe_fallback(reason) for reason in dict.fromkeys(stage["fallback"] for stage in rounds) if reason]
    return f"{label_of_stage(name)}: {', '.join(parts)}"


def _usage_of(calls: Sequence[Mapping[str, Json]]) -> JsonObject:
    """The sum of the tokens and costs; the cost is None if that of one call is."""
    costs = [call["cost_usd"] for call in calls]
    tokens = {name: sum(call["tokens"][name] for call in calls) for name in ("in", "out")}
    return {"tokens": tokens, "cost_usd": None if None in costs else sum(costs)}


def _describe_fallback(reason: str) -> str:
    return f"taken over by the rules ({reason.removesuffix('.')})"


def _describe_usage(result: Mapping[str, Json], calls: Sequence[Mapping[str, Json]]) -> str:
    count = format_count(result["model_calls"], label_noun_of("model call"))
    failures = sum(bool(call["error"]) for call in calls)
    parts = [f"{failures:,} failed"] if failures else []
    return ", ".join([f"{count}: {_describe_tokens(result)}", *parts])


def _describe_call(call: Mapping[str, Json]) -> str:
    """A call that cost nothing, since it failed before the model read it, has no tokens to tell."""
    waited_ms = call.get("waited_ms", 0.0)  # a turn of an earlier version has none
    parts = [format_ms(call["ms"]) + (f" after waiting {format_ms(waited_ms)}" if waited_ms >= _TOLD_WAIT_MS else "")]
    parts += [] if call["error"] and not any(call["tokens"].values()) else [_describe_tokens(call)]
    parts += [f"failed: {call['error']}"] if call["error"] else []
    return f"{call['prompt']} to {call['model']}: {', '.join(parts)}"


def _describe_tokens(usage: Mapping[str, Json]) -> str:
    """`usage` has `tokens` and `cost_usd`."""
    tokens = usage["tokens"]
    return f"{tokens['in']:,} tokens in, {tokens['out']:,} out, cost {format_cost(usage['cost_usd'])}"


def format_ms(ms: float) -> str:
    """ "0.4 ms", "12 ms", "3,680 ms"."""
    return f"{ms:,.1f} ms" if 0 < ms < 10 else f"{ms:,.0f} ms"


def _describe_sub_queries(sub_queries: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    for number, part in enumerate(sub_queries, start=1):
        purpose = f" ({part['purpose']})" if part["purpose"] else ""
        yield f"part {number}: {part['question']}{purpose}"


def format_cost(cost_usd: float | None) -> str:
    """ "$0", "$0.0123", "$0.000045"; "unknown" without a price."""
    if cost_usd == 0:
        return "$0"
    return "unknown" if cost_usd is None else f"${cost_usd:.{4 if cost_usd >= 0.01 else 6}f}"
