"""Clauses: what a kind of provision is called, and the phrases by which papers show that they have it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TypedDict

import yaml

from storage.ingest.extract.page import Page
from storage.ingest.extract.wording import any_of, words_of
from storage.search.schema import Field

_NAMED = 0.58  # confidence where a paper has the clause's very name and nothing more is known of it


class _Written(TypedDict, total=False):
    named: list[str]
    says: list[str]
    hints: list[str]


@dataclass(frozen=True, slots=True)
class Found:
    confidence: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Known:
    named: frozenset[str]
    says: tuple[re.Pattern[str], ...]
    hints: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class Clauses:
    """How one provision is found."""

    says: Sequence[re.Pattern[str]]
    hints: Sequence[re.Pattern[str]]
    names: re.Pattern[str] | None

    def found_in(self, page: Page) -> list[Found]:
        """The first phrase that says so; else a hint, or its name. At most one."""
        for patterns, confidence in ((self.says, 0.75), (self.hints, 0.4)):
            for pattern in patterns:
                if match := pattern.search(page.low):
                    return [Found(confidence, match.start(), match.end())]
        if self.names and not self.says and (match := self.names.search(page.low)):
            return [Found(_NAMED, match.start(), match.end())]
        return []


def clauses_of_values(field: Field) -> Mapping[str, Clauses]:
    """For each value that the schema names."""
    return {value: _clauses([value, *synonyms]) for value, synonyms in field.values.items()}


def clauses_of(field: Field) -> Clauses:
    """Of a flag: its own words name the provision; they are looked for elsewhere."""
    found = _clauses([field.label, field.name.replace("_", " "), *field.synonyms])
    return Clauses(found.says, (), None)


def _clauses(names: Sequence[str]) -> Clauses:
    plain = {_plain(one) for one in names}
    known = [one for one in _known() if one.named & plain]
    says = [pattern for one in known for pattern in one.says]
    return Clauses(says, [pattern for one in known for pattern in one.hints], any_of(names))


@lru_cache(maxsize=1)
def _known() -> Sequence[_Known]:
    text = files("storage.ingest.extract").joinpath("clauses.yaml").read_text(encoding="utf-8")
    written: Mapping[str, _Written] = yaml.safe_load(text)
    return [
        _Known(
            named=frozenset(map(_plain, [name, *one.get("named", [])])),
            says=tuple(re.compile(phrase(says)) for says in one.get("says", [])),
            hints=tuple(re.compile(phrase(hint)) for hint in one.get("hints", [])),
        )
        for name, one in written.items()
    ]


def phrase(written: str) -> str:
    """A phrase of the file as a regular expression: a blank is any white space, … at most 120 characters."""
    spaced = re.sub(r"\[ -\]", r"[\\s-]", written)
    spaced = re.sub(r" (\?)?", lambda one: r"\s{0,3}" if one[1] else r"\s{1,3}", spaced)
    return spaced.replace("…", r"[^.;]{0,120}?")


def _plain(name: str) -> str:
    return " ".join(words_of(name))
