"""What a message can ask for about saved searches."""

from dataclasses import dataclass
from typing import TypeAlias

from bot.saved_searches.report_requests import ReportRequest
from bot.saved_searches.schedule import SearchSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveRequest:
    """Ask this question again by this schedule."""

    question: str
    schedule: SearchSchedule


@dataclass(frozen=True, slots=True)
class SaveLastRequest:
    """Save what the last answer has searched; the reply offers when to ask again."""


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Which saved searches are there?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRequest:
    """Stop the saved search of this number; without a number, the only one, or all."""

    number: int | None = None
    stops_all: bool = False


SavedSearchRequest: TypeAlias = SaveRequest | SaveLastRequest | ListRequest | StopRequest | ReportRequest
