"""Ends a failed command with one plain sentence on stderr and an exit status."""

import os
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType

import typer

from bot.cli.terminal_text import escape_controls


class CommandFailed(Exception):
    """The command cannot go on. `exit_status`: 1 failed, 2 wrong usage."""

    def __init__(self, message: str, *, exit_status: int = 1) -> None:
        super().__init__(message)
        self.message, self.exit_status = message, exit_status


def print_to_stderr(message: str) -> None:
    print(f"parley: {escape_controls(message)}", file=sys.stderr)  # noqa: T201


@contextmanager
def exit_on_failure(*, debug: bool) -> Generator[None]:
    """Turn the application's errors into a message and an exit status. With `debug`, the traceback comes first."""
    from bot.errors import BotError, InvalidSubject
    from bot.surface.outbox import OutboxFailed
    from storage.ingest.errors import IngestError
    from storage.search.errors import IndexDamaged, IndexUnavailable, SearchError
    from storage.sql.errors import SqlError

    try:
        yield
    except CommandFailed as exc:
        _exit_with_message(exc, exc.message, exit_status=exc.exit_status, debug=debug)
    except InvalidSubject as exc:
        _exit_with_message(exc, str(exc), exit_status=2, debug=debug)
    except (BotError, SqlError, IngestError) as exc:
        _exit_with_message(exc, str(exc), debug=debug)
    except IndexDamaged as exc:
        _exit_with_message(exc, str(exc), debug=debug)
    except IndexUnavailable as exc:
        _exit_with_message(exc, f"{exc}; check that it runs, and PARLEY_INDEX_URL", debug=debug)
    except (BrokenPipeError, OutboxFailed) as exc:  # the reader closed our output, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from exc
    except SearchError as exc:
        _exit_with_message(exc, str(exc), debug=debug)
    except OSError as exc:
        path_prefix = f"{exc.filename}: " if exc.filename else ""
        _exit_with_message(exc, f"{path_prefix}{exc.strerror or exc}", debug=debug)


def _exit_with_message(exc: Exception, message: str, *, exit_status: int = 1, debug: bool) -> None:
    if debug:
        traceback.print_exception(exc)
    print_to_stderr(message)
    raise typer.Exit(exit_status) from exc


def report_internal_error(error_type: type[BaseException], exc: BaseException, trace: TracebackType | None) -> None:
    """A handler for `sys.excepthook`: print one sentence for an internal error, and with `--debug` the traceback."""
    if "--debug" in sys.argv:
        sys.__excepthook__(error_type, exc, trace)
    print_to_stderr(
        f"something is wrong in Parley itself ({error_type.__name__}); "
        "run it again with --debug and report what it says"
    )
