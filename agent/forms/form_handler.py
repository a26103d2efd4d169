"""The handler of an answer form: builds the index requests of a leg, and decides on the answers of the index."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from agent.retrieval.leg_requests import LegInquiry, LegRequests
from agent.review.leg_review import Enough, LegClarification, LegReview
from storage.search.plan import AnswerForm

FormT = TypeVar("FormT", bound=AnswerForm)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormHandler(Generic[FormT]):
    """How to answer legs with this class of answer form. A module of this folder exports its handler as `HANDLER`.

    Both functions receive the answer form of the leg first.
    """

    answer_form: type[FormT]
    build_requests: Callable[[FormT, LegInquiry], LegRequests]
    decide: Callable[[FormT, LegReview], Awaitable[Enough | LegClarification]]
