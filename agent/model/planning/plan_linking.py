"""Turns a model's plan into the plan that is searched: names become fields, texts become values and conditions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from agent.assumptions import Assumption, UnansweredPart, UnknownWords
from agent.decomposition import (
    AlternativeReading,
    KeptFieldCondition,
    LegAlternatives,
    PassedValues,
    PlannedQuestion,
)
from agent.english.function_words import STOP_WORDS
from agent.model.linking.condition_linking import is_part_of
from agent.model.linking.linked_parts import LinkingNotes, list_names
from agent.model.planning.answer_forms import FormLinker
from agent.model.planning.other_meanings import link_other_meanings
from agent.model.planning.set_linking import LinkedSet, SetLinker
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from prompts.outputs.question_plan import PlanPartOutput, QuestionPlanOutput
from storage.search.analyser import fold_text
from storage.search.conditions import DOC_ID_FIELD, TEXT_FIELD, SemiJoinCondition, conjunction_of, conjuncts_of
from storage.search.ids import BucketId, LegId
from storage.search.plan import AnswerForm, Clause, Leg, LegCombination, Plan, ReadFields, Search

_COMBINATIONS: Mapping[str, LegCombination] = {
    "one": LegCombination.ONE,
    "side_by_side": LegCombination.SIDE_BY_SIDE,
    "compare": LegCombination.COMPARE,
    "in_sequence": LegCombination.SEQUENCE,
}
_LANGUAGE_CODE_LETTERS = 2
_MAX_QUOTED_CHARS = 120
_MAX_QUERIES = 4  # of one part
_UNANSWERED_FORMS = frozenset({"helper"})
_FORMS_OF_A_WHOLE = frozenset({"numbers", "is_true_of_all"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPlan:
    """A model's plan as it can be searched. `problems`: what had to be left out, as sentences for the model."""

    planned: PlannedQuestion | None  # None: no part of it can be searched
    problems: tuple[str, ...]
    wants_file: bool
    continues_conversation: bool
    reasoning: str  # of the model


