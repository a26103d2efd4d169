"""How long what is begun may take once a process is told to end."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

_TURNS_SHARE, _WORKERS_SHARE, _REQUESTS_SHARE = 0.7, 0.9, 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTimeouts:
    """How long parts of a process may take after the signal to end.

    `turns`: a turn that takes longer is given back, and is answered by another process or after the next start.
    `worker_processes`: one that takes longer is killed, and its turns are claimed again when their leases expire.
    `requests`: HTTP requests that are still running when the turns have ended.
    """

    turns: timedelta = timedelta(seconds=14)
    worker_processes: timedelta = timedelta(seconds=18)
    requests: timedelta = timedelta(seconds=4)


DEFAULT_STOP_TIMEOUTS: Final = StopTimeouts()


def stop_timeouts_within(total_s: float) -> StopTimeouts:
    """The timeouts of a process that ends within `total_s`."""
    return StopTimeouts(
        turns=timedelta(seconds=total_s * _TURNS_SHARE),
        worker_processes=timedelta(seconds=total_s * _WORKERS_SHARE),
        requests=timedelta(seconds=total_s * _REQUESTS_SHARE),
    )
