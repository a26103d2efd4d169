"""What a review decides of each leg: enough to answer, more to fetch, or a question back; and what it decides on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agent import refine
from agent.compose import escaped, set_words
from agent.gather import Asked, hits_of
from agent.outcome import Citation, FoundPassage, Grid, LegResult, MissingCount, OutcomeKind, Route
from agent.prune import fused
from agent.reasoner import Doubt, Material
from agent.refine import Candidate
from agent.tools import Desk
from agent.wording import condition_words, listed, plural
from storage.search.conditions import Condition, conjuncts
from storage.search.ids import DocId
from storage.search.index import Answers, Record
from storage.search.plan import Leg
from storage.search.schema import Field


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one side of a comparison says of one thing: as people read it, and as a number or a day where it is one."""

    row: str
    text: str
    value: float | str | None = None
    unit: str | None = None
    field: Field | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One side of a comparison. Raw text, not escaped."""

    title: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enough:
    """A leg that is answered."""

    result: LegResult
    lines: tuple[str, ...]
    citations: tuple[Citation, ...] = ()
    grids: tuple[Grid, ...] = ()
    hits: tuple[FoundPassage, ...] = ()
    candidates: tuple[Candidate, ...] = ()  # ways to narrow, to be counted
    export: int | None = None  # documents that an export would bring, where it is offered
    assumptions: tuple[str, ...] = ()
    route: Route = Route.STRUCTURED
    column: Column | None = None  # as a side of a comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class AskBack:
    """A leg that needs a choice."""

    kind: OutcomeKind
    result: LegResult
    lines: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    hits: tuple[FoundPassage, ...] = ()
    assumptions: tuple[str, ...] = ()
    anyway: bool = False
    export: int | None = None
    route: Route = Route.STRUCTURED


@dataclass(frozen=True, slots=True, kw_only=True)
class More:
    """Search again: with `leg`, for `because`."""

    leg: Leg
    ignored: tuple[str, ...]  # words taken out of it, which no document holds
    assumed: tuple[str, ...] = ()  # what is taken for granted by it, in words


Decision: TypeAlias = Enough | More | AskBack


@dataclass(frozen=True, slots=True, kw_only=True)
class Under:
    """One leg under review."""

    desk: Desk
    material: Material
    leg: Leg
    doubt: Doubt
    asked: Asked
    answers: Answers
    may_ask: bool
    ignored: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return self.answers[self.asked.count]

    @property
    def noun(self) -> str:
        return refine.noun(self.leg.search, self.material.schemas)

    @property
    def where(self) -> str:
        return escaped(set_words(self.leg.search, self.material.schemas))

    @property
    def narrowed(self) -> str:
        """What `where` says behind the noun, to follow it: " where total > 5"; nothing, if that is all it says."""
        noun = escaped(plural(self.noun))
        where = escaped(set_words(self.leg.search, self.material.schemas, of_one=self.count == 1))
        told = where.removeprefix(noun)
        if told in ("", " of these"):
            return ""
        return told if where.startswith((f"{noun} ", f"{noun},")) else f": {where}"


def result_of(under: Under, kind: OutcomeKind, text: str, count: int | None) -> LegResult:
    return LegResult(
        leg=under.leg.id,
        question=under.leg.question,
        kind=kind,
        text=text,
        count=count,
        found=under.count,
        condition=_condition(under),
        missing=missing_of(under),
    )


def _condition(under: Under) -> Condition | None:
    clauses = under.leg.search.clauses
    conditions = {clause.everything for clause in clauses}
    return clauses[0].everything if len(conditions) == 1 else None


def missing_of(under: Under) -> tuple[MissingCount, ...]:
    counts = {name: under.answers[count] for name, count in under.asked.missing.items()}
    return tuple(MissingCount(field=name, count=count) for name, count in counts.items() if count)


def assumptions_of(under: Under) -> tuple[str, ...]:
    said = [f"ignored, since no document holds it: “{word}”" for word in under.ignored]
    required = sorted({word for clause in under.leg.search.clauses for word in clause.required})
    said += under.assumed
    if required:
        fit, them = ("fits", "it") if len(required) == 1 else ("fit", "them")
        said.append(f"{listed([f'“{word}”' for word in required])} {fit} no field, so the text must mention {them}")
    if under.doubt.alike and not under.may_ask:
        others = ", ".join(f"“{one.words}”" for one in under.doubt.alike)
        said.append(f"took the reading “{taken_words(under)}”, not {others}")
    return tuple(said)


def taken_words(under: Under) -> str:
    """The reading that was taken, by what sets it apart from those that score alike."""
    clause = under.leg.search.clauses[0]
    others = [conjuncts(reading.search.clauses[0].condition) for reading in under.doubt.alike]
    own = [one for one in conjuncts(clause.condition) if any(one not in other for other in others)]
    return " and ".join(condition_words(one, under.material.schemas[clause.bucket]) for one in own)


def hits_by_document(under: Under) -> tuple[FoundPassage, ...]:
    """The best passage of each document, on the structured route."""
    found = fused(hits_of(under.asked.ranked, under.answers))
    seen: dict[str, FoundPassage] = {}
    for one in found:
        seen.setdefault(one.hit.doc_id, one)
    return tuple(seen.values())[: under.desk.context.limits.hits]


def ids_of(records: Sequence[Record]) -> tuple[DocId, ...]:
    return tuple(one.doc_id for one in records)
