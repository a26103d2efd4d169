"""A process beside this one that parses files, so that a broken or hostile one costs that process and no more.

The two speak JSON lines: a request `{"format", "path"}`; then frames, as the format's parser yields them, and
`{"end"}`, or `{"error"}` instead of any of them. Memory is limited in the worker, time here.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, TextIO, TypeAlias

from storage.ingest.errors import Unparsable
from storage.ingest.limits import Limits, too_long

COMMAND = (sys.executable, "-m", "storage.ingest.worker")
_OUT_OF_MEMORY = 86  # exit status of a worker that hit its limit
Frame: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """The text of a file, page by page; blank pages are empty strings."""

    title: str
    texts: tuple[str, ...]


class Worker:
    """One worker process, started when first needed and again after it died. A context manager.

    Use from one thread; another may close it, which ends what it does.
    """

    def __init__(self, limits: Limits | None = None, command: Sequence[str] = COMMAND) -> None:
        self._limits, self._command = limits or Limits(), command
        self._process: subprocess.Popen[str] | None = None
        self._starting, self._is_closed = threading.Lock(), False

    def sibling(self) -> "Worker":
        """Another one like it."""
        return Worker(self._limits, self._command)

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def pages(self, path: Path, kind: str) -> Pages:
        """The pages of a file of format `kind`: its frames `title` and `page`. Raises `Unparsable`."""
        title, texts, size = "", list[str](), 0
        with contextlib.closing(self.frames(path, kind)) as frames:
            for frame in frames:
                title = str(frame.get("title", title))
                if "page" in frame:
                    texts.append(str(frame["page"]))
                    size += len(texts[-1])
                if size > self._limits.characters:
                    raise too_long(self._limits.characters)
        return Pages(title=title, texts=tuple(texts))

    def frames(self, path: Path, kind: str) -> Generator[Frame, None, None]:
        """What the parser of format `kind` makes of a file, as it makes it. Raises `Unparsable`.

        The worker is busy until the last; closed before it, the process is ended.
        """
        may_begin_again = self._process is not None  # the files before it may have left too little memory
        while True:
            try:
                for frame in self._asked(path, kind):
                    may_begin_again = False
                    yield frame
                return
            except _Died as exc:
                if exc.timed_out or not may_begin_again or self._is_closed:
                    raise Unparsable(exc.reason) from exc
                may_begin_again = False
            except GeneratorExit:
                self._end()
                raise

    def close(self) -> None:
        """End the worker for good."""
        with self._starting:
            self._is_closed = True
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        with contextlib.suppress(BrokenPipeError, ValueError):  # the other thread may have closed its pipes
            process.communicate()

    def _asked(self, path: Path, kind: str) -> Iterator[Frame]:
        process = self._started()
        assert process.stdin is not None  # noqa: S101 - both are pipes
        try:
            process.stdin.write(json.dumps({"format": kind, "path": str(path.absolute())}) + "\n")
            process.stdin.flush()
        except (OSError, ValueError) as exc:  # it is dead, or closed
            raise self._died(process, timed_out=False) from exc
        left = self._limits.file_s  # of waiting; what is done with the frames does not count
        while True:
            asked = monotonic()
            frame = self._frame(process, left)
            left -= monotonic() - asked
            if "error" in frame:
                raise Unparsable(str(frame["error"]))
            if "end" in frame:
                return
            yield frame

    def _frame(self, process: "subprocess.Popen[str]", left: float) -> Frame:
        timed_out = threading.Event()

        def stop() -> None:
            timed_out.set()
            process.kill()

        watchdog = threading.Timer(min(self._limits.page_s, max(0.0, left)), stop)
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
        self._end()
        if timed_out:
            limits = f"{self._limits.page_s:g} seconds for a page, {self._limits.file_s:g} for all"
            return _Died(f"reading it took too long ({limits})", timed_out=True)
        if status == _OUT_OF_MEMORY:
            return _Died(f"reading it takes more than {self._limits.memory_mb} MB of memory")
        return _Died("the program that reads it broke down over it")

    def _started(self) -> "subprocess.Popen[str]":
        with self._starting:
            if self._is_closed:
                raise _Died("the run was stopped")
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
    """Gives what a file holds, frame by frame. Raises `Unparsable`."""

    def __call__(self, path: Path) -> Iterator[Frame]: ...


def main(arguments: Sequence[str]) -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    _limit_memory(int(arguments[0]))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no frame
    for line in sys.stdin:
        request: dict[str, str] = json.loads(line)
        try:
            for frame in _parser(request["format"])(Path(request["path"])):
                _send(out, frame)
            _send(out, {"end": True})
        except Unparsable as exc:
            _send(out, {"error": exc.reason})
        except MemoryError:
            os._exit(_OUT_OF_MEMORY)


def _parser(kind: str) -> Parser:
    """Imported here: the libraries are loaded under the limit, and each when it is needed."""
    match kind:
        case "pdf":
            from storage.ingest.pages.pdf import frames
        case "docx":
            from storage.ingest.pages.docx import frames
        case "pptx":
            from storage.ingest.pages.pptx import frames
        case "html":
            from storage.ingest.pages.html import frames
        case "xlsx":
            from storage.ingest.pages.xlsx import frames
        case _:
            raise Unparsable(f"there is no reader for {kind}")
    return frames


def _limit_memory(megabytes: int) -> None:
    try:
        import resource  # not on Windows, which has no such limit
    except ImportError:
        return
    size = megabytes * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _send(out: TextIO, frame: Frame) -> None:
    out.write(json.dumps(frame) + "\n")
    out.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
