"""The one JSON result: every key, and each rule that the interface states under it."""

from datetime import UTC, datetime
from typing import Any as Json

import jsonschema
import pytest

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
    Route,
    Stage,
    StartedOver,
    Trace,
)
from bot.answers import Offer
from bot.bootstrap import Bot
from bot.ids import ChoiceId, ClarificationId, ConversationId, TurnId
from bot.replies import File
from bot.result import Asked, failed_json, flat, plain_json, result_json
from storage.search.conditions import All, Any, Compare, Condition, InRow, Missing, Not, Op, all_of, contains_text
from storage.search.ids import BucketId, ChunkId, DocId, FieldName, Generation, LegId
from storage.search.index import Hit
from storage.search.plan import Clause, Combine, Function, Leg, ListDocuments, Plan, Search
from storage.search.refinement import (
    Action,
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
    Refinement,
    SearchByMeaning,
    SearchWeb,
    StartOver,
    TakeInMissing,
    TakeReading,
    UseNearest,
)
from tests.bot.conftest import Talk
from tests.builders import RECEIPTS, where

_NULLABLE_TEXT = {"type": ["string", "null"]}
_NULLABLE_COUNT = {"type": ["integer", "null"], "minimum": 0}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_FILTERS = {"type": ["array", "object", "null"]}
_FIGURE = {
    "type": "object",
    "required": ["function", "field", "value", "unit", "count"],
    "additionalProperties": False,
    "properties": {
        "function": {"enum": ["sum", "count", "average", "minimum", "maximum"]},
        "field": _NULLABLE_TEXT,
        "value": {"type": ["number", "string", "null"]},
        "unit": _NULLABLE_TEXT,
        "count": {"type": "integer"},
    },
}


def _objects(**properties: object) -> dict[str, object]:
    one = {"type": "object", "required": list(properties), "additionalProperties": False, "properties": properties}
    return {"type": "array", "items": one}


_KINDS = "filter drop nearest spelling missing bucket document reading more export web anyway private meaning restart"
_PROPERTIES: dict[str, object] = {
    "query_id": _NULLABLE_TEXT,
    "question": {"type": "string"},
    "conversation": {"type": "string"},
    "turn": {"type": "string"},
    "outcome": {"enum": ["answer", "no_results", "overload", "ambiguous", "refused", "failed"]},
    "text": {"type": "string"},
    "count": _NULLABLE_COUNT,
    "missing": _objects(field={"type": "string"}, count={"type": "integer"}),
    "doc_ids": _TEXTS,
    "value": {"anyOf": [_FIGURE, {"type": "null"}]},
    "values": {"type": "array", "items": _FIGURE},
    "groups": _objects(
        label={"type": "string"}, value={"type": "number"}, unit=_NULLABLE_TEXT, count={"type": "integer"}
    ),
    "legs": _objects(
        question={"type": "string"},
        outcome={"type": "string"},
        count=_NULLABLE_COUNT,
        doc_ids=_TEXTS,
        filters=_FILTERS,
        values={"type": "array", "items": _FIGURE},
        groups={"type": "array"},
    ),
    "hits": _objects(
        doc_id={"type": "string"},
        chunk_id={"type": "string"},
        page={"type": ["integer", "null"]},
        start={"type": "integer"},
        end={"type": "integer"},
        score={"type": "number"},
        found_by=_TEXTS,
    ),
    "citations": _objects(
        marker={"type": "string"},
        doc_id={"type": "string"},
        title={"type": "string"},
        page={"type": ["integer", "null"]},
        start={"type": "integer"},
        end={"type": "integer"},
        text={"type": "string"},
        url=_NULLABLE_TEXT,
    ),
    "filters": _FILTERS,
    "choices": _objects(
        id={"type": "string"},
        label={"type": "string"},
        count={"type": ["integer", "null"], "minimum": 1},
        filters=_FILTERS,
        kind={"enum": _KINDS.split()},
    ),
    "assumptions": _TEXTS,
    "sub_questions": _TEXTS,
    "files": _objects(name={"type": "string"}, rows={"type": "integer"}, path={"type": "string"}),
    "attempts": _objects(
        tool={"type": "string"}, arguments={"type": "object"}, documents={"type": "integer"}, ms={"type": "number"}
    ),
    "route": {"enum": ["structured", "hybrid", "long_text", None]},
    "reasoner": {"enum": ["rule", "model"]},
    "stages": _objects(name={"type": "string"}, ms={"type": "number"}, fallback=_NULLABLE_TEXT),
    "model_calls": {"type": "integer"},
    "tokens": {
        "type": "object",
        "required": ["in", "out"],
        "properties": {"in": {"type": "integer"}, "out": {"type": "integer"}},
    },
    "cost_usd": {"type": ["number", "null"]},
    "ms": {"type": "number"},
}
SCHEMA: dict[str, object] = {
    "type": "object",
    "required": list(_PROPERTIES),
    "additionalProperties": False,
    "properties": _PROPERTIES | {"error": {"type": "string"}},
}

