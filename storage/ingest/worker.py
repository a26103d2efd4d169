"""A child process that parses files, so that a broken or hostile file can only crash that process.

The two processes exchange JSON lines. A request is `{"format", "path", "name", "cpu_s", "max_rows"}`. The response is
the frames that the parser of the format yields, followed by `{"end"}`; an `{"error"}` can replace any of these lines
and ends the response. The system limits the memory and the CPU time of the worker; the parent process limits how long
it waits.
"""

import contextlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, TextIO, TypeAlias

from storage.ingest.errors import UnparsableFile
from storage.ingest.files import SourceFile
from storage.ingest.limits import (
    MAX_CELLS,
    MAX_PAGES,
    ParserLimits,
    text_too_long_error,
    too_many_cells_error,
    too_many_pages_error,
    too_many_rows_error,
)

WORKER_COMMAND = (sys.executable, "-m", "storage.ingest.worker")
_OUT_OF_MEMORY_STATUS = 86  # exit status of a worker that reached its memory limit
_CPU_LIMIT_SIGNALS = tuple(int(getattr(signal, name)) for name in ("SIGXCPU",) if hasattr(signal, name))
ParserFrame: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedPages:
    """The text of a file, page by page; blank pages are empty strings."""

    title: str
    texts: tuple[str, ...]


