"""What a reasoner did in one turn besides its result: calls of language models, and stages that rules took over."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from agent.errors import AgentError, CallsUsedUp, ModelUnavailable
from agent.evidence.evidence_score import AssessedSentence
from agent.outcome import ModelUsage, TraceStage
from agent.web_search.web_usage import WebUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallRecord:
    """One call of a language model, successful or not. `cost_usd` is None if the price is unknown."""

    prompt: str  # name and version, as `plan_question@3`
    model: str
    ms: float
    waited_ms: float = 0.0  # before it: for the library to load, for a slot, or between tries
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    error: str = ""  # why the call failed; empty: it did not
    request_text: str = ""  # the texts are only kept if a setting says so
    reply_text: str = ""
    ended_at: float = field(default_factory=time.time, compare=False)  # in seconds since 1970, UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDifference:
    """In what the plan of the model and the plan of the rules for one question differ; texts are for operators."""

    kind: str  # "same", "bucket", "conditions", "form", "parts" or "rules_incomplete"
    model_plan: str = ""
    rule_plan: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubQueryPurpose:
    """A part into which a question was split, and what it is for."""

    question: str
    purpose: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceReview:
    """How a model rated the evidence for a question in one round. The texts are the model's, and for operators only."""

    question: str  # empty: the whole question
    completeness: float  # 0 to 1, how much of the question the evidence answers
    reasoning: str = ""
    missing: tuple[str, ...] = ()  # what the evidence does not answer
    queries: tuple[str, ...] = ()  # searches that followed


@dataclass(slots=True)
class ReasoningLog:
    """Filled while a turn runs; one per turn. It also holds what a turn did that failed in the end."""

    calls: list[ModelCallRecord] = field(default_factory=list[ModelCallRecord])
    model_requests: int = 0  # to language models, each with its retries; embeddings and scores are not counted
    stages: list[TraceStage] = field(default_factory=list[TraceStage])  # in the order in which they ended
    fallbacks: dict[str, str] = field(default_factory=dict[str, str])  # stage to the reason why rules took it over
    complexity: str = ""  # why the question is complex; empty: it is not, or no model was asked
    leaves_topic: bool = False  # a model says that the question does not continue the conversation
    sub_queries: list[SubQueryPurpose] = field(default_factory=list[SubQueryPurpose])
    reviews: list[EvidenceReview] = field(default_factory=list[EvidenceReview])  # in their order
    plan_difference: PlanDifference | None = None
    evidence: list[AssessedSentence] = field(default_factory=list[AssessedSentence])  # one a leg that reads texts
    unavailability: ModelUnavailable | None = None  # the first failure to get any answer of a model
    web_usage: WebUsage = field(default_factory=WebUsage)

    def record_fallback(self, stage: str, reason: str) -> None:
        """Notes that the rules took over a stage. The first reason of a stage stays."""
        self.fallbacks.setdefault(stage, reason)

    def record_failure(self, stage: str, failure: AgentError) -> None:
        """Notes that the rules took over a stage because of `failure`. The asker is told if no model answered."""
        self.record_fallback(stage, str(failure))
        if isinstance(failure, ModelUnavailable) and not isinstance(failure, CallsUsedUp):
            self.unavailability = self.unavailability or failure

    @property
    def used_model(self) -> bool:
        """Whether a model answered at least once."""
        return any(not call.error for call in self.calls)

    @property
    def usage(self) -> ModelUsage:
        """The sum over all calls. Its cost is None if the price of one of them is unknown, and without calls."""
        costs = [call.cost_usd for call in self.calls]
        known_costs = [cost for cost in costs if cost is not None]
        return ModelUsage(
            calls=len(self.calls),
            input_tokens=sum(call.input_tokens for call in self.calls),
            output_tokens=sum(call.output_tokens for call in self.calls),
            cost_usd=sum(known_costs) if costs and len(known_costs) == len(costs) else None,
        )


_ACTIVE_LOG: ContextVar[ReasoningLog | None] = ContextVar("active_reasoning_log", default=None)


@contextmanager
def collect_calls_in(log: ReasoningLog) -> Generator[None]:
    """Within the block, calls by embedders and rerankers, which know nothing of turns, are appended to `log`."""
    token = _ACTIVE_LOG.set(log)
    try:
        yield
    finally:
        _ACTIVE_LOG.reset(token)


def active_reasoning_log() -> ReasoningLog:
    """The log of the turn that this code runs for; outside of turns a new one."""
    return _ACTIVE_LOG.get() or ReasoningLog()
