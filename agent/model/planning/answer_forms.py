"""Builds the form of answer of a part of a model's plan."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.model.linking.field_names import NamedField, find_field
from agent.model.linking.linked_parts import LinkingNotes
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from prompts.outputs.question_plan import PlanPartOutput
from storage.search.ids import BucketId, FieldName
from storage.search.plan import (
    AggregateFunction,
    AnswerForm,
    CalendarPeriod,
    ChangeOverTime,
    CheckClaims,
    ClaimQuantifier,
    ComputeNumbers,
    FindPassages,
    FindSteps,
    GroupBy,
    ListDocuments,
    ReadFields,
    Search,
    SummariseDocuments,
)
from storage.search.schema import FieldType, SchemaOrder

_MEASURED = frozenset({FieldType.NUMBER, FieldType.MONEY})
_ORDERED = frozenset({*_MEASURED, FieldType.DATE, FieldType.CATEGORY, FieldType.TEXT})
_UNGROUPED = frozenset({FieldType.ROWS})
_NEEDS_NO_FIELD = frozenset({AggregateFunction.COUNT, AggregateFunction.SHARE})


@dataclass(frozen=True, slots=True, kw_only=True)
class FormLinker:
    """Builds forms in one bucket. What does not fit is in the notes, and the form does without it."""

    bucket: BucketId
    lexicon: BucketLexicon
    notes: LinkingNotes

    def build_form(self, part: PlanPartOutput, whole: Search | None) -> AnswerForm:
        """Returns the form of the part. `whole`: the set of its `whole_part`; None if it has none."""
        match part.form:
            case "list":
                return ListDocuments(order=self._order_of(part), limit=part.limit or None)
            case "count":
                return self._build_count(part)
            case "numbers":
                return self._build_numbers(part, whole)
            case "change_over_time":
                return self._build_change(part)
            case "values" | "values_of_each":
                return self._build_values(part)
            case "is_there_any":
                return CheckClaims(quantifier=ClaimQuantifier.ANY, scope=whole)
            case "is_true_of_all":
                return self._build_claims_about_all(whole)
            case "yes_or_no":
                return CheckClaims()
            case "summary":
                return SummariseDocuments()
            case "steps":
                return FindSteps(action="", allows_prose=True)
            case "passages" | "helper":
                return FindPassages()

    def find_order(self, part: PlanPartOutput) -> SchemaOrder | None:
        """Returns the order of the part; None if it names no field that has an order."""
        return self._order_of(part)

    def _order_of(self, part: PlanPartOutput) -> SchemaOrder | None:
        named = self._plain_field(part.order_by, _ORDERED, "order documents by") if part.order_by else None
        return None if named is None else SchemaOrder(field=named.name, descending=part.is_descending)

    def _group_of(self, name: str, period: str) -> GroupBy | None:
        if not name:
            return None
        named = self._plain_field(name, frozenset(FieldType) - _UNGROUPED, "group by")
        if named is None or named.field is None:
            return None
        is_date = named.field.type is FieldType.DATE
        return GroupBy(field=named.name, period=CalendarPeriod(period) if is_date and period else None)

    def _build_count(self, part: PlanPartOutput) -> AnswerForm:
        group = self._group_of(part.group_by, part.group_period)
        second = self._group_of(part.second_group_by, part.second_group_period) if group is not None else None
        limit = part.limit or None if group is not None else None
        return ComputeNumbers(
            functions=(AggregateFunction.COUNT,), group=group, second_group=second, limit=limit,
            descending=part.is_descending or limit is None,
        )  # fmt: skip

    def _build_numbers(self, part: PlanPartOutput, whole: Search | None) -> AnswerForm:
        functions = tuple(AggregateFunction(name) for name in dict.fromkeys(part.functions))
        if AggregateFunction.SHARE in functions:
            if whole is None:
                self.notes.problems.append("a share needs `whole_part`: the part whose set is the whole")
            return ComputeNumbers(functions=(AggregateFunction.SHARE,), share_base=whole)
        if not functions:
            self.notes.problems.append(f"part {part.id} has no function")
            return self._build_count(part)
        field = self._computed_field(part, functions)
        group = self._group_of(part.group_by, part.group_period)
        second = self._group_of(part.second_group_by, part.second_group_period) if group is not None else None
        if field is None and set(functions) - _NEEDS_NO_FIELD:
            return self._build_count(part)
        limit = part.limit or None if group is not None else None
        return ComputeNumbers(
            functions=functions, field=field, group=group, second_group=second, limit=limit,
            descending=part.is_descending or limit is None,
        )  # fmt: skip

    def _computed_field(self, part: PlanPartOutput, functions: Sequence[AggregateFunction]) -> FieldName | None:
        if not set(functions) - _NEEDS_NO_FIELD:
            return None
        if not part.fields:
            self.notes.problems.append(f"part {part.id}: {', '.join(functions)} of which field?")
            return None
        types = _MEASURED
        if AggregateFunction.DISTINCT in functions:
            types = frozenset(FieldType) - _UNGROUPED
        elif set(functions) <= {AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM}:
            types = _MEASURED | {FieldType.DATE}
        named = self._plain_field(part.fields[0], types, "compute numbers of")
        return None if named is None else named.name

    def _build_change(self, part: PlanPartOutput) -> AnswerForm:
        named = self._plain_field(part.group_by, frozenset({FieldType.DATE}), "group by periods of")
        functions = tuple(AggregateFunction(name) for name in dict.fromkeys(part.functions)) or (
            AggregateFunction.COUNT,
        )
        field = self._computed_field(part, functions)
        if named is None:
            return self._build_numbers(part, None)
        if field is None:
            functions = (AggregateFunction.COUNT,)
        period = CalendarPeriod(part.group_period) if part.group_period else None
        return ChangeOverTime(functions=functions, field=field, group=GroupBy(field=named.name, period=period))

    def _build_values(self, part: PlanPartOutput) -> AnswerForm:
        fields = [find_field(name, self.lexicon, self.notes) for name in part.fields]
        # The value of a column is in the value of its rows field.
        names = dict.fromkeys(
            named.rows_field or named.name for named in fields if named is not None and named.field is not None
        )
        if not names:
            return FindPassages() if part.form == "values" else ListDocuments(limit=part.limit or None)
        return ReadFields(fields=tuple((self.bucket, name) for name in names), of_each=part.form == "values_of_each")

    def _build_claims_about_all(self, whole: Search | None) -> AnswerForm:
        if whole is None:
            self.notes.problems.append("`is_true_of_all` needs `whole_part`: the part whose documents it is about")
            return CheckClaims()
        return CheckClaims(quantifier=ClaimQuantifier.ALL, scope=whole)

    def _plain_field(self, name: str, types: frozenset[FieldType], use: str) -> NamedField | None:
        """Returns a field of the document of one of these types; None with a problem noted."""
        if not name:
            self.notes.problems.append(f"no field is named to {use}")
            return None
        named = find_field(name, self.lexicon, self.notes)
        if named is None:
            return None
        if named.field is None or named.rows_field is not None or named.field.type not in types:
            kind = "a column of rows" if named.rows_field is not None else "of a type that does not allow it"
            self.notes.problems.append(f"one cannot {use} {named.path}, which is {kind}")
            return None
        return named
