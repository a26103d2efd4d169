"""Files read side by side by several worker processes, and handed over in order."""

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeAlias

from storage.ingest.files import SourceFile
from storage.ingest.load import is_parsed, records
from storage.ingest.records import Loaded
from storage.ingest.worker import Worker

_PROCESSES = min(4, os.cpu_count() or 1)
Reading: TypeAlias = tuple[SourceFile, Iterator[Loaded]]


def read_ahead(
    sources: Iterable[SourceFile], worker: Worker, processes: int = _PROCESSES
) -> Generator[Reading, None, None]:
    """Each file with what it holds, in order; read one after the other, each before the next is asked for.

    Those that are parsed as a whole are read by `processes` workers like `worker`, at most twice as many files ahead.
    Closed early, it ends them.
    """
    siblings = [worker.sibling() for _ in range(processes)]
    idle = SimpleQueue[Worker]()
    for one in siblings:
        idle.put(one)

    def whole(source: SourceFile) -> list[Loaded]:
        mine = idle.get()
        try:
            return list(records(source, mine))
        finally:
            idle.put(mine)

    rest, waiting = iter(sources), deque[tuple[SourceFile, Future[list[Loaded]] | None]]()
    with ThreadPoolExecutor(processes, thread_name_prefix="reading") as pool:
        try:
            while True:
                while len(waiting) < 2 * processes and (source := next(rest, None)) is not None:
                    waiting.append((source, pool.submit(whole, source) if is_parsed(source) else None))
                if not waiting:
                    return
                source, future = waiting.popleft()
                yield source, records(source, worker) if future is None else _result(future)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for one in siblings:
                one.close()


def _result(future: Future[list[Loaded]]) -> Iterator[Loaded]:
    yield from future.result()
