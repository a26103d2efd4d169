"""When and how the model reasoner uses its model."""

from dataclasses import dataclass
from enum import StrEnum


class ModelUse(StrEnum):
    """Which questions the model is asked about."""

    NEEDED = "needed"  # those that the rules do not link completely
    ALWAYS = "always"


class ModelMode(StrEnum):
    """How the model answers a question."""

    STAGED = "staged"  # it plans, then it reviews and writes
    LOOP = "loop"  # one conversation in which it calls tools


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """The limits hold for one question."""

    when: ModelUse = ModelUse.NEEDED
    mode: ModelMode = ModelMode.STAGED
    max_tool_calls: int = 5
    completeness: float = 0.8  # 0 to 1, from which evidence is enough
    max_rounds: int = 3  # of searches
    max_calls: int = 4
    simple_calls: int = 2  # for a question of one part: no further search whose answer would be a third call
    max_sub_queries: int = 5
    call_timeout_s: float = 30.0  # for a call with all its retries and fallbacks
