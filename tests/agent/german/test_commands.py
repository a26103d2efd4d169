"""German commands."""

import pytest

from agent.german.commands import (
    asks_for_file_in_german,
    is_german_command,
    is_german_help_request,
    is_german_start_over_request,
    is_german_thanks,
    is_german_undo_request,
)


@pytest.mark.parametrize("message", ["Neu anfangen", "Bitte neu anfangen!", "Vergiss alles.", "neue Frage"])
def test_starting_over_is_recognised(message: str) -> None:
    assert is_german_start_over_request(message)


@pytest.mark.parametrize("message", ["zurück", "Einen Schritt zurück, bitte", "rückgängig machen"])
def test_going_back_is_recognised(message: str) -> None:
    assert is_german_undo_request(message)


@pytest.mark.parametrize("message", ["Hilfe!", "Guten Tag", "Was kannst du?", "Welche Dokumente gibt es?"])
def test_a_request_for_help_is_recognised(message: str) -> None:
    assert is_german_help_request(message)


@pytest.mark.parametrize("message", ["Danke!", "Vielen Dank.", "danke schön"])
def test_thanks_are_recognised(message: str) -> None:
    assert is_german_thanks(message)


@pytest.mark.parametrize(
    "message", ["als CSV", "Exportieren", "Bitte alle als Excel exportieren", "Kannst du sie mir als CSV-Datei geben?"]
)
def test_a_request_for_a_file_is_recognised(message: str) -> None:
    assert asks_for_file_in_german(message)


@pytest.mark.parametrize(
    "message",
    ["export", "csv", "Verträge als CSV", "Danke, und die von Acme?", "Hilfe zur Maschine B-120", "neue Verträge", ""],
)
def test_questions_and_english_commands_are_no_german_commands(message: str) -> None:
    assert not is_german_command(message)
