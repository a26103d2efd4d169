"""The checks of the storm's jobs find what they are for: a post too many or too few, and what does not belong there."""

import json
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.faults.servers.jobs.changing_source import ChangingSource, ChangingSources
from tests.faults.servers.jobs.source_places import ListPlace
from tests.faults.servers.jobs.usage_posts import read_usage_posts
from tests.faults.servers.jobs.web_questions import WebQuestions
from tests.faults.servers.kinds import ServerFault
from tests.faults.servers.report_table import build_server_table
from tests.faults.servers.server_storm import StormSize
from tests.faults.servers.storm_checks import AskedText, FinishedRow, StormReport, check_kills
from tests.stand_ins.list_interface import ListInterface
from tests.stand_ins.searxng import SearxngStandIn
from tests.stand_ins.site import WebSite
from tests.stand_ins.slack.workspace import SlackMessage


@dataclass(frozen=True)
class KnownDocument:
    """A row of what Parley knows of a source."""

    source: str
    doc_id: str


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


def test_a_kill_that_was_planned_again_and_again_and_never_happened_is_told() -> None:
    planned = {ServerFault.KILLED_SYNC: 3, ServerFault.KILLED_WORKER: 20, ServerFault.KILLED_REBUILD: 2}

    whole = check_kills(planned, dict.fromkeys(planned, 1))
    torn = check_kills(planned, {ServerFault.KILLED_WORKER: 20, ServerFault.BUSY: 5})

    assert (whole.checked, whole.problems) == (25, ())
    assert torn.problems == ("kill -9 while a source is synchronised: planned 3, happened 0",)


def test_a_short_storm_without_any_kill_is_told() -> None:
    planned = {ServerFault.KILLED_SYNC: 1, ServerFault.KILLED_REBUILD: 2}

    torn = check_kills(planned, {ServerFault.BUSY: 30})

    assert torn.problems == (
        "kill -9 of a rebuild of a bucket: planned 2, happened 0",
        "kill -9 while a source is synchronised: planned 1, happened 0",
    )
    assert check_kills({}, {ServerFault.BUSY: 30}).problems == ()


def test_the_table_says_of_each_kill_whether_it_happened_as_often_as_planned() -> None:
    report = StormReport(
        faults={ServerFault.KILLED_WORKER: 2, ServerFault.BUSY: 4},
        planned_kills={ServerFault.KILLED_WORKER: 2, ServerFault.KILLED_SYNC: 1},
        seconds=1.0,
        phase_seconds={},
        load=1.0,
        seed=1,
        write_failures=Counter(),
        replica_starts=2,
        acknowledged_writes=1,
        unknown_writes=0,
        answer_count=1,
        apology_count=0,
        search_report_count=0,
        checks=[],
    )

    names, counts, _ = build_server_table(report, StormSize(fault_target=6)).columns

    rows = dict(zip(names.cells, counts.cells, strict=True))
    assert rows["kill -9 while a source is synchronised (planned 1, happened 0)"] == "0"
    assert (rows["kill -9 of a worker"], rows["429 from OpenSearch"]) == ("2", "4")


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


async def test_a_document_of_a_source_that_is_lost_doubled_or_left_over_is_told() -> None:
    async def execute(_: str) -> list[Any]:
        return [KnownDocument(source="list", doc_id=f"list:item-{number:04}") for number in (0, 1, 2)]

    interface = ListInterface()
    source = ChangingSource(ListPlace(interface), random.Random(1), source_id="list")
    sources = ChangingSources([source], execute)
    await source.open_place(3)
    whole = {f"list:{item}": str(fields["title"]) for item, fields in interface.items.items()}
    await source.place.write_documents({"item-0001": 2})
    source.revisions["item-0001"] = 2

    assert await sources.find_differences({**whole, "list:item-0001": "Item-0001 in revision 2"}) == {"item": []}
    assert await sources.find_differences({**whole, "list:item-0009": "Item-0000 in revision 1", "x:1": ""}) == {
        "item": [
            "'Item-0001 in revision 2' is not found",
            "'Item-0000 in revision 1' is found",
            "'Item-0001 in revision 1' is found",
            "the source does not know list:item-0009",
        ]
    }
    assert await sources.find_differences({}) == {
        "item": [
            "'Item-0000 in revision 1' is not found",
            "'Item-0001 in revision 2' is not found",
            "'Item-0002 in revision 1' is not found",
            "the source has lost list:item-0000",
            "the source has lost list:item-0001",
            "the source has lost list:item-0002",
        ]
    }
    assert sources.find_strange_documents([*whole, "x:1"]) == ["x:1 is of no source"]


async def test_deletions_of_a_source_wait_for_those_that_it_has_not_seen_however_many_documents_are_new() -> None:
    source = ChangingSource(ListPlace(ListInterface()), random.Random(1), source_id="list")
    await source.open_place(60)
    known = [f"list:{source.place.item_of(name)}" for name in source.revisions]

    for _ in range(100):
        await source.change_documents(known)

    assert source.deletion_count >= 6
    assert len(set(known) - {f"list:{name}" for name in source.revisions}) == 6
