"""The type of a form of answer: it builds the index requests of a leg, and decides on the answers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent.retrieval.leg_requests import LegInquiry, LegRequests
from agent.review.leg_review import Enough, LegClarification, LegReview
from storage.search.plan import AnswerForm


@dataclass(frozen=True, slots=True, kw_only=True)
class FormOfAnswer:
    """How to answer legs with this `answer_form`. A module of this folder exports its form as `FORM`."""

    answer_form: type[AnswerForm]
    build_requests: Callable[[LegInquiry], LegRequests]
    decide: Callable[[LegReview], Awaitable[Enough | LegClarification]]
