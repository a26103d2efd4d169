"""Turns a model's plan into the plan that is searched: names become fields, texts become values and conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from agent.decomposition import (
    AlternativeReading,
    KeptFieldCondition,
    LegAlternatives,
    PassedValues,
    PlannedQuestion,
)
from agent.english.function_words import STOP_WORDS
from agent.model.linking.condition_linking import ConditionLinker
from agent.model.linking.field_names import NamedField, find_field
from agent.model.linking.linked_parts import LinkingNotes, list_names
from agent.model.planning.answer_forms import FormLinker
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from prompts.outputs.question_plan import PlanConditionOutput, PlanPartOutput, QuestionPlanOutput
from storage.search.analyser import fold_text
from storage.search.conditions import (
    DOC_ID_FIELD,
    TEXT_FIELD,
    ComparisonOperator,
    Condition,
    SemiJoinCondition,
    conjuncts_of,
)
from storage.search.ids import BucketId, LegId
from storage.search.plan import (
    AnswerForm,
    Clause,
    ComputeNumbers,
    Leg,
    LegCombination,
    Plan,
    ReadFields,
    Search,
)

_COMBINATIONS: Mapping[str, LegCombination] = {
    "one": LegCombination.ONE,
    "side_by_side": LegCombination.SIDE_BY_SIDE,
    "compare": LegCombination.COMPARE,
    "in_sequence": LegCombination.SEQUENCE,
}
_INNER_OPERATORS: Mapping[str, ComparisonOperator] = {
    "is": ComparisonOperator.EQ,
    "is_not": ComparisonOperator.EQ,
    "more_than": ComparisonOperator.GT,
    "at_least": ComparisonOperator.GTE,
    "less_than": ComparisonOperator.LT,
    "at_most": ComparisonOperator.LTE,
}
_LANGUAGE_CODE_LETTERS = 2
_MAX_QUERIES = 4  # of one part
_UNANSWERED_FORMS = frozenset({"helper"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPlan:
    """A model's plan as it can be searched. `problems`: what had to be left out, as sentences for the model."""

    planned: PlannedQuestion | None  # None: no part of it can be searched
    problems: tuple[str, ...]
    wants_file: bool
    reasoning: str  # of the model


