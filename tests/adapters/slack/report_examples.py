"""A report, and what there is to choose from for a synonym, with any words in it."""

from datetime import UTC, datetime
from typing import Final

from bot.admin.admin_page.schema_edits import EditableEntry, EditableSchema, EditPreview
from bot.admin.admin_page.synonym_targets import SynonymTargets
from bot.admin.schema_synonyms import SynonymPreview
from bot.admin.usage.usage_report import (
    ChoiceUse,
    GroupCost,
    GroupWebCost,
    QuestionCounts,
    QuestionGroup,
    RatedQuestion,
    SlowQuestion,
    SynonymSuggestion,
    UnknownWord,
    UsageReport,
)
from bot.ids import BucketId
from storage.search.ids import FieldName, Generation
from storage.search.index import FieldVocabulary, IndexVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField

NOON: Final = datetime(2026, 11, 20, 12, tzinfo=UTC)
_COUNTS: Final = QuestionCounts(
    asked=1_042, answered=900, asked_back=80, nothing_found=50, refused=0, failed=2, other=10
)


def report_of(words: str, entries: int = 20) -> UsageReport:
    """A report with `entries` entries in each list, all with these words."""
    suggestion = SynonymSuggestion(bucket=words, field=words, value=words, clicks=2)
    word = UnknownWord(word=words, questions=3, people=2, buckets=(words,) * 5, suggestions=(suggestion,) * 5)
    group = QuestionGroup(questions=(words,) * 4, count=4, people=2, words=(words,))
    slow = SlowQuestion(turn="t", asked_at=NOON, ending="answer", seconds=4.2, slowest_stage=words, stage_ms=3_100.0)
    cost = GroupCost(
        model=words, group=words, calls=12, input_tokens=5, output_tokens=5, cost_usd=1.5, unpriced_calls=0
    )
    web_cost = GroupWebCost(group=words, searches=3, requests=12, pages=5, bytes_read=1_234_567)
    return UsageReport(
        since=NOON,
        days=30,
        counts=_COUNTS,
        clicks=41,
        people=12,
        choices=(ChoiceUse(kind="filter", offered=120, clicked=30), ChoiceUse(kind="drop", offered=9, clicked=0)),
        nothing_found=(group,) * entries,
        unknown_words=(word,) * entries,
        rated_badly=(RatedQuestion(question=words, reason=words, given_at=NOON),) * entries,
        slowest=(slow,) * entries,
        costs=(cost,) * entries,
        web_costs=(web_cost,) * entries,
        buckets={words: 900},
        unasked_buckets=(words,) * entries,
        is_complete=False,
    )


A_REPORT: Final = report_of("lorries", 4)
UNKNOWN_WORD: Final = UnknownWord(
    word="lorries",
    questions=3,
    people=2,
    buckets=("vehicles",),
    suggestions=(
        SynonymSuggestion(bucket="vehicles", field="kind", value="truck", clicks=2),
        SynonymSuggestion(bucket="vehicles", field="kind", value="van", clicks=0, likeness=0.51),
    ),
)


def targets_of(words: str) -> SynonymTargets:
    """Two buckets. In the first, the field of kinds has few values, and the one of drivers too many for a menu."""
    fields = (
        SchemaField(name=FieldName("kind"), type=FieldType.CATEGORY, title=words),
        SchemaField(name=FieldName("driver"), type=FieldType.CATEGORY),
    )
    buckets = (BucketId("vehicles"), BucketId("plants"))
    schemas = {bucket: Schema(bucket=bucket, title=words, fields=fields) for bucket in buckets}
    kinds = tuple(ValueCount(value=value, count=20) for value in dict.fromkeys(("truck", "van", words)) if value)
    drivers = tuple(ValueCount(value=f"driver {number}", count=1) for number in range(200))
    return SynonymTargets(
        schemas=schemas,
        vocabulary=IndexVocabulary(
            generation=Generation("1"),
            fields=(
                FieldVocabulary(bucket=buckets[0], field=FieldName("kind"), document_count=60, values=kinds),
                FieldVocabulary(bucket=buckets[0], field=FieldName("driver"), document_count=60, values=drivers),
            ),
            document_counts={buckets[0]: 60, buckets[1]: 1},
            schemas=schemas,
        ),
    )


TARGETS: Final = targets_of("What it is")
SYNONYM_PREVIEW: Final = SynonymPreview(
    bucket=BucketId("vehicles"),
    field=FieldName("kind"),
    value="truck",
    word="lorries",
    document_count=37,
    mention_count=0,
    schema=TARGETS.schemas[BucketId("vehicles")],
)


def editable_schema_of(words: str) -> EditableSchema:
    entries = (
        EditableEntry(field="", kind="bucket", title=words, synonyms=(words,)),
        EditableEntry(field="load", kind="number", title=words, synonyms=(words, "weight"), facet=True, bare="at_most"),
    )
    return EditableSchema(bucket=BucketId("vehicles"), label=words, version="1", entries=entries)


EDITABLE_SCHEMA: Final = editable_schema_of("Load")
EDIT_PREVIEW: Final = EditPreview(
    changes=("More synonyms: weight",),
    effects=("“weight” stands in 4 questions of the last 30 days (1 of 4 not answered).",),
)
