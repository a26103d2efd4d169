"""Where the answers of a list interface have what becomes a document: paths of RFC 9535, such as `$.fields.title`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

import jsonpath
from jsonpath import JSONPath

_MAX_PATH_CHARACTERS: Final = 500
_MAX_VALUES: Final = 5_000  # of a path in an item
_WHOLE_LIST_SUFFIXES: Final = ("[*]", ".*")


class InvalidPath(Exception):
    """It is no path in JSON. `reason` is shown to people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ValuePath:
    """A path to values within a JSON value."""

    def __init__(self, text: str) -> None:
        """Raises `InvalidPath`."""
        if not text.strip() or len(text) > _MAX_PATH_CHARACTERS:
            raise InvalidPath(f"{text[:80]!r} is no path such as $.results or $.fields.title")
        self.text = text.strip()
        try:
            self._path: JSONPath = cast(JSONPath, jsonpath.compile(self.text))
        except jsonpath.JSONPathError as exc:
            raise InvalidPath(f"{text[:80]!r} is no path such as $.results or $.fields.title") from exc

    def find_nodes(self, value: object) -> list[object]:
        """Returns what stands at the path, lists as they are."""
        try:
            return self._path.findall(cast("Mapping[str, object]", value))
        except (jsonpath.JSONPathError, RecursionError):  # a comparison of what cannot be compared
            return []

    def find_values(self, value: object) -> list[object]:
        """Returns the values at the path, in their order, and the members of a list there. Nulls are left out."""
        found = self.find_nodes(value)
        if len(found) == 1 and isinstance(found[0], list):
            found = cast("list[object]", found[0])
        return [member for member in found[:_MAX_VALUES] if member is not None]

    def find_texts(self, value: object) -> list[str]:
        """Returns the strings and numbers at the path as text."""
        return [
            str(member)
            for member in self.find_values(value)
            if isinstance(member, (str, int, float)) and not isinstance(member, bool)
        ]

    def find_text(self, value: object) -> str:
        """Returns the first string or number at the path; empty if there is none."""
        return next(iter(self.find_texts(value)), "").strip()


class ListPath:
    """The path to the list of items. `$.results` and `$.results[*]` are the same."""

    def __init__(self, text: str) -> None:
        """Raises `InvalidPath`."""
        base = text.strip()
        for suffix in _WHOLE_LIST_SUFFIXES:
            base = base.removesuffix(suffix)
        self._path = ValuePath(base or "$")
        self.text = text

    def find_items(self, value: object) -> list[object] | None:
        """Returns the items; None if there is no list at the path, as in the answer of an error."""
        found = self._path.find_nodes(value)
        return cast("list[object]", found[0]) if len(found) == 1 and isinstance(found[0], list) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPaths:
    """Paths within an item. `content_url`: where the content is fetched, as the list does not bring it."""

    id: ValuePath
    text: ValuePath
    title: ValuePath | None = None
    updated: ValuePath | None = None
    readers: ValuePath | None = None
    link: ValuePath | None = None
    content_url: ValuePath | None = None