@dataclass(frozen=True, slots=True, kw_only=True)
class _LinkedLeg:
    """A part that is answered."""

    leg: Leg
    alternatives: LegAlternatives
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
        """Returns the plan with everything that could be linked; what could not is a problem and an assumption."""
        notes = LinkingNotes()
        answered = [part for part in output.parts if part.form not in _UNANSWERED_FORMS and not part.alternative_to]
        if not answered:
            notes.report_problem("no part is to be answered")
        if len(answered) > self.max_parts:
            notes.report_problem(f"at most {self.max_parts} parts can be answered")
        linked = list[_LinkedLeg]()
        for index, part in enumerate(answered):
            leg = None
            if index < self.max_parts:
                leg = self._link_leg(LegId(chr(97 + len(linked))), part, output, notes, is_only=len(answered) == 1)
            if leg is None:
                notes.assumptions.append(UnansweredPart(question=(part.question or self.question)[:_MAX_QUOTED_CHARS]))
            else:
                linked.append(leg)
        unknown_words = self._unknown_words(LinkingNotes(), output.not_understood)
        if len(answered) > 1 and unknown_words:  # of which part is not said, so they are told, not asked about
            notes.assumptions.append(UnknownWords(words=unknown_words))
        return LinkedPlan(
            planned=self._join_legs(linked, output, notes) if linked else None,
            problems=tuple(dict.fromkeys(notes.problems)),
            wants_file=output.wants_file,
            continues_conversation=output.continues_conversation,
            reasoning=output.reasoning,
        )

    def _join_legs(
        self, linked: Sequence[_LinkedLeg], output: QuestionPlanOutput, notes: LinkingNotes
    ) -> PlannedQuestion:
        legs = tuple(each.leg for each in linked)
        return PlannedQuestion(
            plan=Plan(
                question=self.question,
                legs=legs,
                combination=_COMBINATIONS[output.combine] if len(legs) > 1 else LegCombination.ONE,
                language=language_code_of(output.language),
            ),
            alternatives=tuple(each.alternatives for each in linked),
            assumptions=tuple(dict.fromkeys(notes.assumptions)),
            kept_conditions=self._kept_conditions(legs) if output.continues_conversation else (),
            is_followup=output.continues_conversation and self.last_plan is not None,
            passed_values=tuple(passed for each in linked for passed in each.passed),
            is_of_model=True,
        )

    def _link_leg(
        self, leg_id: LegId, part: PlanPartOutput, output: QuestionPlanOutput, notes: LinkingNotes, *, is_only: bool
    ) -> _LinkedLeg | None:
        """Returns the leg of a part; None with a problem noted if there is no such bucket or no such form of answer."""
        own_notes = LinkingNotes()
        set_linker = self._set_linker_for(output)
        sets = set_linker.link_sets(part, own_notes, leg_id)
        text = self._question_of(part, output, is_only=is_only)
        queries = [query for query in part.search_queries if query.strip()][:_MAX_QUERIES]
        ranking_text = queries[0] if queries else text
        found = self._link_form(part, sets, ranking_text, set_linker, own_notes) if sets else None
        if found is None:
            notes.problems += own_notes.problems
            return None
        search, answer_form = found
        others = [other for other in output.parts if other.alternative_to == part.id and other.id != part.id]
        meanings = link_other_meanings(
            others,
            found,
            set_linker,
            lambda other, other_sets, notes: self._link_form(other, other_sets, ranking_text, set_linker, notes),
            own_notes,
        )
        unknown_words = self._unknown_words(own_notes, output.not_understood if is_only else ())
        asks_about_words = bool(unknown_words) and not answer_form.reads_text
        notes.problems += own_notes.problems
        notes.assumptions += own_notes.assumptions
        notes.assumptions += self._assume_lost_words(own_notes, () if not asks_about_words else unknown_words)
        leg = Leg(id=leg_id, question=text, search=search, answer_form=answer_form, probes=tuple(queries[1:]))
        alternatives = LegAlternatives(
            leg=leg_id,
            equal_readings=meanings.readings,
            equal_forms=meanings.forms,
            wider_readings=tuple(_wider_readings(sets, leg)),
            is_understood=not own_notes.problems and not unknown_words,
            unknown_words=unknown_words if asks_about_words else (),
            text_words=self._text_words(part),
        )
        return _LinkedLeg(
            leg=leg,
            alternatives=alternatives,
            passed=tuple(values for linked_set in sets for values in linked_set.passed),
        )

    def _set_linker_for(self, output: QuestionPlanOutput) -> SetLinker:
        return SetLinker(
            question=self.question,
            lexicons=self.lexicons,
            today=self.today,
            parts={part.id: part for part in output.parts},
        )

    def _question_of(self, part: PlanPartOutput, output: QuestionPlanOutput, *, is_only: bool) -> str:
        """Returns the part as a question that can be understood alone; the words of the person may say too little."""
        stands_alone = is_only and not output.continues_conversation  # unlike "and its width?"
        return (self.question if stands_alone else part.question) or self.question

    def _link_form(
        self,
        part: PlanPartOutput,
        sets: Sequence[LinkedSet],
        ranking_text: str,
        set_linker: SetLinker,
        notes: LinkingNotes,
    ) -> tuple[Search, AnswerForm] | None:
        """Returns the set of the part and what is asked of it; None with a problem noted."""
        search = Search(clauses=tuple(linked_set.clause for linked_set in sets), ranking_text=ranking_text)
        whole = None
        if part.whole_part:
            whole = self._link_whole(part, search, set_linker, notes)
            if whole is None:
                return None
        answer_form = self._build_form(part, search, whole, notes)
        if answer_form is None:
            return None
        if whole is not None and part.form in _FORMS_OF_A_WHOLE:
            search = search.with_clauses(*map(_join_clauses, whole.clauses, search.clauses))
        return self._narrow_to_first(part, sets, search, answer_form, notes)

    def _build_form(
        self, part: PlanPartOutput, search: Search, whole: Search | None, notes: LinkingNotes
    ) -> AnswerForm | None:
        """Returns what is asked, which must be the same in each bucket; None with a problem noted."""
        forms = [
            FormLinker(bucket=bucket, lexicon=self.lexicons[bucket], notes=notes).build_form(part, whole)
            for bucket in search.buckets
        ]
        answer_form = forms[0]
        if answer_form is None or None in forms:
            return None
        read_fields = [form.fields for form in forms if isinstance(form, ReadFields)]
        if isinstance(answer_form, ReadFields) and len(read_fields) == len(forms):
            return replace(answer_form, fields=tuple(dict.fromkeys(pair for pairs in read_fields for pair in pairs)))
        if any(form != answer_form for form in forms):
            notes.report_problem(f"part {part.id}: its buckets {list_names(search.buckets)} need parts of their own")
            return None
        return answer_form

    def _link_whole(
        self, part: PlanPartOutput, search: Search, set_linker: SetLinker, notes: LinkingNotes
    ) -> Search | None:
        """Returns the set of which that of the part is a part, in the same buckets; None with a problem noted."""
        whole = set_linker.parts.get(part.whole_part)
        if whole is None or whole.id == part.id:
            notes.report_problem(f"part {part.id}: there is no other part {part.whole_part!r} that could be its whole")
            return None
        sets = set_linker.link_sets(whole, notes)
        if tuple(linked_set.clause.bucket for linked_set in sets) != search.buckets:
            notes.report_problem(f"part {part.id} and its whole, part {whole.id}, must be of the same buckets")
            return None
        return Search(clauses=tuple(linked_set.clause for linked_set in sets))

    def _narrow_to_first(
        self,
        part: PlanPartOutput,
        sets: Sequence[LinkedSet],
        search: Search,
        answer_form: AnswerForm,
        notes: LinkingNotes,
    ) -> tuple[Search, AnswerForm] | None:
        """ "The wage of the oldest": values of the first documents of an order are those of a set of its own."""
        if not isinstance(answer_form, ReadFields) or not part.order_by:
            return search, answer_form
        if any(linked_set.passed for linked_set in sets):
            notes.report_problem(f"part {part.id}: it cannot be the first of an order and of groups of another part")
            return None
        if len(search.clauses) != 1:
            notes.report_problem(f"part {part.id}: an order needs one bucket")
            return None
        [clause] = search.clauses
        order = FormLinker(bucket=clause.bucket, lexicon=self.lexicons[clause.bucket], notes=notes).find_order(part)
        if order is None:
            return None
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

    def _unknown_words(self, notes: LinkingNotes, not_understood: Sequence[str]) -> tuple[str, ...]:
        """Returns the words of the question whose meaning got lost, without function words."""
        folded = fold_text(self.question)
        words = [word.strip() for word in (*notes.unlinked_words, *not_understood)]
        return tuple(
            dict.fromkeys(
                word for word in words if word and fold_text(word) in folded and fold_text(word) not in STOP_WORDS
            )
        )

    def _text_words(self, part: PlanPartOutput) -> tuple[str, ...]:
        """Returns the words of the question that only texts decide; none if some of these are not known."""
        words = [
            condition.words.strip() if is_part_of(condition.words, self.question) else ""
            for condition in part.conditions
            if condition.field == TEXT_FIELD or condition.texts_if_missing
        ]
        return tuple(dict.fromkeys(words)) if all(words) else ()

    def _assume_lost_words(self, notes: LinkingNotes, asked_words: Sequence[str]) -> list[Assumption]:
        """Returns what is said of the conditions that could not be made and that the person is not asked about."""
        words = tuple(word for word in notes.unlinked_words if word and word.strip() not in asked_words)
        return [UnknownWords(words=words)] if words else []

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