_NEVER = datetime(9999, 1, 1, tzinfo=UTC)
ACME = where("vendor", "eq", "Acme")
ASKED = Asked(question="Which?", conversation=ConversationId("c"), turn=TurnId("t"))
TRACE = Trace(
    route=Route.STRUCTURED,
    attempts=(Attempt(tool="annotations_search", arguments={"buckets": frozenset({"b", "a"})}, documents=2, ms=1.23),),
    stages=(Stage(name="decompose", ms=0.55),),
)


def a_leg(name: str = "1", condition: Condition | None = None, required: tuple[str, ...] = (), *buckets: str) -> Leg:
    clauses = tuple(
        Clause(bucket=BucketId(bucket), condition=condition or All(), required=required)
        for bucket in buckets or (RECEIPTS,)
    )
    return Leg(id=LegId(name), question=f"part {name}", search=Search(clauses=clauses), wanted=ListDocuments())


def a_result(leg: Leg, kind: OutcomeKind = OutcomeKind.ANSWER, count: int | None = 2, *ids: str) -> LegResult:
    return LegResult(leg=leg.id, question=leg.question, kind=kind, text="", count=count, doc_ids=tuple(map(DocId, ids)))


def an_answer(*results: LegResult, legs: tuple[Leg, ...], citations: tuple[Citation, ...] = ()) -> Answer:
    plan = Plan(question="Which?", legs=legs, combine=Combine.ONE if len(legs) == 1 else Combine.SIDE_BY_SIDE)
    return Answer(plan=plan, text="These.", legs=results, citations=citations, trace=TRACE, generation=Generation("g"))


def a_citation(doc_id: str) -> Citation:
    return Citation(marker="1", doc_id=DocId(doc_id), title="T", page=3, start=0, end=4, text="text")


def result_of(
    outcome: Outcome, *, offer: Offer | None = None, files: tuple[File, ...] = (), said: str | None = None
) -> dict[str, Json]:
    result = result_json(ASKED, outcome, offer=offer, files=files, said=said)
    jsonschema.validate(result, SCHEMA)
    return result


def test_a_list_has_its_exact_count_and_its_set_in_order() -> None:
    leg = a_leg(condition=ACME)
    result = result_of(an_answer(a_result(leg, OutcomeKind.ANSWER, 2, "b", "a"), legs=(leg,)))

    assert (result["outcome"], result["count"], result["doc_ids"]) == ("answer", 2, ["b", "a"])
    assert result["filters"] == [{"field": "vendor", "op": "eq", "value": "Acme"}]
    assert result["legs"] == []
    assert result["attempts"] == [
        {"tool": "annotations_search", "arguments": {"buckets": ["a", "b"]}, "documents": 2, "ms": 1.2}
    ]
    assert result["stages"] == [{"name": "decompose", "ms": 0.6, "fallback": None}]


def test_an_overload_has_its_count_and_no_documents() -> None:
    leg = a_leg()
    clarify = Clarify(
        plan=Plan(question="Which?", legs=(leg,)),
        kind=OutcomeKind.OVERLOAD,
        leg=leg.id,
        text="I found 1,042.",
        legs=(a_result(leg, OutcomeKind.OVERLOAD, 1042, "a", "b"),),
        choices=(),
        citations=(a_citation("a"),),
        trace=TRACE,
        generation=Generation("g"),
    )
    result = result_of(clarify)

    assert (result["outcome"], result["count"], result["doc_ids"]) == ("overload", 1042, [])


