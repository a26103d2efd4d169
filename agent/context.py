"""The input of the agent for one question: an index within a scope, a reasoner, a clock and limits."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.outcome import SearchAttempt
from agent.reasoner import Reasoner
from agent.retrieval.relevance import Reranker
from storage.search.ids import BucketId
from storage.search.index import ScopedIndex
from storage.search.plan import Plan

SHOWN_DOCUMENTS = 10  # documents of a list that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLimits:
    """When to ask back, and how much to show."""

    overload_documents: int = 100  # documents above which a list asks back
    read_documents: int = 20  # documents above which a summary, or one side of a comparison, asks back
    reported_hits: int = 10  # ranked passages to report
    reported_documents: int = 1000  # document ids to report
    max_clarifications_in_a_row: int = 2
    reranking_timeout: timedelta = timedelta(seconds=3)  # a reranker that takes longer is not used


def _ignore_progress(text: str) -> None:
    """Do nothing: the default where nobody watches the progress."""


def _ignore_attempt(attempt: SearchAttempt) -> None:
    """Do nothing: the default where nobody records attempts while they are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """Everything that the agent may use for one question. `now` is aware, in the asker's time zone."""

    index: ScopedIndex
    reasoner: Reasoner
    now: datetime
    reranker: Reranker | None = None  # changes the order of passages
    locale: str = "en"
    limits: AnswerLimits = AnswerLimits()
    buckets: frozenset[BucketId] | None = None  # the buckets to search; None: all in scope
    last_plan: Plan | None = None  # the last plan of this conversation under this scope
    earlier_plans: tuple[Plan, ...] = ()  # the plans before it, oldest first
    clarifications_in_a_row: int = 0  # clarifications in a row before this turn
    just_answer: bool = False  # do not ask back in this turn
    may_go_private: bool = False  # the asker may see more than this audience: offer to continue in private
    report_progress: Callable[[str], None] = _ignore_progress
    report_attempt: Callable[[SearchAttempt], None] = _ignore_attempt  # called at once, in case the turn fails later