def language_code_of(language: str) -> str:
    """Returns the ISO 639-1 code of what a model wrote: "de", "de-AT"; "en" for anything else."""
    code = language.strip().replace("_", "-").partition("-")[0].lower()
    return code if len(code) == _LANGUAGE_CODE_LETTERS and code.isalpha() else "en"


def _join_clauses(whole: Clause, clause: Clause) -> Clause:
    """Returns the clause within the whole, whose conditions a model may or may not repeat."""
    own = conjuncts_of(clause.condition)
    repeated = [condition for condition in conjuncts_of(whole.condition) if condition not in own]
    terms = (*whole.required_terms, *clause.required_terms)
    return Clause(
        bucket=clause.bucket,
        condition=conjunction_of(*repeated, clause.condition),
        required_terms=tuple(dict.fromkeys(terms)),
    )


def _wider_readings(sets: Sequence[LinkedSet], leg: Leg) -> Iterator[AlternativeReading]:
    if len(sets) != 1 or not leg.answer_form.names_a_set or leg.search.clauses != (sets[0].clause,):
        return
    [linked_set] = sets
    for condition in linked_set.wider_conditions:
        yield AlternativeReading(
            bucket=linked_set.clause.bucket,
            conditions=conjuncts_of(condition),
            search=replace(leg.search, clauses=(replace(linked_set.clause, condition=condition),)),
        )
