"""The exceptions of the agent. The exceptions of the index pass through it unchanged.

AgentError                  its message is one plain sentence
└── RerankerUnavailable     the reranker cannot run: the passages keep the order made without it
"""


class AgentError(Exception):
    """Base of all exceptions of the agent."""


class RerankerUnavailable(AgentError):
    """A reranker cannot run now. The message names what is missing and, where it helps, what to do."""
