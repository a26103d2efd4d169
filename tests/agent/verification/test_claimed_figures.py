"""Figures of any size are checked: records may hold every double."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.compose.phrases.values import format_money, format_number
from agent.translation.languages import use_language
from agent.verification.claimed_figures import find_unfounded_figure


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
@given(number=st.floats(1e15, 1e300), sign=st.sampled_from((-1, 1)), other=st.floats(1e3, 1e300))
def test_a_large_number_is_founded_on_itself_alone(language: str, number: float, sign: int, other: float) -> None:
    with use_language(language):
        sentences = (f"The sum is {format_number(sign * number)}.", f"The sum is {format_money(sign * number, None)}.")

    for sentence in sentences:
        assert find_unfounded_figure(sentence, {sign * number}, "", "", language) is None
        if abs(other - number) > 1e-6 * number:
            assert find_unfounded_figure(sentence, {other}, "", "", language) is not None
