"""The JSON result of a turn: every key, and the rules of the interface for it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any as Json

import jsonschema
import pytest

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
    SearchRoute,
    SearchTrace,
    StartOverOutcome,
    TraceStage,
    UnstatedRole,
    UnstatedValues,
)
from bot.application import Application
from bot.conversation.json_result import (
    ResultRequest,
    arguments_to_json,
    failure_to_json,
    flatten_condition,
    result_to_json,
)
from bot.conversation.reply_builder import StoredOffer
from bot.ids import ChoiceId, ClarificationId, ConversationId, TurnId
from bot.surface.replies import FilePart
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    conjunction_of,
    text_condition_for,
)
from storage.search.ids import BucketId, ChunkId, DocId, FieldName, Generation, LegId
from storage.search.index import PassageHit
from storage.search.plan import AggregateFunction, Clause, Leg, LegCombination, ListDocuments, Plan, Search
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
    IncludeMissing,
    JustAnswer,
    OnlyBucket,
    OnlyMissing,
    OpenTail,
    Refinement,
    SaveSearch,
    SearchByMeaning,
    SearchWeb,
    StartOver,
    UseForm,
    UseNearest,
    UseReading,
)
from tests.bot.conftest import ConversationDriver
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
        "factor": {"type": "string"},
    },
}


def _array_of_objects(**properties: object) -> dict[str, object]:
    item = {"type": "object", "required": list(properties), "additionalProperties": False, "properties": properties}
    return {"type": "array", "items": item}


_KINDS = (
    "filter drop nearest spelling missing bucket document reading more export web anyway private meaning restart save"
)
_PROPERTIES: dict[str, object] = {
    "query_id": _NULLABLE_TEXT,
    "question": {"type": "string"},
    "conversation": {"type": "string"},
    "turn": {"type": "string"},
    "outcome": {"enum": ["answer", "no_results", "overload", "ambiguous", "refused", "failed"]},
    "text": {"type": "string"},
    "count": _NULLABLE_COUNT,
    "missing": _array_of_objects(field={"type": "string"}, count={"type": "integer"}),
    "unstated": _array_of_objects(
        role={"enum": ["condition", "measure", "order", "group"]},
        fields={"type": "array", "items": {"type": "string"}, "minItems": 1},
        count={"type": "integer"},
        of={"type": "integer"},
    ),
    "doc_ids": _TEXTS,
    "value": {"anyOf": [_FIGURE, {"type": "null"}]},
    "values": {"type": "array", "items": _FIGURE},
    "groups": _array_of_objects(
        label={"type": "string"}, value={"type": "number"}, unit=_NULLABLE_TEXT, count={"type": "integer"}
    ),
    "legs": _array_of_objects(
        question={"type": "string"},
        outcome={"type": "string"},
        count=_NULLABLE_COUNT,
        doc_ids=_TEXTS,
        filters=_FILTERS,
        values={"type": "array", "items": _FIGURE},
        groups={"type": "array"},
    ),
    "hits": _array_of_objects(
        doc_id={"type": "string"},
        chunk_id={"type": "string"},
        page={"type": ["integer", "null"]},
        start={"type": "integer"},
        end={"type": "integer"},
        score={"type": "number"},
        found_by=_TEXTS,
        sub_queries={"type": "array", "items": {"type": "integer", "minimum": 1}},
        multi_source={"type": "boolean"},
        validation_score={"type": ["number", "null"]},
    ),
    "citations": _array_of_objects(
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
    "choices": _array_of_objects(
        id={"type": "string"},
        label={"type": "string"},
        count={"type": ["integer", "null"], "minimum": 1},
        filters=_FILTERS,
        kind={"enum": _KINDS.split()},
    ),
    "assumptions": _TEXTS,
    "sub_questions": _TEXTS,
    "sub_queries": _TEXTS,
    "decomposed": {"type": "boolean"},
    "meta": {
        "type": "object",
        "required": ["total_candidates", "returned", "sub_query_count"],
        "properties": {
            "total_candidates": {"type": "integer"},
            "returned": {"type": "integer"},
            "sub_query_count": {"type": "integer"},
        },
        "additionalProperties": False,
    },
    "files": _array_of_objects(name={"type": "string"}, rows={"type": "integer"}, path={"type": "string"}),
    "attempts": _array_of_objects(
        tool={"type": "string"}, arguments={"type": "object"}, documents={"type": "integer"}, ms={"type": "number"}
    ),
    "route": {"enum": ["structured", "hybrid", "long_text", None]},
    "reasoner": {"enum": ["rule", "model"]},
    "stages": _array_of_objects(name={"type": "string"}, ms={"type": "number"}, fallback=_NULLABLE_TEXT),
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
ASKED = ResultRequest(question="Which?", conversation=ConversationId("c"), turn=TurnId("t"))
TRACE = SearchTrace(
    route=SearchRoute.STRUCTURED,
    attempts=(
        SearchAttempt(tool="annotations_search", arguments={"buckets": frozenset({"b", "a"})}, documents=2, ms=1.23),
    ),
    stages=(TraceStage(name="decompose", ms=0.55),),
)


def a_leg(name: str = "1", condition: Condition | None = None, required: tuple[str, ...] = (), *buckets: str) -> Leg:
    clauses = tuple(
        Clause(bucket=BucketId(bucket), condition=condition or AndCondition(), required_terms=required)
        for bucket in buckets or (RECEIPTS,)
    )
    return Leg(id=LegId(name), question=f"part {name}", search=Search(clauses=clauses), answer_form=ListDocuments())


def a_result(leg: Leg, kind: OutcomeKind = OutcomeKind.ANSWER, count: int | None = 2, *ids: str) -> LegResult:
    return LegResult(leg=leg.id, question=leg.question, kind=kind, text="", count=count, doc_ids=tuple(map(DocId, ids)))


def an_answer(*results: LegResult, legs: tuple[Leg, ...], citations: tuple[Citation, ...] = ()) -> Answer:
    plan = Plan(
        question="Which?", legs=legs, combination=LegCombination.ONE if len(legs) == 1 else LegCombination.SIDE_BY_SIDE
    )
    return Answer(plan=plan, text="These.", legs=results, citations=citations, trace=TRACE, generation=Generation("g"))


def a_citation(doc_id: str) -> Citation:
    return Citation(marker="1", doc_id=DocId(doc_id), title="T", page=3, start=0, end=4, text="text")


def result_of(
    outcome: Outcome, *, offer: StoredOffer | None = None, files: tuple[FilePart, ...] = (), text: str | None = None
) -> dict[str, Json]:
    result = result_to_json(ASKED, outcome, offer=offer, files=files, text=text)
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


def test_an_ambiguous_question_has_no_count() -> None:
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
    one_document = ResultRequest(question="Which?", conversation=ConversationId("c"), turn=TurnId("t"), max_doc_ids=1)
    result = result_to_json(one_document, an_answer(a_result(leg, OutcomeKind.ANSWER, 2, "a", "b"), legs=(leg,)))

    assert (result["count"], result["doc_ids"]) == (2, ["a"])


def a_hit() -> PassageHit:
    return PassageHit(
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


def test_hits_are_limited_to_the_requested_number() -> None:
    leg = a_leg()
    passages = tuple(FoundPassage(hit=a_hit(), score=1.5, found_by=("text", "semantic")) for _ in range(3))
    answer = an_answer(a_result(leg), legs=(leg,))
    answer = Answer(
        plan=answer.plan, text="", legs=answer.legs, hits=passages, trace=TRACE, generation=answer.generation
    )
    two_hits = ResultRequest(question="Which?", conversation=ConversationId("c"), turn=TurnId("t"), max_hits=2)

    assert len(result_to_json(two_hits, answer)["hits"]) == 2
    assert result_of(answer)["hits"][0] == {
        "doc_id": "a",
        "chunk_id": "a#0",
        "page": None,
        "start": 0,
        "end": 4,
        "score": 1.5,
        "found_by": ["text", "semantic"],
        "sub_queries": [1],
        "multi_source": True,
        "validation_score": None,
    }


def test_hits_name_the_sub_queries_that_found_them_by_number() -> None:
    leg = a_leg()
    topics = ("trams and buses", "trams", "buses")
    found = [
        FoundPassage(hit=a_hit(), score=1.5, found_by=("text",), found_for=("trams and buses", "buses")),
        FoundPassage(hit=a_hit(), score=1.0, found_by=("text",), found_for=("trams",), validation_score=0.31),
    ]
    trace = replace(TRACE, sub_queries=topics, candidate_count=17)
    answer = an_answer(a_result(leg), legs=(leg,))
    answer = Answer(
        plan=answer.plan, text="", legs=answer.legs, hits=tuple(found), trace=trace, generation=answer.generation
    )

    result = result_of(answer)

    assert (result["sub_queries"], result["decomposed"]) == (list(topics), True)
    assert result["meta"] == {"total_candidates": 17, "returned": 2, "sub_query_count": 3}
    assert [hit["sub_queries"] for hit in result["hits"]] == [[1, 3], [2]]
    assert [hit["multi_source"] for hit in result["hits"]] == [True, False]
    assert [hit["validation_score"] for hit in result["hits"]] == [None, 0.31]


def _figure(unit: str) -> ComputedFigure:
    return ComputedFigure(function=AggregateFunction.SUM, field=FieldName("total"), value=12.5, unit=unit, count=3)


def test_one_value_is_also_the_single_value_and_two_currencies_are_not() -> None:
    leg = a_leg()
    one_currency = LegResult(
        leg=leg.id, question="", kind=OutcomeKind.ANSWER, text="", count=3, figures=(_figure("USD"),)
    )
    two_currencies = LegResult(
        leg=leg.id, question="", kind=OutcomeKind.ANSWER, text="", count=3, figures=(_figure("USD"), _figure("EUR"))
    )

    one_currency_json, two_currencies_json = (
        result_of(an_answer(one_currency, legs=(leg,))),
        result_of(an_answer(two_currencies, legs=(leg,))),
    )
    assert one_currency_json["value"] == {"function": "sum", "field": "total", "value": 12.5, "unit": "USD", "count": 3}
    assert one_currency_json["values"] == [one_currency_json["value"]]
    assert two_currencies_json["value"] is None
    assert len(two_currencies_json["values"]) == 2


def test_groups_and_missing_counts_are_in_the_result() -> None:
    leg = a_leg()
    result = LegResult(
        leg=leg.id,
        question="",
        kind=OutcomeKind.ANSWER,
        text="",
        count=3,
        groups=(GroupLine(label="Acme", value=12.0, unit="USD", count=4),),
        missing_counts=(MissingCount(field=FieldName("date"), count=41),),
        unstated=(
            UnstatedValues(role=UnstatedRole.CONDITION, fields=(FieldName("date"),), count=41, total=50),
            UnstatedValues(role=UnstatedRole.MEASURE, fields=(FieldName("total"),), count=1, total=3),
        ),
    )

    result_json = result_of(an_answer(result, legs=(leg,)))
    assert result_json["groups"] == [{"label": "Acme", "value": 12.0, "unit": "USD", "count": 4}]
    assert result_json["missing"] == [{"field": "date", "count": 41}]
    assert result_json["unstated"] == [
        {"role": "condition", "fields": ["date"], "count": 41, "of": 50},
        {"role": "measure", "fields": ["total"], "count": 1, "of": 3},
    ]


def test_several_legs_are_listed_and_their_documents_are_joined() -> None:
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


ROW = RowCondition(rows_field=FieldName("items"), condition=where("qty", "gte", 4.0))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (AndCondition(), []),
        (ACME, [{"field": "vendor", "op": "eq", "value": "Acme"}]),
        (MissingCondition(field=FieldName("date")), [{"field": "date", "op": "missing"}]),
        (
            conjunction_of(ACME, ROW),
            [
                {"field": "vendor", "op": "eq", "value": "Acme"},
                {"row": "items", "all": [{"field": "qty", "op": "gte", "value": 4}]},
            ],
        ),
        (NotCondition(ACME), {"not": {"field": "vendor", "op": "eq", "value": "Acme"}}),
        (
            OrCondition((ACME, where("vendor", "eq", "Bolt"))),
            {
                "any": [
                    {"field": "vendor", "op": "eq", "value": "Acme"},
                    {"field": "vendor", "op": "eq", "value": "Bolt"},
                ]
            },
        ),
        (
            conjunction_of(ACME, NotCondition(where("paid", "eq", True))),
            {
                "all": [
                    {"field": "vendor", "op": "eq", "value": "Acme"},
                    {"not": {"field": "paid", "op": "eq", "value": True}},
                ]
            },
        ),
    ],
)
def test_filters_of_a_plain_conjunction_are_a_flat_list(condition: Condition, expected: object) -> None:
    assert flatten_condition(condition) == expected


def test_buckets_with_different_conditions_give_a_disjunction() -> None:
    clauses = (Clause(bucket=BucketId("a"), condition=ACME), Clause(bucket=BucketId("b")))
    leg = Leg(id=LegId("1"), question="", search=Search(clauses=clauses), answer_form=ListDocuments())

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
        IncludeMissing(condition=ACME, field=FieldName("date"), bucket=RECEIPTS),
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
        ChooseDocument(
            condition=ComparisonCondition(field=FieldName("doc_id"), op=ComparisonOperator.EQ, value="a"),
            bucket=RECEIPTS,
        ),
        "document",
        [{"field": "doc_id", "op": "eq", "value": "a"}],
    ),
    (UseReading(search=Search(clauses=(Clause(bucket=RECEIPTS, condition=BOLT),))), "reading", _BOLT_JSON),
    (
        UseForm(search=Search(clauses=(Clause(bucket=RECEIPTS, condition=BOLT),)), answer_form=ListDocuments(limit=1)),
        "reading",
        _BOLT_JSON,
    ),
    (ExportAll(), "export", None),
    (SearchWeb(), "web", None),
    (JustAnswer(), "anyway", None),
    (ContinuePrivately(), "private", None),
    (SearchByMeaning(), "meaning", None),
    (StartOver(), "restart", None),
    (SaveSearch("on change"), "save", None),
]


@pytest.mark.parametrize(("effect", "kind", "filters"), KINDS, ids=lambda value: type(value).__name__)
def test_a_choice_lists_the_filters_that_its_click_adds(
    effect: Refinement | Action, kind: str, filters: object
) -> None:
    leg = a_leg()
    choice = Choice(label="L", count=7 if filters is not None or kind == "export" else None, leg=leg.id, effect=effect)
    offer = StoredOffer(
        clarification=ClarificationId("k"),
        expires_at=_NEVER,
        choices=((ChoiceId("x"), choice),),
    )

    [choice_json] = result_of(an_answer(a_result(leg), legs=(leg,)), offer=offer)["choices"]
    assert choice_json == {"id": "x", "label": "L", "count": choice.count, "filters": filters, "kind": kind}


def test_an_export_is_an_answer_with_a_file_and_its_rows() -> None:
    leg = a_leg(condition=ACME)
    plan = Plan(question="Which?", legs=(leg,))
    export_outcome = ExportOutcome(plan=plan, leg=leg.id, count=40, trace=TRACE, generation=Generation("g"))
    file = FilePart(name="receipts-42.csv", title="", rows=42, path="/x", url="http://x", expires=_NEVER)
    result = result_of(export_outcome, files=(file,), text="Here.")

    assert (result["outcome"], result["count"], result["text"]) == ("answer", 42, "Here.")
    assert result["files"] == [{"name": "receipts-42.csv", "rows": 42, "path": "/x"}]
    assert result["filters"] == _ACME_JSON


def test_the_calls_to_models_are_reported() -> None:
    leg = a_leg()
    usage = ModelUsage(calls=2, input_tokens=900, output_tokens=120, cost_usd=0.0031)
    answer = an_answer(a_result(leg), legs=(leg,))

    result = result_of(replace(answer, trace=replace(TRACE, model_usage=usage)))

    assert (result["model_calls"], result["tokens"], result["cost_usd"]) == (2, {"in": 900, "out": 120}, 0.0031)
    without_model = result_of(answer)
    assert (without_model["model_calls"], without_model["cost_usd"]) == (0, None)


def test_refusals_restarts_and_failures_have_every_key_too() -> None:
    assert result_of(Refused(text="No."))["outcome"] == "refused"
    assert result_of(StartOverOutcome(text="Forgotten."))["outcome"] == "answer"
    failed = failure_to_json(ASKED, "It broke.")
    jsonschema.validate(failed, SCHEMA)
    assert (failed["outcome"], failed["error"]) == ("failed", "It broke.")


def test_a_required_term_in_the_legs_condition_is_listed_once() -> None:
    leg = a_leg("1", ACME, ("tire",))
    leg_result = LegResult(
        leg=leg.id,
        question="",
        kind=OutcomeKind.ANSWER,
        text="",
        count=1,
        condition=conjunction_of(ACME, text_condition_for("tire")),
    )

    assert result_of(an_answer(leg_result, legs=(leg,)))["filters"] == [*_ACME_JSON, *_WORD_JSON]


def test_arguments_of_types_unknown_to_json_become_text() -> None:
    assert arguments_to_json({"buckets": {"b", "a"}, "op": ComparisonOperator.EQ, "at": _NEVER}) == {
        "buckets": ["a", "b"],
        "op": "eq",
        "at": str(_NEVER),
    }


async def test_results_of_turns_match_the_schema(bot: Application) -> None:
    talk = ConversationDriver(bot)
    question_turn = await talk.ask_question("List every receipt")
    for turn in (
        question_turn,
        await talk.click_choice(question_turn, "Export all"),
        await talk.ask_question(""),
        await talk.click_choice(question_turn, "Bolt"),
    ):
        jsonschema.validate(turn.result, SCHEMA)
