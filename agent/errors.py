"""What the agent raises, beside what the index raises.

AgentError                  its text is one plain sentence
└── RerankerUnavailable     no model orders the passages: they keep the order made without one
"""


class AgentError(Exception):
    """Base of all that the agent raises."""


class RerankerUnavailable(AgentError):
    """A reranker cannot do its work now. Says what is missing and, where that helps, what to do."""
