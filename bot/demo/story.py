"""The story that the demo plays, and how each of its steps must end.

What must come out is worked out from the generator's own records, by code of its own: nothing here asks an index.
"""

import csv
import re
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from bot.demo.records import Record
from bot.ids import ChoiceId
from bot.inbound import Body, Clicked, Said

if TYPE_CHECKING:
    from bot.demo.corpus import Corpus
    from bot.turns import TurnDone

_EVERY_TIRE = "List every tire purchase receipt"
_IN_TYPED_YEAR = "only 2024"
_EXPORT = "export"
_ACME = "Contracts with ACME for 2031"
_LOOKUP = "How often must the air filter of the battery cabinet B-120 be replaced?"
_DISJOINT = ("filter", "more", "missing")  # buttons of one facet
Result = Mapping[str, Any]
Holds = Callable[[Record], bool]


class Otherwise(Exception):
    """A step ended otherwise than the story says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A conversation of its own."""

    title: str
    as_stranger: bool = False


class Stage(Protocol):
    """Where a scene is played. `shown` is what a person would type or press."""

    async def turn(self, body: Body, shown: str) -> "TurnDone": ...


Open = Callable[[Scene], Stage]


async def play(corpus: "Corpus", open_scene: Open) -> None:
    """Every scene in order. Raises `Otherwise`."""
    scenes: tuple[Callable[[Corpus, Open], Awaitable[None]], ...] = (_too_much, _nothing, _cited, _stranger)
    for scene in scenes:
        await scene(corpus, open_scene)


# -- the scenes


async def _too_much(corpus: "Corpus", open_scene: Open) -> None:
    stage = open_scene(Scene(title="Too many results: Parley asks back"))
    tires = [one for one in corpus.buckets["receipts"].records if one["metadata"].get("category") == "tires"]
    asked = await _said(stage, _EVERY_TIRE)
    _expect(asked, outcome="overload", count=len(tires))
    facet = [choice for choice in asked["choices"] if choice["kind"] in _DISJOINT]
    _same("the numbers on the buttons add up", sum(choice["count"] for choice in facet), len(tires))
    _same("the export has every row", [_export(asked)["count"]], [len(tires)])

    chosen = max((one for one in facet if one["kind"] == "filter"), key=lambda choice: choice["count"])
    narrowed = [one for one in tires if _holds(chosen["filters"], one)]
    clicked = await _clicked(stage, chosen)
    _same(f"{chosen['label']!r} leads where it said", clicked["count"], len(narrowed))
    _same("its number was true", chosen["count"], len(narrowed))

    typed = await _said(stage, _IN_TYPED_YEAR)
    in_year = [one for one in narrowed if str(one["metadata"].get("date", "")).startswith("2024")]
    _same("the typed year narrows", typed["count"], len(in_year))

    exported = await _said(stage, _EXPORT)
    _same("one file arrives", len(exported["files"]), 1)
    _same("it holds exactly the set", _ids_in(Path(exported["files"][0]["path"])), sorted(_ids(in_year)))


async def _nothing(corpus: "Corpus", open_scene: Open) -> None:
    stage = open_scene(Scene(title="No result: every way out is counted"))
    asked = await _said(stage, _ACME)
    _expect(asked, outcome="no_results", count=0)
    ways = [choice for choice in asked["choices"] if choice["count"] is not None]
    if not ways or min(choice["count"] for choice in ways) < 1:
        raise Otherwise("no counted way out was offered")
    acme = [one for one in corpus.buckets["contracts"].records if _is_with(one, "ACME Corporation")]
    dropped = next((one for one in ways if one["kind"] == "drop" and one["count"] == len(acme)), None)
    if dropped is None:
        raise Otherwise(f"no button leads to the {len(acme)} contracts with ACME of other years")
    clicked = await _clicked(stage, dropped)
    _same("the way out leads where it said", clicked["count"], len(acme))
    if clicked["outcome"] == "answer":
        _same("to the contracts with ACME", sorted(clicked["doc_ids"]), sorted(_ids(acme)))


