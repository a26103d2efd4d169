"""Scores questions without documents by what the rule reasoner reads from them, with the same stages as `ask`.

- `constraint_extraction`: the question is read against a table with the values in the gold conditions of its questions.
  `right`: function, column and conditions. The column of a count is not scored, because Parley counts documents.
- `decompose`: the message is split like any other. `right`: the number of questions equals the number of steps.

Questions of the kind `clarify` cannot be scored: whether Parley asks back depends on counts over documents.
"""

import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any as Json
from typing import Final

from agent.compose.phrases.nouns import format_count, label_noun_of
from agent.decomposition import PlannedQuestion, QuestionContext
from agent.outcome import ModelUsage
from agent.rules.reasoner import RuleReasoner
from agent.rules.words.question_splitting import split_questions
from bot.conversation.json_result import flatten_condition
from bot.conversation.reasoning_record import usage_fields_of
from bot.eval.eval_sets import EvalQuestion
from bot.eval.filter_comparison import is_same_filter
from bot.eval.report import JudgedQuestion, ReportColumn
from bot.eval.score import QuestionScore, mean_best_overlap
from storage.search.conditions import RESERVED_FIELDS
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, IndexVocabulary, ValueCount
from storage.search.plan import Leg
from storage.search.schema import FieldType, Schema, SchemaField
from storage.text.snowball_analyser import analyser_for

_COLUMN_NAME: Final = "read"
_TABLE_BUCKET: Final = BucketId("table")
_GOLD_FUNCTION_NAMES: Final = {
    "average": "avg",
    "minimum": "min",
    "maximum": "max",
}  # other functions have the same name
_NUMERIC_FUNCTIONS: Final = ("sum", "avg", "min", "max")
_NON_WORD, _MAX_NAME_CHARACTERS = re.compile(r"\W+"), 60
_FIXED_NOW: Final = datetime(2020, 1, 1, tzinfo=UTC)  # no question here depends on the current day


async def build_reading_column(sets: Mapping[str, Sequence[EvalQuestion]]) -> ReportColumn:
    """Score all questions and return them as one column of the report."""
    judged_questions = [
        judged_question
        for name, questions in sets.items()
        async for judged_question in _judge_questions(name, questions)
    ]
    return ReportColumn(name=_COLUMN_NAME, judged_questions=tuple(judged_questions))


async def _judge_questions(name: str, questions: Sequence[EvalQuestion]) -> AsyncIterator[JudgedQuestion]:
    questions_by_table: dict[str, list[EvalQuestion]] = defaultdict(list)
    for question in questions:
        questions_by_table[question.table_id or question.query_id].append(question)
    table_by_id = {
        table_id: _QuestionTable.from_questions(table_questions)
        for table_id, table_questions in questions_by_table.items()
    }
    for question in questions:
        started = time.process_time()
        if question.kind == "decompose":
            score, result = _judge_split(question)
        else:
            score, result = await _judge_extraction(question, table_by_id[question.table_id or question.query_id])
        cpu_ms = (time.process_time() - started) * 1000
        yield JudgedQuestion(
            set_name=name, question=question, result=_EMPTY_RESULT | result, score=score, cpu_ms=cpu_ms
        )


_EMPTY_RESULT: Final[dict[str, Json]] = {
    "text": "",
    "count": None,
    "values": [],
    "doc_ids": [],
    "citations": [],
    "hits": [],
    "filters": [],
    "legs": [],
    "assumptions": [],
    "route": None,
    "stages": [],
    **usage_fields_of("rule", ModelUsage()),
}


# -- splitting


def _judge_split(question: EvalQuestion) -> tuple[QuestionScore, dict[str, Json]]:
    steps, split_parts = question.gold.steps, split_questions(question.query)
    measures = {"right": float(len(split_parts) == len(steps)), "steps": mean_best_overlap(steps, split_parts)}
    score = QuestionScore(
        right=measures["right"],
        expected=format_count(len(steps), label_noun_of("question")),
        actual=format_count(len(split_parts), label_noun_of("question")),
        measures=measures,
    )
    return score, {"text": " | ".join(split_parts)}


# -- conditions


