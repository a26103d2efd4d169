"""The structured log of a process."""

import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TextIO

import structlog
from structlog.typing import FilteringBoundLogger


def open_log(home: Path, stack: AsyncExitStack) -> FilteringBoundLogger:
    """The structured log in the home: one line of JSON per turn, with the id of the process that answered it."""
    folder = home / "logs"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file: TextIO = stack.enter_context((folder / "parley.log").open("a", encoding="utf-8"))
    except OSError:  # a log that cannot be written must not prevent answers
        file = sys.stderr
    processors = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer(),
    ]
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(file), processors=processors, wrapper_class=structlog.make_filtering_bound_logger("info")
    )
    return logger.bind(process=os.getpid())
