"""The protocol of a question loop, which searches before there is a plan and makes the plan from what it found."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agent.decomposition import PlannedQuestion, QuestionContext
from agent.reasoner import PlanReasoner
from agent.retrieval.session import RetrievalSession


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopedQuestion:
    """The plan of a question that a loop has answered, and who reviews and composes it with what the loop found."""

    planned: PlannedQuestion
    reasoner: PlanReasoner


@runtime_checkable
class QuestionLoop(Protocol):
    """What a reasoner may also be: it takes the place of decomposition.

    Everything it finds comes through the session, so it sees only the scope.
    """

    async def answer_in_loop(
        self, question: str, question_context: QuestionContext, session: RetrievalSession
    ) -> LoopedQuestion | None:
        """Returns the plan of the question; None if the reasoner is to decompose it.

        That is a message that needs no loop, such as a command or a follow-up, and a loop that failed, which is in
        the reasoning log. Raises only the errors of the index.
        """
        ...
