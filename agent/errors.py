"""The exceptions of the agent. The exceptions of the index pass through it unchanged.

AgentError                  its message is one plain sentence
├── RerankerUnavailable     the reranker cannot run: the passages keep the order made without it
├── ModelUnavailable        no language model answers: the rules take over the stage
│   ├── CallsUsedUp         the turn may ask models no more
│   ├── SpendingCapReached  the tenant may spend no more on models for now
│   ├── PriceUnknown        a model without a price cannot keep the cap on spending
│   └── StreamCut           a model stopped in the middle of its reply
├── UnusableReply           a model's reply is not what was asked for: the rules take over the stage
└── UnusableToolCall        a model's call of a tool cannot be executed: the model is told why
"""


class AgentError(Exception):
    """Base of all exceptions of the agent."""


class RerankerUnavailable(AgentError):
    """A reranker cannot run now. The message names what is missing and, where it helps, what to do."""


class ModelUnavailable(AgentError):
    """No configured language model answers now, or none may be called. The message says why in a few words."""


class CallsUsedUp(ModelUnavailable):
    """The turn has asked language models as often as it may."""


class SpendingCapReached(ModelUnavailable):
    """The call could cost more than the tenant may still spend."""


class PriceUnknown(ModelUnavailable):
    """Spending is capped, and the price of the model is unknown."""


class StreamCut(ModelUnavailable):
    """A language model stopped in the middle of its reply."""


class UnusableReply(AgentError):
    """A language model replied with something else than was asked for, also after it was told so."""


class UnusableToolCall(AgentError):
    """A call of a tool cannot be executed. The message tells the model why, and which names exist."""
