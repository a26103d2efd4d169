"""The story that the demo plays, with the expected result of each step.

Expected results are computed from the generator's records, with code that uses no index.
"""

import csv
import re
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from bot.demo.records import CorpusRecord
from bot.ids import ChoiceId
from bot.surface.inbound import ButtonClick, InboundBody, TextMessage

if TYPE_CHECKING:
    from bot.demo.corpus import DemoCorpus
    from bot.turns.turn_processor import FinishedTurn

_LIST_TIRES_QUESTION = "List every tire purchase receipt"
_YEAR_FOLLOW_UP = "only 2024"
_EXPORT_COMMAND = "export"
_ACME_QUESTION = "Contracts with ACME for 2031"
_LOOKUP_QUESTION = "How often must the air filter of the battery cabinet B-120 be replaced?"
_FACET_CHOICE_KINDS = ("filter", "more", "missing")  # buttons of one facet
ResultJson = Mapping[str, Any]


class StoryMismatch(Exception):
    """A step did not end as the story expects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryScene:
    """A separate conversation of the story."""

    title: str
    as_stranger: bool = False


class ScenePlayer(Protocol):
    """Plays the turns of a scene. `display_text` is the text that a person types or the button that they press."""

    async def run_turn(self, body: InboundBody, display_text: str) -> "FinishedTurn": ...


OpenScene = Callable[[StoryScene], ScenePlayer]


async def play_story(corpus: "DemoCorpus", open_scene: OpenScene) -> None:
    """Play every scene in order. Raises `StoryMismatch`."""
    scenes: tuple[Callable[[DemoCorpus, OpenScene], Awaitable[None]], ...] = (
        _play_overload,
        _play_no_results,
        _play_citation,
        _play_refusal,
    )
    for scene in scenes:
        await scene(corpus, open_scene)


# -- the scenes


async def _play_overload(corpus: "DemoCorpus", open_scene: OpenScene) -> None:
    stage = open_scene(StoryScene(title="Too many results: Parley asks back"))
    tires = [
        receipt for receipt in corpus.buckets["receipts"].records if receipt["metadata"].get("category") == "tires"
    ]
    listed = await _send_message(stage, _LIST_TIRES_QUESTION)
    _expect_fields(listed, outcome="overload", count=len(tires))
    facet_choices = [choice for choice in listed["choices"] if choice["kind"] in _FACET_CHOICE_KINDS]
    _expect_equal("the numbers on the buttons add up", sum(choice["count"] for choice in facet_choices), len(tires))
    _expect_equal("the export has every row", [_find_export_choice(listed)["count"]], [len(tires)])

    largest_choice = max(
        (choice for choice in facet_choices if choice["kind"] == "filter"), key=lambda choice: choice["count"]
    )
    narrowed_tires = [receipt for receipt in tires if _meets_filters(largest_choice["filters"], receipt)]
    clicked_result = await _click_choice(stage, largest_choice)
    _expect_equal(f"{largest_choice['label']!r} leads where it said", clicked_result["count"], len(narrowed_tires))
    _expect_equal("its number was true", largest_choice["count"], len(narrowed_tires))

    year_result = await _send_message(stage, _YEAR_FOLLOW_UP)
    tires_in_year = [
        receipt for receipt in narrowed_tires if str(receipt["metadata"].get("date", "")).startswith("2024")
    ]
    _expect_equal("the typed year narrows", year_result["count"], len(tires_in_year))

    export_result = await _send_message(stage, _EXPORT_COMMAND)
    _expect_equal("one file arrives", len(export_result["files"]), 1)
    _expect_equal(
        "it holds exactly the set",
        _read_csv_ids(Path(export_result["files"][0]["path"])),
        sorted(_document_ids_of(tires_in_year)),
    )


async def _play_no_results(corpus: "DemoCorpus", open_scene: OpenScene) -> None:
    stage = open_scene(StoryScene(title="No result: every way out is counted"))
    no_results = await _send_message(stage, _ACME_QUESTION)
    _expect_fields(no_results, outcome="no_results", count=0)
    counted_choices = [choice for choice in no_results["choices"] if choice["count"] is not None]
    if not counted_choices or min(choice["count"] for choice in counted_choices) < 1:
        raise StoryMismatch("no counted way out was offered")
    acme_contracts = [
        contract for contract in corpus.buckets["contracts"].records if _has_party(contract, "ACME Corporation")
    ]
    drop_choice = next(
        (choice for choice in counted_choices if choice["kind"] == "drop" and choice["count"] == len(acme_contracts)),
        None,
    )
    if drop_choice is None:
        raise StoryMismatch(f"no button leads to the {len(acme_contracts)} contracts with ACME of other years")
    clicked_result = await _click_choice(stage, drop_choice)
    _expect_equal("the way out leads where it said", clicked_result["count"], len(acme_contracts))
    if clicked_result["outcome"] == "answer":
        _expect_equal(
            "to the contracts with ACME", sorted(clicked_result["doc_ids"]), sorted(_document_ids_of(acme_contracts))
        )


async def _play_citation(corpus: "DemoCorpus", open_scene: OpenScene) -> None:
    stage = open_scene(StoryScene(title="One fact, with its page"))
    manual = next(record for record in corpus.buckets["manuals"].records if "B-120" in record["title"])
    match = re.search(r"Replace the air filter every (\d+ months)", manual["text"])
    if match is None:
        raise StoryMismatch("the generator's manual of the B-120 has no such sentence")
    page = bisect_right(manual["page_starts"] or [0], match.start())
    answer = await _send_message(stage, _LOOKUP_QUESTION)
    _expect_fields(answer, outcome="answer")
    if match[1] not in answer["text"]:
        raise StoryMismatch(f"the answer does not say {match[1]!r}")
    cited = {(citation["doc_id"], citation["page"]) for citation in answer["citations"]}
    if (manual["doc_id"], page) not in cited:
        raise StoryMismatch(f"page {page} of {manual['title']!r} is not cited, but {sorted(cited)}")


async def _play_refusal(corpus: "DemoCorpus", open_scene: OpenScene) -> None:
    stage = open_scene(StoryScene(title="Somebody without the grant", as_stranger=True))
    result = await _send_message(stage, _LIST_TIRES_QUESTION)
    _expect_fields(result, outcome="refused", count=None)
    for key in ("doc_ids", "hits", "citations", "choices", "groups", "values", "files", "missing"):
        _expect_equal(f"nothing is shown of the documents ({key})", result[key], [])


# -- turns and expectations


async def _send_message(player: ScenePlayer, text: str) -> ResultJson:
    return _result_of_turn(await player.run_turn(TextMessage(text), text))


async def _click_choice(player: ScenePlayer, choice: ResultJson) -> ResultJson:
    return _result_of_turn(
        await player.run_turn(ButtonClick(ChoiceId(choice["id"])), f"[{choice['label']} · {choice['count']:,}]")
    )


def _result_of_turn(turn_done: "FinishedTurn") -> ResultJson:
    if turn_done.error is not None:
        raise StoryMismatch(f"a turn failed: {turn_done.error}") from turn_done.cause
    return turn_done.result


def _expect_fields(result: ResultJson, **expected_fields: object) -> None:
    for key, value in expected_fields.items():
        _expect_equal(f"{result['question']!r}: {key}", result[key], value)


def _expect_equal(description: str, actual: object, expected: object) -> None:
    if actual != expected:
        raise StoryMismatch(f"{description}: {_shorten_text(actual)} in place of {_shorten_text(expected)}")


def _shorten_text(value: object) -> str:
    text = str(value)
    return text if len(text) <= 100 else f"{text[:100]} …"


def _find_export_choice(result: ResultJson) -> ResultJson:
    for choice in result["choices"]:
        if choice["kind"] == "export":
            return choice
    raise StoryMismatch("no export was offered")


# -- expected results from the records


def _document_ids_of(records: Sequence[CorpusRecord]) -> list[str]:
    return [record["doc_id"] for record in records]


def _has_party(record: CorpusRecord, party: str) -> bool:
    return party in cast(list[str], record["metadata"].get("parties", []))


def _read_csv_ids(file: Path) -> list[str]:
    """The ids in an exported CSV, without the apostrophe that stops spreadsheets from running formulas."""
    with file.open(encoding="utf-8-sig", newline="") as csv_file:
        return sorted(row["doc_id"].removeprefix("'") for row in csv.DictReader(csv_file))


def _meets_filters(filters: object, record: CorpusRecord) -> bool:
    """Whether a record meets the filters of a choice, in their JSON format. A missing value meets no comparison."""
    if isinstance(filters, list):
        return all(_meets_filters(condition, record) for condition in cast(list[object], filters))
    condition = cast(dict[str, Any], filters)
    for connective, combine in (("all", all), ("any", any)):
        if connective in condition:
            return combine(_meets_filters(member, record) for member in condition[connective])
    if "not" in condition:
        return not _meets_filters(condition["not"], record)
    value = record["metadata"].get(condition["field"])
    return (
        value is None
        if condition["op"] == "missing"
        else value is not None and _meets_comparison(condition["op"], value, condition["value"])
    )


def _meets_comparison(op: str, value: Any, expected: Any) -> bool:
    match op:
        case "eq":
            return value == expected
        case "in":
            return value in expected
        case "has":
            return expected in value
        case "between":
            return expected[0] <= value <= expected[1]
        case "gte":
            return value >= expected
        case "gt":
            return value > expected
        case "lte":
            return value <= expected
        case "lt":
            return value < expected
        case _:
            raise StoryMismatch(f"a button of the story compares by {op!r}, which it should not")
