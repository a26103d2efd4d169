"""How many calls of tools a model may make for one question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any as Json
from typing import cast

from storage.search.analyser import fold_text

DEFAULT_TOOL_CALLS = 5


@dataclass(slots=True)
class ToolBudget:
    """Counts all calls, also those that are refused or cannot be executed, and knows the ones that were executed."""

    max_calls: int = DEFAULT_TOOL_CALLS
    used_calls: int = 0
    _call_ids: dict[object, str] = field(default_factory=dict[object, str])

    @property
    def remaining_calls(self) -> int:
        return max(self.max_calls - self.used_calls, 0)

    def spend_call(self) -> bool:
        """Returns whether a call was left, and takes it."""
        if not self.remaining_calls:
            return False
        self.used_calls += 1
        return True

    def find_earlier_call(self, tool: str, arguments: Mapping[str, Json]) -> str | None:
        """Returns the id of the executed call of the same tool with the same arguments; None if there was none."""
        return self._call_ids.get(_key_of_call(tool, arguments))

    def remember_call(self, tool: str, arguments: Mapping[str, Json], call_id: str) -> None:
        self._call_ids[_key_of_call(tool, arguments)] = call_id


def _key_of_call(tool: str, arguments: Mapping[str, Json]) -> object:
    return tool, _normalize(arguments)


def _normalize(value: Json) -> object:
    """Returns a value that is equal for arguments that mean the same: in other case, or filters in another order."""
    match value:
        case str():
            return fold_text(value)
        case list():
            return frozenset(_normalize(member) for member in cast(list[Json], value))
        case dict():
            members = cast(dict[str, Json], value).items()
            # The words of a filter are not part of its meaning
            return frozenset((name, _normalize(member)) for name, member in members if name != "words")
        case _:
            return value
