"""Questions that bring no documents: what the rule reasoner makes of them, by the stages that `ask` goes through.

- `constraint_extraction`: the question is read against a table that holds what the conditions of its questions name.
  `right`: function, column and conditions; the column of a count is not judged, since Parley counts documents.
- `decompose`: the message is split as any other. `right`: into as many questions as there are steps.

Whether Parley asks back follows from counts over documents, so that `clarify` has nothing to be judged by.
"""

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any as Json
from typing import Final

from agent.reasoner import Material, Planned
from agent.rules.reasoner import RuleReasoner
from agent.rules.split import questions_of
from bot.eval.filters import same
from bot.eval.load import Question
from bot.eval.report import Column, Judged
from bot.eval.score import Score, likeness
from bot.result import flat
from storage.analysis import analyser_for
from storage.search.conditions import RESERVED
from storage.search.ids import BucketId, FieldName, Generation
from storage.search.index import FieldVocabulary, ValueCount, Vocabulary
from storage.search.plan import Compute, Leg, ReadFields
from storage.search.schema import Field, FieldType, Schema

_COLUMN: Final = "read"
_TABLE: Final = BucketId("table")
_FUNCTIONS: Final = {"average": "avg", "minimum": "min", "maximum": "max"}  # the others have the same name
_MEASURED: Final = ("sum", "avg", "min", "max")  # of numbers
_NO_NAME, _LONGEST = re.compile(r"\W+"), 60
_NOW: Final = datetime(2020, 1, 1, tzinfo=UTC)  # no question here speaks of today


def read_column(sets: Mapping[str, Sequence[Question]]) -> Column:
    """All of them judged, as a column of its own."""
    judged = [one for name, questions in sets.items() for one in _judged(name, questions)]
    return Column(name=_COLUMN, judged=tuple(judged))


def _judged(name: str, questions: Sequence[Question]) -> Iterator[Judged]:
    tables: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        tables[question.table_id or question.query_id].append(question)
    made = {table: _Table.of(members) for table, members in tables.items()}
    for question in questions:
        started = time.process_time()
        if question.kind == "decompose":
            score, result = _split(question)
        else:
            score, result = _extracted(question, made[question.table_id or question.query_id])
        cpu_ms = (time.process_time() - started) * 1000
        yield Judged(set=name, question=question, result=_EMPTY | result, score=score, cpu_ms=cpu_ms)


_EMPTY: Final[dict[str, Json]] = {
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
}


# -- splitting


def _split(question: Question) -> tuple[Score, dict[str, Json]]:
    steps, parts = question.gold.steps, questions_of(question.query)
    measures = {"right": float(len(parts) == len(steps)), "steps": likeness(steps, parts)}
    score = Score(right=measures["right"], expected=_many(len(steps)), got=_many(len(parts)), measures=measures)
    return score, {"text": " | ".join(parts)}


def _many(parts: int) -> str:
    return "1 question" if parts == 1 else f"{parts} questions"


# -- conditions


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A table as far as its questions tell of it: the columns by their fields, and the values that conditions name."""

    columns: Mapping[str, Field]
    material: Material
    reasoner: RuleReasoner

    @classmethod
    def of(cls, questions: Sequence[Question]) -> "_Table":
        values: dict[str, list[str]] = defaultdict(list)
        for one in _conditions(questions):
            values[str(one["field"])].append(str(one["value"]))
        measured = {one.gold.select for one in questions if one.gold.aggregate in _MEASURED}
        names = dict.fromkeys([*(name for one in questions for name in one.fields), *values])
        columns: dict[str, Field] = {}
        for name in names:
            columns[name] = _field(name, values[name], name in measured, {one.name for one in columns.values()})
        schema = Schema(bucket=_TABLE, fields=tuple(columns.values()))
        vocabulary = Vocabulary(
            generation=Generation("1"),
            fields=tuple(_held(field, values[name], len(questions)) for name, field in columns.items() if values[name]),
            documents={_TABLE: len(questions)},
        )
        material = Material(
            schemas={_TABLE: schema},
            vocabulary=vocabulary,
            analysers={_TABLE: analyser_for("en")},
            now=_NOW,
            locale="en",
            last=None,
        )
        return cls(columns=columns, material=material, reasoner=RuleReasoner())

    def gold_filter(self, question: Question) -> dict[str, Json]:
        """With the names and types of the fields."""
        return {"all": [self._typed(one) for one in _conditions([question])]}

    def _typed(self, condition: Mapping[str, Json]) -> dict[str, Json]:
        field, value = self.columns[str(condition["field"])], str(condition["value"])
        number = _number(value) if field.type is FieldType.NUMBER else None
        return {"field": field.name, "op": condition["op"], "value": value if number is None else float(number)}


def _conditions(questions: Iterable[Question]) -> Iterator[Mapping[str, Json]]:
    for one in questions:
        yield from (one.gold.filter or {}).get("all", [])


def _field(column: str, values: Sequence[str], is_measured: bool, taken: Set[FieldName]) -> Field:
    name = written = _NO_NAME.sub("_", column).strip("_").lower()[:_LONGEST] or "column"
    while name in taken or name in RESERVED:
        name += "_column"
    is_number = all(_number(one) is not None for one in values) if values else is_measured
    return Field(
        name=FieldName(name),
        title=written.replace("_", " "),
        type=FieldType.NUMBER if is_number else FieldType.CATEGORY,
    )


def _held(field: Field, values: Sequence[str], documents: int) -> FieldVocabulary:
    if field.type is FieldType.NUMBER:
        numbers = [float(number) for one in values if (number := _number(one)) is not None]
        low, high = min(numbers), max(numbers)
        return FieldVocabulary(bucket=_TABLE, field=field.name, documents=documents, low=low, high=high)
    counted = tuple(ValueCount(value=one, count=1) for one in sorted(set(values)))
    return FieldVocabulary(bucket=_TABLE, field=field.name, documents=documents, values=counted)


def _number(written: str) -> Decimal | None:
    try:
        number = Decimal(written.replace(",", "").strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _extracted(question: Question, table: _Table) -> tuple[Score, dict[str, Json]]:
    decomposed = table.reasoner.decompose(question.query, table.material)
    leg = decomposed.plan.legs[0] if isinstance(decomposed, Planned) else None
    clause = None if leg is None else leg.search.clause(_TABLE)
    filters = [] if clause is None else flat(clause.everything)
    wanted, got = question.gold.aggregate, _function(leg)
    measures = {
        "function": float(leg is not None and got == wanted),
        "conditions": float(clause is not None and same(table.gold_filter(question), filters)),
    }
    if wanted != "count" and question.gold.select is not None:
        column = table.columns.get(question.gold.select)
        measures["column"] = float(column is not None and column.name in _fields(leg))
    right = float(all(measures.values()))
    score = Score(right=right, expected=wanted or "value", got=got or "value", measures={"right": right, **measures})
    return score, {"filters": filters}


def _function(leg: Leg | None) -> str | None:
    """In the words of the gold; the first, where several are computed. None: a value is looked up."""
    if leg is None or not isinstance(leg.wanted, Compute):
        return None
    name = leg.wanted.functions[0].value
    return _FUNCTIONS.get(name, name)


def _fields(leg: Leg | None) -> Sequence[FieldName]:
    """What is read or computed."""
    match leg.wanted if leg is not None else None:
        case Compute(field=field) if field is not None:
            return [field]
        case ReadFields(fields=fields):
            return [name for _, name in fields]
        case _:
            return []
