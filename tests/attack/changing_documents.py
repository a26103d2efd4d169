"""`python -m tests.attack.changing_documents`: exports 12,000 documents, sorted by the field that changes, while
another process replaces all of them over and over. Every second export is killed (SIGKILL) on the way and resumed by a
new process.

For each file it prints which documents are in it twice or not at all, and whether its rows are of one state: the writer
replaces the documents in the order of their numbers, so in one state the documents of the newer version come first.
"""

import argparse
import asyncio
import csv
import json
import signal
import sys
import tempfile
import urllib.request
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.bootstrap import open_application
from bot.conversation.exports import ExportFileRequest
from bot.errors import ExportBusy
from bot.ids import ConversationId, PersonId, TurnId
from bot.settings import Settings, load_settings
from bot.surface.inbound import OperatorAudience
from storage.search.documents import Document
from storage.search.ids import BucketId, LegId
from storage.search.index import SearchIndex
from storage.search.plan import Leg, ListDocuments, unfiltered_search_of
from tests.bot.fakes import NO_REASONER
from tests.builders import a_document, a_receipt_schema, ordered_by
from tests.servers.opensearch import opensearch_server

DOCUMENTS = 12_000
_BUCKET = BucketId("parcels")
_EXPORTED = b"exported "


@dataclass(frozen=True, kw_only=True)
class ExportedFile:
    """What is wrong with the rows of a file. `versions`: how many rows are of each version of the documents."""

    rows: int
    repeated: int
    missing: int
    versions: dict[int, int]
    is_one_state: bool

    @property
    def is_sound(self) -> bool:
        return self.is_one_state and not self.repeated and not self.missing


def make_documents(version: int, count: int) -> list[Document]:
    """The same documents in every version, each with another weight."""
    return [
        a_document(f"d{number:06}", weight=float((number * 7919 + version * 3571) % count), total=float(version))
        for number in range(count)
    ]


def check_rows(rows: list[tuple[int, int]], count: int) -> ExportedFile:
    """`rows`: the number and the version of each document, in the order of the file."""
    times, versions = Counter(number for number, _ in rows), Counter(version for _, version in rows)
    in_order = [version for _, version in sorted(rows)]
    is_one_state = in_order == sorted(in_order, reverse=True) and max(versions) - min(versions) <= 1
    return ExportedFile(
        rows=len(rows),
        repeated=sum(1 for seen in times.values() if seen > 1),
        missing=count - len(times),
        versions=dict(sorted(versions.items())),
        is_one_state=is_one_state,
    )


def settings_for(home: Path, index_url: str | None) -> Settings:
    environ = {"PARLEY_TENANT": home.name, "PARLEY_EMBEDDER": "none"}
    return load_settings(home, environ | ({"PARLEY_INDEX_URL": index_url} if index_url else {})).settings


async def fill_index(settings: Settings, count: int) -> None:
    async with open_application(settings, reasoner=NO_REASONER) as bot:
        await bot.index.set_schema(a_receipt_schema(_BUCKET))
        await bot.index.put(_BUCKET, make_documents(0, count))


async def replace_forever(settings: Settings, count: int) -> None:
    async with open_application(settings, reasoner=NO_REASONER) as bot:
        version = 0
        while True:
            version += 1
            await put_in_order(bot.index, make_documents(version, count))


async def put_in_order(index: SearchIndex, documents: list[Document]) -> None:
    for start in range(0, len(documents), 200):
        await index.put(_BUCKET, documents[start : start + 200])
        report_line("replaced")


async def export_documents(settings: Settings, turn: str) -> None:
    """Write the file of the turn, and print each progress line and at last the path of the file."""
    leg = Leg(
        id=LegId("1"),
        question="",
        search=unfiltered_search_of(_BUCKET),
        answer_form=ListDocuments(order=ordered_by("weight")),
    )
    request = ExportFileRequest(
        turn=TurnId(turn),
        conversation=ConversationId("c"),
        person=PersonId("operator"),
        audience=OperatorAudience(),
        leg=leg,
    )
    async with open_application(settings, reasoner=NO_REASONER) as bot:
        while True:
            try:
                file = await bot.exports.write_file(request, report_line)
            except ExportBusy:  # the lease of a killed process has not run out
                await asyncio.sleep(1)
            else:
                return report_line(f"{_EXPORTED.decode()}{file.path}")


