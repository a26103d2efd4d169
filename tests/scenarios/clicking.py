"""Asks a bot, clicks each choice that it offers, and compares all results with the naive evaluation.

Every click uses the stored clarification in a separate conversation, because a choice counts only once. A wrong result
raises `AssertionError`.
"""

import csv
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any as Json

from agent import loop
from agent.context import AgentContext
from agent.decomposition import Decomposition, PlannedQuestion, QuestionContext
from agent.limits import AnswerLimits
from agent.outcome import Choice, ChoiceKind, Clarify, Outcome
from agent.rules.reasoner import RuleReasoner
from bot.access.audience_scope import scope_key_of
from bot.application import Application
from bot.conversation.clarifications import SelectedChoice as Chosen
from bot.conversation.spreadsheet import neutralise_formula
from bot.ids import ChoiceId
from bot.surface.inbound import Audience, ButtonClick, InboundBody, PrivateAudience, TextMessage
from bot.turns.turn_processor import FinishedTurn
from storage.search.codec import plan_from_json
from storage.search.conditions import (
    DOC_ID_FIELD,
    MATCH_ALL,
    Condition,
    MissingCondition,
    NotCondition,
    fields_of,
    text_condition_for,
)
from storage.search.ids import BucketId, DocId, FieldName, LegId
from storage.search.index import RecordPageRequest
from storage.search.plan import Clause, FindPassages, Leg, ListDocuments, Plan, Search, SummariseDocuments
from storage.search.refinement import (
    AddBucket,
    AddFilter,
    ChooseDocument,
    CorrectWord,
    DropFilter,
    DropWord,
    ExportAll,
    IncludeMissing,
    JustAnswer,
    OnlyBucket,
    OnlyMissing,
    OpenTail,
    Refinement,
    SearchByMeaning,
    StartOver,
    UseForm,
    UseNearest,
    UseReading,
    apply_refinement,
)
from storage.search.schema import FieldType
from storage.search.scope import Scope
from storage.sql.stores.conversations import ConversationStore
from tests.bot.conftest import ConversationDriver
from tests.scenarios.worlds import DocumentWorld, others_of_plain_search, search_with_conditions, searches_for_missing

_NUMBERS = itertools.count(1)
_ACTIONS = (JustAnswer, SearchByMeaning, StartOver)

Write = Callable[[], Awaitable[DocumentWorld]]
Pick = Callable[[int], int]  # from the number of choices to the index of one choice


class ScriptedReasoner(RuleReasoner):
    """The rule reasoner with prepared plans for some questions."""

    def __init__(self) -> None:
        super().__init__()
        self.plans: dict[str, PlannedQuestion] = {}

    async def decompose_question(self, question: str, question_context: QuestionContext) -> Decomposition:
        return self.plans.get(question) or await super().decompose_question(question, question_context)


class RestartOfferingAgent:
    """The agent with a button for starting over on every clarification."""

    async def answer(self, question: str, context: AgentContext) -> Outcome:
        return _with_restart(await loop.answer(question, context))

    async def resume(self, plan: Plan, context: AgentContext) -> Outcome:
        return _with_restart(await loop.resume(plan, context))

    def apply_search_by_meaning(self, plan: Plan, leg_id: LegId) -> Plan:
        return loop.apply_search_by_meaning(plan, leg_id)


def _with_restart(outcome: Outcome) -> Outcome:
    if not isinstance(outcome, Clarify):
        return outcome
    start_over = Choice(label="Start over", count=None, leg=outcome.leg, effect=StartOver())
    return replace(outcome, choices=(*outcome.choices, start_over))


@dataclass(frozen=True, kw_only=True)
class ConversationTurn:
    """A finished turn and its conversation."""

    talk: ConversationDriver
    finished_turn: FinishedTurn

    @property
    def result(self) -> Json:
        return self.finished_turn.result

    @property
    def offers(self) -> list[tuple[str, int | None, str, str]]:
        return [
            (choice["label"], choice["count"], choice["kind"], repr(choice["filters"]))
            for choice in self.result["choices"]
        ]


