"""Links the filters of tool calls as the conditions of a plan are linked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from agent.model.linking.condition_linking import ConditionLinker
from agent.model.linking.linked_parts import LinkingNotes
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.tools.tool_filters import FilterOperator, LinkedFilters, ToolFilter
from prompts.outputs.question_plan import ConditionOperator, PlanConditionOutput
from storage.search.conditions import MATCH_ALL, Condition
from storage.search.ids import BucketId

_OPERATORS: Mapping[FilterOperator, ConditionOperator] = {
    FilterOperator.EQ: "is",
    FilterOperator.IN: "is",
    FilterOperator.NOT_EQ: "is_not",
    FilterOperator.CONTAINS: "contains",
    FilterOperator.GT: "more_than",
    FilterOperator.GTE: "at_least",
    FilterOperator.LT: "less_than",
    FilterOperator.LTE: "at_most",
    FilterOperator.BETWEEN: "between",
    FilterOperator.MISSING: "missing",
    FilterOperator.EXISTS: "present",
}
_ORDER_OPERATORS = frozenset({FilterOperator.GT, FilterOperator.GTE, FilterOperator.LT, FilterOperator.LTE})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFilterLinker:
    """Implements `FilterLinker` for the tool calls that are made for one question."""

    lexicons: Mapping[BucketId, BucketLexicon]
    question: str
    today: date

    def link_filters(self, bucket: BucketId, filters: Sequence[ToolFilter]) -> LinkedFilters:
        conditions = list(map(_as_plan_condition, filters))
        problems, notes = list[str](), list[str]()
        for tool_filter, condition in zip(filters, conditions, strict=True):
            if (problem := _find_wrong_count(tool_filter)) is not None:
                problems.append(problem)
                continue
            linked, linking_notes = self._link_conditions(bucket, [condition])
            is_linked = linked != MATCH_ALL
            (notes if is_linked else problems).extend(linking_notes.problems)
        joined, linking_notes = self._link_conditions(bucket, conditions)
        return LinkedFilters(
            condition=joined,
            problems=tuple(problems),
            notes=tuple(notes),
            assumptions=tuple(linking_notes.assumptions),
        )

    def _link_conditions(
        self, bucket: BucketId, conditions: Sequence[PlanConditionOutput]
    ) -> tuple[Condition, LinkingNotes]:
        notes = LinkingNotes()
        linker = ConditionLinker(
            lexicon=self.lexicons[bucket],
            question=self.question,
            today=self.today,
            notes=notes,
            link_inner_set=lambda condition, named, words: None,  # a call of a tool has one set
        )
        return linker.link_conditions(conditions)[0], notes


def _find_wrong_count(tool_filter: ToolFilter) -> str | None:
    """Returns the problem of a filter with too many values or an empty one; None for any other filter."""
    if any(not value.strip() for value in tool_filter.values):
        return f"{tool_filter.field}: an empty text is not a value; use missing for documents without one"
    if tool_filter.op in _ORDER_OPERATORS and len(tool_filter.values) > 1:
        return f"{tool_filter.field}: {tool_filter.op.value} takes one value"
    return None


def _as_plan_condition(tool_filter: ToolFilter) -> PlanConditionOutput:
    return PlanConditionOutput(
        field=tool_filter.field, op=_OPERATORS[tool_filter.op], values=tool_filter.values, texts_if_missing=[],
        other_field="", of_part="", part_field="", min_count=0, words=tool_filter.words, any_group=0,
    )  # fmt: skip
