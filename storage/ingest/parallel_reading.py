"""Reads files in parallel in several worker processes, and yields their records in the order of the files."""

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeAlias

from storage.ingest.files import SourceFile
from storage.ingest.load import is_parsed_by_worker, load_records
from storage.ingest.records import LoadedItem
from storage.ingest.worker import ParserWorker

_DEFAULT_PROCESSES = min(4, os.cpu_count() or 1)
FileRecords: TypeAlias = tuple[SourceFile, Iterator[LoadedItem]]


def read_files_ahead(
    sources: Iterable[SourceFile], worker: ParserWorker, process_count: int = _DEFAULT_PROCESSES
) -> Generator[FileRecords, None, None]:
    """Yields each file with an iterator over its records, in order.

    The caller must exhaust an iterator before it asks for the next file. Files that a worker parses as a whole are read
    ahead by `process_count` siblings of `worker`; at most `2 * process_count` files wait at a time. Closing the
    generator closes the siblings.
    """
    siblings = [worker.make_sibling() for _ in range(process_count)]
    idle = SimpleQueue[ParserWorker]()
    for sibling in siblings:
        idle.put(sibling)

    def read_whole_file(source: SourceFile) -> list[LoadedItem]:
        sibling = idle.get()
        try:
            return list(load_records(source, sibling))
        finally:
            idle.put(sibling)

    remaining, waiting = iter(sources), deque[tuple[SourceFile, Future[list[LoadedItem]] | None]]()
    with ThreadPoolExecutor(process_count, thread_name_prefix="reading") as pool:
        try:
            while True:
                while len(waiting) < 2 * process_count and (source := next(remaining, None)) is not None:
                    waiting.append(
                        (source, pool.submit(read_whole_file, source) if is_parsed_by_worker(source) else None)
                    )
                if not waiting:
                    return
                source, future = waiting.popleft()
                yield source, load_records(source, worker) if future is None else _iterate_result(future)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for sibling in siblings:
                sibling.close()


def _iterate_result(future: Future[list[LoadedItem]]) -> Iterator[LoadedItem]:
    yield from future.result()