async def _cited(corpus: "Corpus", open_scene: Open) -> None:
    stage = open_scene(Scene(title="One fact, with its page"))
    manual = next(one for one in corpus.buckets["manuals"].records if "B-120" in one["title"])
    found = re.search(r"Replace the air filter every (\d+ months)", manual["text"])
    if found is None:
        raise Otherwise("the generator's manual of the B-120 has no such sentence")
    page = bisect_right(manual["page_starts"] or [0], found.start())
    answer = await _said(stage, _LOOKUP)
    _expect(answer, outcome="answer")
    if found[1] not in answer["text"]:
        raise Otherwise(f"the answer does not say {found[1]!r}")
    cited = {(citation["doc_id"], citation["page"]) for citation in answer["citations"]}
    if (manual["doc_id"], page) not in cited:
        raise Otherwise(f"page {page} of {manual['title']!r} is not cited, but {sorted(cited)}")


async def _stranger(corpus: "Corpus", open_scene: Open) -> None:
    stage = open_scene(Scene(title="Somebody without the grant", as_stranger=True))
    result = await _said(stage, _EVERY_TIRE)
    _expect(result, outcome="refused", count=None)
    for shown in ("doc_ids", "hits", "citations", "choices", "groups", "values", "files", "missing"):
        _same(f"nothing is shown of the documents ({shown})", result[shown], [])


# -- turns and what must hold


async def _said(stage: Stage, text: str) -> Result:
    return _ended(await stage.turn(Said(text), text))


async def _clicked(stage: Stage, choice: Result) -> Result:
    return _ended(await stage.turn(Clicked(ChoiceId(choice["id"])), f"[{choice['label']} · {choice['count']:,}]"))


def _ended(done: "TurnDone") -> Result:
    if done.error is not None:
        raise Otherwise(f"a turn failed: {done.error}") from done.cause
    return done.result


def _expect(result: Result, **wanted: object) -> None:
    for key, value in wanted.items():
        _same(f"{result['question']!r}: {key}", result[key], value)


def _same(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise Otherwise(f"{what}: {_short(found)} in place of {_short(wanted)}")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 100 else f"{text[:100]} …"


def _export(result: Result) -> Result:
    for choice in result["choices"]:
        if choice["kind"] == "export":
            return choice
    raise Otherwise("no export was offered")


# -- the records, seen without any index


def _ids(records: Sequence[Record]) -> list[str]:
    return [one["doc_id"] for one in records]


def _is_with(record: Record, party: str) -> bool:
    return party in cast(list[str], record["metadata"].get("parties", []))


def _ids_in(file: Path) -> list[str]:
    """The ids in a CSV that Parley wrote, without the apostrophe that keeps spreadsheets from computing."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        return sorted(row["doc_id"].removeprefix("'") for row in csv.DictReader(lines))


def _holds(filters: object, record: Record) -> bool:
    """Whether a record meets the filters of a choice, in their JSON form; unknown is not met."""
    if isinstance(filters, list):
        return all(_holds(one, record) for one in cast(list[object], filters))
    one = cast(dict[str, Any], filters)
    for connective, combine in (("all", all), ("any", any)):
        if connective in one:
            return combine(_holds(member, record) for member in one[connective])
    if "not" in one:
        return not _holds(one["not"], record)
    value = record["metadata"].get(one["field"])
    return value is None if one["op"] == "missing" else value is not None and _compares(one["op"], value, one["value"])


def _compares(op: str, value: Any, wanted: Any) -> bool:
    match op:
        case "eq":
            return value == wanted
        case "in":
            return value in wanted
        case "has":
            return wanted in value
        case "between":
            return wanted[0] <= value <= wanted[1]
        case "gte":
            return value >= wanted
        case "gt":
            return value > wanted
        case "lte":
            return value <= wanted
        case "lt":
            return value < wanted
        case _:
            raise Otherwise(f"a button of the story compares by {op!r}, which it should not")
