"""A message after a plan, read for the bucket that the plan is about; and the plan that goes on with it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.bounds import without_implied
from agent.reasoner import Doubt, Pick, Planned
from agent.rules.commands import phrases
from agent.rules.compare import Reader
from agent.rules.language import FOLLOW_UP_STARTS, LIST_VERBS, QUESTION_WORDS, YES_NO
from agent.rules.lexicon import Lexicon
from agent.rules.reading import Reading
from agent.wording import condition_words
from storage.search.conditions import conjuncts
from storage.search.ids import BucketId
from storage.search.plan import Clause, Compute, FindPassages, Leg, ListDocuments, Plan, ReadFields, Search, Wanted
from storage.search.schema import Schema, SchemaOrder

_OPENERS = FOLLOW_UP_STARTS + phrases(
    """without|except|excluding|exclude|not|no|minus|drop|remove|leave out|include|including|add|or|make it|make that
    |same|the same|filter|keep|instead|in|from|for|with|over|under|since|before|after|between|by|then|ok|okay|those
    |these|ones|more|less|at"""
)
_AT_ALL = frozenset("them those these they their theirs ones it its same".split())  # point at what was found
_ONE = re.compile(r"\b(?:that|this) one\b", re.IGNORECASE)
_OF_THEM = re.compile(r"\b(?:of|among)\s+(?:them|those|these)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message after a plan. `earlier`: the plans before the last, oldest first."""

    question: str
    words: tuple[str, ...]
    last: Plan
    earlier: Sequence[Plan]
    leg: Leg
    readings: Sequence[Reading]
    reading: Reading
    lexicon: Lexicon
    reader: Reader
    most: int | None  # documents that it asks for

    @property
    def opened(self) -> bool:
        return any(self.words[: len(start)] == start for start in _OPENERS)

    @property
    def pointed(self) -> bool:
        """Speaks of what was found. "That" and "this" do so alone, not before what they introduce."""
        ends = self.words[-1:] in (("that",), ("this",)) or self.words[:1] in (("that",), ("this",))
        return bool(set(self.words) & _AT_ALL) or ends or bool(_ONE.search(self.question))

    @property
    def of_them(self) -> bool:
        """Some of what was found, and nothing else."""
        return bool(_OF_THEM.search(self.question))

    @property
    def asks(self) -> bool:
        return bool(self.words) and self.words[0] in QUESTION_WORDS | LIST_VERBS | YES_NO

    @property
    def says_of_its_own(self) -> bool:
        one = self.reading
        return bool(one.conditions or one.quoted or one.leftovers)

    @property
    def is_elliptic(self) -> bool:
        """ "Which are from 2024?", "how many were paid by card?": the subject is what was found."""
        at = 2 if self.words[:2] == ("how", "many") else 1 if self.words[:1] in (("which",), ("who",)) else 0
        verbs = {"are", "were", "have", "had", "is", "was", "of", "do", "did"}
        return bool(at) and self.words[at : at + 1] != () and self.words[at] in verbs and not self.reading.has_noun


def again(said: Said, search: Search, wanted: Wanted, kept: tuple[str, ...] | None = None) -> Planned:
    """The last leg with another search or another form of answer. Other legs are left behind."""
    if len(search.clauses) > 1 and _speaks_of_field(wanted):
        search = search.with_clauses(*(one for one in search.clauses if one.bucket == said.reading.bucket))
    before = [one for one in said.leg.search.clauses if one.bucket in search.buckets]
    reads = isinstance(wanted, (FindPassages, ReadFields)) and wanted == said.leg.wanted and kept is not None
    question = said.leg.question if reads else said.question  # its words still say what is sought in the text
    leg = Leg(id=said.leg.id, question=question, search=search, wanted=wanted, probes=said.leg.probes)
    return Planned(
        plan=Plan(question=said.question, legs=(leg,)),
        doubts=(Doubt(leg=leg.id),),
        kept=kept if kept is not None else kept_of(before, search.clauses, said.reader),
        picks=_of_a_few(said, leg),
        follows=True,
    )


def kept_of(old: Sequence[Clause], new: Sequence[Clause], reader: Reader) -> tuple[str, ...]:
    """What of the old clauses the new ones hold, in words."""
    schemas: Mapping[BucketId, Schema] = {clause.bucket: reader.known[clause.bucket].schema for clause in old}
    by_bucket = {clause.bucket: clause for clause in new}
    pairs = [(before, by_bucket[before.bucket]) for before in old if before.bucket in by_bucket]
    kept = [
        condition_words(one, schemas[before.bucket])
        for before, after in pairs
        for one in without_implied(conjuncts(before.condition))
        if one in without_implied(conjuncts(after.condition))
    ]
    kept += [f"mentions “{word}”" for before, after in pairs for word in before.required if word in after.required]
    return tuple(dict.fromkeys(kept))


def order_of(wanted: Wanted) -> SchemaOrder | None:
    return wanted.order if isinstance(wanted, ListDocuments) else None


def _speaks_of_field(wanted: Wanted) -> bool:
    """What only one bucket can answer."""
    if isinstance(wanted, Compute):
        return wanted.field is not None or wanted.group is not None
    return order_of(wanted) is not None


def _of_a_few(said: Said, leg: Leg) -> tuple[Pick, ...]:
    """ "Their sum", after "the five cheapest": of those five alone."""
    before = said.leg.wanted
    few = before.limit if isinstance(before, ListDocuments) else None
    same = leg.search.clauses == said.leg.search.clauses
    if few is None or not (same or said.of_them):
        return ()
    if same and isinstance(leg.wanted, ListDocuments) and leg.wanted.order == order_of(before):
        return ()  # the same list, of another length
    return (Pick(leg=leg.id, of=said.leg, places=tuple(range(1, few + 1))),)
