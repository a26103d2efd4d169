"""How a language other than English and German asks for saved searches, and the reading of a message by it.

Patterns match a whole message in its folded form, in which letters have neither accents nor capitals; what they find is
cut from the message as it was written, since both have the same length.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from typing import Final

from bot.saved_searches.request_kinds import ListRequest, SavedSearchRequest, SaveLastRequest, SaveRequest, StopRequest
from bot.saved_searches.schedule import (
    DEFAULT_TIME,
    ChangeSchedule,
    MonthlySchedule,
    SearchSchedule,
    WeeklySchedule,
)

LAST_DAY: Final = 31  # of a month; a shorter month has its last day instead
_MINUTES_BY_WORD: Final = {"quarter": 15, "half": 30}
_CLOSING: Final = " .!?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalPattern:
    """A way to say that documents are to be watched, and the question that it stands for.

    The pattern has the groups `documents` and perhaps `tail`, `amount`, `article` and `new`; `question` is a format
    with `quantifier`, `documents`, `tail` and `amount`.
    """

    pattern: re.Pattern[str]
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPatterns:
    """The words of one language, folded.

    `schedules`: patterns with a group `question` and those of a schedule: `days`, `month_day`, `month_end`, `hour`,
    `minute`, `quarter`, `half`, `noon`, `midnight`, `evening`. `days`: the days of the week by name, Monday is 0.
    `day_range`: a pattern with `first` and `last`. `passed_words`: what may stand before a question and adds nothing.
    """

    language: str
    arrivals: tuple[ArrivalPattern, ...]
    schedules: tuple[re.Pattern[str], ...]
    days: Mapping[str, frozenset[int]]
    day_range: re.Pattern[str]
    passed_words: re.Pattern[str]
    quantifiers: Mapping[str, str]  # by how the article and “new” begin: the word that the question has in its place
    any_quantifier: str  # for every other article, and for none
    list_pattern: re.Pattern[str]
    save_last_pattern: re.Pattern[str]
    stop_pattern: re.Pattern[str]  # with the groups `all` and `number`

    def recognise_request(self, words: str) -> SavedSearchRequest | None:
        """`words`: the message, with single blanks."""
        words = unicodedata.normalize("NFC", words)
        folded = fold_message(words)
        if self.list_pattern.fullmatch(folded):
            return ListRequest()
        if self.save_last_pattern.fullmatch(folded):
            return SaveLastRequest()
        if match := self.stop_pattern.fullmatch(folded):
            number = match["number"]
            return StopRequest(number=None if number is None else int(number), stops_all=match["all"] is not None)
        return self._recognise_schedule(words, folded) or self._recognise_arrival(words, folded)

    def _recognise_arrival(self, words: str, folded: str) -> SaveRequest | None:
        for arrival in self.arrivals:
            if match := arrival.pattern.fullmatch(folded):
                parts = {name: _text_of_group(words, match, name) for name in ("documents", "tail", "amount")}
                question = arrival.question.format(quantifier=self._quantifier_of(match), **parts)
                return SaveRequest(question=" ".join(question.split()), schedule=ChangeSchedule())
        return None

    def _quantifier_of(self, match: re.Match[str]) -> str:
        groups = match.groupdict()
        article = f"{groups.get('article') or ''} {groups.get('new') or ''} ".lstrip()
        return next(
            (word for start, word in self.quantifiers.items() if article.startswith(start)), self.any_quantifier
        )

    def _recognise_schedule(self, words: str, folded: str) -> SaveRequest | None:
        for pattern in self.schedules:
            if match := pattern.fullmatch(folded):
                schedule, question = self._schedule_of(match), self._question_of(words, match)
                if schedule is not None and question:
                    return SaveRequest(question=question[:1].upper() + question[1:], schedule=schedule)
        return None

    def _question_of(self, words: str, match: re.Match[str]) -> str:
        start, end = match.span("question")
        passed = self.passed_words.match(match.string, start, end)
        return words[passed.end() if passed else start : end].strip()

    def _schedule_of(self, match: re.Match[str]) -> SearchSchedule | None:
        time_of_day = _time_of(match)
        if time_of_day is None:
            return None
        groups = match.groupdict()
        if groups.get("month_end"):
            return MonthlySchedule(day=LAST_DAY, time_of_day=time_of_day)
        if groups.get("month_day"):
            day = int(groups["month_day"])
            return MonthlySchedule(day=day, time_of_day=time_of_day) if 1 <= day <= LAST_DAY else None
        weekdays = self._weekdays_in(groups["days"] or "")
        return WeeklySchedule(weekdays=weekdays, time_of_day=time_of_day) if weekdays else None

    def _weekdays_in(self, text: str) -> frozenset[int]:
        if match := self.day_range.search(text):
            (first,), (last,) = self.days[match["first"]], self.days[match["last"]]
            return frozenset((first + offset) % 7 for offset in range((last - first) % 7 + 1))
        return frozenset[int]().union(*(self.days[name] for name in self._day_names.findall(text)))

    @property
    def _day_names(self) -> re.Pattern[str]:
        return re.compile(alternatives_of(self.days))


def fold_message(words: str) -> str:
    """The words without accents and capitals, each letter in its place. `words`: in the composed form (NFC)."""
    return "".join(map(_fold_letter, words))


def _fold_letter(letter: str) -> str:
    if letter in "’‘`´":
        return "'"
    return unicodedata.normalize("NFD", letter)[0].lower()[:1]


def alternatives_of(words: Mapping[str, object]) -> str:
    """A pattern of the words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


def _text_of_group(words: str, match: re.Match[str], group: str) -> str:
    if match.groupdict().get(group) is None:
        return ""
    start, end = match.span(group)
    return words[start:end].strip(_CLOSING)


def _time_of(match: re.Match[str]) -> time | None:
    groups = match.groupdict()
    if groups.get("noon"):
        return time(12)
    if groups.get("midnight"):
        return time(0)
    if groups.get("hour") is None:
        return DEFAULT_TIME
    hour = int(groups["hour"])
    minute = next((number for word, number in _MINUTES_BY_WORD.items() if groups.get(word)), int(groups["minute"] or 0))
    if groups.get("evening") and hour < 12:
        hour += 12
    return time(hour, minute) if hour < 24 and minute < 60 else None
