"""A TaskGroup wraps even a single failure; `lone_error` unwraps it."""

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def lone_error() -> Generator[None]:
    """Raises the exception itself where a group has only one, or several of one type.

    Two tasks may both find that a lease is lost, for example. Other groups are raised unchanged.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        if len({type(exc) for exc in group.exceptions}) != 1:
            raise
        raise group.exceptions[0] from group.exceptions[0].__cause__
