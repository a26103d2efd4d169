"""The reports of usage that were posted: each run posts one, which says what it is."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.faults.servers.storm_checks import FinishedRow, StormCheck
from tests.stand_ins.slack.workspace import SlackMessage

POSTING_TEXT: Final = "Post the usage report here every Monday at 9:00"
_CREATED: Final = re.compile(r"saved this as (\d+): I will post the report")
_POST: Final = "What people asked in the last 7 days"


@dataclass(frozen=True, kw_only=True)
class UsagePosts:
    """`numbers`: of what posts a report. `turns`: the turn of each post, in the order of posting."""

    numbers: frozenset[int]
    turns: Sequence[str]

    def check_posts(self, runs: Sequence[FinishedRow]) -> StormCheck:
        prefixes = tuple(f"saved-search:{number}:" for number in self.numbers)
        report_runs = [run for run in runs if run.key[1].startswith(prefixes)] if prefixes else []
        reporting = {run.turn for run in report_runs if _POST in (run.outcome or "")}
        counts = Counter(self.turns)
        return StormCheck(
            name="the report of usage is posted once for its due time",
            checked=len(self.turns),
            problems=(
                *(f"{turn} was posted {count} times" for turn, count in counts.items() if count > 1),
                *(f"{turn} was not posted" for turn in sorted(reporting - counts.keys())),
                *(f"{turn} was posted by no run" for turn in sorted(counts.keys() - reporting)),
                *([] if reporting else ["no report was posted"]),
            ),
        )


def read_usage_posts(messages: Sequence[SlackMessage]) -> UsagePosts:
    plain = {message.ts: message.text.replace("*", "") for message in messages}
    created = (_CREATED.search(f"{message.text}\n{message.visible_text()}".replace("*", "")) for message in messages)
    return UsagePosts(
        numbers=frozenset(int(match[1]) for match in created if match),
        turns=tuple(
            message.metadata["event_payload"]["turn"]
            for message in sorted(messages, key=lambda message: float(message.ts))
            if message.metadata and plain[message.ts].startswith(_POST)
        ),
    )
