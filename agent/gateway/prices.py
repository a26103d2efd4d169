"""What calls cost, and what they may cost at most."""

from agent.gateway.messages import ModelRequest
from agent.gateway.model_client import TokenUsage
from agent.gateway.options import ModelPrice
from agent.token_counts import estimate_tokens

_TOKENS_A_MESSAGE = 4  # its role and separators: https://github.com/openai/openai-cookbook, "How to count tokens"
_TOKENS_A_PRICE = 1_000_000


def cost_of(usage: TokenUsage, price: ModelPrice | None) -> float | None:
    """Returns US dollars; None if the price is unknown."""
    if price is None:
        return None
    return (usage.input_tokens * price.input_usd + usage.output_tokens * price.output_usd) / _TOKENS_A_PRICE


def estimate_input_tokens(request: ModelRequest) -> int:
    """Estimates the tokens of all messages with their tool calls, of the schema and of the tools."""
    texts = [message.content for message in request.messages]
    texts += [call.name + call.arguments for message in request.messages for call in message.tool_calls]
    texts += [f"{tool.name}{tool.description}{tool.parameters}" for tool in request.tools]
    texts += [] if request.output_schema is None else [str(request.output_schema.schema)]
    return sum(estimate_tokens(text) for text in texts) + _TOKENS_A_MESSAGE * len(request.messages)
