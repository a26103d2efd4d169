"""The protocol of a combiner, which joins the answers to the parts of a question into one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agent.review.review import ReviewedPlan
from agent.verify import VerifiedLeg
from storage.search.ids import LegId


@dataclass(frozen=True, slots=True, kw_only=True)
class JointAnswer:
    """Verified Markdown sentences that take the place of the answers to `legs`.

    Their markers are those of `agent.verify.number_citations`. No sentences: the answers belong together, but could
    not be joined.
    """

    sentences: tuple[str, ...] = ()
    legs: frozenset[LegId] = frozenset()


@runtime_checkable
class AnswerCombiner(Protocol):
    """What a reasoner may also be."""

    async def combine_answers(self, reviewed: ReviewedPlan, legs: Sequence[VerifiedLeg]) -> JointAnswer | None:
        """Returns the joint answer; None if the answers are to stand one after the other. Raises nothing."""
        ...
