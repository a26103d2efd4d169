"""Messages that leave the topic and ask something else."""

import pytest

from agent.new_topic import split_new_topic


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("New topic: how many manuals are there?", "how many manuals are there?"),
        ("ok, start over. Which law governs it?", "Which law governs it?"),
        ("Start over please - list the tyres", "list the tyres"),
        ("forget everything, and list the tyres", "list the tyres"),
        ("Neues Thema: Wie viele Handbücher gibt es?", "Wie viele Handbücher gibt es?"),
        ("Bitte von vorne! Welche Reifen?", "Welche Reifen?"),
    ],
)
def test_the_question_after_a_new_topic_is_split_off(message: str, question: str) -> None:
    assert split_new_topic(message) == question


@pytest.mark.parametrize(
    "message",
    [
        "new topic",
        "Start over.",
        "start over, please",
        "start over!!! 1",
        "another question: how many of them are paid?",
        "which pumps restart, and when?",
        "Reset, restart or replace: what does the manual say?",
        "Restart, reset and shutdown procedures of pump X",
        "reset buttons of the B-120",
        "documents about a new topic: tides",
        "",
    ],
)
def test_other_messages_stay_whole(message: str) -> None:
    assert split_new_topic(message) is None
