"""A log that nobody can fill from outside: at most one line a second of each kind."""

import contextlib
import logging
import time
from collections.abc import Callable, Generator, MutableMapping
from typing import Any, Final

import structlog
from structlog.typing import FilteringBoundLogger

INTERVAL_S: Final = 1.0
_LIBRARY_LOGGERS: Final = ("aiohttp.server", "aiohttp.web", "aiohttp.internal", "asyncio")


class RepeatLimiter:
    """A processor of structlog that drops repeated lines. The next line of the kind tells how many were `skipped`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next_line_s: dict[str, float] = {}
        self._skipped: dict[str, int] = {}

    def __call__(self, _: object, level: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        kind, now_s = f"{level} {line['event']}", self._clock()
        if now_s < self._next_line_s.get(kind, now_s):
            self._skipped[kind] = self._skipped.get(kind, 0) + 1
            raise structlog.DropEvent
        self._next_line_s[kind] = now_s + INTERVAL_S
        if skipped := self._skipped.pop(kind, 0):
            line["skipped"] = skipped
        return line


def quiet_log_for(log: FilteringBoundLogger, clock: Callable[[], float] = time.monotonic) -> FilteringBoundLogger:
    """A log over `log` for lines that requests cause. An event is a constant; what varies belongs into its fields."""
    return structlog.wrap_logger(
        log, processors=[RepeatLimiter(clock)], wrapper_class=structlog.make_filtering_bound_logger("info")
    )


@contextlib.contextmanager
def forward_library_logs(log: FilteringBoundLogger) -> Generator[None]:
    """Within the block, the warnings of the HTTP server and of asyncio are lines of the log, without their texts."""
    loggers = [logging.getLogger(name) for name in _LIBRARY_LOGGERS]
    handlers = [(logger, _WarningForwarder(log, logger.name)) for logger in loggers]
    for logger, handler in handlers:
        logger.addHandler(handler)
        logger.propagate, logger.disabled = False, False  # a library's `dictConfig` may have disabled it
    try:
        yield
    finally:
        for logger, handler in handlers:
            logger.removeHandler(handler)
            logger.propagate = True


class _WarningForwarder(logging.Handler):
    """Forwards the kind of error and its place in the code: its text may be that of a request."""

    def __init__(self, log: FilteringBoundLogger, name: str) -> None:
        super().__init__(logging.WARNING)
        self._log, self._event = log, f"{name} warning"

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            self._log.warning(self._event, reason=str(record.msg)[:200])
            return
        self._log.warning(self._event, error=type(error).__name__, place=_place_of(error))


def _place_of(error: BaseException) -> str:
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return ""
    return f"{traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}"