@dataclass(frozen=True, slots=True, kw_only=True)
class _QuestionTable:
    """A table, built from its questions: a field for each column, and the values in the gold conditions."""

    fields_by_column: Mapping[str, SchemaField]
    question_context: QuestionContext
    reasoner: RuleReasoner

    @classmethod
    def from_questions(cls, questions: Sequence[EvalQuestion]) -> "_QuestionTable":
        values: dict[str, list[str]] = defaultdict(list)
        for condition in _gold_conditions_of(questions):
            values[str(condition["field"])].append(str(condition["value"]))
        numeric_columns = {
            question.gold.select for question in questions if question.gold.aggregate in _NUMERIC_FUNCTIONS
        }
        names = dict.fromkeys([*(name for question in questions for name in question.fields), *values])
        columns: dict[str, SchemaField] = {}
        for name in names:
            columns[name] = _field_for_column(
                name, values[name], name in numeric_columns, {field.name for field in columns.values()}
            )
        schema = Schema(bucket=_TABLE_BUCKET, fields=tuple(columns.values()))
        vocabulary = IndexVocabulary(
            generation=Generation("1"),
            fields=tuple(
                _field_vocabulary_of(field, values[name], len(questions))
                for name, field in columns.items()
                if values[name]
            ),
            document_counts={_TABLE_BUCKET: len(questions)},
        )
        question_context = QuestionContext(
            schemas={_TABLE_BUCKET: schema},
            vocabulary=vocabulary,
            analysers={_TABLE_BUCKET: analyser_for("en")},
            now=_FIXED_NOW,
            locale="en",
            last_plan=None,
        )
        return cls(fields_by_column=columns, question_context=question_context, reasoner=RuleReasoner())

    def gold_filter_for(self, question: EvalQuestion) -> dict[str, Json]:
        """The gold conditions with the names and types of the table's fields."""
        return {"all": [self._typed_condition(condition) for condition in _gold_conditions_of([question])]}

    def _typed_condition(self, condition: Mapping[str, Json]) -> dict[str, Json]:
        field, value = self.fields_by_column[str(condition["field"])], str(condition["value"])
        number = _parse_number(value) if field.type is FieldType.NUMBER else None
        return {"field": field.name, "op": condition["op"], "value": value if number is None else float(number)}


def _gold_conditions_of(questions: Iterable[EvalQuestion]) -> Iterator[Mapping[str, Json]]:
    for question in questions:
        yield from (question.gold.filter or {}).get("all", [])


def _field_for_column(
    column: str, values: Sequence[str], is_measured: bool, taken_names: Set[FieldName]
) -> SchemaField:
    name = base_name = _NON_WORD.sub("_", column).strip("_").lower()[:_MAX_NAME_CHARACTERS] or "column"
    while name in taken_names or name in RESERVED_FIELDS:
        name += "_column"
    is_number = all(_parse_number(value) is not None for value in values) if values else is_measured
    return SchemaField(
        name=FieldName(name),
        title=base_name.replace("_", " "),
        type=FieldType.NUMBER if is_number else FieldType.CATEGORY,
    )


def _field_vocabulary_of(field: SchemaField, values: Sequence[str], documents: int) -> FieldVocabulary:
    if field.type is FieldType.NUMBER:
        numbers = [float(number) for value in values if (number := _parse_number(value)) is not None]
        low, high = min(numbers), max(numbers)
        return FieldVocabulary(bucket=_TABLE_BUCKET, field=field.name, document_count=documents, low=low, high=high)
    value_counts = tuple(ValueCount(value=value, count=1) for value in sorted(set(values)))
    return FieldVocabulary(bucket=_TABLE_BUCKET, field=field.name, document_count=documents, values=value_counts)


def _parse_number(text: str) -> Decimal | None:
    try:
        number = Decimal(text.replace(",", "").strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


async def _judge_extraction(question: EvalQuestion, table: _QuestionTable) -> tuple[QuestionScore, dict[str, Json]]:
    decomposed = await table.reasoner.decompose_question(question.query, table.question_context)
    leg = decomposed.plan.legs[0] if isinstance(decomposed, PlannedQuestion) else None
    clause = None if leg is None else leg.search.clause_for(_TABLE_BUCKET)
    filters = [] if clause is None else flatten_condition(clause.display_condition)
    expected_function, actual_function = question.gold.aggregate, _function_of_leg(leg)
    measures = {
        "function": float(leg is not None and actual_function == expected_function),
        "conditions": float(clause is not None and is_same_filter(table.gold_filter_for(question), filters)),
    }
    if expected_function != "count" and question.gold.select is not None:
        column = table.fields_by_column.get(question.gold.select)
        measures["column"] = float(column is not None and column.name in _fields_of_leg(leg))
    right = float(all(measures.values()))
    score = QuestionScore(
        right=right,
        expected=expected_function or "value",
        actual=actual_function or "value",
        measures={"right": right, **measures},
    )
    return score, {"filters": filters}


def _function_of_leg(leg: Leg | None) -> str | None:
    """In the words of the gold; the first, where several are computed. None: a value is looked up."""
    if leg is None or not leg.answer_form.computed_functions:
        return None
    name = leg.answer_form.computed_functions[0].value
    return _GOLD_FUNCTION_NAMES.get(name, name)


def _fields_of_leg(leg: Leg | None) -> Sequence[FieldName]:
    """What is read or computed."""
    if leg is None:
        return []
    if leg.answer_form.computed_field is not None:
        return [leg.answer_form.computed_field]
    return [name for _, name in leg.answer_form.requested_fields]
