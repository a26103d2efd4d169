"""Asks a bot, clicks each choice that it offers, and holds all that is said to the naive evaluation.

Every click goes through the stored clarification, in a conversation of its own, since a choice counts once. What is not
as it was said raises `AssertionError`.
"""

import csv
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any as Json

from agent import loop
from agent.context import Context, Limits
from agent.outcome import Choice, ChoiceKind, Clarify, Outcome
from agent.reasoner import Decomposition, Material, Planned
from agent.rules.reasoner import RuleReasoner
from bot.access import scope_key
from bot.bootstrap import Bot
from bot.clarifications import Clicked as Chosen
from bot.ids import ChoiceId
from bot.inbound import Audience, Body, Clicked, Private, Said
from bot.spreadsheet import neutral
from bot.turns import TurnDone
from storage.search.codec import plan_from_json
from storage.search.conditions import DOC_ID, EVERYTHING, Condition, Missing, contains_text, fields_of
from storage.search.ids import BucketId, DocId, FieldName, LegId
from storage.search.index import Records
from storage.search.plan import Clause, Compute, FindPassages, Leg, ListDocuments, Plan, ReadFields, Search, Summarise
from storage.search.refinement import (
    AddBucket,
    AddFilter,
    ChooseDocument,
    CorrectWord,
    DropFilter,
    DropWord,
    ExportAll,
    JustAnswer,
    OnlyBucket,
    OnlyMissing,
    OpenTail,
    Refinement,
    SearchByMeaning,
    StartOver,
    TakeInMissing,
    TakeReading,
    UseNearest,
    apply,
)
from storage.search.schema import FieldType
from storage.search.scope import Scope
from storage.sql.conversations import Conversations
from tests.bot.conftest import Talk
from tests.scenarios.worlds import World, lacking

_NUMBERS = itertools.count(1)
_ACTIONS = (JustAnswer, SearchByMeaning, StartOver)

Write = Callable[[], Awaitable[World]]
Pick = Callable[[int], int]  # of so many


class Script:
    """A reasoner that knows some questions by heart; the others it reads by the rules."""

    name = "rule"

    def __init__(self) -> None:
        self.plans: dict[str, Planned] = {}
        self._rules = RuleReasoner()

    def decompose(self, question: str, material: Material) -> Decomposition:
        return self.plans.get(question) or self._rules.decompose(question, material)


class AlsoStartsOver:
    """The agent, which leaves starting over to be said in words, with a button for it on every question back."""

    async def answer(self, question: str, context: Context) -> Outcome:
        return _with_restart(await loop.answer(question, context))

    async def resume(self, plan: Plan, context: Context) -> Outcome:
        return _with_restart(await loop.resume(plan, context))

    def by_meaning(self, plan: Plan, leg_id: LegId) -> Plan:
        return loop.by_meaning(plan, leg_id)


