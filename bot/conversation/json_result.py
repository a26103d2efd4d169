"""The one JSON result of a turn, as `parley ask --json` prints it. See docs/reference/result.md."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any as Json
from typing import assert_never, cast

from agent.outcome import (
    Answer,
    Choice,
    Citation,
    Clarify,
    ComputedFigure,
    ExportOutcome,
    FoundPassage,
    GroupLine,
    LegResult,
    MissingCount,
    ModelUsage,
    Outcome,
    OutcomeKind,
    Refused,
    SearchAttempt,
    SearchTrace,
    StartOverOutcome,
    UnstatedValues,
)
from bot.conversation.reasoning_record import usage_fields_of
from bot.conversation.reply_builder import StoredOffer
from bot.ids import ChoiceId, ConversationId, TurnId
from bot.surface.replies import FilePart
from storage.search.codec import condition_to_json
from storage.search.conditions import (
    AndCondition,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    conjunction_of,
    conjuncts_of,
    text_condition_for,
)
from storage.search.plan import Plan, Search
from storage.search.refinement import (
    AddBucket,
    AddFilter,
    ChooseDocument,
    ContinuePrivately,
    CorrectWord,
    DropFilter,
    DropWord,
    ExportAll,
    IncludeMissing,
    JustAnswer,
    OnlyBucket,
    OnlyMissing,
    OpenTail,
    SaveSearch,
    SearchByMeaning,
    SearchWeb,
    StartOver,
    UseForm,
    UseNearest,
    UseReading,
)

JsonObject = dict[str, Json]
FilterTree = list[JsonObject] | JsonObject  # a list for a plain conjunction, else a tree


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRequest:
    """The turn that a result belongs to, and the limits of its lists."""

    question: str
    conversation: ConversationId
    turn: TurnId
    max_hits: int = 10
    max_doc_ids: int = 1000
    elapsed_ms: float = 0.0


def result_to_json(
    request: ResultRequest,
    outcome: Outcome,
    *,
    offer: StoredOffer | None = None,
    files: Sequence[FilePart] = (),
    text: str | None = None,
) -> JsonObject:
    """The result of an outcome. `text` replaces the outcome's own text."""
    result = (
        _empty_result(request)
        | _outcome_fields(outcome, request)
        | {"choices": _choices_json(offer), "files": [_file_json(file) for file in files]}
    )
    if text is not None:
        result["text"] = text
    if files:
        result |= {"outcome": OutcomeKind.ANSWER.value, "count": sum(file.rows for file in files)}
    return result


def failure_to_json(request: ResultRequest, error: str) -> JsonObject:
    """The result of a turn that ended in a plain sentence."""
    return _empty_result(request) | {"outcome": OutcomeKind.FAILED.value, "text": error, "error": error}


def _empty_result(request: ResultRequest) -> JsonObject:
    return {
        "query_id": None,
        "question": request.question,
        "conversation": request.conversation,
        "turn": request.turn,
        "outcome": OutcomeKind.ANSWER.value,
        "text": "",
        "count": None,
        "missing": [],
        "unstated": [],
        "doc_ids": [],
        "value": None,
        "values": [],
        "groups": [],
        "legs": [],
        "hits": [],
        "citations": [],
        "filters": [],
        "choices": [],
        "assumptions": [],
        "sub_questions": [],
        "sub_queries": [],
        "decomposed": False,
        "meta": {"total_candidates": 0, "returned": 0, "sub_query_count": 0},
        "files": [],
        "attempts": [],
        "route": None,
        "stages": [],
        **usage_fields_of("rule", ModelUsage()),
        "ms": round(request.elapsed_ms, 1),
    }


def _outcome_fields(outcome: Outcome, request: ResultRequest) -> JsonObject:
    match outcome:
        case Answer() | Clarify():
            return _answer_fields(outcome, request)
        case ExportOutcome(plan=plan, leg=leg, count=count, trace=trace):
            return {"count": count, "filters": _search_filters(plan.leg_by_id(leg).search)} | _trace_fields(trace)
        case StartOverOutcome(text=text):
            return {"text": text}
        case Refused(text=text):
            return {"text": text, "outcome": OutcomeKind.REFUSED.value}
        case _:
            assert_never(outcome)


