"""Microsoft's own parser of Adaptive Cards finds nothing wrong with the recorded cards."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.playground.installation import FOLDER, PlaygroundTools, prepare_tools
from tests.servers.missing import ServerMissing, skip_or_fail

pytestmark = pytest.mark.playground
GOLDEN: Final = Path(__file__).parents[1] / "golden" / "teams"
CARD_TYPE: Final = "application/vnd.microsoft.card.adaptive"
INVALID_CARD: Final = {"type": "AdaptiveCard", "version": "1.5", "body": [{"type": "Wheel"}, {"type": "Input.Text"}]}


@pytest.fixture(scope="module")
def tools() -> PlaygroundTools:
    try:
        return prepare_tools()
    except ServerMissing as exc:
        skip_or_fail(exc)


def recorded_cards() -> Iterator[tuple[str, Any]]:
    """Yields each card with the name of its golden file."""
    for path in sorted(GOLDEN.glob("*.json")):
        message = json.loads(path.read_text(encoding="utf-8"))
        for attachment in message.get("attachments", ()):
            if attachment["contentType"] == CARD_TYPE:
                yield path.stem, attachment["content"]


def find_faults(tools: PlaygroundTools, cards: Sequence[Any]) -> list[list[str]]:
    command = [tools.node, str(FOLDER / "read_cards.js"), str(tools.packages)]
    result = subprocess.run(command, input=json.dumps(cards), capture_output=True, text=True, timeout=60, check=True)
    return json.loads(result.stdout)


def test_the_parser_accepts_the_recorded_cards(tools: PlaygroundTools) -> None:
    names, cards = zip(*recorded_cards(), strict=True)

    faults = find_faults(tools, cards)

    assert len(cards) >= 15
    assert {name: found for name, found in zip(names, faults, strict=True) if found} == {}


def test_the_parser_finds_an_unknown_element_and_an_input_without_an_id(tools: PlaygroundTools) -> None:
    [faults] = find_faults(tools, [INVALID_CARD])

    assert len(faults) == 2
    assert "Wheel" in faults[0]
