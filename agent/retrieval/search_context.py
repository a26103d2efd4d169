"""The input of retrieval and review for one question: an index within a scope, limits, and the conversation so far."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from agent.evidence.word_meanings import TextEmbedder
from agent.limits import AnswerLimits
from agent.outcome import SearchAttempt
from agent.reasoning_log import ReasoningLog
from agent.retrieval.relevance import Reranker
from agent.web_search.web_passages import WebPassageSearch
from storage.search.ids import BucketId, DocId, LegId
from storage.search.index import ScopedIndex
from storage.search.plan import Plan


def _ignore_progress(text: str) -> None:
    """Do nothing: the default where nobody watches the progress."""


def _ignore_attempt(attempt: SearchAttempt) -> None:
    """Do nothing: the default where nobody records attempts while they are made."""


def ignore_partial_answer(leg: LegId, markdown: str) -> None:
    """Do nothing: the default where nobody watches an answer being written. Then it need not be streamed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchContext:
    """Everything that the stages may use for one question. `now` is aware, in the asker's time zone."""

    index: ScopedIndex
    now: datetime
    reranker: Reranker | None = None  # changes the order of passages
    embedder: TextEmbedder | None = None  # validates passages; None: they are not validated
    uses_index_cosines: bool = True  # the embedder is also the index's, so its cosines need not be computed again
    web_search: WebPassageSearch | None = None  # a model may search the web after the documents; None: it may not
    locale: str = "en"
    limits: AnswerLimits = field(default_factory=AnswerLimits)
    buckets: frozenset[BucketId] | None = None  # the buckets to search; None: all in scope
    last_plan: Plan | None = None  # the last plan of this conversation under this scope
    earlier_plans: tuple[Plan, ...] = ()  # the plans before it, oldest first
    conversation_summary: str = ""  # the latest questions and outcomes under this scope, a line each
    found_nothing: bool = False  # the last turn found no document, or was not understood
    pending_words: tuple[str, ...] = ()  # words that the last turn asked about, and that no reply has explained
    found_documents: tuple[DocId, ...] = ()  # that the last reply cited
    clarifications_in_a_row: int = 0  # clarifications in a row before this turn
    just_answer: bool = False  # do not ask back in this turn
    may_go_private: bool = False  # the asker may see more than this audience: offer to continue in private
    report_progress: Callable[[str], None] = _ignore_progress
    # Called with all verified sentences of a leg's answer so far, whenever there is one more; empty: it is withdrawn
    report_partial_answer: Callable[[LegId, str], None] = ignore_partial_answer
    report_attempt: Callable[[SearchAttempt], None] = _ignore_attempt  # called at once, in case the turn fails later
    reasoning_log: ReasoningLog = field(default_factory=ReasoningLog)  # filled by the reasoner
