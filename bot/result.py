"""The one JSON result of a turn, as `parley ask --json` prints it: the keys and rules of `INTERFACES`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any as Json
from typing import assert_never, cast

from agent.outcome import (
    Answer,
    Attempt,
    Choice,
    Citation,
    Clarify,
    ExportWanted,
    Figure,
    FoundPassage,
    GroupLine,
    LegResult,
    MissingCount,
    Outcome,
    OutcomeKind,
    Refused,
    StartedOver,
    Trace,
)
from bot.answers import Offer
from bot.ids import ChoiceId, ConversationId, TurnId
from bot.replies import File
from storage.search.codec import condition_to_json
from storage.search.conditions import All, Any, Condition, Missing, Not, all_of, conjuncts, contains_text
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
    JustAnswer,
    OnlyBucket,
    OnlyMissing,
    OpenTail,
    SearchByMeaning,
    SearchWeb,
    StartOver,
    TakeInMissing,
    TakeReading,
    UseNearest,
)

Object = dict[str, Json]
Tree = list[Object] | Object  # flat where it is a plain conjunction


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the result is about, and how much of it is wanted."""

    question: str
    conversation: ConversationId
    turn: TurnId
    hits: int = 10
    limit: int = 1000  # document ids
    ms: float = 0.0


def result_json(
    asked: Asked, outcome: Outcome, *, offer: Offer | None = None, files: Sequence[File] = (), said: str | None = None
) -> Object:
    """`said`: what a person reads, where it is not the outcome's own text."""
    result = (
        _empty(asked) | _of(outcome, asked) | {"choices": _choices(offer), "files": [_file(file) for file in files]}
    )
    if said is not None:
        result["text"] = said
    if files:
        result |= {"outcome": OutcomeKind.ANSWER.value, "count": sum(file.rows for file in files)}
    return result


def failed_json(asked: Asked, error: str) -> Object:
    """The result of a turn that ended in a plain sentence."""
    return _empty(asked) | {"outcome": OutcomeKind.FAILED.value, "text": error, "error": error}


def _empty(asked: Asked) -> Object:
    return {
        "query_id": None,
        "question": asked.question,
        "conversation": asked.conversation,
        "turn": asked.turn,
        "outcome": OutcomeKind.ANSWER.value,
        "text": "",
        "count": None,
        "missing": [],
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
        "files": [],
        "attempts": [],
        "route": None,
        "reasoner": "rule",
        "stages": [],
        "model_calls": 0,
        "tokens": {"in": 0, "out": 0},
        "cost_usd": None,
        "ms": round(asked.ms, 1),
    }


def _of(outcome: Outcome, asked: Asked) -> Object:
    match outcome:
        case Answer() | Clarify():
            return _found(outcome, asked)
        case ExportWanted(plan=plan, leg=leg, count=count, trace=trace):
            return {"count": count, "filters": _filters(plan.leg(leg).search)} | _traced(trace)
        case StartedOver(text=text):
            return {"text": text}
        case Refused(text=text):
            return {"text": text, "outcome": OutcomeKind.REFUSED.value}
        case _:
            assert_never(outcome)


def _found(outcome: Answer | Clarify, asked: Asked) -> Object:
    kind = outcome.kind if isinstance(outcome, Clarify) else OutcomeKind.ANSWER
    values = [_figure(figure) for leg in outcome.legs for figure in leg.values]
    return {
        "outcome": kind.value,
        "text": outcome.text,
        "doc_ids": _doc_ids(outcome, asked.limit),
        "value": _only(values),
        "values": values,
        "groups": [_group(line) for leg in outcome.legs for line in leg.groups],
        "missing": [_missing(one) for leg in outcome.legs for one in leg.missing],
        "hits": [_hit(found) for found in outcome.hits[: asked.hits]],
        "citations": [_citation(citation) for citation in outcome.citations],
        "assumptions": list(outcome.assumptions),
        "sub_questions": [leg.question for leg in outcome.plan.legs] if len(outcome.plan.legs) > 1 else [],
        **_sets(outcome, kind, asked.limit),
        **_traced(outcome.trace),
    }


def _only(values: Sequence[Object]) -> Object | None:
    return next(iter(values)) if len(values) == 1 else None


def _sets(outcome: Answer | Clarify, kind: OutcomeKind, limit: int) -> Object:
    if len(outcome.plan.legs) > 1:
        legs = [_leg(leg, outcome.plan, outcome.citations, limit) for leg in outcome.legs]
        return {"count": None, "filters": None, "legs": legs}
    only = next(iter(outcome.plan.legs))
    result = next((leg for leg in outcome.legs if leg.leg == only.id), None)
    count = None if result is None or kind is OutcomeKind.AMBIGUOUS else result.count
    return {"count": count, "filters": _leg_filters(result, only.search)}