def test_an_ambiguous_question_has_no_count_of_its_own() -> None:
    leg = a_leg()
    clarify = Clarify(
        plan=Plan(question="Which?", legs=(leg,)),
        kind=OutcomeKind.AMBIGUOUS,
        leg=leg.id,
        text="Which one?",
        legs=(a_result(leg, OutcomeKind.AMBIGUOUS, 2),),
        choices=(),
        trace=TRACE,
        generation=Generation("g"),
    )

    assert result_of(clarify)["count"] is None


def test_a_lookup_names_the_documents_cited_once_each() -> None:
    leg = a_leg()
    cited = (a_citation("b"), a_citation("a"), a_citation("b"))

    assert result_of(an_answer(a_result(leg, OutcomeKind.ANSWER, None), legs=(leg,), citations=cited))["doc_ids"] == [
        "b",
        "a",
    ]


def test_the_limit_cuts_the_documents_and_not_the_count() -> None:
    leg = a_leg()
    few = Asked(question="Which?", conversation=ConversationId("c"), turn=TurnId("t"), limit=1)
    result = result_json(few, an_answer(a_result(leg, OutcomeKind.ANSWER, 2, "a", "b"), legs=(leg,)))

    assert (result["count"], result["doc_ids"]) == (2, ["a"])


def test_hits_are_cut_where_asked() -> None:
    leg = a_leg()
    hit = Hit(
        doc_id=DocId("a"),
        bucket=RECEIPTS,
        chunk_id=ChunkId("a#0"),
        title="T",
        source="",
        page=None,
        start=0,
        end=4,
        text="text",
        score=9.0,
    )
    found = tuple(FoundPassage(hit=hit, score=1.5, found_by=("text", "semantic")) for _ in range(3))
    answer = an_answer(a_result(leg), legs=(leg,))
    answer = Answer(plan=answer.plan, text="", legs=answer.legs, hits=found, trace=TRACE, generation=answer.generation)
    two = Asked(question="Which?", conversation=ConversationId("c"), turn=TurnId("t"), hits=2)

    assert len(result_json(two, answer)["hits"]) == 2
    assert result_of(answer)["hits"][0] == {
        "doc_id": "a",
        "chunk_id": "a#0",
        "page": None,
        "start": 0,
        "end": 4,
        "score": 1.5,
        "found_by": ["text", "semantic"],
    }


def _figure(unit: str) -> Figure:
    return Figure(function=Function.SUM, field=FieldName("total"), value=12.5, unit=unit, count=3)


def test_a_single_value_stands_alone_and_two_currencies_do_not() -> None:
    leg = a_leg()
    one = LegResult(leg=leg.id, question="", kind=OutcomeKind.ANSWER, text="", count=3, values=(_figure("USD"),))
    two = LegResult(
        leg=leg.id, question="", kind=OutcomeKind.ANSWER, text="", count=3, values=(_figure("USD"), _figure("EUR"))
    )

    alone, both = result_of(an_answer(one, legs=(leg,))), result_of(an_answer(two, legs=(leg,)))
    assert alone["value"] == {"function": "sum", "field": "total", "value": 12.5, "unit": "USD", "count": 3}
    assert alone["values"] == [alone["value"]]
    assert both["value"] is None
    assert len(both["values"]) == 2


def test_groups_and_missing_are_told() -> None:
    leg = a_leg()
    result = LegResult(
        leg=leg.id,
        question="",
        kind=OutcomeKind.ANSWER,
        text="",
        count=3,
        groups=(GroupLine(label="Acme", value=12.0, unit="USD", count=4),),
        missing=(MissingCount(field=FieldName("date"), count=41),),
    )

    told = result_of(an_answer(result, legs=(leg,)))
    assert told["groups"] == [{"label": "Acme", "value": 12.0, "unit": "USD", "count": 4}]
    assert told["missing"] == [{"field": "date", "count": 41}]


