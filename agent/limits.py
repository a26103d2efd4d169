"""When to ask back, and how much to show."""

from dataclasses import dataclass
from datetime import timedelta

SHOWN_DOCUMENTS = 10  # documents of a list that are shown
NAMED_VALUES = 3  # of a condition that accepts several; the others are counted: “or 2 more”


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLimits:
    """When to ask back, and how much to show."""

    overload_documents: int = 100  # documents above which a list asks back
    read_documents: int = 20  # documents above which a summary, or one side of a comparison, asks back
    reported_hits: int = 10  # ranked passages to report
    reported_documents: int = 1000  # document ids to report
    decompose_searches: bool = True  # rank passages by the topics of a question too
    validate_hits: bool = True  # report no passage that is far from the whole question in meaning
    max_clarifications_in_a_row: int = 2
    reranking_timeout: timedelta = timedelta(seconds=3)  # a reranker that takes longer is not used
