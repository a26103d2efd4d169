"""The failures of a call as one plain sentence."""

from collections.abc import Generator
from contextlib import contextmanager

from bot.errors import ProgramCallFailed
from bot.turns.turn_processor import sentence_for
from storage.search.errors import SearchError
from storage.sql.errors import SqlError


@contextmanager
def plain_failures() -> Generator[None]:
    """Translates what the index and the database raise, and a timeout, into `ProgramCallFailed`."""
    try:
        yield
    except (SqlError, SearchError, TimeoutError) as exc:
        raise ProgramCallFailed(sentence_for(exc)) from exc