def test_several_legs_stand_each_for_themselves_and_their_documents_are_joined() -> None:
    first, second = a_leg("1", ACME), a_leg("2")
    answer = an_answer(
        a_result(first, OutcomeKind.ANSWER, 2, "a", "b"),
        a_result(second, OutcomeKind.NO_RESULTS, 0),
        legs=(first, second),
    )
    result = result_of(answer)

    assert result["count"] is None
    assert result["filters"] is None
    assert result["doc_ids"] == ["a", "b"]
    assert result["sub_questions"] == ["part 1", "part 2"]
    assert result["legs"] == [
        {
            "question": "part 1",
            "outcome": "answer",
            "count": 2,
            "doc_ids": ["a", "b"],
            "filters": [{"field": "vendor", "op": "eq", "value": "Acme"}],
            "values": [],
            "groups": [],
        },
        {
            "question": "part 2",
            "outcome": "no_results",
            "count": 0,
            "doc_ids": [],
            "filters": [],
            "values": [],
            "groups": [],
        },
    ]


def test_required_terms_are_filters_on_the_text() -> None:
    leg = a_leg("1", ACME, ("B-120",))
    result = result_of(an_answer(a_result(leg), legs=(leg,)))

    assert result["filters"] == [
        {"field": "vendor", "op": "eq", "value": "Acme"},
        {"field": "text", "op": "contains", "value": "B-120", "words": "B-120"},
    ]


ROW = InRow(row=FieldName("items"), condition=where("qty", "gte", 4.0))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (All(), []),
        (ACME, [{"field": "vendor", "op": "eq", "value": "Acme"}]),
        (Missing(field=FieldName("date")), [{"field": "date", "op": "missing"}]),
        (
            all_of(ACME, ROW),
            [
                {"field": "vendor", "op": "eq", "value": "Acme"},
                {"row": "items", "all": [{"field": "qty", "op": "gte", "value": 4}]},
            ],
        ),
        (Not(ACME), {"not": {"field": "vendor", "op": "eq", "value": "Acme"}}),
        (
            Any((ACME, where("vendor", "eq", "Bolt"))),
            {
                "any": [
                    {"field": "vendor", "op": "eq", "value": "Acme"},
                    {"field": "vendor", "op": "eq", "value": "Bolt"},
                ]
            },
        ),
        (
            all_of(ACME, Not(where("paid", "eq", True))),
            {
                "all": [
                    {"field": "vendor", "op": "eq", "value": "Acme"},
                    {"not": {"field": "paid", "op": "eq", "value": True}},
                ]
            },
        ),
    ],
)
def test_filters_are_flat_where_they_are_a_plain_conjunction(condition: Condition, expected: object) -> None:
    assert flat(condition) == expected


def test_buckets_with_different_conditions_give_either_tree() -> None:
    clauses = (Clause(bucket=BucketId("a"), condition=ACME), Clause(bucket=BucketId("b")))
    leg = Leg(id=LegId("1"), question="", search=Search(clauses=clauses), wanted=ListDocuments())

    assert result_of(an_answer(a_result(leg), legs=(leg,)))["filters"] == {
        "any": [{"field": "vendor", "op": "eq", "value": "Acme"}, {"all": []}]
    }