class ParserWorker:
    """One worker process, started when it is first needed and restarted after it died. A context manager.

    Only one thread may use it. Another thread may close it, which aborts the current file.
    """

    def __init__(self, limits: ParserLimits | None = None, command: Sequence[str] = WORKER_COMMAND) -> None:
        self._limits, self._command = limits or ParserLimits(), command
        self._process: subprocess.Popen[str] | None = None
        self._start_lock, self._is_closed = threading.Lock(), False

    def make_sibling(self) -> "ParserWorker":
        """Returns another worker with the same limits and command."""
        return ParserWorker(self._limits, self._command)

    def __enter__(self) -> "ParserWorker":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def read_pages(self, source: SourceFile) -> ParsedPages:
        """Returns the pages of a file, made from its frames `title` and `page`. Raises `UnparsableFile`."""
        title, texts, size = "", list[str](), 0
        with contextlib.closing(self.read_frames(source)) as frames:
            for frame in frames:
                title = str(frame.get("title", title))
                if "page" in frame:
                    texts.append(str(frame["page"]))
                    size += len(texts[-1])
                if size > self._limits.max_characters:
                    raise text_too_long_error(self._limits.max_characters)
        return ParsedPages(title=title, texts=tuple(texts))

    def read_frames(self, source: SourceFile) -> Generator[ParserFrame, None, None]:
        """Yields the frames of a file as soon as the parser of its format makes them. Raises `UnparsableFile`.

        The worker is busy until the last frame. Closing the generator earlier kills the process.
        """
        may_retry = self._process is not None  # a process that parsed earlier files may have too little memory left
        while True:
            try:
                for frame in self._request_frames(source):
                    may_retry = False
                    yield frame
                return
            except _WorkerDied as exc:
                if exc.took_too_long or not may_retry or self._is_closed:
                    raise UnparsableFile(exc.reason) from exc
                may_retry = False
            except GeneratorExit:
                self._kill_process()
                raise

    def close(self) -> None:
        """Ends the worker permanently."""
        with self._start_lock:
            self._is_closed = True
        self._kill_process()

    def _kill_process(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        with contextlib.suppress(BrokenPipeError, ValueError):  # the other thread may have closed its pipes
            process.communicate()

    def _request_frames(self, source: SourceFile) -> Iterator[ParserFrame]:
        process, cpu_s = self._running_process(), self._limits.cpu_s_for(source.size_bytes)
        assert process.stdin is not None  # noqa: S101 - both are pipes
        request = {
            "format": source.file_format,
            "path": str(source.path.absolute()),
            "name": source.name,
            "cpu_s": cpu_s,
            "max_rows": self._limits.max_rows,
        }
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        except (OSError, ValueError) as exc:  # the process is dead, or its pipe is closed
            raise self._process_failure(process, cpu_s, timed_out=False) from exc
        frame_timeout_s, file_timeout_s = self._limits.timeouts_s_for(source.size_bytes)
        remaining_s = file_timeout_s  # only waiting counts, not what the caller does with the frames
        while True:
            wait_start = monotonic()
            frame = self._read_frame(process, min(frame_timeout_s, remaining_s), cpu_s)
            remaining_s -= monotonic() - wait_start
            if "error" in frame:
                raise UnparsableFile(str(frame["error"]))
            if "end" in frame:
                return
            yield frame

    def _read_frame(self, process: "subprocess.Popen[str]", timeout_s: float, cpu_s: float) -> ParserFrame:
        timed_out = threading.Event()

        def kill_process() -> None:
            timed_out.set()
            process.kill()

        watchdog = threading.Timer(max(0.0, timeout_s), kill_process)
        watchdog.daemon = True
        watchdog.start()
        try:
            assert process.stdout is not None  # noqa: S101 - a pipe
            return json.loads(process.stdout.readline())
        except ValueError as exc:  # the output ended in the middle of a line, or before a line
            watchdog.cancel()
            raise self._process_failure(process, cpu_s, timed_out=timed_out.is_set()) from exc
        finally:
            watchdog.cancel()

    def _process_failure(self, process: "subprocess.Popen[str]", cpu_s: float, *, timed_out: bool) -> "_WorkerDied":
        """Returns the error for a worker that sent no complete frame, and removes the process."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        status = process.poll()
        self._kill_process()
        if timed_out:
            limits = f"{self._limits.page_timeout_s:g} seconds for a page, {self._limits.file_timeout_s:g} for all"
            return _WorkerDied(
                f"reading it took too long ({limits}, more for a large file); split it into smaller files",
                took_too_long=True,
            )
        if status is not None and -status in _CPU_LIMIT_SIGNALS:
            return _WorkerDied(
                f"reading it takes more than {cpu_s:,.0f} seconds of CPU, the limit for a file of its size; "
                "split it into smaller files",
                took_too_long=True,
            )
        if status == _OUT_OF_MEMORY_STATUS:
            return _WorkerDied(
                f"reading it takes more than {self._limits.memory_mb} MB of memory; split it into smaller files"
            )
        return _WorkerDied(
            f"the program that reads it broke down over it, maybe since it needs more than {self._limits.memory_mb} MB"
            " of memory: split it, or save it again with another program"
        )

    def _running_process(self) -> "subprocess.Popen[str]":
        with self._start_lock:
            if self._is_closed:
                raise _WorkerDied("the run was stopped")
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


class _WorkerDied(Exception):
    def __init__(self, reason: str, *, took_too_long: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.took_too_long = reason, took_too_long


# -- code that runs in the worker process


class FrameParser(Protocol):
    """Yields the content of a file, frame by frame. Raises `UnparsableFile`."""

    def __call__(self, path: Path) -> Iterator[ParserFrame]: ...


def run_worker_loop(arguments: Sequence[str]) -> None:
    """Answers requests from standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    _limit_memory(int(arguments[0]))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output that a library prints must not mix with the frames
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        _limit_cpu(request["cpu_s"])
        try:
            source = SourceFile(path=Path(request["path"]), name=request["name"])
            for frame in bound_content(_load_parser(source)(source.path), request["max_rows"]):
                _send_frame(out, frame)
            _send_frame(out, {"end": True})
        except UnparsableFile as exc:
            _send_frame(out, {"error": exc.reason})
        except MemoryError:
            os._exit(_OUT_OF_MEMORY_STATUS)


def bound_content(frames: Iterable[ParserFrame], max_rows: int) -> Iterator[ParserFrame]:
    """Raises `UnparsableFile` when there is more than a file may have.

    The `row_count` and `cell_count` of a frame say how many were read already; a `page` is one page.
    """
    page_count = 0
    for frame in frames:
        page_count += "page" in frame
        if page_count > MAX_PAGES:
            raise too_many_pages_error()
        if frame.get("row_count", 0) > max_rows:
            raise too_many_rows_error(max_rows)
        if frame.get("cell_count", 0) > MAX_CELLS:
            raise too_many_cells_error()
        yield frame


def _load_parser(source: SourceFile) -> FrameParser:
    """Returns the parser of a file.

    The imports appear here, so that a library is loaded only when it is needed and within the memory limit.
    """
    match source.file_format:
        case "csv" | "jsonl":
            from storage.ingest.formats.record_frames import read_record_frames

            return partial(read_record_frames, source)
        case "txt" | "md":
            from storage.ingest.pages.plain_text import read_frames
        case "pdf":
            from storage.ingest.pages.pdf import read_frames
        case "docx":
            from storage.ingest.pages.docx import read_frames
        case "pptx":
            from storage.ingest.pages.pptx import read_frames
        case "html":
            from storage.ingest.pages.html import read_frames
        case "eml":
            from storage.ingest.pages.mail import read_frames
        case "xlsx":
            from storage.ingest.pages.xlsx import read_frames
        case _:
            raise UnparsableFile(f"there is no reader for {source.file_format}")
    return read_frames


def _limit_memory(megabytes: int) -> None:
    try:
        import resource  # missing on Windows, which has no such limit
    except ImportError:
        return
    size = megabytes * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _limit_cpu(seconds: float) -> None:
    """Lets the system end this process after so many further seconds of CPU."""
    try:
        import resource
    except ImportError:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    limit = math.ceil(usage.ru_utime + usage.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _send_frame(out: TextIO, frame: ParserFrame) -> None:
    out.write(json.dumps(frame) + "\n")
    out.flush()


if __name__ == "__main__":
    run_worker_loop(sys.argv[1:])
