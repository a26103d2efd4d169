"""What a reasoner is: it turns a question into a plan. The rule reasoner needs no model; both fill the same types."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from storage.search.ids import BucketId, LegId
from storage.search.index import Vocabulary
from storage.search.plan import Clause, Leg, Plan, Search
from storage.search.schema import Schema
from storage.search.text import Analyser


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a reasoner may know: the scoped dictionary and schemas, the asker's clock, the last plan."""

    schemas: Mapping[BucketId, Schema]
    vocabulary: Vocabulary
    analysers: Mapping[BucketId, Analyser]
    now: datetime
    locale: str
    last: Plan | None
    earlier: tuple[Plan, ...] = ()  # the plans before the last one, oldest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """Another reading of a leg: the Search it gives, and how it reads in words."""

    words: str
    search: Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Respelled:
    """The leg as it reads if words are misspelt: each as it was written, and as it is then meant."""

    words: tuple[tuple[str, str], ...]
    leg: Leg


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """What a leg could also have meant; each is counted before it is offered."""

    leg: LegId
    alike: tuple[Reread, ...] = ()  # score as well as the one taken: an ambiguity
    otherwise: tuple[Reread, ...] = ()  # possible as well, should the one taken lead nowhere
    respelled: Respelled | None = None  # for words that no document holds
    wider: tuple[Reread, ...] = ()  # "at least" beside a bare value
    elsewhere: tuple[Clause, ...] = ()  # what the question says to buckets that were not chosen
    doubtful: tuple[str, ...] = ()  # required words that are dropped, and named, if no document holds them


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A leg is about documents that an earlier leg listed, by their places: from 1; from the end, below 0."""

    leg: LegId
    of: Leg
    places: tuple[int, ...]
    but: bool = False  # all but those
    if_there: bool = False  # the leg goes where the list is not that long, and others are left


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan, and what stands in doubt. `kept`: what it took over from the last plan, in words."""

    plan: Plan
    doubts: tuple[Doubt, ...] = ()
    kept: tuple[str, ...] = ()
    follows: bool = False  # goes on with the last plan; a new topic may ask back anew
    picks: tuple[Pick, ...] = ()  # looked up before the plan is searched
    instead: "Planned | None" = None  # taken when no leg of the plan finds a document
    goes_back: bool = False  # is the plan before the last one again


@dataclass(frozen=True, slots=True, kw_only=True)
class WantsExport:
    """The person asks for a set as a file."""

    plan: Plan
    leg: LegId


@dataclass(frozen=True, slots=True, kw_only=True)
class WantsStartOver:
    """The person asks to forget what was said, or to go back to before it."""

    nothing_before: bool = False


@dataclass(frozen=True, slots=True)
class WantsHelp:
    """The person greets, or asks what can be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeansNothing:
    """No word of the question means anything here."""

    words: tuple[str, ...]


Decomposition: TypeAlias = Planned | WantsExport | WantsStartOver | WantsHelp | MeansNothing


class Reasoner(Protocol):
    """From a question to a plan. Pure but for caches."""

    @property
    def name(self) -> str:
        """`rule` or `model`."""
        ...

    def decompose(self, question: str, material: Material) -> Decomposition:
        """What the question asks of the buckets in `material`."""
        ...
