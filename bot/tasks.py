"""A TaskGroup wraps even a single failure; here it is unwrapped."""

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def lone_error() -> Generator[None]:
    """A group of one exception leaves as that exception, and so does one of several that are all of one type, as when
    two tasks learn that a lease is lost; others leave as the group.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        if len({type(one) for one in group.exceptions}) != 1:
            raise
        raise group.exceptions[0] from group.exceptions[0].__cause__
