"""The value of a cell: its number, its day, its words. Footnote marks, units and marks of thousands do not count."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from storage.quantities.days import MONTH_NUMBERS
from storage.search.analyser import fold_text

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:[.,:]\d+)*(?:st|nd|rd|th)?", re.IGNORECASE)
_EMPTY_CELLS = frozenset({"", "-", "–", "—", "―", "n/a", "na", "none", "?", "..", "...", "tba", "tbd", "x", "•"})
_FOOTNOTE = re.compile(r"\[\w{1,6}\]|[†‡*§¶^#]+$")
_NUMBER = re.compile(
    r"(?P<sign>(?<![\w)])[-−+±]|(?<=[$€£])[-−])?"
    r"(?P<digits>\d{1,3}(?:[, \u00a0\u202f]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?|\.\d+)"
    r"(?P<ordinal>(?:st|nd|rd|th)\b)?",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?<![\d:])(?:(\d{1,3}):)?(\d{1,3}):(\d{2}(?:\.\d+)?)(?![\d:])(?!\s*[ap]\.?m\b)", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.,])(1[0-9]\d\d|20\d\d)(?![\d,]|\.\d)s?")
_SHORT_END = re.compile(r"(?<!\d)(1[0-9]|20)(\d\d)\s?[-–/]\s?(\d\d)(?!\d)")
_SCALES = {"million": 1e6, "billion": 1e9, "thousand": 1e3, "bn": 1e9, "trillion": 1e12}


@dataclass(frozen=True, slots=True, kw_only=True)
class CellDay:
    """A day, month or year; parts that are not written are 0. They compare as written: year, month, day."""

    year: int
    month: int
    day: int

    @property
    def order_key(self) -> tuple[int, int, int]:
        return self.year, self.month, self.day


@dataclass(frozen=True, slots=True, kw_only=True)
class CellValue:
    """A cell as it is compared. `number` is the first one, in seconds for a time such as `3:11`."""

    text: str
    folded: str
    words: tuple[str, ...]
    is_empty: bool
    number: float | None
    number_share: float  # of the cell's characters that are not a word: 1 for a bare number
    numbers: tuple[float, ...]
    is_ordinal: bool
    is_clock: bool
    days: tuple[CellDay, ...]  # two for a period

    @property
    def day(self) -> CellDay | None:
        return self.days[0] if self.days else None


@lru_cache(maxsize=65_536)
def read_cell(text: str) -> CellValue:
    """Reads the text of a cell."""
    plain = " ".join(_FOOTNOTE.sub("", text.replace("\u200b", "").replace("\ufeff", "")).split())
    folded = fold_text(plain)
    clock = _CLOCK.search(plain)
    matches = list(_NUMBER.finditer(plain))
    numbers = tuple(_number_of_match(match, plain) for match in matches)
    first = _seconds_of(clock) if clock is not None else numbers[0] if numbers else None
    letters = sum(character.isalpha() for character in plain)
    return CellValue(
        text=" ".join(text.split()),
        folded=folded,
        words=words_of_text(folded),
        is_empty=folded in _EMPTY_CELLS,
        number=first,
        number_share=1 - letters / len(plain) if plain else 0.0,
        numbers=numbers,
        is_ordinal=bool(matches) and matches[0]["ordinal"] is not None and matches[0].start() == 0,
        is_clock=clock is not None,
        days=tuple(_find_days(folded)),
    )


def words_of_text(folded: str) -> tuple[str, ...]:
    """Returns the folded words and numbers of a folded text; `1,200` is `1200`, `world's` is `world`."""
    return tuple(
        word.replace(",", "") if word[0].isdigit() else re.sub(r"['’]s$", "", word).replace("'", "").replace("’", "")
        for word in WORD.findall(folded)
    )


def _number_of_match(match: re.Match[str], text: str) -> float:
    number = float(re.sub(r"[, \u00a0\u202f]", "", match["digits"]))
    following = re.match(r"\s*([a-z]+)", text[match.end() :].lower())
    scale = _SCALES.get(following[1], 1.0) if following is not None else 1.0
    return (-number if match["sign"] in ("-", "−") else number) * scale


def _seconds_of(match: re.Match[str]) -> float:
    hours, minutes, seconds = match.groups()
    return 3600 * int(hours or 0) + 60 * int(minutes) + float(seconds)


def _find_days(folded: str) -> Sequence[CellDay]:
    """Returns the first day and the last one; of `2001-02` both years."""
    if not any(character.isdigit() for character in folded):
        return [CellDay(year=0, month=month, day=0)] if (month := MONTH_NUMBERS.get(folded)) is not None else []
    if (span := _SHORT_END.search(folded)) is not None and int(span[3]) != 0 and int(span[3]) > int(span[2]):
        century = int(span[1]) * 100
        return [CellDay(year=century + int(part), month=0, day=0) for part in (span[2], span[3])]
    days = list(_written_days(folded))
    years = list(_YEAR.finditer(folded))
    if days:
        last_year = next((day.year for day in reversed(days) if day.year), 0)
        return [day if day.year else CellDay(year=last_year, month=day.month, day=day.day) for day in days[:2]]
    return [CellDay(year=int(match[1]), month=0, day=0) for match in years[:2]]


_MONTHS = "|".join(sorted((name for name in MONTH_NUMBERS if len(name) > 2), key=len, reverse=True))
_DAY = re.compile(
    rf"(?:(?P<before>[0-3]?\d)(?:st|nd|rd|th)?\s+(?:of\s+)?)?\b(?P<month>{_MONTHS})\b\.?"
    r"(?:\s+(?P<after>[0-3]?\d)(?:st|nd|rd|th)?(?!\d))?(?:,?\s*(?P<year>[12]\d{3}))?"
    r"|(?P<iso_year>[12]\d{3})-(?P<iso_month>[01]\d)-(?P<iso_day>[0-3]\d)"
)


def _written_days(folded: str) -> Sequence[CellDay]:
    days = list[CellDay]()
    for match in _DAY.finditer(folded):
        if match["iso_year"]:
            days.append(CellDay(year=int(match["iso_year"]), month=int(match["iso_month"]), day=int(match["iso_day"])))
        elif match["before"] or match["after"] or match["year"] or match[0].strip() == folded:
            days.append(
                CellDay(
                    year=int(match["year"] or 0),
                    month=MONTH_NUMBERS[match["month"]],
                    day=int(match["before"] or match["after"] or 0),
                )
            )
    return days