@dataclass(frozen=True, kw_only=True)
class ChoiceChecker:
    """Clicks and checks all choices in one world for one audience."""

    bot: Application
    world: DocumentWorld
    audience: Audience
    scope: Scope
    limits: AnswerLimits

    async def check_question(
        self, question: str, write: Write | None = None, pick: Pick | None = None
    ) -> set[ChoiceKind]:
        """Ask once for each choice and click it. `write` changes the documents in between. Returns the clicked kinds.

        With `pick` it continues from one of the clicks, as long as there are choices.
        """
        first_turn = await self.ask_question(question)
        other_turns = [await self.ask_question(question) for _ in first_turn.offers[1:]]
        for other_turn in other_turns:
            assert other_turn.offers == first_turn.offers, "the same question on an unchanged index offers otherwise"
        checker = self if write is None else replace(self, world=await write())
        clicked_turns = [
            await checker.click_choice(turn, index)
            for index, turn in enumerate((first_turn, *other_turns) if first_turn.offers else ())
        ]
        if pick is not None and clicked_turns:
            await checker.click_on(first_turn, clicked_turns[pick(len(clicked_turns))], pick)
        return {ChoiceKind(choice["kind"]) for choice in first_turn.result["choices"]}

    async def click_on(self, previous_turn: ConversationTurn, turn: ConversationTurn, pick: Pick) -> None:
        """Click on, three times at most, and check that there are at most two clarifications in a row."""
        outcomes = [previous_turn.result["outcome"], turn.result["outcome"]]
        while turn.offers and len(outcomes) < 5:
            turn = await self.click_choice(turn, pick(len(turn.offers)))
            outcomes.append(turn.result["outcome"])
            assert not {"overload", "ambiguous"}.issuperset(outcomes[-3:])

    async def ask_question(self, question: str) -> ConversationTurn:
        """Ask in a new conversation and check the reply."""
        person = str(self.audience.person) if isinstance(self.audience, PrivateAudience) else "operator"
        talk = ConversationDriver(self.bot, audience=self.audience, person=person, conversation=f"c{next(_NUMBERS)}")
        turn = await self._run_turn(talk, TextMessage(question))
        await self.check_turn(turn)
        return turn

    async def click_choice(self, turn: ConversationTurn, index: int) -> ConversationTurn:
        """Click the choice at this index. Its result must match its button, or say what has changed."""
        choice = turn.result["choices"][index]
        selected = await self._look_up_choice(turn, choice)
        click_turn = await self._run_turn(turn.talk, ButtonClick(ChoiceId(choice["id"])))
        match selected.effect:
            case ExportAll():
                self._check_file(selected, click_turn)
            case StartOver():
                assert await self._load_last_plan(click_turn) is None
            case JustAnswer():
                await self._check_just_answer(selected, click_turn)
            case SearchByMeaning():
                await self._check_search_by_meaning(selected, click_turn)
            case _:
                await self._check_click(selected, selected.effect, click_turn)  # pyright: ignore[reportArgumentType]
        return click_turn

    async def _run_turn(self, talk: ConversationDriver, body: InboundBody) -> ConversationTurn:
        finished_turn = await self.bot.run_turn(await talk.accept_body(body), limits=self.limits)
        if finished_turn.error is not None:
            raise AssertionError(finished_turn.error) from finished_turn.cause
        return ConversationTurn(talk=talk, finished_turn=finished_turn)

    # -- replies

    async def check_turn(self, turn: ConversationTurn) -> None:
        """Check every number of a reply and of its buttons against the naive evaluation."""
        plan = await self._load_last_plan(turn)
        if plan is None or turn.result["files"]:
            return
        has_many_legs = len(plan.legs) > 1
        for leg, leg_result in zip(plan.legs, turn.result["legs"] if has_many_legs else [turn.result], strict=True):
            self._check_leg(leg, leg_result)
        if not has_many_legs:
            self._check_missing_counts(plan.legs[0], turn.result)
            self._check_unstated_counts(plan.legs[0], turn.result)
        selected_choices = [await self._look_up_choice(turn, choice) for choice in turn.result["choices"]]
        for choice, selected in zip(turn.result["choices"], selected_choices, strict=True):
            assert selected.plan == plan
            assert choice["count"] == self.expected_count_of(selected), (
                f"{choice['label']!r} leads to {self.expected_count_of(selected)}"
            )
            assert choice["count"] is None or choice["count"] > 0
        self._check_sums(selected_choices)

    def expected_count_of(self, chosen: Chosen) -> int | None:
        """The count that the button of a choice must show."""
        leg = chosen.plan.leg_by_id(chosen.leg)
        if isinstance(chosen.effect, _ACTIONS):
            return None
        if isinstance(chosen.effect, ExportAll):
            return len(self.members_of(leg.search))
        if isinstance(chosen.effect, UseForm):
            leg = replace(leg, answer_form=chosen.effect.answer_form)
        return self._shown_count_of(leg, apply_refinement(_refinement_of(chosen), leg.search))

    def members_of(self, search: Search) -> set[DocId]:
        return self.world.members_of(search, self.scope)

    def _shown_count_of(self, leg: Leg, search: Search) -> int:
        """The number of documents of the search that the leg shows."""
        limit = leg.answer_form.limit if isinstance(leg.answer_form, ListDocuments) else None
        document_count = len(self.members_of(search))
        return document_count if limit is None else min(document_count, limit)

    def _check_leg(self, leg: Leg, leg_result: Json) -> None:
        members, count, doc_ids = self.members_of(leg.search), leg_result["count"], set(leg_result["doc_ids"])
        assert doc_ids <= self.world.visible_documents(self.scope)
        match leg_result["outcome"], leg.answer_form:
            case "overload", answer_form:
                limit = (
                    self.limits.read_documents
                    if isinstance(answer_form, SummariseDocuments)
                    else self.limits.overload_documents
                )
                assert count == len(members) > limit
                assert not doc_ids
            case "no_results", wanted if wanted.names_a_set:
                assert count == 0 == len(members)
            case "answer", ListDocuments(limit=limit):
                assert count == len(doc_ids) == self._shown_count_of(leg, leg.search)
                assert doc_ids <= members
            case "answer", wanted if wanted.computes:
                assert count == len(members)
                assert doc_ids == members
            case "answer", SummariseDocuments():
                assert count == len(members)
                assert doc_ids <= members
            case _:
                assert leg_result["outcome"] in ("answer", "no_results", "ambiguous")
                assert not count  # 0 for an empty set, else none

    def _check_missing_counts(self, leg: Leg, result: Json) -> None:
        """Check, for each missing field, the number of documents that meet all other conditions but lack the field."""
        for missing in result["missing"]:
            [clause] = leg.search.clauses
            possible_counts = {
                len(self.members_of(search)) for search in searches_for_missing(clause, FieldName(missing["field"]))
            }
            assert missing["count"] in possible_counts - {0}

    def _check_unstated_counts(self, leg: Leg, result: Json) -> None:
        """Check, for the fields of the conditions, the documents that only a missing value keeps out of the set."""
        known = self.members_of(leg.search)
        for unstated in result["unstated"]:
            if unstated["role"] != "condition":
                [name] = unstated["fields"]
                lacking = self.members_of(leg.search.with_condition(MissingCondition(field=FieldName(name))))
                assert (unstated["count"], unstated["of"]) == (len(lacking), len(known))
                continue
            every = self.members_of(search_with_conditions(leg.search, lambda _: MATCH_ALL))
            false = self.members_of(search_with_conditions(leg.search, NotCondition))
            unknown = every - known - false
            assert 0 < unstated["count"] <= len(unknown)
            assert len(known) + unstated["count"] <= unstated["of"] <= len(every)
            if (others := others_of_plain_search(leg.search, self.world, self.scope)) is not None:
                assert (unstated["count"], unstated["of"]) == (len(unknown), len(self.members_of(others)))

    def _check_sums(self, chosen: list[Chosen]) -> None:
        """Check that the counts of a facet without overlaps, or of all documents or buckets, add up to the set."""
        choices_by_split = dict[tuple[LegId, str], list[Chosen]]()
        for selected in chosen:
            if (split := self._split_by(selected)) is not None:
                choices_by_split.setdefault((selected.leg, split), []).append(selected)
        for (leg_id, split), cell_choices in choices_by_split.items():
            search = cell_choices[0].plan.leg_by_id(leg_id).search
            assert sum(selected.count or 0 for selected in cell_choices) == len(self.members_of(search)), (
                f"the cells of {split!r}"
            )

    def _split_by(self, chosen: Chosen) -> str | None:
        match chosen.effect:
            case OnlyBucket():
                return "bucket"
            case ChooseDocument():
                return DOC_ID_FIELD
            case OnlyMissing(field=name):
                return name
            case AddFilter(condition=condition) | OpenTail(condition=condition):
                [name] = fields_of(condition)
                [bucket, *_] = chosen.plan.leg_by_id(chosen.leg).search.buckets
                field = self.world.schemas[bucket].by_name.get(name)
                return None if field is not None and field.type is FieldType.LIST else name
            case _:
                return None

    # -- where clicks lead

    async def _check_click(self, chosen: Chosen, effect: Refinement, click_turn: ConversationTurn) -> None:
        old_leg = chosen.plan.leg_by_id(chosen.leg)
        form = effect.answer_form if isinstance(effect, UseForm) else old_leg.answer_form
        leg = replace(old_leg, search=apply_refinement(effect, old_leg.search), answer_form=form)
        plan = await self._load_last_plan(click_turn)
        expected = chosen.plan.with_search(chosen.leg, leg.search).with_answer_form(chosen.leg, form)
        assert plan == expected, f"{chosen.label!r} led to another search"
        members = self.members_of(leg.search)
        assert await self._find_documents(leg.search) == members, f"{chosen.label!r} found others"
        self._check_effect(effect, old_leg.search, members)
        self._check_note(chosen.count, self._shown_count_of(leg, leg.search), click_turn)
        await self.check_turn(click_turn)

    def _check_effect(self, effect: Refinement, old_search: Search, members: set[DocId]) -> None:
        """Check the effect of a choice on the set by its kind, independently of `apply_refinement`."""
        old_members = self.members_of(old_search)
        match effect:
            case AddFilter(condition=added, bucket=bucket) | OpenTail(condition=added, bucket=bucket):
                assert members == old_members & self._members_meeting(old_search, added, bucket)
            case ChooseDocument(condition=condition, bucket=bucket):
                assert members == old_members & self._members_meeting(old_search, condition, bucket)
            case OnlyMissing(field=name, bucket=bucket):
                assert members == old_members & self._members_meeting(old_search, MissingCondition(field=name), bucket)
            case OnlyBucket(bucket=bucket):
                assert members == old_members & {document.doc_id for document in self.world.documents[bucket]}
            case IncludeMissing(field=name, bucket=bucket):
                assert (
                    old_members
                    <= members
                    <= old_members | self._members_meeting(old_search, MissingCondition(field=name), bucket)
                )
            case DropFilter() | DropWord():
                assert old_members <= members
            case AddBucket(clause=clause):
                kept_search = old_search.with_clauses(
                    *(old_clause for old_clause in old_search.clauses if old_clause.bucket != clause.bucket)
                )
                assert members == self.members_of(kept_search) | self.members_of(Search(clauses=(clause,)))
            case UseReading(search=search) | UseForm(search=search):
                assert members == self.members_of(search)
            case UseNearest(new=new_condition, bucket=bucket):
                assert members <= self._members_meeting(old_search, new_condition, bucket)
            case CorrectWord(old=misspelt_word, new=corrected_word):
                clauses = [clause for clause in old_search.clauses if misspelt_word in clause.required_terms]
                for clause in clauses:
                    assert members <= self._members_meeting(
                        old_search, text_condition_for(corrected_word), clause.bucket
                    )

    def _members_meeting(self, search: Search, condition: Condition, bucket: BucketId | None) -> set[DocId]:
        """The documents that meet a condition on one bucket of a search, or on all; everything in other buckets."""
        conditions = (
            MATCH_ALL if bucket not in (None, search_bucket) else condition for search_bucket in search.buckets
        )
        clauses = [
            Clause(bucket=search_bucket, condition=bucket_condition)
            for search_bucket, bucket_condition in zip(search.buckets, conditions, strict=True)
        ]
        return self.members_of(search.with_clauses(*clauses))

    def _check_note(self, previous: int | None, current: int, click_turn: ConversationTurn) -> None:
        note = f"_now {current:,}, was {previous:,}_"
        assert (note in click_turn.result["text"]) == (current != previous), (
            f"{current} now, {previous} was said: {click_turn.result['text']}"
        )
        assert click_turn.result["text"].count("_now ") == (current != previous)

    def _check_file(self, chosen: Chosen, click_turn: ConversationTurn) -> None:
        members = self.members_of(chosen.plan.leg_by_id(chosen.leg).search)
        [file] = click_turn.result["files"]
        assert doc_ids_in_csv(Path(file["path"])) == sorted(map(neutralise_formula, members))
        assert file["rows"] == click_turn.result["count"] == len(members)
        self._check_note(chosen.count, len(members), click_turn)

    async def _check_just_answer(self, chosen: Chosen, click_turn: ConversationTurn) -> None:
        """Check that the result is no clarification. Only an empty set or a text without an answer has no results."""
        assert await self._load_last_plan(click_turn) == chosen.plan
        assert click_turn.result["outcome"] in ("answer", "no_results")
        await self.check_turn(click_turn)

    async def _check_search_by_meaning(self, chosen: Chosen, click_turn: ConversationTurn) -> None:
        plan = await self._load_last_plan(click_turn)
        assert plan is not None
        leg = plan.leg_by_id(chosen.leg)
        assert isinstance(leg.answer_form, FindPassages)
        assert not any(clause.required_terms for clause in leg.search.clauses)
        await self.check_turn(click_turn)

    # -- stored state

    async def _load_last_plan(self, turn: ConversationTurn) -> Plan | None:
        """The last plan of the conversation."""
        state = await ConversationStore(self.bot.database).load_state(turn.talk.conversation, scope_key_of(self.scope))
        return None if state.last_plan is None else plan_from_json(dict(state.last_plan))

    async def _look_up_choice(self, turn: ConversationTurn, choice: Json) -> Chosen:
        """The stored form of a choice that was not clicked yet."""
        id_ = ChoiceId(choice["id"])
        return await self.bot.clarifications.look_up_choice(id_, turn.talk.build_inbound(ButtonClick(id_)))

    async def _find_documents(self, search: Search) -> set[DocId]:
        """The documents that the index finds."""
        request = RecordPageRequest(search)
        return {
            record.doc_id
            for record in (await self.bot.index.within_scope(self.scope).answer_requests(request))[request].records
        }


def _refinement_of(chosen: Chosen) -> Refinement:
    effect = chosen.effect
    assert not isinstance(effect, (ExportAll, *_ACTIONS))
    return effect  # pyright: ignore[reportReturnType]


def doc_ids_in_csv(path: Path) -> list[str]:
    """The document ids in a CSV file, sorted."""
    with path.open(encoding="utf-8", newline="") as file:
        return sorted(row[0] for row in list(csv.reader(file))[1:])
