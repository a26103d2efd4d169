"""The checks of the storm's jobs find what they are for: a post too many or too few, and what does not belong there."""

import json
import random
from typing import Any

from tests.faults.servers.jobs.usage_posts import read_usage_posts
from tests.faults.servers.jobs.web_questions import WebQuestions
from tests.faults.servers.storm_checks import AskedText, FinishedRow
from tests.stand_ins.searxng import SearxngStandIn
from tests.stand_ins.site import WebSite
from tests.stand_ins.slack.workspace import SlackMessage

REPORT = "**What people asked in the last 7 days**"


def row_of(turn: str, message_id: str, result: dict[str, Any], text: str) -> FinishedRow:
    return FinishedRow(
        position=1,
        key=("C1", message_id),
        turn=turn,
        conversation="slack:T1:C1",
        outcome=json.dumps({"result": result, "reply": text}, ensure_ascii=False),
        placeholder=None,
        attempt=1,
        received_at=1.0,
        finished_at=2.0,
    )


def message_of(ts: str, text: str, turn: str) -> SlackMessage:
    metadata = {"event_type": "turn", "event_payload": {"turn": turn}}
    return SlackMessage(ts=ts, channel="C1", user="UBOT", text=text, metadata=metadata)


def test_each_report_of_usage_is_posted_once() -> None:
    created = message_of("1.0", "I have saved this as *7*: I will post the report here every Monday.", "t0")
    runs = [row_of(turn, f"saved-search:7:{turn}", {}, REPORT) for turn in ("t1", "t2", "t3")]
    posts = [
        message_of(f"{number}.0", f"{REPORT}\n\n3 questions", turn)
        for number, turn in enumerate(("t1", "t2", "t2", "t9"), 2)
    ]

    whole = read_usage_posts([created, *posts[:2]]).check_posts(runs[:2])
    torn = read_usage_posts([created, *posts]).check_posts(runs)

    assert (whole.checked, whole.problems) == (2, ())
    assert torn.problems == ("t2 was posted 2 times", "t3 was not posted", "t9 was posted by no run")


def test_an_answer_of_the_web_says_what_its_page_says_and_only_its_questions_are_sent() -> None:
    questions = WebQuestions(SearxngStandIn(), WebSite(), random.Random(1))
    text, wanted = questions.make_question()
    asked = AskedText(text=text, vendor=None, asked_at=1.0, wanted=wanted)
    answer = {"outcome": "answer", "text": f"Its wingspan is {wanted}."}
    right = row_of("t1", "1", answer, "This is from the web:")
    wrong = row_of("t2", "2", answer | {"text": "It is 1 mm."}, "This is from the web:")
    silent = row_of("t3", "3", {"outcome": "nothing_found", "text": "No."}, "I did not find an answer to this.")
    texts = {row.key: asked for row in (right, wrong, silent)}
    questions.server.queries = [next(iter(questions.widths))]

    whole = questions.check_answers([right], texts)
    questions.server.queries.append("receipts kestrel")
    torn = questions.check_answers([right, wrong, silent], texts)

    assert (whole.checked, whole.problems) == (1, ())
    assert torn.problems == (
        f"{text!r} gave 'It is 1 mm.', not {wanted!r}",
        f"{text!r} gave nothing_found: 'No.'",
        "'receipts kestrel' was sent to the web",
    )
