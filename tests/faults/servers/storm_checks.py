"""What is checked after a storm on servers: turns, order, counts, exports, documents and points in time."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from tests.faults.servers.kinds import KILLS, ServerFault
from tests.faults.servers.write_ledger import WriteLedger
from tests.faults.slack_storm import SlackStorm
from tests.faults.storm import AskedQuestion, StoredAnswer
from tests.stand_ins.slack.workspace import SlackMessage

_MAX_ATTEMPTS: Final = 3  # an exhausted turn no longer holds back its conversation
_PLANS_OF_A_KILL: Final = 3  # a single plan may find no run to kill in its time; so many cannot all be bad luck


@dataclass(frozen=True, kw_only=True)
class AskedText:
    """What a question asks for: the documents of a vendor, or all of them (None). `wanted`: what the web has to say;
    empty for a question about documents.
    """

    text: str
    vendor: str | None
    asked_at: float
    wanted: str = ""


@dataclass(frozen=True, kw_only=True)
class FinishedRow:
    """A turn of the inbox. Times are seconds since the epoch."""

    position: int
    key: tuple[str, str]
    turn: str
    conversation: str
    outcome: str | None
    placeholder: str | None
    attempt: int
    received_at: float
    finished_at: float | None

    @property
    def is_search_run(self) -> bool:
        """Whether nobody asked: it is the run of a saved search."""
        return self.key[1].startswith("saved-search:")

    @property
    def result(self) -> Mapping[str, Any]:
        return json.loads(self.outcome)["result"] if self.outcome else {}


@dataclass(frozen=True, kw_only=True)
class StormCheck:
    """A check, how many things it looked at, and what was wrong."""

    name: str
    checked: int
    problems: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class StormReport:
    faults: Mapping[ServerFault, int]
    planned_kills: Mapping[ServerFault, int]
    seconds: float
    phase_seconds: Mapping[str, float]
    load: float
    seed: int
    write_failures: Counter[str]
    replica_starts: int
    acknowledged_writes: int
    unknown_writes: int
    answer_count: int
    apology_count: int
    search_report_count: int
    checks: Sequence[StormCheck]

    @property
    def fault_count(self) -> int:
        return sum(self.faults.values())

    @property
    def problems(self) -> list[str]:
        return [f"{check.name}: {problem}" for check in self.checks for problem in check.problems]


def check_kills(planned: Mapping[ServerFault, int], happened: Mapping[ServerFault, int]) -> StormCheck:
    """Kills happen. A kind that was planned less than three times may have missed; the table of the report says so."""
    counts = {kind: (planned.get(kind, 0), happened.get(kind, 0)) for kind in sorted(KILLS)}
    has_no_kill = not any(done for _, done in counts.values())
    return StormCheck(
        name="kills that were planned have happened",
        checked=sum(plans for plans, _ in counts.values()),
        problems=tuple(
            f"{kind}: planned {plans}, happened 0"
            for kind, (plans, done) in counts.items()
            if not done and (plans >= _PLANS_OF_A_KILL or (plans and has_no_kill))
        ),
    )


def check_storm(
    *,
    slack: SlackStorm,
    questions: Sequence[AskedQuestion],
    texts: Mapping[tuple[str, str], AskedText],
    rows: Sequence[FinishedRow],
    ledger: WriteLedger,
    found_documents: Mapping[str, str],
    open_points: Sequence[str],
) -> list[StormCheck]:
    answers = [
        StoredAnswer(
            key=row.key,
            turn=row.turn,
            outcome=row.outcome,
            message=row.placeholder,
            is_finished=row.finished_at is not None,
        )
        for row in rows
    ]
    shown = slack.collect_answers(questions, answers)
    rows = [row for row in rows if not row.is_search_run]
    stored_keys, asked_keys = {row.key for row in rows}, {question.key for question in questions}
    about_documents = [row for row in rows if row.key not in texts or not texts[row.key].wanted]
    answered = [row for row in about_documents if row.result.get("outcome") not in (None, "failed")]
    exports = [row for row in answered if row.result.get("files")]
    counted = [row for row in answered if row.result.get("count") is not None and row not in exports]
    return [
        StormCheck(
            name="accepted questions have a turn and a visible answer",
            checked=len(questions),
            problems=(
                *(f"{key}: no turn" for key in sorted(asked_keys - stored_keys)),
                *(f"{row.key}: no answer" for row in rows if row.turn not in shown.answered),
                *(f"{row.key}: not finished" for row in rows if row.finished_at is None),
            ),
        ),
        StormCheck(
            name="none is answered twice",
            checked=len(rows),
            problems=(*shown.doubled, *(f"{key}: a turn of no message" for key in sorted(stored_keys - asked_keys))),
        ),
        StormCheck(name="each message shows its final reply", checked=len(shown.answered), problems=shown.unfinished),
        StormCheck(
            name="apologies say so, and nothing else is said in place of an answer",
            checked=len(about_documents),
            problems=tuple(_find_wrong_outcomes(about_documents, texts)),
        ),
        StormCheck(
            name="a conversation is answered in its order",
            checked=sum(count > 1 for count in Counter(row.conversation for row in rows).values()),
            problems=tuple(_find_wrong_order(rows, slack)),
        ),
        StormCheck(
            name="counts hold every acknowledged document, and none that was never sent",
            checked=len(counted),
            problems=tuple(_find_wrong_counts(counted, texts, ledger)),
        ),
        StormCheck(
            name="exports are complete",
            checked=len(exports),
            problems=tuple(_find_wrong_exports(exports, texts, ledger)),
        ),
        StormCheck(
            name="acknowledged writes and deletes are found",
            checked=len(ledger.writes),
            problems=tuple(_find_wrong_documents(found_documents, ledger)),
        ),
        StormCheck(name="no point in time is left open", checked=1, problems=tuple(open_points)),
    ]


def _find_wrong_outcomes(rows: Sequence[FinishedRow], texts: Mapping[tuple[str, str], AskedText]) -> Iterator[str]:
    for row in rows:
        outcome = row.result.get("outcome")
        if outcome is not None and outcome not in ("answer", "overload", "failed"):
            yield f"{texts[row.key].text!r} gave {outcome}: {row.result.get('text')!r}"


def _find_wrong_order(rows: Sequence[FinishedRow], slack: SlackStorm) -> Iterator[str]:
    messages: dict[str, SlackMessage] = {}
    for message in slack.slack.workspace.bot_messages():
        if message.metadata:
            messages.setdefault(message.metadata["event_payload"]["turn"], message)
    by_conversation: dict[str, list[FinishedRow]] = {}
    for row in sorted(rows, key=lambda row: row.position):
        if row.attempt <= _MAX_ATTEMPTS and row.finished_at is not None:
            by_conversation.setdefault(row.conversation, []).append(row)
    for conversation, turns in by_conversation.items():
        for earlier, later in pairwise(turns):
            if earlier.finished_at and later.finished_at and earlier.finished_at > later.finished_at:
                yield f"{conversation}: {later.turn} was finished before {earlier.turn}"
            shown = messages.get(earlier.turn), messages.get(later.turn)
            if shown[0] and shown[1] and float(shown[0].ts) > float(shown[1].ts):
                yield f"{conversation}: {later.turn} is shown before {earlier.turn}"


def _find_wrong_counts(
    rows: Sequence[FinishedRow], texts: Mapping[tuple[str, str], AskedText], ledger: WriteLedger
) -> Iterator[str]:
    for row in rows:
        asked, count = texts[row.key], row.result["count"]
        bounds = ledger.count_bounds(asked.vendor, asked.asked_at, row.finished_at or asked.asked_at)
        if not bounds.contains_count(count):
            yield f"{asked.text!r} gave {count}, not {bounds.smallest} to {bounds.largest} ({row.result['text']!r})"


def _find_wrong_exports(
    rows: Sequence[FinishedRow], texts: Mapping[tuple[str, str], AskedText], ledger: WriteLedger
) -> Iterator[str]:
    for row in rows:
        asked, file = texts[row.key], row.result["files"][0]
        with Path(file["path"]).open(encoding="utf-8-sig", newline="") as lines:
            doc_ids = [record["doc_id"] for record in csv.DictReader(lines)]
        if len(doc_ids) != file["rows"] or len(set(doc_ids)) != len(doc_ids):
            yield f"{asked.text!r}: {len(doc_ids)} rows of {len(set(doc_ids))} documents, not {file['rows']}"
        wrong = ledger.find_wrong_documents(doc_ids, asked.vendor, asked.asked_at, row.finished_at or asked.asked_at)
        for what, wrong_ids in wrong.items():
            if wrong_ids:
                yield f"{asked.text!r}: {len(wrong_ids)} documents {what}: {wrong_ids[:5]}"


def _find_wrong_documents(found: Mapping[str, str], ledger: WriteLedger) -> Iterator[str]:
    for doc_id in ledger.writes:
        possible = ledger.possible_writes(doc_id, float("inf"), float("inf"))
        vendors = {None if write is None else write.vendor for write in possible}
        if found.get(doc_id) not in vendors:
            yield f"{doc_id} is {found.get(doc_id)}, not {vendors}"
    for doc_id in found.keys() - ledger.writes.keys():
        yield f"{doc_id} was never written"
