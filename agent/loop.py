"""The stages in order and nothing else: `answer` and `resume`, the agent's public face."""

from agent.context import Context
from agent.outcome import Outcome
from storage.search.plan import Plan


async def answer(question: str, context: Context) -> Outcome:
    """From a question to what becomes of it. Raises what the index raises, and nothing else."""
    raise NotImplementedError


async def resume(plan: Plan, context: Context) -> Outcome:
    """Go on at retrieval with a plan that a click or a typed choice refined. Raises what the index raises."""
    raise NotImplementedError
