"""The shape of people's names in values: `Dr Anna Weber`, `T. Reed`, `Weber & Sons` is none."""

import re

_TITLE = r"(?:(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Dame|Herr|Frau|Mme|M)\.?\s+)"
_NAME_WORD = r"(?:[A-ZÀ-ÖØ-Þ][\w'’]*(?:-[A-ZÀ-ÖØ-Þ][\w'’]*)*|[A-Z]\.)"
_PARTICLE = r"(?:(?:de|da|di|del|della|der|den|van|von|zu|la|le|bin|al|el|ibn|dos|ter)\s+)"
PERSON_PATTERN = rf"(?:{_TITLE}{_NAME_WORD}|{_TITLE}?{_NAME_WORD}(?:\s+{_PARTICLE}{{0,2}}{_NAME_WORD}){{1,3}})"
_PERSON = re.compile(PERSON_PATTERN)


def is_person_name(text: str) -> bool:
    """Whether the whole text has the shape of a person's name: two to four capitalised words, or a title and one."""
    return len(text) <= 60 and _PERSON.fullmatch(text.strip()) is not None
