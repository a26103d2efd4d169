"""What the terminal does when nobody reads its output any more."""

import errno
import io
import os

import pytest

from adapters.terminal.app import OutputConsole, TerminalOutbox
from bot.ids import TurnId
from bot.surface.outbox import OutboxFailed
from bot.surface.replies import Reply, TextPart


class ClosedPipe(io.StringIO):
    """A pipe whose reader has gone."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, s: str, /) -> int:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


@pytest.mark.parametrize("is_terminal", [True, False])
async def test_a_reply_that_nobody_reads_fails_without_a_retry(is_terminal: bool) -> None:
    console = OutputConsole(file=ClosedPipe(is_terminal=is_terminal), force_terminal=is_terminal)
    reply = Reply(turn=TurnId("t1"), parts=(TextPart(markdown="42 receipts"),))

    with pytest.raises(OutboxFailed) as failed:
        await TerminalOutbox(console).post_message(reply)

    assert not failed.value.retry