BOLT = where("vendor", "eq", "Bolt")
_ACME_JSON, _BOLT_JSON = (
    [{"field": "vendor", "op": "eq", "value": "Acme"}],
    [{"field": "vendor", "op": "eq", "value": "Bolt"}],
)
_WORD_JSON = [{"field": "text", "op": "contains", "value": "tire", "words": "tire"}]
KINDS: list[tuple[Refinement | Action, str, object]] = [
    (AddFilter(condition=ACME), "filter", _ACME_JSON),
    (OpenTail(condition=ACME), "more", _ACME_JSON),
    (OnlyMissing(field=FieldName("date")), "missing", [{"field": "date", "op": "missing"}]),
    (
        TakeInMissing(condition=ACME, field=FieldName("date"), bucket=RECEIPTS),
        "missing",
        {"any": [*_ACME_JSON, {"field": "date", "op": "missing"}]},
    ),
    (DropFilter(condition=ACME), "drop", []),
    (DropWord(word="tire"), "drop", []),
    (UseNearest(old=ACME, new=BOLT, bucket=RECEIPTS), "nearest", _BOLT_JSON),
    (CorrectWord(old="tyre", new="tire"), "spelling", _WORD_JSON),
    (AddBucket(clause=Clause(bucket=BucketId("b"), condition=ACME)), "bucket", _ACME_JSON),
    (OnlyBucket(bucket=RECEIPTS), "bucket", []),
    (
        ChooseDocument(condition=Compare(field=FieldName("doc_id"), op=Op.EQ, value="a"), bucket=RECEIPTS),
        "document",
        [{"field": "doc_id", "op": "eq", "value": "a"}],
    ),
    (TakeReading(search=Search(clauses=(Clause(bucket=RECEIPTS, condition=BOLT),))), "reading", _BOLT_JSON),
    (ExportAll(), "export", None),
    (SearchWeb(), "web", None),
    (JustAnswer(), "anyway", None),
    (ContinuePrivately(), "private", None),
    (SearchByMeaning(), "meaning", None),
    (StartOver(), "restart", None),
]


@pytest.mark.parametrize(("does", "kind", "filters"), KINDS, ids=lambda one: type(one).__name__)
def test_a_choice_says_what_its_click_adds(does: Refinement | Action, kind: str, filters: object) -> None:
    leg = a_leg()
    choice = Choice(label="L", count=7 if filters is not None or kind == "export" else None, leg=leg.id, does=does)
    offer = Offer(
        clarification=ClarificationId("k"),
        expires=_NEVER,
        choices=((ChoiceId("x"), choice),),
    )

    [told] = result_of(an_answer(a_result(leg), legs=(leg,)), offer=offer)["choices"]
    assert told == {"id": "x", "label": "L", "count": choice.count, "filters": filters, "kind": kind}


def test_an_export_is_an_answer_with_a_file_and_its_rows() -> None:
    leg = a_leg(condition=ACME)
    plan = Plan(question="Which?", legs=(leg,))
    wanted = ExportWanted(plan=plan, leg=leg.id, count=40, trace=TRACE, generation=Generation("g"))
    file = File(name="receipts-42.csv", title="", rows=42, path="/x", url="http://x", expires=_NEVER)
    result = result_of(wanted, files=(file,), said="Here.")

    assert (result["outcome"], result["count"], result["text"]) == ("answer", 42, "Here.")
    assert result["files"] == [{"name": "receipts-42.csv", "rows": 42, "path": "/x"}]
    assert result["filters"] == _ACME_JSON


def test_refusals_restarts_and_failures_have_every_key_too() -> None:
    assert result_of(Refused(text="No."))["outcome"] == "refused"
    assert result_of(StartedOver(text="Forgotten."))["outcome"] == "answer"
    failed = failed_json(ASKED, "It broke.")
    jsonschema.validate(failed, SCHEMA)
    assert (failed["outcome"], failed["error"]) == ("failed", "It broke.")


def test_a_required_term_that_the_agent_told_already_stands_once() -> None:
    leg = a_leg("1", ACME, ("tire",))
    told = LegResult(
        leg=leg.id,
        question="",
        kind=OutcomeKind.ANSWER,
        text="",
        count=1,
        condition=all_of(ACME, contains_text("tire")),
    )

    assert result_of(an_answer(told, legs=(leg,)))["filters"] == [*_ACME_JSON, *_WORD_JSON]


def test_arguments_that_json_does_not_know_are_written_as_text() -> None:
    assert plain_json({"buckets": {"b", "a"}, "op": Op.EQ, "at": _NEVER}) == {
        "buckets": ["a", "b"],
        "op": "eq",
        "at": str(_NEVER),
    }


async def test_a_turn_ends_in_a_result_of_this_shape(bot: Bot) -> None:
    talk = Talk(bot)
    asked = await talk.say("List every receipt")
    for done in (asked, await talk.click(asked, "Export all"), await talk.say(""), await talk.click(asked, "Bolt")):
        jsonschema.validate(done.result, SCHEMA)
