"""Progress of a turn: a line for people about what Parley is doing at the moment."""

from collections.abc import Callable
from typing import TypeAlias

from agent.retrieval.search_context import ignore_partial_answer as ignore_partial_answer
from storage.search.ids import LegId

ProgressCallback: TypeAlias = Callable[[str], None]
# Called with the Markdown of a leg's answer as far as it is written and verified; empty: it is withdrawn
PartialAnswerCallback: TypeAlias = Callable[[LegId, str], None]


def ignore_progress(text: str) -> None:
    """A `ProgressCallback` where nobody waits."""
