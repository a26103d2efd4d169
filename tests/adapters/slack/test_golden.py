"""What Slack is shown, in files ready for Block Kit Builder: each thing has one, and looks as it says."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import adapters.slack
from adapters.slack.render import FALLBACK_CHARACTERS, Json, Message, escaped
from agent.outcome import ChoiceKind
from bot.errors import BotError, ChoiceRefused, HandleRefused
from bot.replies import Handle, Handles, Part
from tests.adapters.slack.gallery import BESIDE, EVERY_CHOICE, MESSAGES, PARTS, VIEWS
from tests.stand_ins.slack.checker import check_message, check_view, live_mentions

GOLDEN = Path(__file__).parents[2] / "golden" / "slack"
SOURCES = Path(adapters.slack.__path__[0])
TOLD = {"ChoiceMade": ("Acme", "Ada <!here>")}  # what a refusal tells of, where it does


def refusals() -> dict[str, str]:
    """What is whispered to whom a click is refused."""
    kinds: list[type[BotError]] = [*ChoiceRefused.__subclasses__(), *HandleRefused.__subclasses__()]
    return {kind.__name__: escaped(str(kind(*TOLD.get(kind.__name__, ()))), FALLBACK_CHARACTERS) for kind in kinds}


SHOWN: dict[str, Json] = {
    **{name: {"text": message.text, "blocks": message.blocks} for name, message in MESSAGES.items()},
    **{name: dict(shown.view) for name, shown in VIEWS.items()},
    **BESIDE,
    "refusals": {**refusals()},
}


def written(shown: Json) -> str:
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", SHOWN)
def test_it_looks_as_its_golden_file(name: str) -> None:
    assert written(SHOWN[name]) == (GOLDEN / f"{name}.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_slack_takes_each_message(message: Message) -> None:
    payload = json.loads(json.dumps({"text": message.text, "blocks": message.blocks}))

    check_message(payload)
    assert live_mentions(payload) == []


@pytest.mark.parametrize("name", VIEWS)
def test_slack_takes_each_view(name: str) -> None:
    check_view(json.loads(json.dumps(VIEWS[name].view)))


@pytest.mark.parametrize("sentence", refusals().values())
def test_slack_takes_each_refusal(sentence: str) -> None:
    check_message({"text": sentence})
    assert live_mentions({"text": sentence}) == []


def test_each_part_of_a_reply_has_a_golden_file() -> None:
    assert {type(part) for part in PARTS.values()} == set(get_args(Part))


def test_each_handle_has_a_golden_file() -> None:
    assert {one for part in PARTS.values() if isinstance(part, Handles) for one in part.handles} == set(Handle)


def test_each_kind_of_choice_has_a_golden_file() -> None:
    assert [button.kind for button in EVERY_CHOICE.buttons] == [kind.value for kind in ChoiceKind]


def test_each_function_that_makes_a_view_has_a_golden_file() -> None:
    """Whatever calls `modal`, and whatever says that it is a Home tab."""
    assert set(_makers_of_views()) == {shown.by.__name__ for shown in VIEWS.values()}


def _makers_of_views() -> Iterator[str]:
    for path in SOURCES.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and any(map(_is_view, ast.walk(function))):
                yield function.name


def _is_view(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="modal")):
            return True
        case ast.Dict(keys=[ast.Constant(value="type"), *_], values=[ast.Constant(value="home"), *_]):
            return True
        case _:
            return False


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(SHOWN)
