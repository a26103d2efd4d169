"""Reads the JSON object of a reply while it arrives: its fields, and the elements of its last list one by one."""

import json
from dataclasses import dataclass, field
from typing import Any as Json

from agent.errors import UnusableReply

_MAX_CHARACTERS = 100_000  # a longer reply is none
_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class ReplyStream:
    """The part of a JSON object that has arrived. `list_field` names the list whose elements are given out early."""

    list_field: str
    fields: dict[str, Json] = field(default_factory=dict[str, Json])  # complete ones, without `list_field`
    text: str = ""
    _place: int = 0  # of the first character that is not read yet
    _is_in_object: bool = False
    _is_in_list: bool = False

    def feed_text(self, piece: str) -> list[Json]:
        """Returns the elements of the list that are complete now. Raises `UnusableReply` for an endless reply."""
        self.text += piece
        if len(self.text) > _MAX_CHARACTERS:
            raise UnusableReply("the reply is too long")
        elements: list[Json] = []
        if not any(mark in piece for mark in '}],"'):
            return elements
        while self._read_next(elements):
            pass
        return elements

    def _read_next(self, elements: list[Json]) -> bool:
        """Reads one field or element. False if none is complete."""
        if not self._is_in_object:
            start = self.text.find("{")
            self._is_in_object, self._place = start >= 0, max(start + 1, 0)
            return self._is_in_object
        start = self._skip_marks(self._place, ",")
        if self._is_in_list:
            if self.text[start : start + 1] == "]":
                self._is_in_list, self._place = False, start + 1
                return True
            element = self._decode_at(start)
            if element is None:
                return False
            elements.append(element[0])
            self._place = element[1]
            return True
        return self._read_field(start)

    def _read_field(self, start: int) -> bool:
        name = self._decode_at(start)
        if name is None or not isinstance(name[0], str):
            return False
        value_start = self._skip_marks(name[1], ":")
        if value_start == name[1]:
            return False
        if name[0] == self.list_field:
            if self.text[value_start : value_start + 1] != "[":
                return False
            self._is_in_list, self._place = True, value_start + 1
            return True
        value = self._decode_at(value_start)
        if value is None:
            return False
        self.fields[name[0]], self._place = value
        return True

    def _skip_marks(self, start: int, mark: str) -> int:
        while start < len(self.text) and self.text[start] in f"{_BLANKS}{mark}":
            start += 1
        return start

    def _decode_at(self, start: int) -> tuple[Json, int] | None:
        """Returns a complete value and its end; None if more of it may come."""
        try:
            value, end = _DECODER.raw_decode(self.text, start)
        except (ValueError, RecursionError):
            return None
        return (value, end) if end < len(self.text) else None  # digits may follow
