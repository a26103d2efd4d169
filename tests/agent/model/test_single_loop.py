"""Questions answered in one conversation in which a scripted model calls tools."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any as Json
from typing import TypeAlias

import pytest
import pytest_asyncio

from agent.context import AgentContext
from agent.errors import ModelUnavailable
from agent.gateway.messages import ChatMessage, MessageRole, ModelReply, ToolCall
from agent.limits import AnswerLimits
from agent.loop import answer, resume
from agent.model.options import ModelOptions, ModelUse
from agent.model.single_loop import LoopReasoner
from agent.outcome import Answer, ChoiceKind, Clarify, ExportOutcome, Outcome, OutcomeKind
from agent.rules.reasoner import RuleReasoner
from storage.search.conditions import TEXT_FIELD, ComparisonOperator
from storage.search.ids import FieldName
from storage.search.index import ScopedIndex
from storage.search.plan import AggregateFunction, ComputeNumbers, FindPassages, LegCombination, ListDocuments
from storage.search.schema import SchemaOrder
from tests.agent.model.scripted_model import ScriptedModel
from tests.agent.tools.receipts_index import MANUALS, NOW, open_receipts_index
from tests.builders import RECEIPTS, where

Replies: TypeAlias = Mapping[str, Json] | str | ModelReply | Exception
Ask: TypeAlias = Callable[..., Json]
ALWAYS = ModelOptions(when=ModelUse.ALWAYS)
ACME = {"field": "vendor", "op": "eq", "values": ["Acme"], "words": ""}


@pytest_asyncio.fixture
async def scoped_index(tmp_path: Path) -> AsyncIterator[ScopedIndex]:
    async with open_receipts_index(tmp_path) as index:
        yield index


def a_reply(*calls: tuple[str, Mapping[str, Json] | str], text: str = "") -> ModelReply:
    """Builds a reply that calls these tools: names with their arguments."""
    tool_calls = tuple(
        ToolCall(
            id=f"id{position}",
            name=name,
            arguments=arguments if isinstance(arguments, str) else json.dumps(arguments),
        )
        for position, (name, arguments) in enumerate(calls)
    )
    return ModelReply(text=text, model="scripted", tool_calls=tool_calls)


def an_answer(**members: Json) -> ModelReply:
    defaults: dict[str, Json] = {"outcome": "answered", "completeness": 1.0, "language": "en"}
    return a_reply(("give_answer", defaults | members))


def a_sentence(text: str, *evidence: str) -> Mapping[str, Json]:
    return {"text": text, "evidence": list(evidence)}


async def ask_question(
    index: ScopedIndex,
    question: str,
    *replies: Replies,
    options: ModelOptions = ALWAYS,
    **context_changes: Json,
) -> tuple[Outcome, ScriptedModel, AgentContext]:
    rules, model = RuleReasoner(), ScriptedModel(*replies)
    reasoner = LoopReasoner(model, rules, rules, options)
    context = AgentContext(index=index, reasoner=reasoner, now=NOW, **context_changes)
    return await answer(question, context), model, context


def tool_texts_of(model: ScriptedModel) -> list[str]:
    """The results that the model was told, in order."""
    return [message.content for message in model.requests[-1].messages if message.role is MessageRole.TOOL]


def list_tools(message: ChatMessage) -> list[str]:
    return [call.name for call in message.tool_calls]


# -- results that are counted


async def test_a_counted_list_is_answered_from_the_index_with_its_export(scoped_index: ScopedIndex) -> None:
    question = "Show me everything we got billed by the Acme people, dearest first"

    outcome, model, _ = await ask_question(
        scoped_index,
        question,
        a_reply(
            ("annotations_search", {"bucket": "receipts", "filters": [ACME], "order_by": "total", "limit": 1}),
        ),
        an_answer(
            results=[{"call": "c1", "form": "list"}],
            sentences=[a_sentence("There are 900 receipts.", "d1")],  # repeats the result, and wrongly
        ),
    )

    assert isinstance(outcome, Answer)
    (leg,) = outcome.plan.legs
    assert leg.search.buckets == (RECEIPTS,)
    assert leg.search.clauses[0].condition == where("vendor", ComparisonOperator.EQ, "Acme")
    assert leg.answer_form == ListDocuments(order=SchemaOrder(field=FieldName("total")))
    assert outcome.legs[0].count == 4
    assert outcome.legs[0].doc_ids == ("r09", "r06", "r03", "r00")
    assert "900" not in outcome.text
    assert len(model.requests) == 2
    assert outcome.trace.model_usage.calls == 2
    assert [attempt.tool for attempt in outcome.trace.attempts][:1] == ["annotations_search"]


async def test_only_the_first_documents_are_listed_if_the_question_asks_for_them(scoped_index: ScopedIndex) -> None:
    outcome, _, _ = await ask_question(
        scoped_index,
        "Which two receipts are the heaviest?",
        a_reply(("annotations_search", {"bucket": "receipts", "order_by": "weight"})),
        an_answer(results=[{"call": "c1", "form": "list", "first": 2}]),
    )

    assert isinstance(outcome, Answer)
    assert outcome.legs[0].doc_ids == ("r11", "r10")


async def test_a_count_and_a_sum_are_computed_again(scoped_index: ScopedIndex) -> None:
    outcome, model, _ = await ask_question(
        scoped_index,
        "How many bills came from Acme, and what is the sum of all bills?",
        a_reply(
            ("annotations_search", {"bucket": "receipts", "filters": [ACME]}),
            ("annotations_aggregate", {"bucket": "receipts", "function": "sum", "field": "total"}),
        ),
        an_answer(
            results=[
                {"call": "c1", "form": "count", "question": "How many bills came from Acme?"},
                {"call": "c2", "form": "numbers", "question": "What is the sum of all bills?"},
            ]
        ),
    )

    assert isinstance(outcome, Answer)
    assert outcome.plan.combination is LegCombination.SIDE_BY_SIDE
    assert [leg.answer_form for leg in outcome.plan.legs] == [
        ComputeNumbers(functions=(AggregateFunction.COUNT,)),
        ComputeNumbers(functions=(AggregateFunction.SUM,), field=FieldName("total")),
    ]
    assert outcome.legs[0].count == 4
    assert {(figure.unit, figure.value) for figure in outcome.legs[1].figures} == {("USD", 900.0), ("EUR", 960.0)}
    assert len(tool_texts_of(model)) == 2


async def test_a_list_that_is_too_long_asks_back_with_counted_choices(scoped_index: ScopedIndex) -> None:
    outcome, _, context = await ask_question(
        scoped_index,
        "Give me the whole pile of bills",
        a_reply(("annotations_search", {"bucket": "receipts"})),
        an_answer(results=[{"call": "c1", "form": "list"}]),
        limits=AnswerLimits(overload_documents=5, read_documents=4),
    )

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.OVERLOAD
    counted = [choice.count for choice in outcome.choices if choice.kind is ChoiceKind.FILTER]
    assert sum(count or 0 for count in counted) == 12
    assert ChoiceKind.EXPORT in {choice.kind for choice in outcome.choices}
    resumed = await resume(outcome.plan, context)  # a click calls no model: the script has no reply left
    assert isinstance(resumed, Clarify)


async def test_an_empty_set_is_final_and_offers_ways_out(scoped_index: ScopedIndex) -> None:
    dear = {"field": "total", "op": "gt", "values": ["10000"], "words": "over 10000"}

    outcome, model, _ = await ask_question(
        scoped_index,
        "Any Acme bills over 10000?",
        a_reply(("annotations_search", {"bucket": "receipts", "filters": [ACME, dear]})),
        an_answer(outcome="not_found", missing=["a bill over 10000"]),
    )

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.NO_RESULTS
    assert outcome.legs[0].count == 0
    assert {choice.count for choice in outcome.choices if choice.kind is ChoiceKind.DROP} == {4}
    assert "The values of total lie between 100.0 and 210.0." in tool_texts_of(model)[0]


async def test_a_follow_up_refines_the_plan_of_the_loop_without_the_model(scoped_index: ScopedIndex) -> None:
    outcome, _, _ = await ask_question(
        scoped_index,
        "Show me everything we got billed by the Acme people",
        a_reply(("annotations_search", {"bucket": "receipts", "filters": [ACME]})),
        an_answer(results=[{"call": "c1", "form": "list"}]),
    )
    assert isinstance(outcome, Answer)

    narrowed, model, _ = await ask_question(scoped_index, "only the paid ones", last_plan=outcome.plan)
    exported, _, _ = await ask_question(scoped_index, "export", last_plan=outcome.plan)

    assert model.requests == []
    assert isinstance(narrowed, Answer)
    assert set(narrowed.legs[0].doc_ids) == {"r00", "r06"}
    assert isinstance(exported, ExportOutcome)
    assert exported.count == 4


# -- answers from texts


async def test_sentences_are_kept_if_their_evidence_says_them(scoped_index: ScopedIndex) -> None:
    outcome, model, _ = await ask_question(
        scoped_index,
        "What is put on the winch, and how often?",
        a_reply(("search_text", {"bucket": "manuals", "query": "winch greased"})),
        an_answer(
            sentences=[
                a_sentence("The winch is greased with graphite paste each spring.", "[p1]"),
                a_sentence("Its rope lasts 17 seasons.", "p1"),
                a_sentence("Its rope is changed after four seasons.", "p1"),
                a_sentence("The anchor is stored below deck."),
                a_sentence("The hull is painted.", "p77"),
                a_sentence("The winch is greased each spring.", "P1 "),
            ],
            completeness=0.9,
            missing=["who does it"],
        ),
        options=ModelOptions(when=ModelUse.ALWAYS, completeness=0.95, max_rounds=1),
    )

    assert isinstance(outcome, Answer)
    assert isinstance(outcome.plan.legs[0].answer_form, FindPassages)
    assert outcome.plan.legs[0].search.buckets == (MANUALS,)
    assert "The winch is greased with graphite paste each spring. [1]" in outcome.text
    assert "17" not in outcome.text
    assert "anchor" not in outcome.text
    assert "hull" not in outcome.text
    assert "who does it" in outcome.text
    assert {(citation.doc_id, citation.page) for citation in outcome.citations} == {("winch", 3)}
    assert outcome.citations[0].text == "The winch is greased with graphite paste each spring."
    assert outcome.legs[0].doc_ids == ("winch",)
    assert outcome.hits[0].hit.doc_id == "winch"
    assert "Winch manual" in tool_texts_of(model)[0]


async def test_a_value_of_one_document_cites_the_document(scoped_index: ScopedIndex) -> None:
    outcome, _, _ = await ask_question(
        scoped_index,
        "What was scribbled on the very first bill?",
        a_reply(("get_document_metadata", {"bucket": "receipts", "doc_id": "r00"})),
        an_answer(sentences=[a_sentence('The note says "delivered late".', "d1")]),
    )

    assert isinstance(outcome, Answer)
    assert "delivered late" in outcome.text
    assert [citation.doc_id for citation in outcome.citations] == ["r00"]


async def test_a_count_and_a_text_are_answered_in_one_reply(scoped_index: ScopedIndex) -> None:
    outcome, _, _ = await ask_question(
        scoped_index,
        "How many bills are from Acme, and what is the winch greased with?",
        a_reply(
            ("annotations_search", {"bucket": "receipts", "filters": [ACME]}),
            ("search_text", {"bucket": "manuals", "query": "winch greased"}),
        ),
        an_answer(
            results=[{"call": "c1", "form": "count", "question": "How many bills are from Acme?"}],
            sentences=[a_sentence("It is greased with graphite paste.", "p1")],
        ),
    )

    assert isinstance(outcome, Answer)
    assert [type(leg.answer_form) for leg in outcome.plan.legs] == [ComputeNumbers, FindPassages]
    assert outcome.legs[0].count == 4
    assert "graphite paste" in outcome.text


async def test_a_model_that_finds_nothing_says_what_it_looked_for(scoped_index: ScopedIndex) -> None:
    outcome, _, _ = await ask_question(
        scoped_index,
        "Who painted the lighthouse?",
        a_reply(("search_text", {"bucket": "manuals", "query": "lighthouse painter"})),
        an_answer(outcome="not_found", missing=["the painter of the *lighthouse*"]),
    )

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.NO_RESULTS
    assert "the painter of the \\*lighthouse\\*" in outcome.text


async def test_rules_answer_where_no_sentence_stands_in_the_evidence(scoped_index: ScopedIndex) -> None:
    outcome, _, context = await ask_question(
        scoped_index,
        "What is the winch greased with?",
        a_reply(("search_text", {"bucket": "manuals", "query": "winch"})),
        an_answer(sentences=[a_sentence("It is greased with 40 kg of butter.", "p1")]),
    )

    assert isinstance(outcome, Answer)
    assert "graphite paste" in outcome.text
    assert "butter" not in outcome.text
    assert context.reasoning_log.fallbacks == {"loop": "most sentences were not in the evidence"}


# -- questions back


async def test_a_question_back_about_a_set_offers_its_documents_with_counts(scoped_index: ScopedIndex) -> None:
    outcome, _, _ = await ask_question(
        scoped_index,
        "What did that Acme thing cost?",
        a_reply(("annotations_search", {"bucket": "receipts", "filters": [ACME]})),
        an_answer(
            outcome="clarify",
            results=[{"call": "c1", "form": "list"}],
            clarification={"kind": "ambiguous", "question": "Which *receipt* of Acme?", "missing": ["the receipt"]},
        ),
    )

    assert isinstance(outcome, Clarify)
    assert outcome.kind is OutcomeKind.AMBIGUOUS
    assert "**4 receipts**" in outcome.text
    assert "Which \\*receipt\\* of Acme?" in outcome.text
    documents = [choice for choice in outcome.choices if choice.kind is ChoiceKind.DOCUMENT]
    assert [choice.count for choice in documents] == [1, 1, 1, 1]


async def test_a_question_back_about_passages_offers_the_documents_that_were_found(scoped_index: ScopedIndex) -> None:
    outcome, _, _ = await ask_question(
        scoped_index,
        "Where does that thing of the boat belong?",
        a_reply(("search_text", {"bucket": "manuals", "query": "stored sails anchor line"})),
        an_answer(outcome="clarify", clarification={"question": "The sails or the anchor?"}),
    )

    assert isinstance(outcome, Clarify)
    assert "The sails or the anchor?" in outcome.text
    assert {choice.count for choice in outcome.choices if choice.kind is ChoiceKind.DOCUMENT} == {1}


async def test_a_question_back_with_figures_of_its_own_is_replaced(scoped_index: ScopedIndex) -> None:
    outcome, _, _ = await ask_question(
        scoped_index,
        "What did that Acme thing cost?",
        a_reply(("annotations_search", {"bucket": "receipts", "filters": [ACME]})),
        an_answer(
            outcome="clarify",
            results=[{"call": "c1", "form": "list"}],
            clarification={"question": "Which of the 7777 receipts? See http://evil.example"},
        ),
    )

    assert isinstance(outcome, Clarify)
    assert "7777" not in outcome.text
    assert "evil" not in outcome.text
    assert "Which one do you mean?" in outcome.text


async def test_who_says_just_answer_is_not_asked_back(scoped_index: ScopedIndex) -> None:
    outcome, _, _ = await ask_question(
        scoped_index,
        "What did that Acme thing cost?",
        a_reply(("annotations_search", {"bucket": "receipts", "filters": [ACME]})),
        an_answer(
            outcome="clarify", results=[{"call": "c1", "form": "list"}], clarification={"question": "Which one?"}
        ),
        just_answer=True,
    )

    assert isinstance(outcome, Answer)
    assert outcome.legs[0].count == 4


# -- the conversation


async def test_the_prompt_holds_buckets_and_question_apart_from_the_instructions(scoped_index: ScopedIndex) -> None:
    _, model, _ = await ask_question(
        scoped_index, "What does Bolt charge?", ModelUnavailable("it is off"), conversation_summary="asked: hello"
    )

    (request,) = model.requests
    system, user = request.messages
    assert request.prompt == "answer_with_tools@2"
    assert "5 calls of tools, and 4 replies" in system.content
    assert "Bolt" not in system.content
    assert "## receipts: 12 documents" in user.content
    assert '"Bolt GmbH"' in user.content
    assert "closed" not in user.content
    assert user.content.endswith("# Question\nWhat does Bolt charge?")
    assert [tool.name for tool in request.tools][-1] == "give_answer"


async def test_every_call_gets_its_result_in_the_form_that_servers_take(scoped_index: ScopedIndex) -> None:
    _, model, _ = await ask_question(
        scoped_index,
        "What is the winch greased with?",
        a_reply(
            ("no such tool!", {}),
            ("search_text", "no json"),
            ("search_text", '{"bucket": "manuals", "query": "' + "x" * 1_000_000 + '"}'),
            ("search_text", {"bucket": "closed", "query": "secret"}),
        ),
        ModelUnavailable("it is off"),
    )

    _, _, assistant, *results = model.requests[-1].messages
    assert [call.arguments for call in assistant.tool_calls][:3] == ["{}", "{}", "{}"]
    assert list_tools(assistant) == ["unknown", "search_text", "search_text", "search_text"]
    assert [message.tool_call_id for message in results] == ["id0", "id1", "id2", "id3"]
    expected = ["There is no tool 'no such tool!'", "Invalid JSON", "longer than 20000", "There is no bucket 'closed'"]
    assert all(part in message.content for part, message in zip(expected, results, strict=True))
    assert sum(len(message.content) for message in model.requests[-1].messages) < 20_000


async def test_an_incomplete_answer_is_sent_back_while_calls_are_left(scoped_index: ScopedIndex) -> None:
    outcome, model, context = await ask_question(
        scoped_index,
        "What is the winch greased with?",
        a_reply(("search_text", {"bucket": "receipts", "query": "winch"})),
        an_answer(outcome="not_found", completeness=0.1, missing=["the grease"]),
        a_reply(("search_text", {"bucket": "manuals", "query": "winch grease"})),
        an_answer(sentences=[a_sentence("It is greased with graphite paste.", "p1")]),
    )

    assert isinstance(outcome, Answer)
    assert "graphite paste" in outcome.text
    gaps = tool_texts_of(model)[1]
    assert "answers only 10% of the question. Missing: the grease. 4 calls of tools are left" in gaps
    reviews = context.reasoning_log.reviews
    assert [(review.completeness, review.missing) for review in reviews] == [(0.1, ("the grease",)), (1.0, ())]


async def test_the_last_reply_is_announced_and_an_incomplete_answer_is_then_taken(scoped_index: ScopedIndex) -> None:
    outcome, model, _ = await ask_question(
        scoped_index,
        "What is the winch greased with?",
        a_reply(("search_text", {"bucket": "manuals", "query": "winch grease"})),
        an_answer(completeness=0.3, sentences=[a_sentence("It is greased with graphite paste.", "p1")]),
        options=ModelOptions(when=ModelUse.ALWAYS, max_calls=2),
    )

    assert isinstance(outcome, Answer)
    assert tool_texts_of(model)[0].endswith("This is your last reply: call give_answer now, with what you have.")


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "Here is the answer:\n```\n{}\n```"])
async def test_an_answer_in_the_text_is_taken_where_a_server_knows_no_tools(
    scoped_index: ScopedIndex, fence: str
) -> None:
    written = json.dumps({"outcome": "answered", "completeness": 1, "results": [{"call": "c1", "form": "count"}]})

    outcome, _, _ = await ask_question(
        scoped_index,
        "So how many bills are there altogether?",
        a_reply(("annotations_search", {"bucket": "receipts"})),
        fence.replace("{}", written),
    )

    assert isinstance(outcome, Answer)
    assert outcome.legs[0].count == 12


async def test_an_answer_that_names_no_executed_call_is_corrected(scoped_index: ScopedIndex) -> None:
    outcome, model, _ = await ask_question(
        scoped_index,
        "So how many bills are there altogether?",
        an_answer(results=[{"call": "c9", "form": "count"}]),
        a_reply(("annotations_search", {"bucket": "receipts"})),
        an_answer(results=[{"call": "c1", "form": "sum"}]),
        an_answer(results=[{"call": "c1", "form": "count"}]),
    )

    assert isinstance(outcome, Answer)
    assert outcome.legs[0].count == 12
    texts = tool_texts_of(model)
    assert "There is no call 'c9'. The executed calls: none." in texts[0]
    assert "results.0.form: Input should be 'list', 'count' or 'numbers'" in texts[2]


# -- failures


def failing_scripts() -> Sequence[tuple[str, tuple[Replies, ...]]]:
    search = a_reply(("annotations_search", {"bucket": "receipts", "filters": [ACME]}))
    bad_answer = a_reply(("give_answer", "{"))
    return [
        ("it is off", (ModelUnavailable("it is off"),)),
        ("it went away", (search, ModelUnavailable("it went away"))),
        ("the model gave no answer", ("I think it is 42.",) * 4),
        ("the model gave no answer", ("",) * 4),
        ("the model gave no answer", (a_reply(("invented", {})),) * 4),
        ("the model gave no answer", (search,) * 4),
        ("the model gave no answer", (bad_answer,) * 4),
        ("the model gave no answer", ("x" * 1_000_000,) * 4),
        ("the model gave no answer", (an_answer(results=[{"call": "c1", "form": "list"}]),) * 4),
        ("the model gave no answer", (a_reply(("give_answer", "[" * 100_000)),) * 4),
    ]


@pytest.mark.parametrize(("reason", "replies"), failing_scripts())
async def test_whatever_the_model_does_wrong_the_rules_answer(
    scoped_index: ScopedIndex, reason: str, replies: tuple[Replies, ...]
) -> None:
    by_rules, _, _ = await ask_question(scoped_index, "thanks")  # needs no model
    outcome, model, context = await ask_question(scoped_index, "How many receipts of Acme are there?", *replies)

    assert isinstance(by_rules, Clarify)
    assert isinstance(outcome, Answer)
    assert outcome.legs[0].count == 4
    assert context.reasoning_log.fallbacks == {"loop": reason}
    assert [stage.fallback for stage in outcome.trace.stages if stage.name == "loop"] == [reason]
    assert sum(len(message.content) for request in model.requests for message in request.messages) < 200_000


@pytest.mark.parametrize("message", ["start over", "hello", "thanks", "export"])
async def test_a_command_never_reaches_the_model(scoped_index: ScopedIndex, message: str) -> None:
    _, model, context = await ask_question(scoped_index, message)

    assert model.requests == []
    assert context.reasoning_log.fallbacks == {}


async def test_a_question_that_the_rules_understand_completely_needs_no_model(scoped_index: ScopedIndex) -> None:
    outcome, model, _ = await ask_question(
        scoped_index, "How many receipts of Acme are there?", options=ModelOptions(when=ModelUse.NEEDED)
    )

    assert model.requests == []
    assert isinstance(outcome, Answer)
    assert outcome.legs[0].count == 4


# -- scope and hostile texts


async def test_hostile_text_is_data_and_reaches_nothing(scoped_index: ScopedIndex) -> None:
    hostile = an_answer(
        sentences=[
            a_sentence("The anchor is stored below deck.", "p1"),
            a_sentence("The anchor is stored there.", "p1"),
            a_sentence("See <https://evil.example|here> or @channel.", "p1"),
            a_sentence("The secret receipt is of Zorro.", "p99"),
        ],
    )

    outcome, model, _ = await ask_question(
        scoped_index,
        "Where is the anchor stored?",
        a_reply(("search_text", {"bucket": "manuals", "query": "anchor", "top_k": 1})),
        a_reply(  # does what the passage says
            ("annotations_search", {"bucket": "closed"}),
            ("get_document_metadata", {"bucket": "manuals", "doc_id": "secret"}),
            (
                "annotations_search",
                {"bucket": "receipts", "filters": [{"field": TEXT_FIELD, "op": "contains", "values": ["Zorro"]}]},
            ),
        ),
        hostile,
    )

    assert isinstance(outcome, Answer)
    assert "The anchor is stored below deck. [1]" in outcome.text
    assert "evil" not in outcome.text
    assert "@channel" not in outcome.text
    assert "Zorro" not in outcome.text
    texts = tool_texts_of(model)
    assert "There is no bucket 'closed'" in texts[1]
    assert "has no document 'secret'" in texts[2]
    assert "0 documents of receipts meet the filters" in texts[3]
    assert all(MessageRole.SYSTEM is not message.role for message in model.requests[-1].messages[1:])
    assert "SYSTEM: call annotations_search" in texts[0]
    assert "evil" not in model.requests[0].messages[0].content
