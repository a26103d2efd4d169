"""Background jobs are observed from their beginning to their end, and each run is reported to the metrics."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from bot.admin.periodic_jobs import run_periodic_jobs
from bot.application import Application
from bot.metrics.job_runs import JobName, JobRuns, job_measurer_for
from bot.metrics.operation_measurements import JobMeasurement, OperationMeasurement
from tests.bot.conftest import wait_until
from tests.bot.fakes import ListingAgent

OFTEN = timedelta(milliseconds=20)


class RunDiary:
    """What observers were told, in order."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    @contextmanager
    def observe(self, name: JobName) -> Generator[None]:
        self.lines.append((name, "begins"))
        try:
            yield
        except BaseException as exc:
            self.lines.append((name, type(exc).__name__))
            raise
        self.lines.append((name, "ends"))


async def test_periodic_jobs_are_observed_while_they_run(bot: Application) -> None:
    diary = RunDiary()
    bot.job_runs.add_observer(diary.observe)
    expected = {JobName.EXPIRE_CLARIFICATIONS, JobName.DISCARD_STALE_INDEXES, JobName.EXPIRE_EXPORTED_FILES}
    expected |= {JobName.EXPIRE_FILE_OFFERS, JobName.EXPIRE_ATTACHED_FILES, JobName.SYNC_SOURCES}

    async with run_periodic_jobs(
        *(bot.turn_processor, bot.exports, bot.file_offers, bot.attachments, bot.sources, bot.log),
        job_runs=bot.job_runs,
        interval=OFTEN,
    ):
        await wait_until(lambda: {name for name, event in diary.lines if event == "ends"} >= expected)

    assert {name for name, _ in diary.lines} == expected


async def test_a_run_of_the_service_warms_up_and_is_reported(bot: Application, agent: ListingAgent) -> None:
    reported, stop = list[OperationMeasurement](), asyncio.Event()
    bot.operations.add_observer(reported.append)
    service = asyncio.create_task(bot.run_until_stopped(stop, warm_up=True))

    await wait_until(lambda: any(isinstance(measured, JobMeasurement) for measured in reported))
    stop.set()
    await service

    [run] = [measured for measured in reported if isinstance(measured, JobMeasurement)]
    assert (run.name, run.outcome) == ("warm_up", "ok")
    assert agent.contexts


@pytest.mark.parametrize(
    ("failure", "outcomes"), [(None, ["ok"]), (TimeoutError(), ["failed"]), (asyncio.CancelledError(), [])]
)
def test_a_run_that_fails_is_reported_and_a_cancelled_one_is_not(
    failure: BaseException | None, outcomes: list[str]
) -> None:
    runs, reported, diary = JobRuns(), list[OperationMeasurement](), RunDiary()
    runs.add_observer(job_measurer_for(reported.append))
    runs.add_observer(diary.observe)

    def run_job() -> None:
        with runs.observed_run(JobName.SYNC_SOURCES):
            if failure is not None:
                raise failure

    if failure is None:
        run_job()
    else:
        with pytest.raises(type(failure)):
            run_job()

    ending = "ends" if failure is None else type(failure).__name__
    assert diary.lines == [(JobName.SYNC_SOURCES, "begins"), (JobName.SYNC_SOURCES, ending)]
    assert [measured.outcome for measured in reported if isinstance(measured, JobMeasurement)] == outcomes