def _leg(leg: LegResult, plan: Plan, citations: Sequence[Citation], limit: int) -> Object:
    return {
        "question": leg.question,
        "outcome": leg.kind.value,
        "count": None if leg.kind is OutcomeKind.AMBIGUOUS else leg.count,
        "doc_ids": [] if leg.kind is OutcomeKind.OVERLOAD else list(leg.doc_ids[:limit]),
        "filters": _leg_filters(leg, plan.leg(leg.leg).search),
        "values": [_figure(figure) for figure in leg.values],
        "groups": [_group(line) for line in leg.groups],
    }


def _doc_ids(outcome: Answer | Clarify, limit: int) -> list[str]:
    """The sets of the legs that have one, else the documents cited. An overload has none."""
    sets: list[str] = [doc_id for leg in outcome.legs if leg.kind is not OutcomeKind.OVERLOAD for doc_id in leg.doc_ids]
    overloads = isinstance(outcome, Clarify) and outcome.kind is OutcomeKind.OVERLOAD and len(outcome.legs) == 1
    cited: list[str] = [] if overloads else [citation.doc_id for citation in outcome.citations]
    return list(dict.fromkeys(sets or cited))[:limit]


# -- conditions


def _leg_filters(result: LegResult | None, search: Search) -> Tree:
    """The leg's condition with the terms that every clause requires; the tree of each clause where they differ."""
    if result is None or result.condition is None or not search.clauses:
        return _filters(search)
    shared = set(search.clauses[0].required).intersection(*(clause.required for clause in search.clauses))
    return flat(all_of(result.condition, *map(contains_text, sorted(shared))))


def _filters(search: Search) -> Tree:
    trees = list(dict.fromkeys(clause.everything for clause in search.clauses))
    if not trees:
        return []
    return flat(Any(tuple(trees)) if len(trees) > 1 else trees[0])


def flat(condition: Condition) -> Tree:
    """A list where it is a plain conjunction, else the tree."""
    members = conjuncts(condition)
    if any(isinstance(member, (All, Any, Not)) for member in members):
        return condition_to_json(condition)
    return [condition_to_json(member) for member in members]


def _added(choice: Choice) -> Tree | None:
    """What the click adds to the filters; None for actions."""
    does = choice.does
    match does:
        case AddFilter(condition=condition) | OpenTail(condition=condition) | ChooseDocument(condition=condition):
            return flat(condition)
        case OnlyMissing(field=field):
            return flat(Missing(field=field))
        case TakeInMissing(condition=condition, field=field):
            return flat(Any((condition, Missing(field=field))))
        case UseNearest(new=new):
            return flat(new)
        case CorrectWord(new=word):
            return flat(contains_text(word))
        case AddBucket(clause=clause):
            return flat(clause.everything)
        case TakeReading(search=search):
            return _filters(search)
        case DropFilter() | DropWord() | OnlyBucket():
            return []
        case ExportAll() | SearchWeb() | JustAnswer() | ContinuePrivately() | SearchByMeaning() | StartOver():
            return None
        case _:
            assert_never(does)


# -- small parts


def _choices(offer: Offer | None) -> list[Object]:
    return [_choice(choice_id, choice) for choice_id, choice in offer.choices] if offer else []


def _choice(choice_id: ChoiceId, choice: Choice) -> Object:
    return {
        "id": choice_id,
        "label": choice.label,
        "count": choice.count,
        "filters": _added(choice),
        "kind": choice.kind.value,
    }


def _figure(figure: Figure) -> Object:
    return {
        "function": figure.function.value,
        "field": figure.field,
        "value": figure.value,
        "unit": figure.unit,
        "count": figure.count,
    }


def _group(line: GroupLine) -> Object:
    return {"label": line.label, "value": line.value, "unit": line.unit, "count": line.count}


def _missing(missing: MissingCount) -> Object:
    return {"field": missing.field, "count": missing.count}


def _hit(found: FoundPassage) -> Object:
    hit = found.hit
    return {
        "doc_id": hit.doc_id,
        "chunk_id": hit.chunk_id,
        "page": hit.page,
        "start": hit.start,
        "end": hit.end,
        "score": found.score,
        "found_by": list(found.found_by),
    }


def _citation(citation: Citation) -> Object:
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


def _file(file: File) -> Object:
    return {"name": file.name, "rows": file.rows, "path": file.path}


def _traced(trace: Trace) -> Object:
    return {
        "route": trace.route.value,
        "reasoner": trace.reasoner,
        "attempts": attempts_json(trace.attempts),
        "stages": [{"name": s.name, "ms": round(s.ms, 1), "fallback": s.fallback} for s in trace.stages],
    }


def attempts_json(attempts: Iterable[Attempt]) -> list[Object]:
    return [
        {
            "tool": attempt.tool,
            "arguments": plain_json(attempt.arguments),
            "documents": attempt.documents,
            "ms": round(attempt.ms, 1),
        }
        for attempt in attempts
    ]


def plain_json(arguments: Mapping[str, object]) -> Object:
    """Arguments of a tool as JSON; what JSON does not know is written as text, sets in order."""
    return cast(Object, json.loads(json.dumps(dict(arguments), default=_as_text)))


def _as_text(value: object) -> object:
    return sorted(map(str, cast(Iterable[object], value))) if isinstance(value, (set, frozenset)) else str(value)
