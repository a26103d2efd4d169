"""German positions and forms of nouns."""

import pytest

from agent.german.ordinals import parse_german_position


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("die erste", 1),
        ("Der Zweite", 2),
        ("das dritte", 3),
        ("den fünften", 5),
        ("Nummer 4", 4),
        ("nr. 4", 4),
        ("die 2.", 2),
        ("Option 3", 3),
        ("zwölfte", 12),
        ("die letzte", 7),
    ],
)
def test_a_position_is_read_in_its_usual_forms(text: str, position: int) -> None:
    assert parse_german_position(text, 7) == position


@pytest.mark.parametrize("text", ["die erste Rechnung", "erst", "der", "alle", "zweimal", ""])
def test_other_texts_are_no_positions(text: str) -> None:
    assert parse_german_position(text, 7) is None
