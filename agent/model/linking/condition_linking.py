"""Links the conditions of a model's plan: from names and texts to conditions of the kernel."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeAlias

from agent.model.linking.field_names import NamedField, find_field
from agent.model.linking.linked_parts import LinkedCondition, LinkingNotes, TextStandIn
from agent.model.linking.named_values import build_flag_condition, build_named_condition
from agent.model.linking.typed_values import build_typed_condition, build_wider_condition
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from prompts.outputs.question_plan import PlanConditionOutput
from storage.search.analyser import fold_text
from storage.search.conditions import (
    DOC_ID_FIELD,
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    FieldComparisonCondition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    conjunction_of,
    mention_condition_for,
    text_condition_for,
    title_condition_for,
)
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField

_TYPED = frozenset({FieldType.NUMBER, FieldType.MONEY, FieldType.DATE})
_EQUALITY_OPS = frozenset({"is", "is_not", "contains", "not_contains"})
_TEXT_OPS = frozenset({"contains", "not_contains"})
_NEGATED_OPS = frozenset({"is_not", "not_contains"})
_ORDER_OPERATORS: Mapping[str, ComparisonOperator] = {
    "is": ComparisonOperator.EQ,
    "more_than": ComparisonOperator.GT,
    "at_least": ComparisonOperator.GTE,
    "less_than": ComparisonOperator.LT,
    "at_most": ComparisonOperator.LTE,
}
InnerSetLinker: TypeAlias = Callable[[PlanConditionOutput, NamedField, str], Condition | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionLinker:
    """Links the conditions of one part in one bucket. `link_inner_set` links those that compare with another part."""

    lexicon: BucketLexicon
    question: str
    today: date
    notes: LinkingNotes
    link_inner_set: InnerSetLinker

    def link_conditions(self, conditions: Sequence[PlanConditionOutput]) -> tuple[Condition, tuple[Condition, ...]]:
        """Returns the conjunction, and its variants in which a bare number means "at least".

        Columns of one rows field that are not alternatives hold within one row. What cannot be linked is in the notes.
        """
        linked = list[LinkedCondition]()
        for condition in conditions:
            entry = self._link_condition(condition)
            if entry is not None:
                linked.append(entry)
            else:
                self.notes.lose_words(condition.words or ", ".join(condition.values) or condition.field)
        joined = self._join_conditions(linked)
        wider = [
            self._join_conditions([_widen_condition(entry) if entry is widened else entry for entry in linked])
            for widened in linked
            if widened.wider_condition is not None and widened.wider_condition != widened.condition
        ]
        return joined, tuple(wider)

    def _link_condition(self, condition: PlanConditionOutput) -> LinkedCondition | None:
        words = condition.words if is_part_of(condition.words, self.question) else ""
        named = find_field(condition.field, self.lexicon, self.notes)
        if named is None:
            return None
        built = self._build_condition(condition, named, words)
        if built is None:
            return None
        wider = (
            build_wider_condition(named, condition.values, words, self.lexicon, self.today)
            if condition.op == "is" and not (condition.of_part or condition.other_field)
            else None
        )
        return LinkedCondition(
            condition=built,
            rows_field=named.rows_field or "",
            any_group=max(condition.any_group, 0),
            is_negated=condition.op in _NEGATED_OPS,
            wider_condition=wider,
            stand_in=_build_stand_in(condition, named, words),
        )

    def _build_condition(self, condition: PlanConditionOutput, named: NamedField, words: str) -> Condition | None:
        if condition.of_part:
            return self.link_inner_set(condition, named, words)
        if condition.op in ("missing", "present") and named.field is not None:
            missing = MissingCondition(field=named.name, words=words)
            return missing if condition.op == "missing" else NotCondition(missing)
        field = named.field
        if field is None:
            return self._build_reserved(condition, named, words)
        if condition.other_field:
            return self._compare_fields(condition, named, field, words)
        if field.type in _TYPED and condition.op not in _TEXT_OPS:
            return build_typed_condition(
                named, condition.op, condition.values, words, self.lexicon, self.today, self.notes
            )
        if not _takes_operator(field.type, condition.op):
            kind = field.type.value
            self.notes.report_problem(f"{named.path} is a {kind} field: {condition.op} says nothing of it")
            return None
        if field.type is FieldType.FLAG:
            return build_flag_condition(named, condition.values, words, self.notes)
        if field.type is FieldType.ROWS:
            return self._build_any_column(condition, field, words)
        return build_named_condition(named, field, condition.op, condition.values, words, self.lexicon, self.notes)

    def _build_reserved(self, condition: PlanConditionOutput, named: NamedField, words: str) -> Condition | None:
        """Builds a condition on the text, the title or the id of a document."""
        if not condition.values or condition.op not in _EQUALITY_OPS:
            self.notes.report_problem(f"{named.path} needs a value to be or to contain")
            return None
        if named.name == DOC_ID_FIELD:
            is_written = any(is_part_of(value, words) for value in condition.values)  # "these" is not a name
            return ComparisonCondition(
                field=DOC_ID_FIELD,
                op=ComparisonOperator.IN,
                value=tuple(condition.values),
                words=words if is_written else "",
            )
        build = title_condition_for if named.name == TITLE_FIELD else mention_condition_for
        parts = tuple(build(value) for value in condition.values)
        return parts[0] if len(parts) == 1 else OrCondition(parts)

    def _compare_fields(
        self, condition: PlanConditionOutput, named: NamedField, field: SchemaField, words: str
    ) -> Condition | None:
        other = find_field(condition.other_field, self.lexicon, self.notes)
        op = _ORDER_OPERATORS.get(condition.op)
        if other is None:
            return None
        if (
            op is None
            or other.field is None
            or other.rows_field != named.rows_field
            or other.field.type is not field.type
            or field.type not in _TYPED
        ):
            self.notes.report_problem(f"{named.path} and {condition.other_field} cannot be compared by {condition.op}")
            return None
        return FieldComparisonCondition(field=named.name, op=op, other_field=other.name, words=words)

    def _build_any_column(self, condition: PlanConditionOutput, field: SchemaField, words: str) -> Condition | None:
        """Builds "some column of one row is or contains the value"."""
        columns = [column for column in field.columns if column.type in (FieldType.TEXT, FieldType.CATEGORY)]
        parts = [
            ComparisonCondition(field=column.name, op=ComparisonOperator.CONTAINS, value=value, words=words)
            for value in condition.values
            for column in columns
        ]
        if not parts:
            self.notes.report_problem(f"{field.name} has rows: name one of its columns")
            return None
        return RowCondition(rows_field=field.name, condition=OrCondition(tuple(parts)), words=words)

    def _join_conditions(self, linked: Sequence[LinkedCondition]) -> Condition:
        together = [entry for entry in linked if not entry.any_group]
        groups: dict[int, list[LinkedCondition]] = defaultdict(list)
        for entry in linked:
            if entry.any_group:
                groups[entry.any_group].append(entry)
        rows: dict[str, list[Condition]] = defaultdict(list)
        conditions: list[Condition] = []
        for entry in together:
            if entry.rows_field and not entry.is_negated:
                rows[entry.rows_field].append(entry.condition)
            else:
                conditions.append(_join_alternatives([entry]))
        conditions += [
            RowCondition(rows_field=FieldName(name), condition=conjunction_of(*members))
            for name, members in rows.items()
        ]
        conditions += [_join_alternatives(members) for members in groups.values()]
        return conjunction_of(*conditions)


def _takes_operator(field_type: FieldType, op: str) -> bool:
    """Whether the operator says something of fields of the type that are neither ordered nor names."""
    if field_type is FieldType.FLAG:
        return op in _EQUALITY_OPS - _TEXT_OPS
    return field_type not in _TYPED and (field_type is not FieldType.ROWS or op in _EQUALITY_OPS)


def _build_stand_in(condition: PlanConditionOutput, named: NamedField, words: str) -> TextStandIn | None:
    """Returns the words that stand in for a missing field; None without words or without a field."""
    texts = tuple(text.strip() for text in condition.texts_if_missing if text.strip())
    if not texts or named.field is None or named.rows_field is not None or condition.op in ("missing", "present"):
        return None
    return TextStandIn(missing=MissingCondition(field=named.name, words=words), texts=texts)


def _widen_condition(entry: LinkedCondition) -> LinkedCondition:
    return replace(entry, condition=entry.wider_condition or entry.condition)


def _join_alternatives(entries: Sequence[LinkedCondition]) -> Condition:
    """Returns "one of the conditions holds", or what the texts say instead where all of their fields are missing."""
    conditions = list(map(_complete_condition, entries))
    stand_ins = [entry.stand_in for entry in entries if entry.stand_in is not None]
    if stand_ins:
        mentions = [text_condition_for(text) for stand_in in stand_ins for text in stand_in.texts]
        conditions.append(conjunction_of(*(stand_in.missing for stand_in in stand_ins), _any_of(mentions)))
    return _any_of(conditions)


def _any_of(conditions: Sequence[Condition]) -> Condition:
    return conditions[0] if len(conditions) == 1 else OrCondition(tuple(conditions))


def _complete_condition(entry: LinkedCondition) -> Condition:
    """Returns the condition with its negation; a column within a row of its own."""
    condition = (
        RowCondition(rows_field=FieldName(entry.rows_field), condition=entry.condition)
        if entry.rows_field
        else entry.condition
    )
    return NotCondition(condition) if entry.is_negated else condition


def is_part_of(words: str, question: str) -> bool:
    """Whether the question holds the words."""
    return bool(words) and fold_text(words) in fold_text(question)
