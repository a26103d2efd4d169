"""The orders that answers come in, for every engine alike."""

from typing import TypeAlias

from storage.search.index import Aggregated
from storage.search.text import fold

LineOrder: TypeAlias = tuple[int, bool, str | float, bool, str]


def line_order(line: Aggregated) -> LineOrder:
    """The key that lines of numbers are sorted by: count, largest first, then group, then unit; None last."""
    group = fold(line.group) if isinstance(line.group, str) else (line.group or 0)
    return (-line.count, line.group is None, "" if line.group is None else group, line.unit is None, line.unit or "")
