"""The sort orders of answers, the same for every engine."""

from typing import TypeAlias

from storage.search.analyser import fold_text
from storage.search.index import AggregateLine

AggregateSortKey: TypeAlias = tuple[int, bool, str | float, bool, str]


def aggregate_sort_key(line: AggregateLine) -> AggregateSortKey:
    """Returns the sort key of an aggregate line: count, largest first, then group, then unit; None last."""
    group = fold_text(line.group) if isinstance(line.group, str) else (line.group or 0)
    return (-line.count, line.group is None, "" if line.group is None else group, line.unit is None, line.unit or "")
