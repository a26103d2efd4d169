"""The protocol of a document checker, which reads the documents of a set that only texts define."""

from typing import Protocol, runtime_checkable

from agent.decomposition import PlannedQuestion, QuestionContext
from agent.retrieval.session import RetrievalSession


@runtime_checkable
class DocumentChecker(Protocol):
    """What a reasoner may also be.

    It reads documents through the session alone, so it sees only the scope.
    """

    async def check_documents(
        self, session: RetrievalSession, planned: PlannedQuestion, question_context: QuestionContext
    ) -> PlannedQuestion:
        """Returns the plan with each set that it could check as exactly those documents that fit.

        Only sets of a model's plan are checked. Of a set that is not, an assumption says that words define it. Raises
        only the errors of the index.
        """
        ...