def _answer_fields(outcome: Answer | Clarify, request: ResultRequest) -> JsonObject:
    kind = outcome.kind if isinstance(outcome, Clarify) else OutcomeKind.ANSWER
    values = [figure_to_json(figure) for leg in outcome.legs for figure in leg.figures]
    return {
        "outcome": kind.value,
        "text": outcome.text,
        "doc_ids": _result_doc_ids(outcome, request.max_doc_ids),
        "value": _only_value(values),
        "values": values,
        "groups": [group_to_json(line) for leg in outcome.legs for line in leg.groups],
        "missing": [_missing_json(missing) for leg in outcome.legs for missing in leg.missing_counts],
        "unstated": [_unstated_json(values) for leg in outcome.legs for values in leg.unstated],
        "citations": [_citation_json(citation) for citation in outcome.citations],
        "assumptions": list(outcome.assumptions),
        "sub_questions": [leg.question for leg in outcome.plan.legs] if len(outcome.plan.legs) > 1 else [],
        **_ranking_fields(outcome, request.max_hits),
        **_set_fields(outcome, kind, request.max_doc_ids),
        **_trace_fields(outcome.trace),
    }


def _ranking_fields(outcome: Answer | Clarify, limit: int) -> JsonObject:
    """The ranked passages, the queries whose rankings make them, and the numbers of both."""
    queries = outcome.trace.sub_queries or (outcome.plan.question,)
    hits = [hit_to_json(passage, queries) for passage in outcome.hits[:limit]]
    return {
        "hits": hits,
        "sub_queries": list(queries),
        "decomposed": len(queries) > 1,
        "meta": {
            "total_candidates": max(outcome.trace.candidate_count, len(hits)),
            "returned": len(hits),
            "sub_query_count": len(queries),
        },
    }


def _only_value(values: Sequence[JsonObject]) -> JsonObject | None:
    return next(iter(values)) if len(values) == 1 else None


def _set_fields(outcome: Answer | Clarify, kind: OutcomeKind, limit: int) -> JsonObject:
    if len(outcome.plan.legs) > 1:
        legs = [_leg_json(leg, outcome.plan, limit) for leg in outcome.legs]
        return {"count": None, "filters": None, "legs": legs}
    only_leg = next(iter(outcome.plan.legs))
    result = next((leg for leg in outcome.legs if leg.leg == only_leg.id), None)
    count = None if result is None or kind is OutcomeKind.AMBIGUOUS else result.count
    return {"count": count, "filters": _leg_filters(result, only_leg.search)}


def _leg_json(leg: LegResult, plan: Plan, limit: int) -> JsonObject:
    return {
        "question": leg.question,
        "outcome": leg.kind.value,
        "count": None if leg.kind is OutcomeKind.AMBIGUOUS else leg.count,
        "doc_ids": [] if leg.kind is OutcomeKind.OVERLOAD else list(leg.doc_ids[:limit]),
        "filters": _leg_filters(leg, plan.leg_by_id(leg.leg).search),
        "values": [figure_to_json(figure) for figure in leg.figures],
        "groups": [group_to_json(line) for line in leg.groups],
    }


def _result_doc_ids(outcome: Answer | Clarify, limit: int) -> list[str]:
    """The documents of the legs' sets, else the cited documents. An overload has none."""
    set_doc_ids: list[str] = [
        doc_id for leg in outcome.legs if leg.kind is not OutcomeKind.OVERLOAD for doc_id in leg.doc_ids
    ]
    is_overload = isinstance(outcome, Clarify) and outcome.kind is OutcomeKind.OVERLOAD and len(outcome.legs) == 1
    cited_doc_ids: list[str] = [] if is_overload else [citation.doc_id for citation in outcome.citations]
    return list(dict.fromkeys(set_doc_ids or cited_doc_ids))[:limit]


# -- conditions


def _leg_filters(result: LegResult | None, search: Search) -> FilterTree:
    """The leg's condition with the terms that all clauses require, else the conditions of the search's clauses."""
    if result is None or result.condition is None or not search.clauses:
        return _search_filters(search)
    shared = set(search.clauses[0].required_terms).intersection(*(clause.required_terms for clause in search.clauses))
    return flatten_condition(conjunction_of(result.condition, *map(text_condition_for, sorted(shared))))


def _search_filters(search: Search) -> FilterTree:
    trees = list(dict.fromkeys(clause.display_condition for clause in search.clauses))
    if not trees:
        return []
    return flatten_condition(OrCondition(tuple(trees)) if len(trees) > 1 else trees[0])


def flatten_condition(condition: Condition) -> FilterTree:
    """A list of conditions for a plain conjunction, else the tree."""
    members = conjuncts_of(condition)
    if any(isinstance(member, (AndCondition, OrCondition, NotCondition)) for member in members):
        return condition_to_json(condition)
    return [condition_to_json(member) for member in members]