@asynccontextmanager
async def running_child(role: str, settings: Settings, *arguments: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.attack.changing_documents", "--role", role),
        *("--home", str(settings.home), "--url", settings.index_url, *arguments),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def drain_lines(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    while await process.stdout.readline():
        pass


async def run_export(settings: Settings, turn: str, *, kill_after: int | None) -> tuple[Path | None, list[str]]:
    """The path of the file, and the progress lines; None if it was killed after so many lines."""
    async with running_child("export", settings, "--turn", turn) as process:
        assert process.stdout is not None
        lines = list[str]()
        while line := await process.stdout.readline():
            if line.startswith(_EXPORTED):
                return Path(line.removeprefix(_EXPORTED).decode().strip()), lines
            lines.append(line.decode().strip())
            if len(lines) == kill_after:
                process.send_signal(signal.SIGKILL)
                await process.wait()
                return None, lines
    raise SystemExit(f"the export failed after: {lines}")


async def attack_export(settings: Settings, turn: str, count: int, *, kill_after: int | None) -> ExportedFile:
    """Export while another process replaces the documents; kill the export once if `kill_after` is given."""
    async with running_child("write", settings, "--documents", str(count)) as writer:
        assert writer.stdout is not None
        await writer.stdout.readline()
        drain = asyncio.create_task(drain_lines(writer))
        path, lines = await run_export(settings, turn, kill_after=kill_after)
        if path is None:
            path, more = await run_export(settings, turn, kill_after=None)
            lines += more
        assert path is not None
        drain.cancel()
    report_line("   " + " | ".join(dict.fromkeys(lines)))
    return check_rows(await asyncio.to_thread(read_rows, path), count)


def read_rows(path: Path) -> list[tuple[int, int]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [(int(row["doc_id"][1:]), int(float(row["total"]))) for row in csv.DictReader(file)]


@contextmanager
def index_of(engine: str) -> Generator[str | None]:
    if engine == "embedded":
        yield None
        return
    with opensearch_server() as url:
        yield url


def count_open_points(url: str) -> int:
    """The points in time that the cluster keeps now."""
    with urllib.request.urlopen(f"{url}/_nodes/stats/indices/search") as response:
        nodes = json.load(response)["nodes"]
    return sum(node["indices"]["search"]["point_in_time_current"] for node in nodes.values())


async def attack_engine(engine: str, count: int, runs: int) -> bool:
    is_sound = True
    with index_of(engine) as url, tempfile.TemporaryDirectory(prefix="parley-changing-") as folder:
        settings = settings_for(Path(folder) / "home", url)
        await fill_index(settings, count)
        for number in range(runs):
            for kill_after in (None, 3):
                file = await attack_export(settings, f"t{number}-{kill_after}", count, kill_after=kill_after)
                kind = "killed" if kill_after else "whole"
                points = "" if url is None else f", {count_open_points(url)} points in time left"
                report_line(f"{engine} {kind} {'sound' if file.is_sound else 'WRONG'}: {file}{points}")
                is_sound &= file.is_sound
    return is_sound


def report_line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.attack.changing_documents", description=__doc__)
    parser.add_argument("--engine", choices=["embedded", "opensearch"], action="append")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--role", choices=["write", "export"], help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--turn", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    match options.role:
        case "write":
            asyncio.run(replace_forever(settings_for(options.home, options.url), options.documents))
        case "export":
            asyncio.run(export_documents(settings_for(options.home, options.url), options.turn))
        case _:
            sound = [
                asyncio.run(attack_engine(engine, options.documents, options.runs))
                for engine in options.engine or ["embedded", "opensearch"]
            ]
            sys.exit(0 if all(sound) else 1)


if __name__ == "__main__":
    main()