@dataclass(frozen=True, slots=True, kw_only=True)
class _LinkedSet:
    """The set of a part in one bucket."""

    clause: Clause
    wider_conditions: tuple[Condition, ...]
    passed: tuple[PassedValues, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLinker:
    """Links plans for one question. `lexicons` are those of the buckets that the model may name."""

    question: str
    lexicons: Mapping[BucketId, BucketLexicon]
    today: date
    max_parts: int = 5
    last_plan: Plan | None = None

    def link_plan(self, output: QuestionPlanOutput) -> LinkedPlan:
        """Returns the plan with everything that could be linked."""
        notes = LinkingNotes()
        parts = {part.id: part for part in output.parts}
        answered = [part for part in output.parts if part.form not in _UNANSWERED_FORMS and not part.alternative_to]
        if not answered:
            notes.problems.append("no part is to be answered")
        if len(answered) > self.max_parts:
            notes.problems.append(f"at most {self.max_parts} parts can be answered")
        legs: list[Leg] = []
        alternatives: list[LegAlternatives] = []
        passed: list[PassedValues] = []
        for part in answered[: self.max_parts]:
            part_notes = LinkingNotes()
            leg_id = LegId(chr(97 + len(legs)))
            linked = self._link_leg(leg_id, part, parts, output, part_notes, is_only=len(answered) == 1)
            notes.problems += part_notes.problems
            notes.assumptions += part_notes.assumptions
            if linked is not None:
                legs.append(linked[0])
                alternatives.append(linked[1])
                passed += linked[2]
        planned = (
            PlannedQuestion(
                plan=Plan(
                    question=self.question,
                    legs=tuple(legs),
                    combination=_COMBINATIONS[output.combine] if len(legs) > 1 else LegCombination.ONE,
                    language=language_code_of(output.language),
                ),
                alternatives=tuple(alternatives),
                assumptions=tuple(dict.fromkeys(notes.assumptions)),
                kept_conditions=self._kept_conditions(legs) if output.continues_conversation else (),
                is_followup=output.continues_conversation and self.last_plan is not None,
                passed_values=tuple(passed),
            )
            if legs
            else None
        )
        return LinkedPlan(
            planned=planned,
            problems=tuple(dict.fromkeys(notes.problems)),
            wants_file=output.output == "file",
            reasoning=output.reasoning,
        )

    def _link_leg(
        self,
        leg_id: LegId,
        part: PlanPartOutput,
        parts: Mapping[str, PlanPartOutput],
        output: QuestionPlanOutput,
        notes: LinkingNotes,
        *,
        is_only: bool,
    ) -> tuple[Leg, LegAlternatives, Sequence[PassedValues]] | None:
        """Returns the leg of a part; None if it names no bucket that exists."""
        sets = self._link_sets(leg_id, part, parts, notes)
        if not sets:
            return None
        queries = [query for query in part.search_queries if query.strip()][:_MAX_QUERIES]
        stands_alone = is_only and not output.continues_conversation  # else the words say too little: "and its width?"
        text = (self.question if stands_alone else part.question) or self.question
        search = Search(
            clauses=tuple(linked_set.clause for linked_set in sets), ranking_text=queries[0] if queries else text
        )
        bucket = sets[0].clause.bucket
        whole = self._link_whole(part, parts, notes)
        answer_form = FormLinker(bucket=bucket, lexicon=self.lexicons[bucket], notes=notes).build_form(part, whole)
        search, answer_form = self._narrow_to_first(part, search, answer_form, notes)
        leg = Leg(id=leg_id, question=text, search=search, answer_form=answer_form, probes=tuple(queries[1:]))
        unknown_words = self._unknown_words(notes, output.not_understood if is_only else ())
        readings = [
            reading
            for other in output.parts
            if other.alternative_to == part.id and other.id != part.id
            for reading in self._alternative_reading(leg_id, other, parts, search)
        ]
        alternatives = LegAlternatives(
            leg=leg_id,
            equal_readings=tuple(readings),
            wider_readings=tuple(
                AlternativeReading(
                    bucket=linked_set.clause.bucket,
                    conditions=conjuncts_of(condition),
                    search=replace(search, clauses=(replace(linked_set.clause, condition=condition),)),
                )
                for linked_set in sets
                for condition in linked_set.wider_conditions
                if len(sets) == 1 and answer_form.names_a_set
            ),
            is_understood=not notes.problems and not unknown_words,
            unknown_words=() if answer_form.reads_text else unknown_words,
        )
        return leg, alternatives, [passed for linked_set in sets for passed in linked_set.passed]

    def _link_sets(
        self, leg_id: LegId, part: PlanPartOutput, parts: Mapping[str, PlanPartOutput], notes: LinkingNotes
    ) -> list[_LinkedSet]:
        """Returns the set of the part in each of its buckets: in those that can express all of its conditions."""
        buckets = [BucketId(name) for name in dict.fromkeys(part.buckets) if name in self.lexicons]
        unknown = [name for name in part.buckets if name not in self.lexicons]
        if unknown or not buckets:
            notes.problems.append(
                f"part {part.id}: there is no bucket {list_names(unknown) or 'named'}; "
                f"the buckets are {list_names(sorted(self.lexicons), 40)}"
            )
        pairs = [(bucket, LinkingNotes()) for bucket in buckets]
        linked = [(self._link_set(leg_id, part, bucket, parts, own, depth=0), own) for bucket, own in pairs]
        fitting = [(linked_set, own) for linked_set, own in linked if not own.unlinked_words]
        for _, own in fitting or linked[:1]:
            notes.problems += own.problems
            notes.unlinked_words += own.unlinked_words
            notes.assumptions += own.assumptions
        return [linked_set for linked_set, _ in (fitting or linked[:1])]

    def _link_set(
        self,
        leg_id: LegId,
        part: PlanPartOutput,
        bucket: BucketId,
        parts: Mapping[str, PlanPartOutput],
        notes: LinkingNotes,
        *,
        depth: int,
    ) -> _LinkedSet:
        passed: list[PassedValues] = []
        linker = ConditionLinker(
            lexicon=self.lexicons[bucket],
            question=self.question,
            today=self.today,
            notes=notes,
            link_inner_set=partial(self._link_inner_set, leg_id, bucket, parts, notes, passed, depth),
        )
        required = [condition for condition in part.conditions if _is_required_term(condition)]
        others = [condition for condition in part.conditions if not _is_required_term(condition)]
        condition, wider = linker.link_conditions(others)
        terms = tuple(condition.values[0] for condition in required)
        return _LinkedSet(
            clause=Clause(bucket=bucket, condition=condition, required_terms=terms),
            wider_conditions=wider,
            passed=tuple(passed),
        )

    def _link_inner_set(
        self,
        leg_id: LegId,
        bucket: BucketId,
        parts: Mapping[str, PlanPartOutput],
        notes: LinkingNotes,
        passed: list[PassedValues],
        depth: int,
        condition: PlanConditionOutput,
        named: NamedField,
        words: str,
    ) -> Condition | None:
        """Returns "the value is one of the documents of that part"; None where its values are passed on later."""
        inner = parts.get(condition.of_part)
        op = _INNER_OPERATORS.get(condition.op)
        inner_buckets = [BucketId(name) for name in inner.buckets if name in self.lexicons] if inner else []
        if inner is None or op is None or len(inner_buckets) != 1 or depth > 1 or named.rows_field is not None:
            notes.report_problem(
                f"{named.path} {condition.op} part {condition.of_part!r}: the part must exist, be of one bucket and "
                "not refer to itself",
                condition.words,
            )
            return None
        lexicon = self.lexicons[inner_buckets[0]]
        if inner.group_by and not inner.group_period and inner.functions and op is ComparisonOperator.EQ:
            source = self._link_leg(
                leg_id, inner.model_copy(update={"form": "numbers"}), {}, _EMPTY_PLAN, notes, is_only=False
            )
            if source is not None and isinstance(source[0].answer_form, ComputeNumbers):
                passed.append(
                    PassedValues(
                        leg=leg_id,
                        bucket=bucket,
                        field=named.name,
                        source=source[0],
                        is_list=named.field is not None and named.field.absent_means_none,
                        is_negated=condition.op == "is_not",
                        words=words,
                    )
                )
            return None
        key = find_field(condition.part_field or DOC_ID_FIELD, lexicon, notes, condition.words)
        if key is None or key.rows_field is not None or key.name == TEXT_FIELD:
            return None
        linked = self._link_set(leg_id, inner, inner_buckets[0], parts, notes, depth=depth + 1)
        order = FormLinker(bucket=inner_buckets[0], lexicon=lexicon, notes=notes).find_order(inner)
        return SemiJoinCondition(
            field=named.name,
            bucket=inner_buckets[0],
            key=key.name,
            condition=linked.clause.match_condition,
            order_by=None if order is None else order.field,
            is_descending=order is None or order.descending,
            limit=max(inner.limit, 1) if order is not None else 1,
            min_count=max(condition.min_count, 1) if op is ComparisonOperator.EQ else 1,
            op=op,
            words=words,
        )

    def _link_whole(
        self, part: PlanPartOutput, parts: Mapping[str, PlanPartOutput], notes: LinkingNotes
    ) -> Search | None:
        whole = parts.get(part.whole_part)
        if whole is None or whole.id == part.id:
            return None
        sets = self._link_sets(LegId("a"), whole, parts, notes)
        return Search(clauses=tuple(linked_set.clause for linked_set in sets)) if sets else None

    def _narrow_to_first(
        self, part: PlanPartOutput, search: Search, answer_form: AnswerForm, notes: LinkingNotes
    ) -> tuple[Search, AnswerForm]:
        """ "The wage of the oldest": values of the first documents of an order are those of a set of its own."""
        if not isinstance(answer_form, ReadFields) or not part.order_by or len(search.clauses) != 1:
            return search, answer_form
        [clause] = search.clauses
        order = FormLinker(bucket=clause.bucket, lexicon=self.lexicons[clause.bucket], notes=notes).find_order(part)
        if order is None:
            return search, answer_form
        first = SemiJoinCondition(
            field=DOC_ID_FIELD,
            bucket=clause.bucket,
            key=DOC_ID_FIELD,
            condition=clause.match_condition,
            order_by=order.field,
            is_descending=order.descending,
            limit=max(part.limit, 1),
        )
        narrowed = search.with_clauses(Clause(bucket=clause.bucket, condition=first))
        return narrowed, replace(answer_form, of_each=True)

    def _alternative_reading(
        self, leg_id: LegId, part: PlanPartOutput, parts: Mapping[str, PlanPartOutput], chosen: Search
    ) -> Sequence[AlternativeReading]:
        """Returns the other meaning of a leg, if all of it can be linked and it is another set."""
        notes = LinkingNotes()
        sets = self._link_sets(leg_id, part, parts, notes)
        if notes.problems or len(sets) != 1 or len(chosen.clauses) != 1 or sets[0].clause == chosen.clauses[0]:
            return ()
        clause = sets[0].clause
        own = conjuncts_of(chosen.clauses[0].condition)
        differing = tuple(condition for condition in conjuncts_of(clause.condition) if condition not in own)
        search = replace(chosen, clauses=(clause,))
        return (AlternativeReading(bucket=clause.bucket, conditions=differing, search=search),)

    def _unknown_words(self, notes: LinkingNotes, not_understood: Sequence[str]) -> tuple[str, ...]:
        """Returns the words of the question whose meaning got lost, without function words."""
        folded = fold_text(self.question)
        words = [word.strip() for word in (*notes.unlinked_words, *not_understood)]
        return tuple(
            dict.fromkeys(
                word for word in words if word and fold_text(word) in folded and fold_text(word) not in STOP_WORDS
            )
        )

    def _kept_conditions(self, legs: Sequence[Leg]) -> tuple[KeptFieldCondition, ...]:
        """Returns the conditions of the last plan that the new one has too."""
        if self.last_plan is None:
            return ()
        before = {
            condition
            for leg in self.last_plan.legs
            for clause in leg.search.clauses
            for condition in conjuncts_of(clause.condition)
        }
        return tuple(
            KeptFieldCondition(condition=condition, bucket=clause.bucket)
            for leg in legs[:1]
            for clause in leg.search.clauses
            for condition in conjuncts_of(clause.condition)
            if condition in before
        )


_EMPTY_PLAN = QuestionPlanOutput(
    reasoning="", language="en", continues_conversation=False, parts=[], combine="one", output="default",
    not_understood=[],
)  # fmt: skip


def language_code_of(language: str) -> str:
    """Returns the ISO 639-1 code of what a model wrote: "de", "de-AT"; "en" for anything else."""
    code = language.strip().replace("_", "-").partition("-")[0].lower()
    return code if len(code) == _LANGUAGE_CODE_LETTERS and code.isalpha() else "en"


def _is_required_term(condition: PlanConditionOutput) -> bool:
    """Whether the condition is a word that the text must hold."""
    return (
        condition.field == TEXT_FIELD
        and condition.op in ("contains", "is")
        and len(condition.values) == 1
        and not condition.any_group
    )
