"""What a person finds about themselves, under their current rights: buckets, earlier questions, exported files and
saved searches.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.access.audience_scope import AccessResolver
from bot.conversation.exports import ExportFiles
from bot.conversation.exports import PastExport as PastExport
from bot.saved_searches.personal_searches import OwnSearch, PersonalSearches
from bot.surface.inbound import Audience, PrivateAudience, TextMessage
from bot.surface.json_codec import body_from_json
from storage.search.errors import SearchError
from storage.search.ids import BucketId
from storage.search.index import CountRequest, SearchIndex
from storage.search.plan import unfiltered_search_of
from storage.search.schema import Schema
from storage.search.scope import Scope
from storage.sql.database import SqlDatabase
from storage.sql.errors import SqlError
from storage.sql.stores.exports import ExportStatus
from storage.sql.stores.history import QuestionHistory, StoredQuestion

__all__ = [
    "ExportStatus",
    "PastExport",
    "PastQuestion",
    "PersonalHistory",
    "PersonalOverview",
    "VisibleBucket",
    "past_questions_of",
]

MAX_QUESTIONS: Final = 10
MAX_EXPORTS: Final = 10
_MAX_EXAMPLE_BUCKETS: Final = 50  # that are counted, to choose those with most documents
_EXAMPLES_TIMEOUT: Final = timedelta(seconds=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleBucket:
    """A bucket that a person may see. `documents` counts the documents that the person may read."""

    title: str
    description: str
    documents: int
    example: str  # a question that it can answer


@dataclass(frozen=True, slots=True, kw_only=True)
class PastQuestion:
    """A question of the person. `ending` is None while the turn is open; `reason` says why it was rated badly."""

    text: str
    asked_at: datetime
    ending: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalOverview:
    """The person's overview. `buckets` is one page of the `bucket_count` visible buckets, in order of their titles."""

    buckets: tuple[VisibleBucket, ...]
    bucket_count: int
    questions: tuple[PastQuestion, ...]
    exports: tuple[PastExport, ...]
    saved_searches: tuple[OwnSearch, ...] = ()


class PersonalHistory:
    def __init__(
        self, *, access: AccessResolver, index: SearchIndex, exports: ExportFiles, database: SqlDatabase
    ) -> None:
        self._access, self._index, self._exports = access, index, exports
        self._history, self._saved_searches = QuestionHistory(database), PersonalSearches(database)

    async def load_overview(self, audience: PrivateAudience, *, offset: int = 0, max_buckets: int) -> PersonalOverview:
        """The overview with at most `max_buckets` buckets, starting at `offset`.

        It has nothing of a bucket that the person may not see. Raises what the index and the database raise.
        """
        scope = await self._access.scope_for_audience(audience)
        schemas = await self._index.within_scope(scope).load_schemas()
        by_title = sorted(schemas.items(), key=lambda entry: (entry[1].label.casefold(), entry[0]))
        return PersonalOverview(
            buckets=await self._visible_buckets(scope, dict(by_title[offset : offset + max_buckets])),
            bucket_count=len(by_title),
            questions=past_questions_of(await self._history.list_asked_by(audience.person, MAX_QUESTIONS)),
            exports=tuple(await self._exports.list_exports_of(audience.person, scope, MAX_EXPORTS)),
            saved_searches=await self._saved_searches.list_searches(audience.person),
        )

    async def load_examples(self, audience: Audience, limit: int) -> tuple[str, ...]:
        """Questions about the largest buckets that the audience may see; none while the index does not answer soon."""
        try:
            async with asyncio.timeout(_EXAMPLES_TIMEOUT.total_seconds()):
                scope = await self._access.scope_for_audience(audience)
                schemas = await self._index.within_scope(scope).load_schemas()
                some_schemas = dict(sorted(schemas.items())[:_MAX_EXAMPLE_BUCKETS])
                buckets = await self._visible_buckets(scope, some_schemas)
        except (SearchError, SqlError, TimeoutError):
            return ()
        by_size = sorted(buckets, key=lambda bucket: -bucket.documents)
        examples = dict.fromkeys(bucket.example for bucket in by_size if bucket.documents and bucket.example.strip())
        return tuple(examples)[:limit]

    async def _visible_buckets(self, scope: Scope, schemas: Mapping[BucketId, Schema]) -> tuple[VisibleBucket, ...]:
        """The buckets with their document counts, counted in one round trip."""
        from agent.compose.help import example_question_for

        counts = {bucket: CountRequest(unfiltered_search_of(bucket)) for bucket in schemas}
        answers = await self._index.within_scope(scope).answer_requests(*counts.values())
        return tuple(
            VisibleBucket(
                title=schema.label,
                description=schema.description,
                documents=answers[counts[bucket]],
                example=example_question_for(schema),
            )
            for bucket, schema in schemas.items()
        )


def past_questions_of(past: Sequence[StoredQuestion]) -> tuple[PastQuestion, ...]:
    """The questions for display. A click gets a fixed text because it has none of its own."""
    return tuple(
        PastQuestion(
            text=_question_text_of(question),
            asked_at=question.received_at,
            ending=question.ending,
            reason=question.reason,
        )
        for question in past
    )


def _question_text_of(past: StoredQuestion) -> str:
    body = body_from_json(past.body)
    return body.text if isinstance(body, TextMessage) else "(a choice by button)"
