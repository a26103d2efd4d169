"""Changes of a schema on the admin page: titles, synonyms, facets and `bare`, each with what it would change, before.

Fields are neither added nor removed here, and no type changes: that needs the documents to be read again.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.admin.admin_page.bucket_contents import GrantedContents
from bot.errors import ConcurrentChange, SchemaEditRefused, UnreadableTurn
from bot.ids import BucketId, PersonId
from bot.surface.inbound import TextMessage
from bot.surface.json_codec import body_from_json
from storage.search.analyser import fold_text
from storage.search.codec import schema_to_json
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.errors import InvalidSchema
from storage.search.ids import FieldName
from storage.search.index import AggregateRequest, CountRequest, FacetRequest, ScopedIndex, SearchIndex, ValueFacet
from storage.search.numbers import to_json_number
from storage.search.plan import Clause, Search
from storage.search.schema import QUESTION_GAP, BareValueMatch, FieldType, Schema, SchemaField
from storage.sql.database import SqlDatabase
from storage.sql.stores.audit import AuditLog
from storage.sql.usage_statistics import FinishedQuestion, UsageStatisticsStore

if TYPE_CHECKING:
    from bot.admin.admin_page.question_comparison import AnswerComparison, QuestionComparisons

MAX_TITLE_CHARACTERS: Final = 100
MAX_SYNONYMS: Final = 100
MAX_SYNONYM_CHARACTERS: Final = 100
MAX_COMPARED_QUESTIONS: Final = 2_000  # the newest of the last month
BARE_MATCHES: Final = tuple(match.value for match in BareValueMatch)
BARE_LABELS: Final = {"exactly": "exactly so much", "at_least": "so much or more", "at_most": "so much or less"}
_LOOK_BACK: Final = timedelta(days=30)
_MAX_COUNTED_WORDS: Final = 20  # of one change
_MAX_NAMED_VALUES: Final = 5
_NOT_ANSWERED: Final = frozenset({"no_results", "overload", "ambiguous", "failed"})
_OPERATORS: Final = {
    BareValueMatch.EXACTLY: ComparisonOperator.EQ,
    BareValueMatch.AT_LEAST: ComparisonOperator.GTE,
    BareValueMatch.AT_MOST: ComparisonOperator.LTE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EditableEntry:
    """What may be changed of a bucket (`field` is empty) or of a field. `bare` is None where it has no meaning."""

    field: str
    kind: str
    title: str
    synonyms: tuple[str, ...]
    facet: bool | None = None
    bare: str | None = None

    @property
    def label(self) -> str:
        return self.title or self.field.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditableSchema:
    """`version` tells two states of the schema apart."""

    bucket: BucketId
    label: str
    version: str
    entries: tuple[EditableEntry, ...]  # the bucket first

    def find_entry(self, field: str) -> EditableEntry | None:
        return next((entry for entry in self.entries if entry.field == field), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPreview:
    """`changes`: what would be another in the schema; `effects`: what that would change for questions. All counts are
    of documents that the admin may see. `problem`: why it cannot be saved; empty if it can.
    """

    changes: tuple[str, ...]
    effects: tuple[str, ...] = ()
    problem: str = ""


class SchemaEdits:
    """Each call names the admin who asks, and raises what `GrantedContents.open_bucket` raises."""

    def __init__(
        self,
        *,
        contents: GrantedContents,
        index: SearchIndex,
        database: SqlDatabase,
        open_comparisons: "Callable[[], QuestionComparisons]",
    ) -> None:
        """`open_comparisons` returns the same object each time; it loads the rules on first use."""
        self._contents, self._index, self._database = contents, index, database
        self._open_comparisons = open_comparisons
        self._statistics = UsageStatisticsStore(database)

    async def list_buckets(self, by: PersonId) -> dict[str, str]:
        """The labels of the buckets whose schema the admin may see."""
        return await self._contents.list_buckets(by)

    async def load_schema(self, bucket: str, by: PersonId) -> EditableSchema:
        _, schema = await self._contents.open_bucket(bucket, by)
        bucket_entry = EditableEntry(field="", kind="bucket", title=schema.title, synonyms=schema.synonyms)
        return EditableSchema(
            bucket=schema.bucket,
            label=schema.label,
            version=_version_of(schema),
            entries=(bucket_entry, *map(_entry_of, schema.fields)),
        )

    async def preview_edit(self, bucket: str, entry: EditableEntry, by: PersonId) -> EditPreview:
        """Changes nothing. `entry` as it would be."""
        index, schema = await self._contents.open_bucket(bucket, by)
        try:
            edited = _apply_entry(schema, entry)
        except SchemaEditRefused as exc:
            return EditPreview(changes=(), problem=str(exc))
        changes = tuple(_describe_changes(schema, edited, entry.field))
        if not changes:
            return EditPreview(changes=())
        effects = await self._list_effects(index, schema, edited, entry.field)
        return EditPreview(changes=changes, effects=tuple(effects))

    async def compare_answers(self, bucket: str, entry: EditableEntry, by: PersonId) -> "AnswerComparison":
        """How last month's questions would be answered with the entry, of the documents that the admin may see. Takes
        some seconds. Raises `SchemaEditRefused`.
        """
        index, schema = await self._contents.open_bucket(bucket, by)
        edited = _apply_entry(schema, entry)
        old, new = _names_in(schema, entry.field), _names_in(edited, entry.field)
        comparisons = await asyncio.to_thread(self._open_comparisons)
        return await comparisons.compare_schemas(index, edited, {*old} ^ {*new})

    async def save_edit(self, bucket: str, entry: EditableEntry, version: str, by: PersonId) -> bool:
        """Whether anything changed. `version`: of the schema that was shown. Raises `ConcurrentChange`,
        `SchemaEditRefused`.
        """
        _, schema = await self._contents.open_bucket(bucket, by)
        if _version_of(schema) != version:
            raise ConcurrentChange()
        edited = _apply_entry(schema, entry)
        if edited == schema:
            return False
        await self._index.set_schema(edited)
        before, after = _audited_values_of(schema, entry.field), _audited_values_of(edited, entry.field)
        log = AuditLog(self._database)
        await log.record_change("schema.change", schema.bucket, by=by, before=before, after=after)
        return True

    async def _list_effects(self, index: ScopedIndex, schema: Schema, edited: Schema, field: str) -> list[str]:
        old, new = _names_in(schema, field), _names_in(edited, field)
        old_folds, new_folds = set(map(fold_text, old)), set(map(fold_text, new))
        added = [name for name in new if fold_text(name) not in old_folds][:_MAX_COUNTED_WORDS]
        removed = [name for name in old if fold_text(name) not in new_folds][:_MAX_COUNTED_WORDS]
        effects = await self._count_names(index, schema.bucket, added, removed)
        before, after = schema.by_name.get(FieldName(field)), edited.by_name.get(FieldName(field))
        if before is not None and after is not None:
            if before.facet != after.facet:
                effects.append(await _describe_facet(index, schema.bucket, after))
            if before.bare is not after.bare:
                effects += await _describe_bare_values(index, schema.bucket, before, after)
        return effects

    async def _count_names(
        self, index: ScopedIndex, bucket: BucketId, added: Sequence[str], removed: Sequence[str]
    ) -> list[str]:
        """What the questions of the last month, and the texts, have of the names."""
        if not added and not removed:
            return []
        since = self._statistics.utc_now() - _LOOK_BACK
        questions = await self._statistics.load_questions(since, MAX_COMPARED_QUESTIONS)
        stems = [(question.ending, _stems_of(index, bucket, _text_of(question))) for question in questions]
        requests = {name: CountRequest(_search_of(bucket, name)) for name in added if QUESTION_GAP not in name}
        answers = await index.answer_requests(*requests.values())
        effects = list[str]()
        for name in (*added, *removed):
            endings = [ending for ending, words in stems if _holds_run(words, _stems_of(index, bucket, name))]
            open_count = sum(ending in _NOT_ANSWERED for ending in endings)
            asked = _count(len(endings), "question") if endings else "no question"
            line = f"“{name}” appears in {asked} of the last 30 days"
            line += f" ({open_count:,} of {len(endings):,} not answered)" if open_count else ""
            if name in requests:
                line += f", and in the text of {_count(answers[requests[name]], 'document')}"
            effects.append(f"{line}.")
        return effects


# -- applying


def _entry_of(field: SchemaField) -> EditableEntry:
    return EditableEntry(
        field=field.name,
        kind=field.type.value,
        title=field.title,
        synonyms=field.synonyms,
        facet=None if field.type is FieldType.ROWS else field.facet,
        bare=field.bare.value if field.type is FieldType.NUMBER else None,
    )


def _apply_entry(schema: Schema, entry: EditableEntry) -> Schema:
    """Raises `SchemaEditRefused`."""
    title, synonyms = _valid_title(entry.title), _valid_synonyms(entry.synonyms)
    if not entry.field:
        return replace(schema, title=title, synonyms=synonyms)
    field = schema.by_name.get(FieldName(entry.field))
    if field is None:
        raise SchemaEditRefused(f"{schema.bucket} has no field {entry.field!r}")
    edited = replace(field, title=title, synonyms=synonyms)
    if entry.facet is not None and field.type is not FieldType.ROWS:
        edited = replace(edited, facet=entry.facet)
    if entry.bare is not None and field.type is FieldType.NUMBER:
        if entry.bare not in BARE_MATCHES:
            raise SchemaEditRefused(f"a bare number means one of {', '.join(BARE_MATCHES)}")
        edited = replace(edited, bare=BareValueMatch(entry.bare))
    _check_names(schema, field, edited)
    try:
        fields = tuple(edited if other.name == field.name else other for other in schema.fields)
        return replace(schema, fields=fields)
    except InvalidSchema as exc:
        raise SchemaEditRefused(str(exc)) from exc


def _valid_title(text: str) -> str:
    title = " ".join(text.split())
    if len(title) > MAX_TITLE_CHARACTERS:
        raise SchemaEditRefused(f"a title has at most {MAX_TITLE_CHARACTERS} characters")
    return title


def _valid_synonyms(texts: Sequence[str]) -> tuple[str, ...]:
    synonyms = tuple(dict.fromkeys(synonym for text in texts if (synonym := " ".join(text.split()))))
    if len(synonyms) > MAX_SYNONYMS:
        raise SchemaEditRefused(f"there are at most {MAX_SYNONYMS} synonyms")
    for synonym in synonyms:
        if len(synonym) > MAX_SYNONYM_CHARACTERS or not any(map(str.isalnum, synonym)):
            raise SchemaEditRefused(f"a synonym has 1 to {MAX_SYNONYM_CHARACTERS} characters, with letters or digits")
    return synonyms


def _check_names(schema: Schema, before: SchemaField, after: SchemaField) -> None:
    """Raises `SchemaEditRefused` for a new name that another field has."""
    old = {fold_text(name) for name in (before.label, *before.plain_synonyms)}
    others = {
        fold_text(name): other.label
        for other in schema.fields
        if other.name != before.name
        for name in (other.label, *other.plain_synonyms)
    }
    for name in (after.label, *after.plain_synonyms):
        if fold_text(name) not in old and fold_text(name) in others:
            raise SchemaEditRefused(f"“{name}” names {others[fold_text(name)]} already")


# -- what would change


def _describe_changes(schema: Schema, edited: Schema, field: str) -> Iterator[str]:
    before, after = _audited_values_of(schema, field), _audited_values_of(edited, field)
    if before["title"] != after["title"]:
        yield f"The title: {before['title'] or 'none'} → {after['title'] or 'none'}"
    old, new = schema.synonyms, edited.synonyms
    if field:
        old, new = schema.by_name[FieldName(field)].synonyms, edited.by_name[FieldName(field)].synonyms
    if added := [synonym for synonym in new if synonym not in old]:
        yield f"More synonyms: {', '.join(added)}"
    if removed := [synonym for synonym in old if synonym not in new]:
        yield f"Synonyms that go: {', '.join(removed)}"
    if sorted(old) == sorted(new) and old != new:
        yield "The order of the synonyms"
    if before.get("facet") != after.get("facet"):
        yield "Offered to narrow a list" if after.get("facet") else "No longer offered to narrow a list"
    if before.get("bare") != after.get("bare"):
        yield f"A bare number means: {before['bare']} → {after['bare']}"


async def _describe_facet(index: ScopedIndex, bucket: BucketId, field: SchemaField) -> str:
    if not field.facet:
        return f"Long lists no longer offer {field.label} first; a question may still name its values."
    request = FacetRequest(Search(clauses=(Clause(bucket=bucket),)), field=field.name)
    facet = (await index.answer_requests(request))[request]
    if not isinstance(facet, ValueFacet):
        return f"Long lists offer ranges of {field.label}; {_count(facet.missing_count, 'document')} would be in none."
    named = ", ".join(f"{value.value} ({value.count:,})" for value in facet.values[:_MAX_NAMED_VALUES])
    more = facet.distinct_count - min(len(facet.values), _MAX_NAMED_VALUES)
    rest = f" and {more:,} more" if more > 0 else ""
    return f"Long lists offer {field.label}: {named or 'it has no values yet'}{rest}."


async def _describe_bare_values(
    index: ScopedIndex, bucket: BucketId, before: SchemaField, after: SchemaField
) -> list[str]:
    """What a question with the middle value finds now, and what it would find."""
    request = AggregateRequest(Search(clauses=(Clause(bucket=bucket),)), field=before.name, with_median=True)
    lines = (await index.answer_requests(request))[request]
    if not lines or lines[0].median is None:
        return [f"No document that you may see has a value in {before.label}."]
    value, unit = lines[0].median, f" {before.unit}" if before.unit else ""
    counts = {
        field.bare: CountRequest(
            Search(
                clauses=(
                    Clause(
                        bucket=bucket,
                        condition=ComparisonCondition(field=field.name, op=_OPERATORS[field.bare], value=value),
                    ),
                )
            )
        )
        for field in (before, after)
    }
    answers = await index.answer_requests(*counts.values())
    old, new = answers[counts[before.bare]], answers[counts[after.bare]]
    shown = f"“{to_json_number(value):,}{unit}”"
    return [f"{shown} in a question would find {_count(new, 'document')}; now it finds {old:,}."]


def _names_in(schema: Schema, field: str) -> list[str]:
    if not field:
        return [*dict.fromkeys(filter(None, (schema.title, *schema.synonyms)))]
    entry = schema.by_name[FieldName(field)]
    return [*dict.fromkeys((entry.label, *entry.synonyms))]


def _audited_values_of(schema: Schema, field: str) -> dict[str, object]:
    if not field:
        return {"title": schema.title, "synonyms": ", ".join(schema.synonyms)}
    entry = schema.by_name[FieldName(field)]
    values: dict[str, object] = {"field": field, "title": entry.title, "synonyms": ", ".join(entry.synonyms)}
    return values | {"facet": entry.facet, "bare": entry.bare.value}


def _search_of(bucket: BucketId, name: str) -> Search:
    return Search(clauses=(Clause(bucket=bucket, required_terms=(name,)),))


def _stems_of(index: ScopedIndex, bucket: BucketId, text: str) -> tuple[str, ...]:
    """The stems of a name, or of a question; of a synonym with a gap, those before it."""
    return tuple(term.text for term in index.analyser_for(bucket).extract_terms(text.partition(QUESTION_GAP)[0]))


def _holds_run(words: Sequence[str], run: Sequence[str]) -> bool:
    length = len(run)
    return bool(run) and any(tuple(words[start : start + length]) == run for start in range(len(words) - length + 1))


def _text_of(question: FinishedQuestion) -> str:
    try:
        body = body_from_json(question.body)
    except (LookupError, UnreadableTurn):
        return ""
    return body.text if isinstance(body, TextMessage) else ""


def _version_of(schema: Schema) -> str:
    return hashlib.sha256(json.dumps(schema_to_json(schema), sort_keys=True).encode()).hexdigest()[:32]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