def _with_restart(outcome: Outcome) -> Outcome:
    if not isinstance(outcome, Clarify):
        return outcome
    again = Choice(label="Start over", count=None, leg=outcome.leg, does=StartOver())
    return replace(outcome, choices=(*outcome.choices, again))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A turn that is over, and the conversation that it stands in."""

    talk: Talk
    done: TurnDone

    @property
    def result(self) -> Json:
        return self.done.result

    @property
    def offers(self) -> list[tuple[str, int | None, str, str]]:
        return [(one["label"], one["count"], one["kind"], repr(one["filters"])) for one in self.result["choices"]]


@dataclass(frozen=True, kw_only=True)
class Clicking:
    """Everything there is to click, in one world, by one audience."""

    bot: Bot
    world: World
    audience: Audience
    scope: Scope
    limits: Limits

    async def check(self, question: str, write: Write | None = None, pick: Pick | None = None) -> set[ChoiceKind]:
        """Asks once for each choice and clicks it; `write` changes the documents in between. The kinds clicked.

        With `pick` it goes on from one of the clicks, as long as something is offered.
        """
        first = await self.ask(question)
        rest = [await self.ask(question) for _ in first.offers[1:]]
        for other in rest:
            assert other.offers == first.offers, "the same question on an unchanged index offers otherwise"
        after = self if write is None else replace(self, world=await write())
        clicked = [await after.choose(asked, at) for at, asked in enumerate((first, *rest) if first.offers else ())]
        if pick is not None and clicked:
            await after.walk(first, clicked[pick(len(clicked))], pick)
        return {ChoiceKind(one["kind"]) for one in first.result["choices"]}

    async def walk(self, before: Asked, asked: Asked, pick: Pick) -> None:
        """On and on, three clicks at most. There are never more than two questions back in a row."""
        said = [before.result["outcome"], asked.result["outcome"]]
        while asked.offers and len(said) < 5:
            asked = await self.choose(asked, pick(len(asked.offers)))
            said.append(asked.result["outcome"])
            assert not {"overload", "ambiguous"}.issuperset(said[-3:])

    async def ask(self, question: str) -> Asked:
        """In a new conversation. What is said there is true."""
        person = str(self.audience.person) if isinstance(self.audience, Private) else "operator"
        talk = Talk(self.bot, audience=self.audience, person=person, conversation=f"c{next(_NUMBERS)}")
        asked = await self._said(talk, Said(question))
        await self.hold(asked)
        return asked

    async def choose(self, asked: Asked, at: int) -> Asked:
        """Clicks the choice at that place. It leads where it said, or says that this has changed."""
        choice = asked.result["choices"][at]
        chosen = await self._chosen(asked, choice)
        then = await self._said(asked.talk, Clicked(ChoiceId(choice["id"])))
        match chosen.does:
            case ExportAll():
                self._hold_file(chosen, then)
            case StartOver():
                assert await self._plan(then) is None
            case JustAnswer():
                await self._hold_answer(chosen, then)
            case SearchByMeaning():
                await self._hold_by_meaning(chosen, then)
            case _:
                await self._hold_click(chosen, chosen.does, then)  # pyright: ignore[reportArgumentType]
        return then

    async def _said(self, talk: Talk, body: Body) -> Asked:
        done = await self.bot.run(await talk.accepted(body), limits=self.limits)
        if done.error is not None:
            raise AssertionError(done.error) from done.cause
        return Asked(talk=talk, done=done)

    # -- what is said

    async def hold(self, asked: Asked) -> None:
        """Every number of a reply is that of the naive evaluation, on its buttons too."""
        plan = await self._plan(asked)
        if plan is None or asked.result["files"]:
            return
        several = len(plan.legs) > 1
        for leg, said in zip(plan.legs, asked.result["legs"] if several else [asked.result], strict=True):
            self._hold_leg(leg, said)
        if not several:
            self._hold_missing(plan.legs[0], asked.result)
        chosen = [await self._chosen(asked, choice) for choice in asked.result["choices"]]
        for choice, one in zip(asked.result["choices"], chosen, strict=True):
            assert one.plan == plan
            assert choice["count"] == self.number(one), f"{choice['label']!r} leads to {self.number(one)}"
            assert choice["count"] is None or choice["count"] > 0
        self._hold_sums(chosen)

    def number(self, chosen: Chosen) -> int | None:
        """What the button of a choice should say."""
        leg = chosen.plan.leg(chosen.leg)
        if isinstance(chosen.does, _ACTIONS):
            return None
        if isinstance(chosen.does, ExportAll):
            return len(self.members(leg.search))
        return self._shown(leg, apply(_refinement(chosen), leg.search))

    def members(self, search: Search) -> set[DocId]:
        return self.world.members(search, self.scope)

    def _shown(self, leg: Leg, search: Search) -> int:
        """The documents of the search that the leg is to bring."""
        limit = leg.wanted.limit if isinstance(leg.wanted, ListDocuments) else None
        found = len(self.members(search))
        return found if limit is None else min(found, limit)

    def _hold_leg(self, leg: Leg, said: Json) -> None:
        members, count, doc_ids = self.members(leg.search), said["count"], set(said["doc_ids"])
        assert doc_ids <= self.world.visible(self.scope)
        match said["outcome"], leg.wanted:
            case "overload", wanted:
                limit = self.limits.read if isinstance(wanted, Summarise) else self.limits.overload
                assert count == len(members) > limit
                assert not doc_ids
            case "no_results", ListDocuments() | Compute() | Summarise():
                assert count == 0 == len(members)
            case "answer", ListDocuments(limit=limit):
                assert count == len(doc_ids) == self._shown(leg, leg.search)
                assert doc_ids <= members
            case "answer", Compute():
                assert count == len(members)
                assert doc_ids == members
            case "answer", Summarise():
                assert count == len(members)
                assert doc_ids <= members
            case _, FindPassages() | ReadFields() | ListDocuments() | Compute() | Summarise():
                assert said["outcome"] in ("answer", "no_results", "ambiguous")
                assert not count  # 0 for an empty set, else none

    def _hold_missing(self, leg: Leg, said: Json) -> None:
        """Those that meet all else and lack the field, for each field that may be lacked."""
        for one in said["missing"]:
            [clause] = leg.search.clauses
            wanted = {len(self.members(search)) for search in lacking(clause, FieldName(one["field"]))}
            assert one["count"] in wanted - {0}

    def _hold_sums(self, chosen: list[Chosen]) -> None:
        """The buttons of one facet that does not overlap, or of all the documents or buckets, add up to the set."""
        cells = dict[tuple[LegId, str], list[Chosen]]()
        for one in chosen:
            if (split := self._split_by(one)) is not None:
                cells.setdefault((one.leg, split), []).append(one)
        for (leg_id, split), parts in cells.items():
            search = parts[0].plan.leg(leg_id).search
            assert sum(one.count or 0 for one in parts) == len(self.members(search)), f"the cells of {split!r}"

    def _split_by(self, chosen: Chosen) -> str | None:
        match chosen.does:
            case OnlyBucket():
                return "bucket"
            case ChooseDocument():
                return DOC_ID
            case OnlyMissing(field=name):
                return name
            case AddFilter(condition=condition) | OpenTail(condition=condition):
                [name] = fields_of(condition)
                [bucket, *_] = chosen.plan.leg(chosen.leg).search.buckets
                field = self.world.schemas[bucket].by_name.get(name)
                return None if field is not None and field.type is FieldType.LIST else name
            case _:
                return None

    # -- where clicks lead

    async def _hold_click(self, chosen: Chosen, does: Refinement, then: Asked) -> None:
        before = chosen.plan.leg(chosen.leg)
        leg = replace(before, search=apply(does, before.search))
        plan = await self._plan(then)
        assert plan == chosen.plan.with_search(chosen.leg, leg.search), f"{chosen.label!r} led to another search"
        members = self.members(leg.search)
        assert await self._found(leg.search) == members, f"{chosen.label!r} found others"
        self._hold_meaning(does, before.search, members)
        self._hold_note(chosen.count, self._shown(leg, leg.search), then)
        await self.hold(then)

    def _hold_meaning(self, does: Refinement, before: Search, members: set[DocId]) -> None:
        """A choice does to the set what its kind says, whatever `apply` makes of it."""
        old = self.members(before)
        match does:
            case AddFilter(condition=added, bucket=bucket) | OpenTail(condition=added, bucket=bucket):
                assert members == old & self._meeting(before, added, bucket)
            case ChooseDocument(condition=condition, bucket=bucket):
                assert members == old & self._meeting(before, condition, bucket)
            case OnlyMissing(field=name, bucket=bucket):
                assert members == old & self._meeting(before, Missing(field=name), bucket)
            case OnlyBucket(bucket=bucket):
                assert members == old & {one.doc_id for one in self.world.documents[bucket]}
            case TakeInMissing(field=name, bucket=bucket):
                assert old <= members <= old | self._meeting(before, Missing(field=name), bucket)
            case DropFilter() | DropWord():
                assert old <= members
            case AddBucket(clause=clause):
                kept = before.with_clauses(*(one for one in before.clauses if one.bucket != clause.bucket))
                assert members == self.members(kept) | self.members(Search(clauses=(clause,)))
            case TakeReading(search=search):
                assert members == self.members(search)
            case UseNearest(new=new, bucket=bucket):
                assert members <= self._meeting(before, new, bucket)
            case CorrectWord(old=word, new=other):
                clauses = [one for one in before.clauses if word in one.required]
                for clause in clauses:
                    assert members <= self._meeting(before, contains_text(other), clause.bucket)

    def _meeting(self, search: Search, condition: Condition, bucket: BucketId | None) -> set[DocId]:
        """What meets a condition that is put to one bucket of a search, or to all; of the others everything."""
        put = (EVERYTHING if bucket not in (None, one) else condition for one in search.buckets)
        clauses = [Clause(bucket=one, condition=what) for one, what in zip(search.buckets, put, strict=True)]
        return self.members(search.with_clauses(*clauses))

    def _hold_note(self, was: int | None, now: int, then: Asked) -> None:
        note = f"_now {now:,}, was {was:,}_"
        assert (note in then.result["text"]) == (now != was), f"{now} now, {was} was said: {then.result['text']}"
        assert then.result["text"].count("_now ") == (now != was)

    def _hold_file(self, chosen: Chosen, then: Asked) -> None:
        members = self.members(chosen.plan.leg(chosen.leg).search)
        [file] = then.result["files"]
        assert rows_of(Path(file["path"])) == sorted(map(neutral, members))
        assert file["rows"] == then.result["count"] == len(members)
        self._hold_note(chosen.count, len(members), then)

    async def _hold_answer(self, chosen: Chosen, then: Asked) -> None:
        """Never another question back; only an empty set, or a text that does not say it, is still nothing."""
        assert await self._plan(then) == chosen.plan
        assert then.result["outcome"] in ("answer", "no_results")
        await self.hold(then)

    async def _hold_by_meaning(self, chosen: Chosen, then: Asked) -> None:
        plan = await self._plan(then)
        assert plan is not None
        leg = plan.leg(chosen.leg)
        assert isinstance(leg.wanted, FindPassages)
        assert not any(clause.required for clause in leg.search.clauses)
        await self.hold(then)

    # -- what is stored

    async def _plan(self, asked: Asked) -> Plan | None:
        """The last plan of the conversation."""
        state = await Conversations(self.bot.database).load(asked.talk.conversation, scope_key(self.scope))
        return None if state.last_plan is None else plan_from_json(dict(state.last_plan))

    async def _chosen(self, asked: Asked, choice: Json) -> Chosen:
        """What is stored of a choice that was not clicked yet."""
        id_ = ChoiceId(choice["id"])
        return await self.bot.clarifications.look_up(id_, asked.talk.inbound(Clicked(id_)))

    async def _found(self, search: Search) -> set[DocId]:
        """What the index itself finds."""
        request = Records(search)
        return {one.doc_id for one in (await self.bot.index.within(self.scope).ask(request))[request].records}


def _refinement(chosen: Chosen) -> Refinement:
    does = chosen.does
    assert not isinstance(does, (ExportAll, *_ACTIONS))
    return does  # pyright: ignore[reportReturnType]


def rows_of(path: Path) -> list[str]:
    """The document ids of a file, in order of id."""
    with path.open(encoding="utf-8", newline="") as file:
        return sorted(row[0] for row in list(csv.reader(file))[1:])
