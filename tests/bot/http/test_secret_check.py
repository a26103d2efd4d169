"""A secret is compared over its hash, and a caller may give ten wrong ones a minute."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.http.errors import TooManyAttempts
from bot.http.secret_check import MAX_WRONG_IN_ALL, MAX_WRONG_PER_CALLER, SecretCheck


class MovedClock:
    now = datetime(2031, 5, 4, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def check(clock: MovedClock) -> SecretCheck:
    return SecretCheck("open sesame", clock)


@pytest.mark.parametrize("attempt", ["", "open", "open sesame ", "x" * 100_000, "\ud800", "é"])
def test_only_the_secret_is_right(check: SecretCheck, attempt: str) -> None:
    assert check.is_right("open sesame", "203.0.113.9")
    assert not check.is_right(attempt, "203.0.113.9")


def test_after_too_many_wrong_ones_even_the_right_one_is_refused_for_a_minute(
    check: SecretCheck, clock: MovedClock
) -> None:
    for number in range(MAX_WRONG_PER_CALLER):
        assert not check.is_right(f"guess {number}", "203.0.113.9")

    with pytest.raises(TooManyAttempts):
        check.is_right("open sesame", "203.0.113.9")
    assert check.is_right("open sesame", "203.0.113.10")
    clock.now += timedelta(minutes=1)
    assert check.is_right("open sesame", "203.0.113.9")


def test_right_ones_are_not_counted(check: SecretCheck) -> None:
    assert all(check.is_right("open sesame", "203.0.113.9") for _ in range(MAX_WRONG_PER_CALLER * 3))


def test_all_callers_together_have_a_limit(check: SecretCheck) -> None:
    for number in range(MAX_WRONG_IN_ALL):
        check.is_right("guess", f"198.51.100.{number}")

    with pytest.raises(TooManyAttempts):
        check.is_right("guess", "203.0.113.9")
