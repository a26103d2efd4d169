"""Compares all messages and views with golden files, which can be pasted into Block Kit Builder."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import adapters.slack
from adapters.slack.posting.render import MAX_FALLBACK_CHARACTERS, Json, RenderedMessage, escape_as_mrkdwn
from agent.outcome import ChoiceKind
from bot.errors import BotError, ChoiceRefused, TurnActionRefused
from bot.surface.replies import ReplyPart, TurnAction, TurnActionsPart
from tests.adapters.slack.gallery import EVERY_CHOICE, MESSAGES, OTHER_PAYLOADS, PARTS, VIEWS
from tests.stand_ins.slack.checker import check_message, check_view, live_mentions

GOLDEN = Path(__file__).parents[2] / "golden" / "slack"
SOURCES = Path(adapters.slack.__path__[0])
REFUSAL_ARGUMENTS = {  # of the refusals that have some
    "ChoiceAlreadyMade": ("Acme", "Ada <!here>"),
    "ChoiceNumberTooHigh": (7, 5),
}


def refusal_texts() -> dict[str, str]:
    """Returns the text of each refusal, as shown to the person who clicked."""
    kinds: list[type[BotError]] = [*ChoiceRefused.__subclasses__(), *TurnActionRefused.__subclasses__()]
    return {
        kind.__name__: escape_as_mrkdwn(str(kind(*REFUSAL_ARGUMENTS.get(kind.__name__, ()))), MAX_FALLBACK_CHARACTERS)
        for kind in kinds
    }


ALL_EXAMPLES: dict[str, Json] = {
    **{name: {"text": message.text, "blocks": message.blocks} for name, message in MESSAGES.items()},
    **{name: dict(shown.view) for name, shown in VIEWS.items()},
    **OTHER_PAYLOADS,
    "refusals": {**refusal_texts()},
}


def as_json_file(shown: Json) -> str:
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", ALL_EXAMPLES)
def test_each_example_equals_its_golden_file(name: str) -> None:
    assert as_json_file(ALL_EXAMPLES[name]) == (GOLDEN / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_each_message_is_valid_for_slack(message: RenderedMessage) -> None:
    payload = json.loads(json.dumps({"text": message.text, "blocks": message.blocks}))

    check_message(payload)
    assert live_mentions(payload) == []


@pytest.mark.parametrize("name", VIEWS)
def test_each_view_is_valid_for_slack(name: str) -> None:
    check_view(json.loads(json.dumps(VIEWS[name].view)))


@pytest.mark.parametrize("sentence", refusal_texts().values())
def test_each_refusal_is_valid_for_slack(sentence: str) -> None:
    check_message({"text": sentence})
    assert live_mentions({"text": sentence}) == []


def test_each_part_of_a_reply_has_a_golden_file() -> None:
    assert {type(part) for part in PARTS.values()} == set(get_args(ReplyPart))


def test_each_turn_action_has_a_golden_file() -> None:
    assert {action for part in PARTS.values() if isinstance(part, TurnActionsPart) for action in part.handles} == set(
        TurnAction
    )


def test_each_kind_of_choice_has_a_golden_file() -> None:
    assert [button.kind for button in EVERY_CHOICE.buttons] == [kind.value for kind in ChoiceKind]


def test_each_function_that_builds_a_view_has_a_golden_file() -> None:
    """Covers each function that calls `modal_view` or builds a Home tab."""
    assert set(_names_of_view_builders()) == {shown.builder.__name__ for shown in VIEWS.values()}


def _names_of_view_builders() -> Iterator[str]:
    for path in SOURCES.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and any(
                map(_builds_view, ast.walk(function))
            ):
                yield function.name


def _builds_view(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="modal_view")):
            return True
        case ast.Dict(keys=[ast.Constant(value="type"), *_], values=[ast.Constant(value="home"), *_]):
            return True
        case _:
            return False


def test_each_golden_file_has_an_example() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(ALL_EXAMPLES)
