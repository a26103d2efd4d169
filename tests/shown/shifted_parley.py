"""`parley` on a clock that is ahead of the machine's, so that a test can begin where a clock changes.

Only the clock and the interval of the periodic jobs differ. Its worker processes have the same clock.
"""

import os
import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from bot import application, bootstrap
from bot.admin import periodic_jobs
from bot.cli.app import main
from bot.cli.commands import serve

AHEAD_VARIABLE: Final = "CLOCK_AHEAD_S"
JOB_INTERVAL: Final = timedelta(seconds=1)
MODULE: Final = "tests.shown.shifted_parley"


def read_shifted_clock() -> datetime:
    return datetime.now(UTC) + timedelta(seconds=float(os.environ[AHEAD_VARIABLE]))


def shift_clock() -> None:
    """Replaces the clock of this process and of the processes that it starts."""
    hurried_jobs = partial(periodic_jobs.run_periodic_jobs, interval=JOB_INTERVAL)
    shifted_application = partial(bootstrap.open_application, clock=read_shifted_clock)
    replacements: list[tuple[object, str, object]] = [
        (application, "run_periodic_jobs", hurried_jobs),
        (bootstrap, "open_application", shifted_application),
        (serve, "ANSWER_COMMAND", (sys.executable, "-m", MODULE, "answer")),
    ]
    for place, name, value in replacements:
        if not hasattr(place, name):
            raise AttributeError(f"{place} has no {name}")
        setattr(place, name, value)


if __name__ == "__main__":
    shift_clock()
    main()
