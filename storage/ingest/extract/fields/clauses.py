"""Clauses: the names of each kind of provision, and the phrases by which a document shows that it has one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TypedDict

import yaml

from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.field_patterns import any_phrase_pattern, words_of_phrase
from storage.search.schema import SchemaField

_NAME_CONFIDENCE = 0.58  # where a document has the clause's name, and no phrases of the clause are known


class _ClauseEntry(TypedDict, total=False):
    named: list[str]
    says: list[str]
    hints: list[str]


@dataclass(frozen=True, slots=True)
class ClauseMatch:
    confidence: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _KnownClause:
    names: frozenset[str]
    assertion_patterns: tuple[re.Pattern[str], ...]
    hint_patterns: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class ClausePatterns:
    """The patterns that find one provision."""

    assertions: Sequence[re.Pattern[str]]
    hints: Sequence[re.Pattern[str]]
    names: re.Pattern[str] | None

    def find_matches(self, document: DocumentText) -> list[ClauseMatch]:
        """The first assertion, else the first hint, else the name; at most one match."""
        for patterns, confidence in ((self.assertions, 0.75), (self.hints, 0.4)):
            for pattern in patterns:
                if match := pattern.search(document.folded):
                    return [ClauseMatch(confidence, match.start(), match.end())]
        if self.names and not self.assertions and (match := self.names.search(document.folded)):
            return [ClauseMatch(_NAME_CONFIDENCE, match.start(), match.end())]
        return []


def clause_patterns_by_value(field: SchemaField) -> Mapping[str, ClausePatterns]:
    """The patterns of each value that the schema names."""
    return {value: _clause_patterns_for([value, *synonyms]) for value, synonyms in field.values.items()}


def clause_patterns_of(field: SchemaField) -> ClausePatterns:
    """The assertions of a flag's provision. Its name and hints are left out: other readers look for the label."""
    patterns = _clause_patterns_for([field.label, field.name.replace("_", " "), *field.plain_synonyms])
    return ClausePatterns(patterns.assertions, (), None)


def _clause_patterns_for(names: Sequence[str]) -> ClausePatterns:
    plain_names = {_plain_words(name) for name in names}
    clauses = [clause for clause in _load_known_clauses() if clause.names & plain_names]
    assertions = [pattern for clause in clauses for pattern in clause.assertion_patterns]
    hints = [pattern for clause in clauses for pattern in clause.hint_patterns]
    return ClausePatterns(assertions, hints, any_phrase_pattern(names))


@lru_cache(maxsize=1)
def _load_known_clauses() -> Sequence[_KnownClause]:
    text = files("storage.ingest.extract.fields").joinpath("clauses.yaml").read_text(encoding="utf-8")
    entries: Mapping[str, _ClauseEntry] = yaml.safe_load(text)
    return [
        _KnownClause(
            names=frozenset(map(_plain_words, [name, *entry.get("named", [])])),
            assertion_patterns=tuple(re.compile(phrase_to_regex(phrase)) for phrase in entry.get("says", [])),
            hint_patterns=tuple(re.compile(phrase_to_regex(phrase)) for phrase in entry.get("hints", [])),
        )
        for name, entry in entries.items()
    ]


def phrase_to_regex(text: str) -> str:
    """A phrase of `clauses.yaml` as a regular expression: a blank is any white space, … up to 120 characters."""
    spaced = re.sub(r"\[ -\]", r"[\\s-]", text)
    spaced = re.sub(r" (\?)?", lambda match: r"\s{0,3}" if match[1] else r"\s{1,3}", spaced)
    return spaced.replace("…", r"[^.;]{0,120}?")


def _plain_words(name: str) -> str:
    return " ".join(words_of_phrase(name))
