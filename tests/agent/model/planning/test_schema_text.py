"""What a model is told of the buckets fits its budget, however many there are."""

from datetime import UTC, datetime

from agent.decomposition import QuestionContext
from agent.model.options import ModelOptions
from agent.model.planning.question_planner import PLANNER_TOKENS, QuestionPlanner
from agent.model.planning.schema_text import describe_bucket_names, describe_buckets
from agent.rules.lexicon.bucket_lexicon import BucketLexicon, build_lexicons
from agent.token_counts import estimate_tokens
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, IndexVocabulary, ValueCount
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for
from tests.agent.model.plan_outputs import a_part, a_plan_output
from tests.agent.model.scripted_model import ScriptedModel

TYPES = (FieldType.CATEGORY, FieldType.DATE, FieldType.MONEY, FieldType.NUMBER, FieldType.TEXT)


def a_wide_bucket(number: int, field_count: int) -> Schema:
    return Schema(
        bucket=BucketId(f"bucket_{number:02}"),
        title=f"Kind {number} of documents",
        description="Documents that the company keeps about one of the many things that it does every day.",
        fields=tuple(
            SchemaField(
                name=FieldName(f"field_{index:02}"),
                type=TYPES[index % len(TYPES)],
                title=f"Name of field {index}",
                description="What the field says about the document, in the words of those who filled it in.",
                synonyms=("another name", "question about it"),
            )
            for index in range(field_count)
        ),
    )


def a_context(bucket_count: int, field_count: int) -> QuestionContext:
    schemas = {schema.bucket: schema for schema in (a_wide_bucket(n, field_count) for n in range(bucket_count))}
    vocabulary = IndexVocabulary(
        generation=Generation("1"),
        document_counts=dict.fromkeys(schemas, 5000),
        fields=tuple(
            FieldVocabulary(
                bucket=bucket,
                field=field.name,
                document_count=4000,
                values=tuple(ValueCount(value=f"value {n} of {field.name}", count=100) for n in range(40))
                if field.type in (FieldType.CATEGORY, FieldType.TEXT)
                else (),
            )
            for bucket, schema in schemas.items()
            for field in schema.fields
        ),
    )
    return QuestionContext(
        schemas=schemas,
        vocabulary=vocabulary,
        analysers={bucket: analyser_for("en") for bucket in schemas},
        now=datetime(2031, 6, 2, tzinfo=UTC),
        locale="en",
        last_plan=None,
        conversation_summary="asked: something that was asked before, in as many words as people use; answer, 12\n"
        * 12,
    )


def lexicons_of(context: QuestionContext) -> dict[BucketId, BucketLexicon]:
    return dict(build_lexicons(context.schemas, context.vocabulary, context.analysers))


QUESTION = "Which documents have value 3 of field_05 and a name of field 7 over 300, since last month? " * 3


def test_forty_buckets_of_thirty_fields_need_a_router() -> None:
    context = a_context(40, 30)

    assert (
        QuestionPlanner(ScriptedModel(), ModelOptions()).render_plan_prompt(QUESTION, context, lexicons_of(context))
        is None
    )


async def test_the_prompt_of_the_planner_fits_after_the_router() -> None:
    context = a_context(40, 30)
    chosen = ["bucket_07", "bucket_31", "bucket_12"]
    route = {
        "reasoning": "", "language": "en", "buckets": chosen, "answer_from": "fields", "is_complex": False,
        "search_query": "",
    }  # fmt: skip
    model = ScriptedModel(route, a_plan_output(a_part("list", "bucket_07")).model_dump(mode="json"))

    await QuestionPlanner(model, ModelOptions()).plan_question(QUESTION, context, lexicons_of(context), ())

    asked_route, plan = model.requests
    assert asked_route.prompt.startswith("route_question@")
    assert plan.prompt.startswith("plan_question@")
    assert sum(estimate_tokens(message.content) for message in plan.messages) <= PLANNER_TOKENS
    assert all(f"## {bucket}:" in plan.messages[-1].content for bucket in chosen)
    assert "bucket_08" not in plan.messages[-1].content


def test_a_small_home_is_described_with_its_values() -> None:
    context = a_context(2, 3)

    text = describe_buckets(lexicons_of(context), context.vocabulary, "another field", 3000)

    assert text is not None
    assert '- field_00: category; 40 values, such as "value 0 of field_00"' in text
    assert "also called Name of field 0, another name" in text
    assert "1000 documents lack it" in text


def test_too_small_a_budget_describes_nothing() -> None:
    context = a_context(3, 10)

    assert describe_buckets(lexicons_of(context), context.vocabulary, "", 50) is None
    assert estimate_tokens(describe_bucket_names(lexicons_of(context), 150)) <= 150


async def test_the_prompt_of_the_planner_fits_for_a_question_of_many_words() -> None:
    context = a_context(40, 30)
    long_question = "Which documents have value 3 of field_05, and what of the others? " * 60
    route = {
        "reasoning": "", "language": "en", "buckets": ["bucket_07"], "answer_from": "fields", "is_complex": False,
        "search_query": "",
    }  # fmt: skip
    model = ScriptedModel(route, a_plan_output(a_part("list", "bucket_07")).model_dump(mode="json"))

    await QuestionPlanner(model, ModelOptions()).plan_question(long_question, context, lexicons_of(context), ())

    assert sum(estimate_tokens(message.content) for message in model.requests[1].messages) <= PLANNER_TOKENS
