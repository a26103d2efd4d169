"""What saved searches have posted, and whether it adds up: each report goes on where the one before it ended."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tests.stand_ins.slack.workspace import SlackMessage

_NUMBER: Final = r"([\d,]+)"
_CREATED: Final = re.compile(rf"saved this as search \*?{_NUMBER}\*?.*?It finds \*?{_NUMBER} documents?", re.DOTALL)
_REPORT: Final = re.compile(rf"\*?Saved search {_NUMBER}\*?:")
_CHANGES: Final = re.compile(rf"{_NUMBER} (new|changed|gone)")
_NOW: Final = re.compile(rf"(?:; |since the last time: ){_NUMBER} documents?")
_TITLE: Final = re.compile(r"Ticket [a-z0-9-]+")


@dataclass(frozen=True, kw_only=True)
class SearchReading:
    """A message of a saved search: how many documents it finds now, and what it says has changed."""

    search: int
    now: int
    changes: Mapping[str, int]
    new_titles: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PostedSearches:
    """The readings of each search in the order in which they were posted; the first is the confirmation."""

    readings: Mapping[int, Sequence[SearchReading]]

    @property
    def report_count(self) -> int:
        return sum(len(readings) - 1 for readings in self.readings.values())

    def find_wrong_sums(self, expected_count: int) -> Iterator[str]:
        """`expected_count`: the documents that there are at the end, which the last report has to know of."""
        for number, readings in sorted(self.readings.items()):
            for before, after in pairwise(readings):
                expected = before.now + after.changes.get("new", 0) - after.changes.get("gone", 0)
                if expected != after.now:
                    yield f"search {number}: {before.now} and then {dict(after.changes)} are not {after.now}"
            if readings[-1].now != expected_count:
                yield f"search {number}: the last report says {readings[-1].now}, and there are {expected_count}"

    def find_repeated_titles(self) -> Iterator[str]:
        for number, readings in sorted(self.readings.items()):
            seen = set[str]()
            for reading in readings:
                for title in reading.new_titles:
                    if title in seen:
                        yield f"search {number}: {title} is new twice"
                    seen.add(title)


def read_posted_searches(messages: Sequence[SlackMessage]) -> PostedSearches:
    """Reads the messages of the bot, in the order of their posting."""
    readings: dict[int, list[SearchReading]] = {}
    for message in sorted(messages, key=lambda message: float(message.ts)):
        reading = _read_message(message.text) or _read_message(message.visible_text())  # of a stream: its blocks alone
        if reading is not None:
            readings.setdefault(reading.search, []).append(reading)
    return PostedSearches(readings=readings)


def _read_message(text: str) -> SearchReading | None:
    plain = text.replace("*", "")
    if created := _CREATED.search(plain):
        return SearchReading(search=_count_of(created[1]), now=_count_of(created[2]), changes={})
    report, now = _REPORT.search(plain), _NOW.search(plain)
    if report is None or now is None:
        return None
    head = plain[: now.end()]
    new_part = plain.partition("New:")[2].partition("Changed:")[0]
    return SearchReading(
        search=_count_of(report[1]),
        now=_count_of(now[1]),
        changes={name: _count_of(count) for count, name in _CHANGES.findall(head)},
        new_titles=tuple(_TITLE.findall(new_part)),
    )


def _count_of(digits: str) -> int:
    return int(digits.replace(",", ""))
