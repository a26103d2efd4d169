"""The work on a question grows no faster than its length: counted in calls of functions, not in time."""

import asyncio
import math
import sys
from types import FrameType

import pytest

from agent.rules.reasoner import RuleReasoner
from tests.agent.rules.reading.test_bucket_reading import QUESTION_CONTEXT
from tests.attack.question_shapes import QUESTION_SHAPES, make_question

_LENGTHS = (625, 1_250, 2_500, 5_000, 10_000)  # code points
_MAX_EXPONENT = 1.3
_MAX_CALLS = 3_000_000  # about ten times those of a question of 40 words


def count_calls(question: str) -> int:
    """Returns the number of calls, of Python and of C, that the rules take to read the question."""
    calls = 0

    def count_event(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    reasoner = RuleReasoner()
    asyncio.run(reasoner.decompose_question("parcels by Blue Van", QUESTION_CONTEXT))  # builds what is cached
    sys.setprofile(count_event)
    try:
        asyncio.run(reasoner.decompose_question(question, QUESTION_CONTEXT))
    finally:
        sys.setprofile(None)
    return calls


def fit_exponent(lengths: tuple[int, ...], calls: list[int]) -> float:
    """Returns the slope of log(calls) over log(length) by least squares."""
    xs, ys = [math.log(length) for length in lengths], [math.log(count) for count in calls]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    covariance = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return covariance / sum((x - mean_x) ** 2 for x in xs)


@pytest.mark.parametrize("shape", QUESTION_SHAPES)
def test_the_work_on_a_question_is_bounded_and_nearly_linear_in_its_length(shape: str) -> None:
    calls = [count_calls(make_question(QUESTION_SHAPES[shape], length)) for length in _LENGTHS]
    assert fit_exponent(_LENGTHS, calls) <= _MAX_EXPONENT
    assert max(calls) <= _MAX_CALLS
