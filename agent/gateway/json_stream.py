"""Reads a JSON object while it is still being written: the elements of one array, each as soon as it is complete."""

import json
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Any as Json


class _ReadPlace(Enum):
    BEFORE_OBJECT = auto()
    IN_OBJECT = auto()
    IN_ARRAY = auto()
    AFTER_OBJECT = auto()
    BROKEN = auto()


class JsonArrayStream:
    """Fed with pieces of a text that holds one JSON object, in any division; text around the object, as a fence, is
    passed over. The elements of the top-level array `array_name` are given out one by one; all other top-level members
    are in `members` once they are complete.
    """

    def __init__(self, array_name: str) -> None:
        self._array_name = array_name
        self._place = _ReadPlace.BEFORE_OBJECT
        self._key: str | None = None  # of the member whose value comes next
        self._value: list[str] = []  # the characters so far of the value that is being read
        self._depth = 0  # of open brackets within that value
        self._is_in_string = False
        self._is_escaped = False
        self._members: dict[str, Json] = {}

    @property
    def members(self) -> Mapping[str, Json]:
        """The complete top-level members but the array, by name."""
        return self._members

    @property
    def is_complete(self) -> bool:
        """Whether the object has ended."""
        return self._place is _ReadPlace.AFTER_OBJECT

    @property
    def is_broken(self) -> bool:
        """Whether the text has turned out not to be JSON; then no more elements come."""
        return self._place is _ReadPlace.BROKEN

    def read_piece(self, piece: str) -> Sequence[Json]:
        """Returns the elements that the piece completes, in their order."""
        elements: list[Json] = []
        for character in piece:
            if self._place is _ReadPlace.BEFORE_OBJECT:
                self._place = _ReadPlace.IN_OBJECT if character == "{" else _ReadPlace.BEFORE_OBJECT
            elif self._place in (_ReadPlace.IN_OBJECT, _ReadPlace.IN_ARRAY):
                self._take_character(character, elements)
        return elements

    def _take_character(self, character: str, elements: list[Json]) -> None:
        if self._is_in_string:
            self._take_in_string(character, elements)
        elif character == '"':
            self._value.append(character)
            self._is_in_string = True
        elif self._depth:
            self._take_in_container(character, elements)
        elif character in "{[" and not self._value:
            self._open_container(character)
        elif character in ",:]}" or character.isspace():
            self._end_value(elements)
            self._take_separator(character)
        else:
            self._value.append(character)  # of a number, `true`, `false` or `null`

    def _take_in_string(self, character: str, elements: list[Json]) -> None:
        self._value.append(character)
        if self._is_escaped:
            self._is_escaped = False
        elif character == "\\":
            self._is_escaped = True
        elif character == '"':
            self._is_in_string = False
            if not self._depth:
                self._end_value(elements)

    def _take_in_container(self, character: str, elements: list[Json]) -> None:
        self._value.append(character)
        if character in "{[":
            self._depth += 1
        elif character in "}]":
            self._depth -= 1
            if not self._depth:
                self._end_value(elements)

    def _open_container(self, character: str) -> None:
        if self._place is _ReadPlace.IN_OBJECT and character == "[" and self._key == self._array_name:
            self._place = _ReadPlace.IN_ARRAY
            self._key = None
        else:
            self._value.append(character)
            self._depth = 1

    def _take_separator(self, character: str) -> None:
        if character == "]" and self._place is _ReadPlace.IN_ARRAY:
            self._place = _ReadPlace.IN_OBJECT
        elif character == "}" and self._place is _ReadPlace.IN_OBJECT:
            self._place = _ReadPlace.AFTER_OBJECT
        elif character in "]}":
            self._place = _ReadPlace.BROKEN

    def _end_value(self, elements: list[Json]) -> None:
        if not self._value:
            return
        text = "".join(self._value)
        self._value.clear()
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            self._place = _ReadPlace.BROKEN
            return
        if self._place is _ReadPlace.IN_ARRAY:
            elements.append(value)
        elif self._key is not None:
            self._members[self._key] = value
            self._key = None
        elif isinstance(value, str):
            self._key = value
        else:
            self._place = _ReadPlace.BROKEN
