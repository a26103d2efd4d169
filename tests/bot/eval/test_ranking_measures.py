"""Measures of rankings, against values computed by hand."""

import pytest

from bot.eval.ranking_measures import average_precision, ndcg_at, recall_at


def test_a_perfect_ranking_is_one() -> None:
    assert ndcg_at(["a", "b", "x"], {"a", "b"}) == 1.0
    assert average_precision(["a", "b", "x"], {"a", "b"}) == 1.0


def test_a_later_hit_counts_less() -> None:
    assert ndcg_at(["x", "a"], {"a"}) == pytest.approx(0.6309, abs=1e-4)
    assert average_precision(["x", "a", "y", "b"], {"a", "b"}) == pytest.approx(0.5)
    assert recall_at(["x", "a", "y", "b"], {"a", "b"}, 2) == 0.5


def test_nothing_relevant_is_zero() -> None:
    assert ndcg_at(["a"], set()) == average_precision(["a"], set()) == recall_at(["a"], set(), 10) == 0.0