def _added_filters(choice: Choice) -> FilterTree | None:
    """The filters that a click adds; None for actions."""
    effect = choice.effect
    match effect:
        case AddFilter(condition=condition) | OpenTail(condition=condition) | ChooseDocument(condition=condition):
            return flatten_condition(condition)
        case OnlyMissing(field=field):
            return flatten_condition(MissingCondition(field=field))
        case IncludeMissing(condition=condition, field=field):
            return flatten_condition(OrCondition((condition, MissingCondition(field=field))))
        case UseNearest(new=new_condition):
            return flatten_condition(new_condition)
        case CorrectWord(new=term):
            return flatten_condition(text_condition_for(term))
        case AddBucket(clause=clause):
            return flatten_condition(clause.display_condition)
        case UseReading(search=search) | UseForm(search=search):
            return _search_filters(search)
        case DropFilter() | DropWord() | OnlyBucket():
            return []
        case (
            ExportAll()
            | SearchWeb()
            | JustAnswer()
            | ContinuePrivately()
            | SearchByMeaning()
            | StartOver()
            | SaveSearch()
        ):
            return None
        case _:
            assert_never(effect)


# -- small parts


def _choices_json(offer: StoredOffer | None) -> list[JsonObject]:
    return [_choice_json(choice_id, choice) for choice_id, choice in offer.choices] if offer else []


def _choice_json(choice_id: ChoiceId, choice: Choice) -> JsonObject:
    return {
        "id": choice_id,
        "label": choice.label,
        "count": choice.count,
        "filters": _added_filters(choice),
        "kind": choice.kind.value,
    }


def figure_to_json(figure: ComputedFigure) -> JsonObject:
    return {
        "function": figure.function.value,
        "field": figure.field,
        "value": figure.value,
        "unit": figure.unit,
        "count": figure.count,
    } | ({"factor": figure.factor} if figure.factor is not None else {})


def group_to_json(line: GroupLine) -> JsonObject:
    return {"label": line.label, "value": line.value, "unit": line.unit, "count": line.count}


def _unstated_json(values: UnstatedValues) -> JsonObject:
    return {"role": values.role.value, "fields": list(values.fields), "count": values.count, "of": values.total}


def _missing_json(missing: MissingCount) -> JsonObject:
    return {"field": missing.field, "count": missing.count}


def hit_to_json(passage: FoundPassage, queries: Sequence[str]) -> JsonObject:
    """A passage; its queries are numbers in `queries`, from 1."""
    hit, found_for = passage.hit, passage.found_for or queries[:1]
    numbers = [number for number, query in enumerate(queries, start=1) if query in found_for]
    return {
        "doc_id": hit.doc_id,
        "chunk_id": hit.chunk_id,
        "page": hit.page,
        "start": hit.start,
        "end": hit.end,
        "score": passage.score,
        "found_by": list(passage.found_by),
        "sub_queries": numbers,
        "multi_source": len(passage.found_by) > 1 or len(numbers) > 1,
        "validation_score": passage.validation_score,
        **({} if passage.code_language is None else {"code": {"language": passage.code_language, "text": hit.text}}),
    }


def _citation_json(citation: Citation) -> JsonObject:
    return {
        "marker": citation.marker,
        "doc_id": citation.doc_id,
        "title": citation.title,
        "page": citation.page,
        "start": citation.start,
        "end": citation.end,
        "text": citation.text,
        "url": citation.url,
    }


def _file_json(file: FilePart) -> JsonObject:
    return {"name": file.name, "rows": file.rows, "path": file.path}


def _trace_fields(trace: SearchTrace) -> JsonObject:
    return {
        "route": trace.route.value,
        "attempts": attempts_to_json(trace.attempts),
        "stages": [{"name": s.name, "ms": round(s.ms, 1), "fallback": s.fallback} for s in trace.stages],
        **usage_fields_of(trace.reasoner, trace.model_usage),
    }


def attempts_to_json(attempts: Iterable[SearchAttempt]) -> list[JsonObject]:
    return [
        {
            "tool": attempt.tool,
            "arguments": arguments_to_json(attempt.arguments),
            "documents": attempt.documents,
            "ms": round(attempt.ms, 1),
        }
        for attempt in attempts
    ]


def arguments_to_json(arguments: Mapping[str, object]) -> JsonObject:
    """Arguments of a tool as JSON. Sets become sorted lists, other types that JSON lacks become text."""
    return cast(JsonObject, json.loads(json.dumps(dict(arguments), default=_encode_unknown_value)))


def _encode_unknown_value(value: object) -> object:
    return sorted(map(str, cast(Iterable[object], value))) if isinstance(value, (set, frozenset)) else str(value)
