"""Links the set of a part of a model's plan: its clause in each bucket, and the parts that it compares with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from agent.decomposition import PassedValues
from agent.model.linking.condition_linking import ConditionLinker
from agent.model.linking.field_names import NamedField, find_field
from agent.model.linking.linked_parts import LinkingNotes, list_names
from agent.model.planning.answer_forms import FormLinker
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from prompts.outputs.question_plan import PlanConditionOutput, PlanPartOutput
from storage.search.conditions import (
    DOC_ID_FIELD,
    ORDER_OPERATORS,
    TEXT_FIELD,
    ComparisonOperator,
    Condition,
    SemiJoinCondition,
)
from storage.search.errors import InvalidCondition
from storage.search.evaluation.row_selection import row_condition_of
from storage.search.ids import BucketId, LegId
from storage.search.plan import Clause, ComputeNumbers, Leg, Search
from storage.search.schema import FieldType

_INNER_OPERATORS: Mapping[str, ComparisonOperator] = {
    "is": ComparisonOperator.EQ,
    "is_not": ComparisonOperator.EQ,
    "more_than": ComparisonOperator.GT,
    "at_least": ComparisonOperator.GTE,
    "less_than": ComparisonOperator.LT,
    "at_most": ComparisonOperator.LTE,
}
_EQUALITY_OPS = frozenset({"is", "is_not"})
_NAMES = frozenset({FieldType.TEXT, FieldType.CATEGORY, FieldType.LIST})
_AMOUNTS = frozenset({FieldType.NUMBER, FieldType.MONEY})
_MAX_INNER_DEPTH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedSet:
    """The set of a part in one bucket. `wider_conditions`: its condition with a bare number as "at least"."""

    clause: Clause
    wider_conditions: tuple[Condition, ...] = ()
    passed: tuple[PassedValues, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLinker:
    """Links the sets of one plan, whose parts are `parts`. What cannot be linked is in the notes."""

    question: str
    lexicons: Mapping[BucketId, BucketLexicon]
    today: date
    parts: Mapping[str, PlanPartOutput]

    def link_sets(self, part: PlanPartOutput, notes: LinkingNotes, leg: LegId | None = None) -> list[LinkedSet]:
        """Returns the set of the part in each of its buckets: in those that can express all of its conditions.

        `leg`: the leg that the set is of; to other sets no values are passed.
        """
        buckets = [BucketId(name) for name in dict.fromkeys(part.buckets) if name in self.lexicons]
        unknown = [name for name in part.buckets if name not in self.lexicons]
        if unknown or not buckets:
            notes.report_problem(
                f"part {part.id}: there is no bucket {list_names(unknown) or 'named'}; "
                f"the buckets are {list_names(sorted(self.lexicons), 40)}"
            )
        linked = list[tuple[LinkedSet, LinkingNotes]]()
        for bucket in buckets:
            own_notes = LinkingNotes()
            linked.append((self._link_set(part, bucket, own_notes, leg, depth=0), own_notes))
        fitting = [(linked_set, own_notes) for linked_set, own_notes in linked if not own_notes.unlinked_words]
        taken = fitting or linked[:1]
        for _, own_notes in taken:
            notes.take_over(own_notes)
        return [linked_set for linked_set, _ in taken]

    def _link_set(
        self, part: PlanPartOutput, bucket: BucketId, notes: LinkingNotes, leg: LegId | None, *, depth: int
    ) -> LinkedSet:
        linker = ConditionLinker(
            lexicon=self.lexicons[bucket],
            question=self.question,
            today=self.today,
            notes=notes,
            link_inner_set=partial(self._link_inner_set, notes, depth),
        )
        passing = [condition for condition in part.conditions if self._takes_groups(condition)]
        required = [condition for condition in part.conditions if _is_required_term(condition)]
        others = [condition for condition in part.conditions if condition not in (*required, *passing)]
        condition, wider = linker.link_conditions(others)
        return LinkedSet(
            clause=Clause(
                bucket=bucket,
                condition=condition,
                required_terms=tuple(condition.values[0] for condition in required),
            ),
            wider_conditions=wider,
            passed=self._link_passed_values(passing, bucket, leg, notes),
        )

    def _takes_groups(self, condition: PlanConditionOutput) -> bool:
        """Whether the condition compares with the first groups of another part, not with its documents."""
        inner = self.parts.get(condition.of_part)
        return inner is not None and bool(inner.group_by and inner.functions) and condition.op in _EQUALITY_OPS

    def _link_passed_values(
        self, conditions: Sequence[PlanConditionOutput], bucket: BucketId, leg: LegId | None, notes: LinkingNotes
    ) -> tuple[PassedValues, ...]:
        passed = list[PassedValues]()
        for condition in conditions:
            values = self._pass_groups(condition, bucket, leg, notes)
            if values is not None:
                passed.append(values)
            else:
                notes.lose_words(condition.words or condition.field)
        return tuple(passed)

    def _pass_groups(
        self, condition: PlanConditionOutput, bucket: BucketId, leg: LegId | None, notes: LinkingNotes
    ) -> PassedValues | None:
        """Returns "the value is one of the first groups of that part"; None with a problem noted."""
        inner = self.parts[condition.of_part]
        if leg is None or condition.any_group:
            notes.report_problem(
                f"the groups of part {inner.id} can only restrict a part that is answered, and not as an alternative"
            )
            return None
        named = find_field(condition.field, self.lexicons[bucket], notes)
        source = self._link_groups(inner, leg, notes)
        if named is None or source is None:
            return None
        if named.field is None or named.rows_field is not None or named.field.type not in _NAMES:
            notes.report_problem(f"{named.path} cannot be compared with the groups of part {inner.id}")
            return None
        return PassedValues(
            leg=leg,
            bucket=bucket,
            field=named.name,
            source=source,
            is_list=named.field.type is FieldType.LIST,
            is_negated=condition.op == "is_not",
            words=condition.words,
        )

    def _link_groups(self, part: PlanPartOutput, leg: LegId, notes: LinkingNotes) -> Leg | None:
        """Returns the search whose first groups are passed on; None with a problem noted."""
        own_notes = LinkingNotes()
        sets = self.link_sets(part, own_notes)
        notes.take_over(own_notes)
        if len(sets) != 1 or own_notes.unlinked_words:
            notes.report_problem(f"part {part.id} gives no groups: all of its conditions must hold in one bucket")
            return None
        bucket = sets[0].clause.bucket
        lexicon = self.lexicons[bucket]
        form = FormLinker(bucket=bucket, lexicon=lexicon, notes=notes).build_numbers(part)
        if not isinstance(form, ComputeNumbers) or form.group is None:
            return None
        if lexicon.schema.by_name[form.group.field].type not in _NAMES:
            notes.report_problem(f"the groups of part {part.id} are not names that a field could be compared with")
            return None
        return Leg(id=leg, question=part.question, search=Search(clauses=(sets[0].clause,)), answer_form=form)

    def _link_inner_set(
        self, notes: LinkingNotes, depth: int, condition: PlanConditionOutput, named: NamedField, words: str
    ) -> Condition | None:
        """Returns "the value is one of the documents of that part"; None with a problem noted."""
        inner = self.parts.get(condition.of_part)
        op = _INNER_OPERATORS.get(condition.op)
        buckets = [BucketId(name) for name in inner.buckets if name in self.lexicons] if inner else []
        if inner is None or op is None or len(buckets) != 1 or depth >= _MAX_INNER_DEPTH:
            notes.report_problem(_describe_misfit(condition, named, inner, buckets))
            return None
        lexicon = self.lexicons[buckets[0]]
        key = find_field(condition.part_field or DOC_ID_FIELD, lexicon, notes)
        if key is None or not _check_key(key, named, condition.op, notes):
            return None
        order = FormLinker(bucket=buckets[0], lexicon=lexicon, notes=notes).find_order(inner)
        if inner.order_by and order is None:
            return None
        own_notes = LinkingNotes()
        linked = self._link_set(inner, buckets[0], own_notes, None, depth=depth + 1)
        notes.take_over(own_notes)
        inner_condition = linked.clause.match_condition
        if not _check_key_rows(key, inner_condition, inner, notes):
            return None
        return SemiJoinCondition(
            field=named.name,
            bucket=buckets[0],
            key=key.name,
            condition=inner_condition,
            key_rows=key.rows_field,
            order_by=None if order is None else order.field,
            is_descending=order is None or order.descending,
            limit=max(inner.limit, 1) if order is not None else 1,
            min_count=max(condition.min_count, 1) if op is ComparisonOperator.EQ else 1,
            op=op,
            words=words,
        )


def _describe_misfit(
    condition: PlanConditionOutput, named: NamedField, inner: PlanPartOutput | None, buckets: Sequence[BucketId]
) -> str:
    """Says why the condition cannot compare with the set of the other part."""
    if inner is None:
        return f"{named.path} {condition.op} part {condition.of_part!r}: there is no such part"
    if condition.op not in _INNER_OPERATORS:
        return f"{named.path} cannot be compared by {condition.op} with another part"
    if len(buckets) != 1:
        return f"{named.path} cannot be compared with part {inner.id}, which must be of one bucket"
    return (
        f"{named.path} cannot be compared with part {inner.id}: parts compare with parts at most {_MAX_INNER_DEPTH} "
        "deep, and none with itself"
    )


def _check_key(key: NamedField, named: NamedField, op: str, notes: LinkingNotes) -> bool:
    """Whether the two fields can be compared; else a problem is noted."""
    kinds = {_kind_of(field) for field in (key, named)}
    if len(kinds) != 1 or "" in kinds:
        notes.report_problem(f"{named.path} cannot be compared with {key.path} of another part")
        return False
    if _INNER_OPERATORS[op] in ORDER_OPERATORS and "name" in kinds:
        notes.report_problem(f"{named.path} cannot be compared by {op} with another part: names have no order")
        return False
    return True


def _check_key_rows(key: NamedField, condition: Condition, inner: PlanPartOutput, notes: LinkingNotes) -> bool:
    """Whether the condition of the inner set says which rows count, if the key is a column; else a problem is noted."""
    if key.rows_field is None:
        return True
    try:
        row_condition_of(condition, key.rows_field)
    except InvalidCondition:
        notes.report_problem(
            f"{key.path} of part {inner.id}: its conditions on {key.rows_field} must hold in one row, and not as an "
            "alternative to other conditions, to say which rows are meant"
        )
        return False
    return True


def _kind_of(named: NamedField) -> str:
    """Returns what kind of value can be compared with another set: a name, an amount, a day; empty for none."""
    if named.field is None and named.name == TEXT_FIELD:
        return ""
    field_type = None if named.field is None else named.field.type
    if field_type is None or field_type in _NAMES:
        return "name"
    if field_type in _AMOUNTS:
        return "amount"
    return "day" if field_type is FieldType.DATE else ""


def _is_required_term(condition: PlanConditionOutput) -> bool:
    """Whether the condition is a word that the text must hold."""
    return (
        condition.field == TEXT_FIELD
        and condition.op in ("contains", "is")
        and len(condition.values) == 1
        and not condition.any_group
        and not condition.of_part
    )
