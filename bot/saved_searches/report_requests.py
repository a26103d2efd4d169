"""What an admin says to have the report of usage posted by the clock, in English, German, French and Spanish."""

import re
from dataclasses import dataclass
from typing import Final

from bot.saved_searches.schedule import ChangeSchedule, SearchSchedule, parse_schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """Post the report here by this schedule."""

    schedule: SearchSchedule


def recognise_report_request(words: str) -> ReportRequest | None:
    """Returns what the whole message asks for; None for any other message. `words` have single blanks."""
    for pattern in _ENGLISH_PATTERNS:
        if match := pattern.fullmatch(words):
            return _request_at(match["when"])
    for pattern, days in _OTHER_PATTERNS:
        if match := pattern.fullmatch(words):
            return _request_at(f"every {days[match['day'].lower()]} at {_clock_time_of(match)}")
    return None


def _request_at(when: str) -> ReportRequest | None:
    schedule = parse_schedule(when)
    return None if schedule is None or isinstance(schedule, ChangeSchedule) else ReportRequest(schedule=schedule)


def _clock_time_of(match: re.Match[str]) -> str:
    return f"{match['hour'] or '9'}:{match['minute'] or '00'}"


_END: Final = r"[.!]*"
_REPORT: Final = r"(?:the |a |your )?(?:usage|admin|weekly) report"
_WHEN: Final = r"(?P<when>(?:every|each|daily|weekly|monthly)\b.*?)"
_ENGLISH_PATTERNS: Final = tuple(
    re.compile(pattern + _END, re.IGNORECASE)
    for pattern in (
        rf"(?:please )?post {_REPORT}(?: here)?,? {_WHEN}",
        rf"{_WHEN}[:,]? (?:please )?post {_REPORT}(?: here)?",
    )
)
_HOUR: Final = r"(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2})?)?"


def _pattern_of(report: str, every: str, days: dict[str, str], clock: str) -> tuple[re.Pattern[str], dict[str, str]]:
    names = "|".join(days)
    return re.compile(rf"{report} {every} (?P<day>{names})s?(?: {clock})?{_END}", re.IGNORECASE), days


def _days_named(*names: str) -> dict[str, str]:
    """The English days by their names, from Monday to “day”."""
    english = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "weekday", "day")
    return dict(zip(names, english, strict=False))


_OTHER_PATTERNS: Final = (
    _pattern_of(
        r"(?:bitte )?poste (?:hier )?den (?:nutzungsbericht|wochenbericht)(?: hier)?",
        "jeden",
        _days_named(
            *("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag", "werktag", "tag")
        ),
        rf"um {_HOUR}(?: uhr)?",
    ),
    _pattern_of(
        r"(?:publie|publiez|poste|postez) le rapport d['’]utilisation(?: ici)?",
        "(?:chaque|tous les)",
        _days_named("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche", "jour ouvré", "jour"),
        rf"à {_HOUR}",
    ),
    _pattern_of(
        r"(?:publica|publique) el informe de uso(?: aquí)?",
        "(?:cada|todos los|los)",
        _days_named(
            *("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo", "día laborable", "día")
        ),
        rf"a las? {_HOUR}",
    ),
)
