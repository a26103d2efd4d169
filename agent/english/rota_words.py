"""Words about a weekly rota: its days, what is said of working, and what a cell says of a day off."""

from collections.abc import Sequence
from itertools import pairwise

_WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
_SHORT_DAYS = tuple(names.split() for names in ("mon", "tue tues", "wed weds", "thu thur thurs", "fri", "sat", "sun"))
WORKING_WORDS = frozenset(
    """work works working in duty rota rostered scheduled normally usually off day shift based at hours time do does
    """.split()
)
PLACE_WORDS = frozenset("where shop branch site office place location base store clinic".split())
WORDS_ABOUT_DAYS = (
    WORKING_WORDS
    | PLACE_WORDS
    | frozenset((*_WEEKDAYS, *(f"{day}s" for day in _WEEKDAYS), *(short for names in _SHORT_DAYS for short in names)))
)
# Of a cell: nobody works.
OFF_VALUES = frozenset({"off", "-", "–", "—", "x", "no", "n", "day off", "not in", "rest", "holiday", "leave", "n/a"})


def weekday_of_word(word: str) -> int | None:
    """Returns the weekday that a folded word means, from Monday as 0: "wednesdays", "weds", "wed"."""
    for day, (name, short) in enumerate(zip(_WEEKDAYS, _SHORT_DAYS, strict=True)):
        if word in (name, f"{name}s") or word in short:
            return day
    return None


def is_asked_off(words: Sequence[str]) -> bool:
    """ "Who is *off* on Friday", "who is *not in*"."""
    return "off" in words or any(pair in (("not", "in"), ("not", "working")) for pair in pairwise(words))
