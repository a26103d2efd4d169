"""The log takes one line a second of each kind, and says how many it left out."""

import logging
from dataclasses import dataclass

from bot.http.quiet_log import forward_library_logs, quiet_log_for
from tests.bot.http.bounded_server import HttpLogRecord


@dataclass
class SteppedClock:
    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_repeated_lines_are_counted_and_not_written() -> None:
    recorded, clock = HttpLogRecord(), SteppedClock()
    log = quiet_log_for(recorded.log, clock)

    for _ in range(1_000):
        log.info("request refused", status=400)
    log.warning("request refused", status=400)
    clock.now_s = 1.0
    log.info("request refused", status=401)

    assert recorded.lines == [
        {"level": "info", "event": "request refused", "status": 400},
        {"level": "warning", "event": "request refused", "status": 400},
        {"level": "info", "event": "request refused", "status": 401, "skipped": 999},
    ]


def test_what_libraries_warn_of_is_a_line_without_its_text() -> None:
    recorded, logger = HttpLogRecord(), logging.getLogger("aiohttp.server")
    with forward_library_logs(quiet_log_for(recorded.log)):
        try:
            raise ValueError("List all receipts")
        except ValueError:
            logger.exception("Error handling request from %s", "203.0.113.9")
        logger.info("not a warning")

    (line,) = recorded.lines
    assert (line["level"], line["event"], line["error"]) == ("warning", "aiohttp.server warning", "ValueError")
    assert "test_quiet_log.py" in line["place"]
    assert "receipts" not in str(line)
    assert logger.handlers == []
