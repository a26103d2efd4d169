"""Divides the text of a labelled value into the members of a list: `Anna Weber (chair), Tom Reed and Mia Holt`."""

import re
from collections.abc import Iterable

from storage.ingest.extract.labels.person_names import is_person_name
from storage.ingest.extract.labels.plain_values import plain_value_of

_HARD_SEPARATOR = re.compile(r"\s*[;|•]\s*")
_COMMA = re.compile(r",\s+(?![^()]*\))")
_CONJUNCTION = re.compile(r"\s+(?:and|und|et|y|&)\s+")
_COMMA_OR_CONJUNCTION = re.compile(rf"(?:{_COMMA.pattern})(?:(?:and|und|et|y|&)\s+)?|{_CONJUNCTION.pattern}")
_MIN_PERSON_SHARE = 0.8  # of the texts of a field whose members must all be people
_MIN_SEVERAL_SHARE = 0.2  # of these texts that must name several


def members_of(text: str) -> tuple[str, ...]:
    """Returns the members of a text that is a list, each once: parted by `;` and `|`, else by commas; people by "and"
    as well.
    """
    if people := people_in(text):
        return people
    parts = _HARD_SEPARATOR.split(text) if _HARD_SEPARATOR.search(text) else _COMMA.split(text)
    return tuple(dict.fromkeys(plain for part in parts if (plain := plain_value_of(part))))


def people_in(text: str) -> tuple[str, ...]:
    """Returns the people that the text lists, without their roles; empty if anything else is in it."""
    hard_parts = _HARD_SEPARATOR.split(text.rstrip("."))
    parts = hard_parts if len(hard_parts) > 1 else _COMMA_OR_CONJUNCTION.split(text.rstrip("."))
    names = [plain_value_of(part) for part in parts if part.strip()]
    return tuple(dict.fromkeys(names)) if names and all(map(is_person_name, names)) else ()


def are_lists_of_people(texts: Iterable[str]) -> bool:
    """Whether the texts of a field list people, often several."""
    counts = [len(people_in(text)) for text in texts]
    named = [count for count in counts if count]
    return len(named) >= _MIN_PERSON_SHARE * max(len(counts), 1) and sum(count > 1 for count in named) >= max(
        2, _MIN_SEVERAL_SHARE * len(named)
    )
