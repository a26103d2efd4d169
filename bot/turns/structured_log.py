"""The structured log of a process."""

import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TextIO

import structlog
from structlog.typing import FilteringBoundLogger


def open_log(home: Path, stack: AsyncExitStack, *, to_stderr: bool = False) -> FilteringBoundLogger:
    """The structured log, in the home or on standard error: one line of JSON per event, with the id of its process."""
    file = sys.stderr if to_stderr else _open_log_file(home / "logs", stack)
    processors = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer(),
    ]
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(file), processors=processors, wrapper_class=structlog.make_filtering_bound_logger("info")
    )
    return logger.bind(process=os.getpid())


def _open_log_file(folder: Path, stack: AsyncExitStack) -> TextIO:
    """Open for appending, so that the file may be truncated meanwhile. Standard error if it cannot be written, because
    that must not prevent answers.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return stack.enter_context((folder / "parley.log").open("a", encoding="utf-8"))
    except OSError:
        return sys.stderr
