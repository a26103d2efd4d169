"""The states of a circuit breaker."""

import pytest

from agent.gateway.circuit_breaker import CircuitBreaker
from tests.agent.gateway.conftest import FakeTime


@pytest.fixture
def circuit(fake_time: FakeTime) -> CircuitBreaker:
    return CircuitBreaker(max_failures=2, pause_s=10.0, clock=fake_time.clock)


def fail_twice(circuit: CircuitBreaker) -> None:
    for _ in range(2):
        assert circuit.start_call()
        circuit.record_failure()


def test_only_failures_in_a_row_open_it(circuit: CircuitBreaker) -> None:
    circuit.record_failure()
    circuit.record_success()
    circuit.record_failure()
    assert circuit.start_call()

    circuit.record_failure()
    assert not circuit.start_call()


def test_after_the_pause_a_single_trial_passes(circuit: CircuitBreaker, fake_time: FakeTime) -> None:
    fail_twice(circuit)
    fake_time.now_s = 9.9
    assert not circuit.start_call()

    fake_time.now_s = 10.0
    assert [circuit.start_call() for _ in range(3)] == [True, False, False]


def test_a_trial_that_succeeds_closes_it(circuit: CircuitBreaker, fake_time: FakeTime) -> None:
    fail_twice(circuit)
    fake_time.now_s = 10.0
    circuit.start_call()

    circuit.record_success()

    assert [circuit.start_call() for _ in range(3)] == [True, True, True]


def test_a_trial_that_fails_opens_it_for_another_pause(circuit: CircuitBreaker, fake_time: FakeTime) -> None:
    fail_twice(circuit)
    fake_time.now_s = 10.0
    circuit.start_call()

    circuit.record_failure()

    fake_time.now_s = 19.9
    assert not circuit.start_call()
    fake_time.now_s = 20.0
    assert circuit.start_call()


def test_a_trial_that_is_abandoned_leaves_room_for_the_next(circuit: CircuitBreaker, fake_time: FakeTime) -> None:
    fail_twice(circuit)
    fake_time.now_s = 10.0
    circuit.start_call()

    circuit.abandon_call()

    assert circuit.start_call()
