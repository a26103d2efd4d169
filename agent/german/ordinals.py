"""German positions: "die erste", "Nummer 3", "die letzte"."""

import re

from storage.search.analyser import fold_text

_STEMS_BY_NUMBER = (
    "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt fünfzehnt sechzehnt "
    "siebzehnt achtzehnt neunzehnt zwanzigst"
).split()
_NUMBERS_BY_STEM = {fold_text(stem): number for number, stem in enumerate(_STEMS_BY_NUMBER, 1)}
_LAST_STEM = "letzt"
_POSITION = re.compile(
    r"(?:(?:der|die|das|den|dem|nummer|nr\.?|option) )?"
    rf"(?:(?P<number>\d{{1,3}})\.?|(?P<stem>{'|'.join((*_NUMBERS_BY_STEM, _LAST_STEM))})e[nrs]?)(?: option)?"
)


def parse_german_position(text: str, count: int) -> int | None:
    """The position that the whole text names, counted from 1; `count` is the number of the last one. None for other
    texts. Case and accents do not matter.
    """
    match = _POSITION.fullmatch(fold_text(text))
    if match is None:
        return None
    if match["number"]:
        return int(match["number"])
    return count if match["stem"] == _LAST_STEM else _NUMBERS_BY_STEM[match["stem"]]
