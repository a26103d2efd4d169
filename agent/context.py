"""What the agent is handed for one question, and nothing more: an index within a scope, a clock, limits."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from agent.outcome import Attempt
from agent.reasoner import Reasoner
from agent.rerank import Reranker
from storage.search.ids import BucketId
from storage.search.index import ScopedIndex
from storage.search.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When to ask back, and how much to show."""

    overload: int = 100  # documents above which a list asks back
    read: int = 20  # documents above which a summary, or one side of a comparison, asks back
    hits: int = 10  # ranked passages to report
    documents: int = 1000  # document ids to report
    clarifications_in_a_row: int = 2
    reranking: timedelta = timedelta(seconds=3)  # a reranker that takes longer is done without


def _unheard(text: str) -> None:
    """Progress that nobody watches."""


def _unseen(attempt: Attempt) -> None:
    """Attempts of which nobody keeps count while they are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One question's surroundings. `now` is aware, in the asker's time zone."""

    index: ScopedIndex
    reasoner: Reasoner
    now: datetime
    reranker: Reranker | None = None  # has its say in the order of passages
    locale: str = "en"
    limits: Limits = Limits()
    buckets: frozenset[BucketId] | None = None  # only these were asked; None: all in scope
    last: Plan | None = None  # of this conversation under this scope
    earlier: tuple[Plan, ...] = ()  # those before it, oldest first
    asked_back: int = 0  # clarifications in a row before this turn
    just_answer: bool = False  # never ask back this time
    may_go_private: bool = False  # the asker alone may see more than this audience: offer to continue there
    web_allowed: bool = False
    progress: Callable[[str], None] = _unheard
    attempted: Callable[[Attempt], None] = _unseen  # each as it is made, should the rest come to nothing
