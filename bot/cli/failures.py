"""How a command ends that cannot do what was asked: one plain sentence on stderr, and an exit status."""

import os
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType

import typer


class Failed(Exception):
    """The command cannot go on. `status`: 1 failed, 2 wrong usage."""

    def __init__(self, sentence: str, *, status: int = 1) -> None:
        super().__init__(sentence)
        self.sentence, self.status = sentence, status


def complain(sentence: str) -> None:
    print(f"parley: {sentence}", file=sys.stderr)  # noqa: T201


@contextmanager
def plainly(*, debug: bool) -> Generator[None]:
    """Turns what the rooms raise into the sentence and the exit status; with `debug` the traceback comes first."""
    from bot.errors import BotError, InvalidSubject
    from storage.ingest.errors import IngestError
    from storage.search.errors import IndexUnavailable, SearchError
    from storage.sql.errors import SqlError

    try:
        yield
    except Failed as exc:
        _end(exc, exc.sentence, status=exc.status, debug=debug)
    except InvalidSubject as exc:
        _end(exc, str(exc), status=2, debug=debug)
    except (BotError, SqlError, IngestError) as exc:
        _end(exc, str(exc), debug=debug)
    except IndexUnavailable as exc:
        _end(exc, f"{exc}; check that it runs, and PARLEY_INDEX_URL", debug=debug)
    except BrokenPipeError as exc:  # whoever read our output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from exc
    except SearchError as exc:
        _end(exc, str(exc), debug=debug)
    except OSError as exc:
        where = f"{exc.filename}: " if exc.filename else ""
        _end(exc, f"{where}{exc.strerror or exc}", debug=debug)


def _end(exc: Exception, sentence: str, *, status: int = 1, debug: bool) -> None:
    if debug:
        traceback.print_exception(exc)
    complain(sentence)
    raise typer.Exit(status) from exc


def last_resort(kind: type[BaseException], exc: BaseException, trace: TracebackType | None) -> None:
    """For `sys.excepthook`: a fault of Parley's own is one sentence too, unless `--debug` was given."""
    if "--debug" in sys.argv:
        sys.__excepthook__(kind, exc, trace)
    complain(
        f"something is wrong in Parley itself ({kind.__name__}); run it again with --debug and report what it says"
    )
