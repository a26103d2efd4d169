"""What a reasoner did, as lines that people read."""

import re
from pathlib import Path

from agent.outcome import TraceStage
from agent.reasoning_log import ModelCallRecord, ReasoningLog
from bot.conversation.reasoning_record import describe_stages, label_of_stage, reasoning_to_json


def a_call(ended_at: float, input_tokens: int, cost_usd: float | None) -> ModelCallRecord:
    return ModelCallRecord(
        prompt="p@1",
        model="m",
        ms=1.0,
        input_tokens=input_tokens,
        output_tokens=5,
        cost_usd=cost_usd,
        ended_at=ended_at,
    )


def stage_json(stage: TraceStage) -> dict[str, object]:
    return {"name": stage.name, "ms": stage.ms, "fallback": stage.fallback}


def test_every_stage_that_is_recorded_is_told_in_words() -> None:
    agent = Path(__file__).parents[3] / "agent"
    source = "\n".join(path.read_text(encoding="utf-8") for path in agent.rglob("*.py"))
    recorded = set(re.findall(r'record_stage\("(\w+)"', source))
    recorded |= {
        name
        for names in re.findall(r"^(?:_?[A-Z]*_?STAGE(?:, )?)+ = (.+)$", source, re.MULTILINE)
        for name in re.findall(r'"(\w+)"', names)
    }

    assert {"decompose", "search", "embed", "rerank", "loop", "check", "verify"} <= recorded
    assert {name for name in recorded if label_of_stage(name) == name} == set()


def test_each_stage_shows_the_tokens_and_cost_of_its_calls() -> None:
    stages = [
        TraceStage(name="decompose", ms=900.0, ended_at=10.0),
        TraceStage(name="review", ms=700.0, ended_at=20.0),
        TraceStage(name="review", ms=300.0, fallback="timed out", ended_at=30.0),
    ]
    calls = [a_call(9.0, 1_000, 0.5), a_call(15.0, 200, 0.25), a_call(25.0, 300, None)]
    log = ReasoningLog(calls=calls, stages=stages)

    lines = list(describe_stages({"stages": [stage_json(stage) for stage in stages]}, reasoning_to_json(log)))

    assert lines == [
        "reading the question: 900 ms, 1,000 tokens in, 5 out, cost $0.5000",
        "judging what was found: 1,000 ms, in 2 rounds, 500 tokens in, 10 out, cost unknown, "
        "taken over by the rules (timed out)",
    ]


def test_a_call_after_the_last_stage_belongs_to_none() -> None:
    log = ReasoningLog(calls=[a_call(11.0, 1, 0.0)], stages=[TraceStage(name="compose", ms=1.0, ended_at=10.0)])

    assert [call["stage"] for call in reasoning_to_json(log)["calls"]] == [""]
