"""What people find of their own, under the rights of this moment: what they may ask, what they asked, their files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agent.help import example_of
from bot.access import Access
from bot.codec import body_from_json
from bot.exports import Exports
from bot.exports import Past as PastExport
from bot.inbound import Private, Said
from storage.search.ids import BucketId
from storage.search.index import Count, SearchIndex
from storage.search.plan import everything_in
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.sql.database import Database
from storage.sql.exports import ExportStatus
from storage.sql.history import History, Past

__all__ = ["ExportStatus", "Own", "PastExport", "PastQuestion", "Personal", "VisibleBucket", "questions_of"]

QUESTIONS: Final = 10
EXPORTS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleBucket:
    """A bucket as somebody who may see it does: `documents` are those that they may read."""

    title: str
    description: str
    documents: int
    example: str  # a question that it can answer


@dataclass(frozen=True, slots=True, kw_only=True)
class PastQuestion:
    """`ending`: how it ended, in a word; None while it is open. `reason`: why it was rated badly, if it was."""

    text: str
    asked_at: datetime
    ending: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """`buckets`: one page of all `bucket_count` that are visible, by title."""

    buckets: tuple[VisibleBucket, ...]
    bucket_count: int
    questions: tuple[PastQuestion, ...]
    exports: tuple[PastExport, ...]


class Personal:
    def __init__(self, *, access: Access, index: SearchIndex, exports: Exports, database: Database) -> None:
        self._access, self._index, self._exports = access, index, exports
        self._history = History(database)

    async def own(self, audience: Private, *, first: int = 0, most: int) -> Own:
        """`most` buckets from the `first` on. Nothing of a bucket that the person alone may not see is in it.

        Raises what the index and the database raise.
        """
        scope = await self._access.scope(audience)
        schemas = await self._index.within(scope).schemas()
        by_title = sorted(schemas.items(), key=lambda one: (one[1].label.casefold(), one[0]))
        return Own(
            buckets=await self._buckets(scope, dict(by_title[first : first + most])),
            bucket_count=len(by_title),
            questions=questions_of(await self._history.of(audience.person, QUESTIONS)),
            exports=tuple(await self._exports.of_person(audience.person, scope, EXPORTS)),
        )

    async def _buckets(self, scope: Scope, schemas: Mapping[BucketId, Schema]) -> tuple[VisibleBucket, ...]:
        """Counted in one round trip."""
        counts = {bucket: Count(everything_in(bucket)) for bucket in schemas}
        answers = await self._index.within(scope).ask(*counts.values())
        return tuple(
            VisibleBucket(
                title=schema.label,
                description=schema.description,
                documents=answers[counts[bucket]],
                example=example_of(schema),
            )
            for bucket, schema in schemas.items()
        )


def questions_of(past: Sequence[Past]) -> tuple[PastQuestion, ...]:
    """Clicks have no words of their own."""
    return tuple(
        PastQuestion(text=_text(one), asked_at=one.received_at, ending=one.ending, reason=one.reason) for one in past
    )


def _text(past: Past) -> str:
    body = body_from_json(past.body)
    return body.text if isinstance(body, Said) else "(a choice by button)"
