"""What leads to an indirect question, in the words of people who are polite, unsure or in a hurry."""

import pytest

from agent.rules.words.request_frames import blank_request_frames


def read_question(text: str) -> str:
    framed = blank_request_frames(text, lambda _start, _end: False, lambda _start, _end: False)
    assert len(framed) == len(text)
    return " ".join(framed.split())


@pytest.mark.parametrize(
    "lead",
    [
        "Would you be so kind as to tell me",
        "Could someone tell me",
        "May I ask",
        "Can I ask you",
        "anyone know",
        "does anybody know",
        "do you happen to know",
        "I'd appreciate it if you could tell me",
        "I would be grateful if you could let me know",
        "it would be great to know",
        "Please let me know",
        "could you please look up",
        "I'm trying to find out",
        "trying to figure out",
        "I was hoping you could tell me",
        "What I'd like to know is",
        "have you any idea",
        "any chance you know",
        "I wanted to ask",
        "Is there anyone who can tell me",
        "Do you have any information on",
        "I can't remember",
        "I forgot",
        "not sure",
    ],
)
@pytest.mark.parametrize("question", ["who winds the tower clock?", "until when the crypt is open"])
def test_a_lead_of_words_of_asking_is_no_part_of_the_question(lead: str, question: str) -> None:
    assert read_question(f"{lead} {question}") == question


def test_a_lead_may_stand_in_a_later_sentence() -> None:
    text = "We are locked out. Would you be so kind as to tell me who has a key?"

    assert read_question(text) == "We are locked out. who has a key?"


@pytest.mark.parametrize(
    "text",
    [
        "Do I have to say why I am absent?",
        "Do you have to tell anyone when you leave early?",
        "Does the verger need to say when she leaves?",
        "Should I ask who may drive?",
        "I know who did it, but when?",
        "you told me when the crypt opens",
        "what I want is a permit",
        "who can tell a joke",
        "how do I find out who my mentor is",
        "Did you check whether the gate is shut",
        "anyone who was there when it burned",
    ],
)
def test_a_duty_a_report_or_a_question_of_its_own_is_no_lead(text: str) -> None:
    assert read_question(text) == text
