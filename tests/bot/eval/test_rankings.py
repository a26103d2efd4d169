"""Measures of rankings, against values worked out by hand."""

import pytest

from bot.eval.rankings import average_precision, ndcg, recall


def test_a_perfect_ranking_is_one() -> None:
    assert ndcg(["a", "b", "x"], {"a", "b"}) == 1.0
    assert average_precision(["a", "b", "x"], {"a", "b"}) == 1.0


def test_what_comes_late_counts_less() -> None:
    assert ndcg(["x", "a"], {"a"}) == pytest.approx(0.6309, abs=1e-4)
    assert average_precision(["x", "a", "y", "b"], {"a", "b"}) == pytest.approx(0.5)
    assert recall(["x", "a", "y", "b"], {"a", "b"}, 2) == 0.5


def test_nothing_relevant_is_zero() -> None:
    assert ndcg(["a"], set()) == average_precision(["a"], set()) == recall(["a"], set(), 10) == 0.0
