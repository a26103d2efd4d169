"""The `Reasoner` protocol: the stages of a question that need judgement.

The rule reasoner needs no language model. The rule and the model reasoner take and return the same types.
"""

from typing import Protocol

from agent.compose.composed_leg import FactsComposer
from agent.decomposition import Decomposition, QuestionContext
from agent.review.leg_review import EvidenceReviewer


class PlanReasoner(EvidenceReviewer, FactsComposer, Protocol):
    """Reviews what was found for a plan, and composes sentences from the facts."""


class Reasoner(PlanReasoner, Protocol):
    """Decomposes a question into a plan, reviews what was found for it, and composes sentences from the facts.

    A stage has no side effects except caching. It raises only the errors of the index.
    """

    @property
    def name(self) -> str:
        """`rule` or `model`."""
        ...

    async def decompose_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        """Returns the plan of the question for the buckets in `question_context`, or another request that it makes."""
        ...

    async def replan_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        """Decomposes a question that was asked before, for a click on a choice of its reply. Calls no model."""
        ...
