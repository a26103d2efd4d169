"""What words rest on, kept with them: so that they are said again only to whom they may be said.

Rights are granted to audiences and documents name their readers; either may have changed since.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any as Json
from typing import Final

from agent.outcome import Answer, Clarify, LegResult, Outcome, Refused, StartedOver
from bot.attachments import ATTACHED
from bot.ids import BucketId, Subject
from storage.search.codec import search_from_json, search_to_json
from storage.search.conditions import DOC_ID, Compare, Op
from storage.search.errors import InvalidCondition, NotInScope
from storage.search.ids import DocId
from storage.search.index import Count, ScopedIndex
from storage.search.plan import Plan, Search, everything_in
from storage.search.scope import Scope

_AT_ONCE: Final = 1_000  # documents in one condition


@dataclass(frozen=True, slots=True)
class Counted:
    """A set that was told by its number, and not document by document."""

    search: Search
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RestsOn:
    """What an audience had to be granted for these words, and as whom; what they tell of."""

    buckets: frozenset[BucketId]
    subjects: frozenset[Subject]
    documents: frozenset[DocId] = frozenset()
    counted: tuple[Counted, ...] = ()
    files: frozenset[str] = frozenset()  # ids of the attached ones, where they were searched as well

    async def may_be_seen(self, index: ScopedIndex, files: frozenset[str] = frozenset()) -> bool:
        """Whether whoever reads within the index's scope, where these files are attached now, may see all of it.

        A set of attached documents stays as it is for as long as its files are there. Raises what the index raises.
        """
        scope = index.scope
        if ATTACHED in self.buckets and not (self.files and self.files <= files):
            return False
        granted = self.buckets - {ATTACHED} <= scope.buckets
        if not granted or not (scope.all_readers or self.subjects <= scope.subjects):
            return False
        counted = [one for one in self.counted if ATTACHED not in one.search.buckets]
        expected = [*self._named(), *((Count(one.search), one.documents) for one in counted)]
        if not expected:
            return True
        try:
            answers = await index.ask(*(count for count, _ in expected))
        except (NotInScope, InvalidCondition):  # a bucket that is gone, or is another now
            return False
        return all(answers[count] >= documents for count, documents in expected)

    def _named(self) -> list[tuple[Count, int]]:
        ids = sorted(one for one in self.documents if one.partition("/")[0] not in self.files)
        everything = everything_in(*sorted(self.buckets - {ATTACHED}))
        parts = [tuple(ids[at : at + _AT_ONCE]) for at in range(0, len(ids), _AT_ONCE)]
        return [(Count(everything.narrowed(Compare(field=DOC_ID, op=Op.IN, value=part))), len(part)) for part in parts]


def grounds_of(outcome: Outcome, scope: Scope, attached: frozenset[str] = frozenset()) -> RestsOn | None:
    """None for words that tell of no document. `attached`: the files that could be searched beside what is granted."""
    if isinstance(outcome, (StartedOver, Refused)):
        return None
    buckets = frozenset(bucket for leg in outcome.plan.legs for bucket in leg.search.buckets)
    files = attached if ATTACHED in buckets else frozenset[str]()
    if not isinstance(outcome, (Answer, Clarify)):
        return RestsOn(buckets=buckets, subjects=scope.subjects, files=files)
    named = {doc_id for leg in outcome.legs for doc_id in leg.doc_ids}
    named |= {citation.doc_id for citation in outcome.citations}
    counted = (_counted(leg, outcome.plan) for leg in outcome.legs)
    return RestsOn(
        buckets=buckets,
        subjects=scope.subjects,
        documents=frozenset(named),
        counted=tuple(one for one in counted if one is not None),
        files=files,
    )


def _counted(leg: LegResult, plan: Plan) -> Counted | None:
    documents = leg.count if leg.found is None else leg.found
    if documents is None or documents <= len(leg.doc_ids):
        return None
    return Counted(plan.leg(leg.leg).search, documents)


def grounds_to_json(grounds: RestsOn, result: Mapping[str, Json]) -> dict[str, Json]:
    """Documents that the result names are not kept a second time."""
    counted = [{"search": search_to_json(one.search), "documents": one.documents} for one in grounds.counted]
    others = sorted(grounds.documents - _told(result))
    return {
        "buckets": sorted(grounds.buckets),
        "subjects": sorted(grounds.subjects),
        **({"documents": others} if others else {}),
        **({"counted": counted} if counted else {}),
        **({"files": sorted(grounds.files)} if grounds.files else {}),
    }


def grounds_from_json(data: Mapping[str, Json], result: Mapping[str, Json]) -> RestsOn:
    counted = (Counted(search_from_json(one["search"]), int(one["documents"])) for one in data.get("counted", ()))
    return RestsOn(
        buckets=frozenset(map(BucketId, data["buckets"])),
        subjects=frozenset(map(Subject, data["subjects"])),
        documents=_told(result) | frozenset(map(DocId, data.get("documents", ()))),
        counted=tuple(counted),
        files=frozenset(data.get("files", ())),
    )


def _told(result: Mapping[str, Json]) -> frozenset[DocId]:
    listed = [*result["doc_ids"], *(doc_id for leg in result["legs"] for doc_id in leg["doc_ids"])]
    return frozenset(map(DocId, [*listed, *(one["doc_id"] for one in result["citations"])]))
