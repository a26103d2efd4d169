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
    """Builds forms in one bucket. What does not fit is in the notes."""

    bucket: BucketId
    lexicon: BucketLexicon
    notes: LinkingNotes

    def build_form(self, part: PlanPartOutput, whole: Search | None) -> AnswerForm | None:
        """Returns the form of the part; None with a problem noted if it is unavailable: no other form answers the same.

        `whole`: the set of its `whole_part`; None if it has none.
        """
        match part.form:
            case "list":
                return self._build_list(part)
            case "count":
                return self._compute_groups(part, (AggregateFunction.COUNT,), None)
            case "numbers":
                return self.build_numbers(part, whole)
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

    def _build_list(self, part: PlanPartOutput) -> AnswerForm | None:
        order = self.find_order(part)
        return None if part.order_by and order is None else ListDocuments(order=order, limit=_limit_of(part))

    def find_order(self, part: PlanPartOutput) -> SchemaOrder | None:
        """Returns the order of the part; None if it names no field that has an order."""
        named = self._plain_field(part.order_by, _ORDERED, "order documents by") if part.order_by else None
        return None if named is None else SchemaOrder(field=named.name, descending=part.is_descending)

    def _groups_of(self, part: PlanPartOutput) -> tuple[GroupBy | None, GroupBy | None] | None:
        """Returns the groups and the groups within them; None if one that is asked for is unavailable."""
        group = self._group_of(part.group_by, part.group_period)
        second = self._group_of(part.second_group_by, part.second_group_period)
        if (part.group_by and group is None) or (part.second_group_by and (second is None or group is None)):
            return None
        return group, second

    def _group_of(self, name: str, period: str) -> GroupBy | None:
        if not name:
            return None
        named = self._plain_field(name, frozenset(FieldType) - _UNGROUPED, "group by")
        if named is None or named.field is None:
            return None
        is_date = named.field.type is FieldType.DATE
        return GroupBy(field=named.name, period=CalendarPeriod(period) if is_date and period else None)

    def build_numbers(self, part: PlanPartOutput, whole: Search | None = None) -> AnswerForm | None:
        """Returns the functions of the part, whatever its form; None with a problem noted if they is unavailable."""
        functions = tuple(AggregateFunction(name) for name in dict.fromkeys(part.functions))
        if AggregateFunction.SHARE in functions:
            if whole is None:
                self.notes.report_problem("a share needs `whole_part`: the part whose set is the whole")
                return None
            return ComputeNumbers(functions=(AggregateFunction.SHARE,), share_base=whole)
        if not functions:
            self.notes.report_problem(f"part {part.id} has no function")
            return None
        field = self._computed_field(part, functions)
        if field is None and set(functions) - _NEEDS_NO_FIELD:
            return None
        return self._compute_groups(part, functions, field)

    def _compute_groups(
        self, part: PlanPartOutput, functions: tuple[AggregateFunction, ...], field: FieldName | None
    ) -> AnswerForm | None:
        groups = self._groups_of(part)
        if groups is None:
            return None
        limit = _limit_of(part) if groups[0] is not None else None
        return ComputeNumbers(
            functions=functions, field=field, group=groups[0], second_group=groups[1], limit=limit,
            descending=part.is_descending or limit is None,
        )  # fmt: skip

    def _computed_field(self, part: PlanPartOutput, functions: Sequence[AggregateFunction]) -> FieldName | None:
        if not set(functions) - _NEEDS_NO_FIELD:
            return None
        if not part.fields:
            self.notes.report_problem(f"part {part.id}: {', '.join(functions)} of which field?")
            return None
        types = frozenset(FieldType) - _UNGROUPED if AggregateFunction.DISTINCT in functions else _MEASURED
        named = self._plain_field(part.fields[0], types, "compute numbers of")
        return None if named is None else named.name

    def _build_change(self, part: PlanPartOutput) -> AnswerForm | None:
        named = self._plain_field(part.group_by, frozenset({FieldType.DATE}), "group by periods of")
        functions = tuple(AggregateFunction(name) for name in dict.fromkeys(part.functions))
        functions = functions or (AggregateFunction.COUNT,)
        field = self._computed_field(part, functions)
        if named is None or (field is None and set(functions) - _NEEDS_NO_FIELD):
            return None
        period = CalendarPeriod(part.group_period) if part.group_period else None
        return ChangeOverTime(functions=functions, field=field, group=GroupBy(field=named.name, period=period))

    def _build_values(self, part: PlanPartOutput) -> AnswerForm | None:
        fields = [find_field(name, self.lexicon, self.notes) for name in part.fields]
        if None in fields:  # the other fields are half of an answer; the text of one document may hold all of it
            return FindPassages() if part.form == "values" else None
        # The value of a column is in the value of its rows field.
        names = dict.fromkeys(
            named.rows_field or named.name for named in fields if named is not None and named.field is not None
        )
        if not names:
            return FindPassages() if part.form == "values" else self._build_list(part)
        return ReadFields(fields=tuple((self.bucket, name) for name in names), of_each=part.form == "values_of_each")

    def _build_claims_about_all(self, whole: Search | None) -> AnswerForm | None:
        if whole is None:
            self.notes.report_problem("`is_true_of_all` needs `whole_part`: the part whose documents it is about")
            return None
        return CheckClaims(quantifier=ClaimQuantifier.ALL, scope=whole)

    def _plain_field(self, name: str, types: frozenset[FieldType], use: str) -> NamedField | None:
        """Returns a field of the document of one of these types; None with a problem noted."""
        if not name:
            self.notes.report_problem(f"no field is named to {use}")
            return None
        named = find_field(name, self.lexicon, self.notes)
        if named is None:
            return None
        if named.field is None or named.rows_field is not None or named.field.type not in types:
            kind = "a column of rows" if named.rows_field is not None else "of a type that does not allow it"
            self.notes.report_problem(f"one cannot {use} {named.path}, which is {kind}")
            return None
        return named


def _limit_of(part: PlanPartOutput) -> int | None:
    return part.limit if part.limit > 0 else None
