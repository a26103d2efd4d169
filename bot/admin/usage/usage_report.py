"""What admins want to know of the last days: what was asked, answered, asked back, not found, rated badly, slow, paid.

The report names no person. Texts are those that admins see in Home as well: of questions that found nothing and of
questions that were rated badly. Of questions that were answered it has numbers alone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from agent.evidence.word_meanings import TextEmbedder, WordMeanings
from bot.access.audience_scope import AccessResolver
from bot.admin.usage.question_groups import QuestionGroup, UnansweredQuestion, group_questions
from bot.admin.usage.unknown_words import IndexWords
from bot.errors import UnreadableTurn
from bot.surface.inbound import OperatorAudience, TextMessage
from bot.surface.json_codec import body_from_json
from storage.search.codec import choice_from_json
from storage.search.conditions import ComparisonCondition, ComparisonOperator
from storage.search.errors import EmbedderUnavailable
from storage.search.ids import BucketId, FieldName
from storage.search.index import SearchIndex
from storage.search.refinement import AddFilter
from storage.sql.database import JsonMapping, SqlDatabase
from storage.sql.usage_statistics import (
    MAX_TURNS,
    ClickableChoice,
    FinishedQuestion,
    ModelCost,
    UsageStatistics,
    UsageStatisticsStore,
    WebCost,
)

_ASKED_BACK: Final = ("overload", "ambiguous")
_NOTHING_FOUND: Final = "no_results"
_MIN_LIKENESS: Final = 0.4  # of a value that is suggested without a click
_MAX_LIKE_VALUES: Final = 3  # for a word
NO_GROUP: Final = "no group"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionCounts:
    """Questions by ending. `asked_back`: those answered by a clarification; `other`: stopped, edited, limited."""

    asked: int
    answered: int
    asked_back: int
    nothing_found: int
    refused: int
    failed: int
    other: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceUse:
    """How often choices of a kind were offered, and clicked."""

    kind: str
    offered: int
    clicked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SynonymSuggestion:
    """A value that the word may mean: people clicked it after a question with the word, or it means nearly the same.

    `clicks`: how often. `likeness` in meaning, 0 to 1; 0 where it was not compared.
    """

    bucket: str
    field: str
    value: str
    clicks: int
    likeness: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownWord:
    """A word that no bucket knows, in questions that found nothing or were asked back. `buckets`: which the searches
    of these questions went to.
    """

    word: str
    questions: int
    people: int
    buckets: tuple[str, ...]
    suggestions: tuple[SynonymSuggestion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedQuestion:
    question: str
    reason: str
    given_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowQuestion:
    """`slowest_stage` is empty if none was recorded."""

    turn: str
    asked_at: datetime
    ending: str
    seconds: float
    slowest_stage: str
    stage_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCost:
    """What a model cost for one group of people. `cost_usd` is of the calls whose price is known."""

    model: str
    group: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWebCost:
    """What web searches cost for one group of people. `searches`: turns that searched the web.

    `requests`: to the search server; `pages` and `bytes_read`: fetched over the network.
    """

    group: str
    searches: int
    requests: int
    pages: int
    bytes_read: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """`is_complete` False: only the newest questions were read one by one. `buckets`: questions by bucket in which
    they found something; `unasked_buckets` have none.
    """

    since: datetime
    days: int
    counts: QuestionCounts
    clicks: int
    people: int
    choices: tuple[ChoiceUse, ...]
    nothing_found: tuple[QuestionGroup, ...]
    unknown_words: tuple[UnknownWord, ...]
    rated_badly: tuple[RatedQuestion, ...]
    slowest: tuple[SlowQuestion, ...]
    costs: tuple[GroupCost, ...]
    web_costs: tuple[GroupWebCost, ...]
    buckets: Mapping[str, int]
    unasked_buckets: tuple[str, ...]
    is_complete: bool


class UsageReports:
    """Reports over the whole index, for admins and the operator. The caller checks who asks."""

    def __init__(
        self, *, database: SqlDatabase, index: SearchIndex, access: AccessResolver, embedder: TextEmbedder | None = None
    ) -> None:
        """`embedder` compares words, and is never a metered one: each report needs it for all that found nothing.
        Without one, only clicks suggest what a word means, and questions are grouped by the words that they share.
        """
        self._store, self._index, self._access = UsageStatisticsStore(database), index, access
        self._embedder, self._meanings = embedder, WordMeanings(embedder)

    async def load_report(self, *, days: int, limit: int) -> UsageReport:
        """The report of the last `days`, with at most `limit` entries in each list. Raises what the index and the
        database raise.
        """
        since = self._store.utc_now() - timedelta(days=days)
        statistics = await self._store.load_statistics(since)
        scope = await self._access.scope_for_audience(OperatorAudience())
        words = await IndexWords.load(self._index.within_scope(scope))
        open_questions = [
            question for question in statistics.questions if question.ending in (_NOTHING_FOUND, *_ASKED_BACK)
        ]
        unknown = await words.find_unknown_words([_text_of(question.body) for question in open_questions])
        words_by_turn = {question.turn: found for question, found in zip(open_questions, unknown, strict=True)}
        unknown_words = _unknown_words_of(open_questions, words_by_turn, statistics, words)[:limit]
        found_something = {
            question.turn for question in statistics.questions if question.ending in ("answer", *_ASKED_BACK)
        }
        asked_buckets = _count_buckets([search for search in statistics.searches if search[0] in found_something])
        return UsageReport(
            since=since,
            days=days,
            counts=_counts_of(statistics.endings),
            clicks=statistics.clicks,
            people=len({question.person for question in statistics.questions}),
            choices=_choice_uses_of(statistics.choices),
            nothing_found=(await self._group_unanswered(open_questions, words_by_turn, words))[:limit],
            unknown_words=await self._add_like_values(unknown_words, words),
            rated_badly=tuple(
                RatedQuestion(question=_text_of(rating.body), reason=rating.reason, given_at=rating.given_at)
                for rating in statistics.bad_ratings[:limit]
            ),
            slowest=_slowest_of(statistics.questions, limit),
            costs=_costs_by_group(statistics.costs, statistics.groups),
            web_costs=_web_costs_by_group(statistics.web_costs, statistics.groups),
            buckets={bucket: count for bucket, count in asked_buckets.most_common() if bucket in words.schemas},
            unasked_buckets=tuple(sorted(bucket for bucket in words.schemas if bucket not in asked_buckets)),
            is_complete=len(statistics.questions) < MAX_TURNS,
        )

    async def _group_unanswered(
        self,
        open_questions: Iterable[FinishedQuestion],
        words_by_turn: Mapping[str, tuple[str, ...]],
        words: IndexWords,
    ) -> tuple[QuestionGroup, ...]:
        unanswered = [
            UnansweredQuestion(
                text=_text_of(question.body), person=question.person, unknown_words=words_by_turn[question.turn]
            )
            for question in open_questions
            if question.ending == _NOTHING_FOUND
        ]
        return await group_questions(unanswered, words.languages, self._embedder)

    async def _add_like_values(self, unknown: Sequence[UnknownWord], words: IndexWords) -> tuple[UnknownWord, ...]:
        """The words with values that mean nearly the same, after those that were clicked."""
        values = {word.word: words.list_sorting_values(word.buckets) for word in unknown}
        texts = sorted({value for triples in values.values() for _, _, value in triples})
        try:
            likeness = await self._meanings.compare_words([word.word for word in unknown], texts)
        except EmbedderUnavailable:
            return tuple(unknown)
        return tuple(
            replace(word, suggestions=_with_like_values(word.suggestions, values[word.word], likeness[word.word]))
            for word in unknown
        )


def _with_like_values(
    clicked: Sequence[SynonymSuggestion],
    values: Sequence[tuple[BucketId, FieldName, str]],
    likeness: Mapping[str, float],
) -> tuple[SynonymSuggestion, ...]:
    known = {(suggestion.bucket, suggestion.field, suggestion.value) for suggestion in clicked}
    like = [
        SynonymSuggestion(
            bucket=bucket, field=field, value=value, clicks=0, likeness=round(likeness.get(value, 0.0), 2)
        )
        for bucket, field, value in values
        if (bucket, field, value) not in known and likeness.get(value, 0.0) >= _MIN_LIKENESS
    ]
    like.sort(key=lambda suggestion: -suggestion.likeness)
    return (*clicked, *like[:_MAX_LIKE_VALUES])


def _text_of(body: JsonMapping) -> str:
    try:
        parsed = body_from_json(body)
    except (LookupError, UnreadableTurn):
        return ""
    return parsed.text if isinstance(parsed, TextMessage) else ""


def _counts_of(endings: Mapping[str, int]) -> QuestionCounts:
    named = {ending: endings.get(ending, 0) for ending in ("answer", _NOTHING_FOUND, "refused", "failed", *_ASKED_BACK)}
    asked = sum(endings.values())
    return QuestionCounts(
        asked=asked,
        answered=named["answer"],
        asked_back=sum(named[ending] for ending in _ASKED_BACK),
        nothing_found=named[_NOTHING_FOUND],
        refused=named["refused"],
        failed=named["failed"],
        other=asked - sum(named.values()),
    )


def _choice_uses_of(offered: Iterable[ClickableChoice]) -> tuple[ChoiceUse, ...]:
    offered_counts, clicked_counts = Counter[str](), Counter[str]()
    for choice in offered:
        offered_counts[choice.kind] += 1
        clicked_counts[choice.kind] += choice.is_clicked
    uses = [ChoiceUse(kind=kind, offered=count, clicked=clicked_counts[kind]) for kind, count in offered_counts.items()]
    return tuple(sorted(uses, key=lambda use: (-use.clicked, -use.offered, use.kind)))


# -- what was not found


def _unknown_words_of(
    questions: Sequence[FinishedQuestion],
    words_by_turn: Mapping[str, tuple[str, ...]],
    statistics: UsageStatistics,
    words: IndexWords,
) -> tuple[UnknownWord, ...]:
    """The most frequent ones first."""
    buckets_by_turn: dict[str, Counter[str]] = {}
    for turn, arguments in statistics.searches:
        buckets_by_turn.setdefault(turn, Counter()).update(_buckets_of(arguments))
    clicked = [choice for choice in statistics.choices if choice.is_clicked]
    asked: dict[str, list[FinishedQuestion]] = {}
    for question in questions:
        for word in words_by_turn[question.turn]:
            asked.setdefault(word, []).append(question)
    unknown = [
        UnknownWord(
            word=word,
            questions=len(of_word),
            people=len({question.person for question in of_word}),
            buckets=tuple(
                bucket
                for bucket, _ in _sum_counters(
                    buckets_by_turn.get(question.turn, Counter()) for question in of_word
                ).most_common()
                if bucket in words.schemas
            ),
            suggestions=_suggestions_from(
                [choice for choice in clicked if choice.turn in {question.turn for question in of_word}], words
            ),
        )
        for word, of_word in asked.items()
    ]
    return tuple(sorted(unknown, key=lambda word: (-word.people, -word.questions, word.word)))


def _suggestions_from(clicked: Iterable[ClickableChoice], words: IndexWords) -> tuple[SynonymSuggestion, ...]:
    """The values that were clicked, in the buckets that have them; the most frequent first."""
    clicks = Counter[tuple[str, str, str]]()
    for choice in clicked:
        effect = choice_from_json(choice.payload["does"]) if "does" in choice.payload else None
        match effect:
            case AddFilter(condition=ComparisonCondition(field=field, op=ComparisonOperator.EQ, value=str() as value)):
                for bucket in words.schemas:
                    if words.has_value(bucket, field, value):
                        clicks[bucket, field, value] += 1
            case _:
                pass
    return tuple(
        SynonymSuggestion(bucket=bucket, field=field, value=value, clicks=count)
        for (bucket, field, value), count in clicks.most_common()
    )


# -- buckets, time, costs


def _sum_counters(counters: Iterable[Counter[str]]) -> Counter[str]:
    total = Counter[str]()
    for counter in counters:
        total.update(counter)
    return total


def _buckets_of(arguments: JsonMapping) -> set[str]:
    return {str(clause["bucket"]) for clause in arguments.get("filters", ()) if "bucket" in clause}


def _is_special(arguments: JsonMapping) -> bool:
    """Whether the search asks for some documents of its buckets, not for all."""
    clauses = arguments.get("filters", ())
    is_filtered = any(clause.get("condition") != {"all": []} or clause.get("required") for clause in clauses)
    return is_filtered or "query" in arguments


def _count_buckets(searches: Sequence[tuple[str, JsonMapping]]) -> Counter[BucketId]:
    """Questions by bucket in which one of their searches found documents. A search for all documents of buckets counts
    if the question had no other: most questions count the documents that there are.
    """
    turns_by_bucket: dict[BucketId, set[str]] = {}
    special = [(turn, arguments) for turn, arguments in searches if _is_special(arguments)]
    specially_searched = {turn for turn, _ in special}
    general = [(turn, arguments) for turn, arguments in searches if turn not in specially_searched]
    for turn, arguments in (*special, *general):
        for bucket in _buckets_of(arguments):
            turns_by_bucket.setdefault(BucketId(bucket), set()).add(turn)
    return Counter({bucket: len(turns) for bucket, turns in turns_by_bucket.items()})


def _slowest_of(questions: Iterable[FinishedQuestion], limit: int) -> tuple[SlowQuestion, ...]:
    slowest = sorted(questions, key=lambda question: -question.seconds)[:limit]
    return tuple(
        SlowQuestion(
            turn=question.turn,
            asked_at=question.received_at,
            ending=question.ending,
            seconds=round(question.seconds, 3),
            slowest_stage=str(stage.get("name", "")),
            stage_ms=float(stage.get("ms", 0.0)),
        )
        for question in slowest
        for stage in [_slowest_stage_of(question)]
    )


def _slowest_stage_of(question: FinishedQuestion) -> JsonMapping:
    nothing: JsonMapping = {}
    return max(question.stages, key=lambda stage: float(stage.get("ms", 0.0)), default=nothing)


def _costs_by_group(costs: Iterable[ModelCost], groups: Mapping[str, frozenset[str]]) -> tuple[GroupCost, ...]:
    """By model and group. A person in several groups counts in each of them."""
    sums: dict[tuple[str, str], GroupCost] = {}
    for cost in costs:
        for group in sorted(groups.get(cost.person, frozenset({NO_GROUP}))):
            empty = GroupCost(
                model=cost.model, group=group, calls=0, input_tokens=0, output_tokens=0, cost_usd=0.0, unpriced_calls=0
            )
            before = sums.get((cost.model, group), empty)
            sums[cost.model, group] = GroupCost(
                model=cost.model,
                group=group,
                calls=before.calls + cost.calls,
                input_tokens=before.input_tokens + cost.input_tokens,
                output_tokens=before.output_tokens + cost.output_tokens,
                cost_usd=before.cost_usd + cost.cost_usd,
                unpriced_calls=before.unpriced_calls + cost.unpriced_calls,
            )
    return tuple(sorted(sums.values(), key=lambda cost: (-cost.cost_usd, -cost.calls, cost.model, cost.group)))


def _web_costs_by_group(costs: Iterable[WebCost], groups: Mapping[str, frozenset[str]]) -> tuple[GroupWebCost, ...]:
    """A person in several groups counts in each of them."""
    sums: dict[str, GroupWebCost] = {}
    for cost in costs:
        for group in groups.get(cost.person, frozenset({NO_GROUP})):
            before = sums.get(group, GroupWebCost(group=group, searches=0, requests=0, pages=0, bytes_read=0))
            sums[group] = GroupWebCost(
                group=group,
                searches=before.searches + cost.turns,
                requests=before.requests + cost.requests,
                pages=before.pages + cost.pages,
                bytes_read=before.bytes_read + cost.bytes_read,
            )
    return tuple(sorted(sums.values(), key=lambda cost: (-cost.requests, -cost.pages, cost.group)))
