"""Finds ids and sentences in stored values, and replaces them: in text, and at any depth of JSON."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Float, LargeBinary, Numeric, Table, Text, or_
from sqlalchemy import cast as sql_cast
from sqlalchemy.sql.sqltypes import Boolean, Integer

from storage.sql.tables import UtcTime

_UNTEXT_TYPES: Final = (Boolean, Integer, Numeric, Float, LargeBinary, UtcTime)


@dataclass(frozen=True)
class TextReplacements:
    """`ids` are replaced where they are whole words, `sentences` wherever they are."""

    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    sentences: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        ids = [rf"(?<!\w){re.escape(text)}(?!\w|[-.@]\w)" for text in _longest_first(self.ids)]
        return re.compile("|".join([*map(re.escape, _longest_first(self.sentences)), *ids]))

    def replace_in(self, value: Any) -> Any:
        """Returns the value with the replacements, keys of mappings included; other types stay as they are."""
        match value:
            case str():
                return self._pattern.sub(lambda found: self._replacement_of(found[0]), value)
            case Mapping():
                items = cast(Mapping[Any, Any], value).items()
                return {self.replace_in(key): self.replace_in(item) for key, item in items}
            case list() | tuple():
                return [self.replace_in(item) for item in cast(Sequence[Any], value)]
            case _:
                return value

    def _replacement_of(self, text: str) -> str:
        return self.sentences.get(text, self.ids.get(text, ""))

    def may_occur_in(self, table: Table) -> ColumnElement[bool]:
        """Whether a row holds any of the texts somewhere. JSON is stored as text in which some characters are escaped,
        so each text is sought in that form too.
        """
        needles = {form for text in (*self.ids, *self.sentences) for form in (text, json.dumps(text)[1:-1])}
        columns = [sql_cast(column, Text) for column in table.columns if is_text_column(column)]
        return or_(*(column.contains(needle, autoescape=True) for column in columns for needle in sorted(needles)))


def is_text_column(column: ColumnElement[Any]) -> bool:
    """Whether the column can hold a text, or JSON."""
    return not isinstance(column.type, _UNTEXT_TYPES)


def _longest_first(texts: Iterable[str]) -> list[str]:
    return sorted(texts, key=len, reverse=True)
