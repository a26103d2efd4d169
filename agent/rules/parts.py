"""The parts of a message of several questions, and what one part takes over from the part before it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.reasoner import Doubt, Pick
from agent.rules.compare import Reader
from agent.rules.follow import follows
from agent.rules.language import LIST_VERBS, POINTERS
from agent.rules.lexicon import Noun
from agent.rules.reading import Reading
from agent.rules.split import points_back
from storage.search.conditions import EVERYTHING
from storage.search.ids import LegId
from storage.search.plan import FindPassages, Leg, Plan

_SUBJECTLESS = re.compile(r"^(?P<lead>which|how many)\s+(?!of\b|ones?\b)(?P<rest>.+)$", re.IGNORECASE | re.DOTALL)
_REPEATS = re.compile(r"^(?:in|from|at|for|on|by|with|during)\b", re.IGNORECASE)
_GOES_ON = re.compile(r"^(?:(?:what|how) about\b|which ones?\b|which of\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part as a leg. `continues`: its search is that of the part before, or of the last plan, and more."""

    leg: Leg
    doubt: Doubt
    picks: tuple[Pick, ...] = ()
    assumed: tuple[str, ...] = ()
    continues: bool = False

    def renamed(self, leg_id: LegId, question: str) -> "Part":
        return replace(
            self,
            leg=replace(self.leg, id=leg_id, question=question),
            doubt=replace(self.doubt, leg=leg_id),
            picks=tuple(replace(one, leg=leg_id) for one in self.picks),
        )


def continued(part: str, plan: Plan, reader: Reader, *, is_first: bool) -> Part | None:
    """The part as it goes on with the plan's last leg; None where it speaks for itself."""
    readings = reader.readings(part)
    repeats = not is_first and (bool(_REPEATS.match(part)) or _is_bare(readings, plan))
    goes_on = points_back(part) or bool(_GOES_ON.match(part)) or repeats
    if not goes_on or (readings[0].has_noun and not points_back(part)):
        return None
    planned = follows(part, plan, reader)
    if planned is None:
        return None
    leg = planned.plan.legs[-1]
    return Part(leg=leg, doubt=Doubt(leg=leg.id), picks=planned.picks, continues=True)


def only_shows(part: str) -> bool:
    """ "Show them": no question of its own, but how the one before it is to be answered."""
    words = re.findall(r"\w+", part.lower())
    return bool(set(words) & LIST_VERBS) and set(words) <= LIST_VERBS | POINTERS | {"me", "us", "please", "of", "the"}


def is_open(leg: Leg) -> bool:
    """Whether the leg looks anywhere, so that there is nothing in it to point back at."""
    return isinstance(leg.wanted, FindPassages) and all(one.everything == EVERYTHING for one in leg.search.clauses)


def with_noun(part: str, before: Part, reader: Reader) -> str:
    """ "Which end in 2026?", after a question about contracts: which contracts."""
    match = _SUBJECTLESS.match(part)
    if match is None or any(one.has_noun for one in reader.readings(part)[:1]):
        return part
    noun = _noun(before.leg, reader)
    return f"{match['lead']} {noun} {match['rest']}" if noun else part


def _noun(leg: Leg, reader: Reader) -> str:
    """What the documents of the leg are called in its question."""
    reading = next((one for one in reader.readings(leg.question) if one.bucket in leg.search.buckets), None)
    for link in reading.links if reading is not None else ():
        if isinstance(link.meaning, Noun) and reading is not None:
            return leg.question[reading.tokens[link.first].start : reading.tokens[link.last - 1].end]
    return ""


def _is_bare(readings: Sequence[Reading], plan: Plan) -> bool:
    """Says only what is wanted ("and what is the average?"), not of what."""
    reading = next((one for one in readings if one.bucket in plan.legs[-1].search.buckets), None)
    return reading is not None and not (
        reading.conditions or reading.leftovers or reading.quoted or readings[0].has_noun
    )
