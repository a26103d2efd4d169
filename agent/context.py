"""The input of the agent for one question."""

from dataclasses import dataclass

from agent.reasoner import Reasoner
from agent.retrieval.search_context import SearchContext


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext(SearchContext):
    """What the stages may use, and the reasoner that takes those which need judgement."""

    reasoner: Reasoner
