"""A process beside this one that parses files, so that a broken or hostile one costs that process and no more.

The two speak JSON lines: a request `{"format", "path"}`; then `{"title"}`, a `{"page"}` for each page, and `{"end"}`,
or `{"error"}` instead of any of them. Memory is limited in the worker, time here.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, TextIO

from storage.ingest.errors import Unparsable

COMMAND = (sys.executable, "-m", "storage.ingest.worker")
_OUT_OF_MEMORY = 86  # exit status of a worker that hit its limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one file may cost."""

    memory_mb: int = 1024
    page_s: float = 30.0  # without a word from the worker
    file_s: float = 600.0
    characters: int = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """The text of a file, page by page; blank pages are empty strings."""

    title: str
    texts: tuple[str, ...]


@dataclass(slots=True)
class _Parsed:
    title: str = ""
    texts: list[str] = field(default_factory=list[str])
    size: int = 0


class Worker:
    """One worker process, started when first needed and again after it died. A context manager; use from one thread."""

    def __init__(self, limits: Limits | None = None, command: Sequence[str] = COMMAND) -> None:
        self._limits, self._command = limits or Limits(), command
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def pages(self, path: Path, kind: str) -> Pages:
        """The pages of a file of format `kind`. Raises `Unparsable`."""
        was_running = self._process is not None
        try:
            return self._asked(path, kind)
        except _Died as exc:
            if not was_running or exc.timed_out:
                raise Unparsable(exc.reason) from exc
        try:  # the files before it may have left too little memory
            return self._asked(path, kind)
        except _Died as exc:
            raise Unparsable(exc.reason) from exc

    def close(self) -> None:
        """End the worker."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        with contextlib.suppress(BrokenPipeError):
            process.communicate()

    def _asked(self, path: Path, kind: str) -> Pages:
        process = self._started()
        assert process.stdin is not None  # noqa: S101 - both are pipes
        try:
            process.stdin.write(json.dumps({"format": kind, "path": str(path.absolute())}) + "\n")
            process.stdin.flush()
        except OSError as exc:
            raise self._died(process, timed_out=False) from exc
        parsed, deadline = _Parsed(), monotonic() + self._limits.file_s
        while not self._is_complete(parsed, self._frame(process, deadline)):
            if parsed.size > self._limits.characters:
                self.close()
                raise Unparsable(f"it has more than {self._limits.characters:,} characters of text")
        return Pages(title=parsed.title, texts=tuple(parsed.texts))

    def _is_complete(self, parsed: _Parsed, frame: Mapping[str, Any]) -> bool:
        if "error" in frame:
            raise Unparsable(str(frame["error"]))
        if "page" in frame:
            parsed.texts.append(str(frame["page"]))
            parsed.size += len(parsed.texts[-1])
        parsed.title = str(frame.get("title", parsed.title))
        return "end" in frame

    def _frame(self, process: "subprocess.Popen[str]", deadline: float) -> Mapping[str, Any]:
        timed_out = threading.Event()

        def stop() -> None:
            timed_out.set()
            process.kill()

        watchdog = threading.Timer(min(self._limits.page_s, max(0.0, deadline - monotonic())), stop)
        watchdog.daemon = True
        watchdog.start()
        try:
            assert process.stdout is not None  # noqa: S101 - a pipe
            return json.loads(process.stdout.readline())
        except ValueError as exc:  # it ended in the middle of a line, or before one
            watchdog.cancel()
            raise self._died(process, timed_out=timed_out.is_set()) from exc
        finally:
            watchdog.cancel()

    def _died(self, process: "subprocess.Popen[str]", *, timed_out: bool) -> "_Died":
        """What to say of a worker that went silent; clears it away."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        status = process.poll()
        self.close()
        if timed_out:
            limits = f"{self._limits.page_s:g} seconds for a page, {self._limits.file_s:g} for all"
            return _Died(f"reading it took too long ({limits})", timed_out=True)
        if status == _OUT_OF_MEMORY:
            return _Died(f"reading it takes more than {self._limits.memory_mb} MB of memory")
        return _Died("the program that reads it broke down over it")

    def _started(self) -> "subprocess.Popen[str]":
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [*self._command, str(self._limits.memory_mb)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            )
        return self._process


class _Died(Exception):
    def __init__(self, reason: str, *, timed_out: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.timed_out = reason, timed_out


# -- in the worker


class Parser(Protocol):
    """Gives a file's title and then its pages. Raises `Unparsable`."""

    def __call__(self, path: Path) -> Iterator[str]: ...


def main(arguments: Sequence[str]) -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    _limit_memory(int(arguments[0]))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no frame
    for line in sys.stdin:
        request: dict[str, str] = json.loads(line)
        try:
            _answer(_parser(request["format"]), Path(request["path"]), out)
        except Unparsable as exc:
            _send(out, error=exc.reason)
        except MemoryError:
            os._exit(_OUT_OF_MEMORY)


def _answer(parser: Parser, path: Path, out: TextIO) -> None:
    pages = parser(path)
    _send(out, title=next(pages))
    for page in pages:
        _send(out, page=page)
    _send(out, end=True)


def _parser(kind: str) -> Parser:
    match kind:
        case "pdf":
            from storage.ingest.pdf import title_and_pages  # here: the library is loaded under the limit

            return title_and_pages
        case _:
            raise Unparsable(f"there is no reader for {kind}")


def _limit_memory(megabytes: int) -> None:
    try:
        import resource  # not on Windows, which has no such limit
    except ImportError:
        return
    size = megabytes * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _send(out: TextIO, **frame: str | bool) -> None:
    out.write(json.dumps(frame) + "\n")
    out.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
