"""What the admin page shows of all buckets: counts, health and sources, without anything that appears in documents."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.access.audience_scope import AccessResolver
from bot.admin.administration import AdminOperations, BucketOverview
from bot.admin.sources import SourceOperations
from bot.errors import MissingBucket, NotAdmin
from bot.health.index_record import REBUILD_COMMAND, BucketLoss
from bot.health.readiness import ReadinessChecks, ReadinessProblem
from bot.ids import OPERATOR, BucketId, PersonId
from bot.surface.inbound import OperatorAudience, PrivateAudience
from storage.search.bucket_parts import with_parts
from storage.search.errors import SearchError
from storage.search.index import BucketState, SearchIndex, VectorState
from storage.search.scope import Scope
from storage.sql.stores.sources import StoredSource

__all__ = ["BucketStatus", "FieldStatus", "InstallationStatus", "PartStatus", "ReadinessProblem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldStatus:
    """A field, and how many documents have a value. `kind` is its type, with the unit."""

    name: str
    label: str
    kind: str
    document_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PartStatus:
    """The bucket itself, or a part of it."""

    id: BucketId
    document_count: int
    passage_count: int
    fields: tuple[FieldStatus, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketStatus:
    """`parts`: the bucket first; none: nothing is loaded. `problems`: sentences. `is_readable`: whether the admin may
    see what is in its documents, which a grant alone allows, except to the operator.
    """

    overview: BucketOverview
    parts: tuple[PartStatus, ...]
    problems: tuple[str, ...]
    is_readable: bool

    @property
    def passage_count(self) -> int:
        return sum(part.passage_count for part in self.parts)


class InstallationStatus:
    """Each call names the admin who asks, and raises `NotAdmin` for anybody else."""

    def __init__(
        self,
        *,
        administration: AdminOperations,
        index: SearchIndex,
        access: AccessResolver,
        sources: SourceOperations,
        readiness: ReadinessChecks,
    ) -> None:
        self._administration, self._index, self._access = administration, index, access
        self._sources, self._readiness = sources, readiness

    async def load_buckets(self, by: PersonId) -> tuple[BucketStatus, ...]:
        """All buckets by id. Raises `NotAdmin`, and what the index and the database raise."""
        overviews = await self._administration.list_buckets(by)
        states, vectors, losses, sources, scope = await asyncio.gather(
            self._index.load_bucket_states(),
            self._index.load_vector_states(),
            self._readiness.record.find_losses(),
            self._sources.list_sources(),
            scope_for_admin(self._access, by),
        )
        own_sources = {
            overview.id: [source for source in sources if source.bucket == overview.id] for overview in overviews
        }
        return tuple(
            BucketStatus(
                overview=overview,
                parts=_parts_of(overview.id, states),
                problems=(
                    *_problems_of(overview.id, states, vectors, losses, has_sources=bool(own_sources[overview.id])),
                    *_failures_of(own_sources[overview.id], by == OPERATOR or overview.id in scope.buckets),
                ),
                is_readable=overview.id in scope.buckets,
            )
            for overview in overviews
        )

    async def load_overview(self, by: PersonId) -> tuple[tuple[BucketStatus, ...], list[ReadinessProblem]]:
        """All buckets, and what does not work; no buckets while the index cannot be read. Raises `NotAdmin`, and what
        the database raises.
        """
        problems = await self.find_problems(by)
        try:
            return await self.load_buckets(by), problems
        except SearchError:
            if not problems:
                raise
            return (), problems

    async def load_bucket(self, bucket: str, by: PersonId) -> BucketStatus:
        """Raises `NotAdmin`, `MissingBucket`, and what the index and the database raise."""
        for status in await self.load_buckets(by):
            if status.overview.id == bucket:
                return status
        raise MissingBucket(bucket)

    async def find_problems(self, by: PersonId) -> list[ReadinessProblem]:
        """What `/readyz` and `parley doctor` would report. Only the operator sees hosts and paths."""
        if not await self._administration.is_admin(by):
            raise NotAdmin()
        problems = await self._readiness.find_problems()
        if by == OPERATOR:
            return problems
        return [ReadinessProblem(summary=summary, detail="") for summary in dict.fromkeys(p.summary for p in problems)]


async def scope_for_admin(access: AccessResolver, person: PersonId) -> Scope:
    """What the admin may read: everything as the operator, else what is granted to the person.

    A person of a chat product counts as a guest unless the product says otherwise.
    """
    if person == OPERATOR:
        return await access.scope_for_audience(OperatorAudience())
    is_guest = not person.startswith("local:")
    return await access.scope_for_audience(PrivateAudience(person=person, is_guest=is_guest))


def _parts_of(bucket: BucketId, states: Mapping[BucketId, BucketState]) -> tuple[PartStatus, ...]:
    members = sorted(with_parts({bucket}, states) & states.keys())  # the bucket's own id sorts first
    return tuple(_part_status_of(states[member]) for member in members)


def _part_status_of(state: BucketState) -> PartStatus:
    return PartStatus(
        id=state.schema.bucket,
        document_count=state.document_count,
        passage_count=state.passage_count,
        fields=tuple(
            FieldStatus(
                name=field.name,
                label=field.label,
                kind=f"{field.type.value}, in {field.unit}" if field.unit else field.type.value,
                document_count=state.field_counts.get(field.name, 0),
            )
            for field in state.schema.fields
        ),
    )


def _problems_of(
    bucket: BucketId,
    states: Mapping[BucketId, BucketState],
    vectors: Mapping[BucketId, VectorState],
    losses: Mapping[BucketId, BucketLoss],
    *,
    has_sources: bool,
) -> tuple[str, ...]:
    members = with_parts({bucket}, {*states, *losses})
    lost = [f"{losses[member].sentence}: {REBUILD_COMMAND}" for member in sorted(members & losses.keys())]
    outdated = [
        f"not every passage of {member} can be found by meaning: parley bucket reindex {member}"
        for member in sorted(members & vectors.keys())
        if not vectors[member].is_current
    ]
    gone = [] if members & states.keys() or has_sources else ["this bucket is gone, but has grants"]
    return (*lost, *gone, *outdated)


def _failures_of(sources: Sequence[StoredSource], is_told: bool) -> list[str]:
    """Why the last syncs did not do all; which ones, where the admin may not see the bucket: a failure may name what
    is in it.
    """
    return [
        source.failure
        if is_told
        else f"{source.id}: the last sync did not do all; only who may see the bucket reads why"
        for source in sources
        if source.failure
    ]
