"""Exports of few and of many rows from one index, each in a process of its own: memory, time, a bare writer beside it.

`python -m bench.exporting ROWS` measures sets of ten thousand and of ROWS rows (default 100,000).
"""

import argparse
import asyncio
import csv
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from bench.figures import Figure, table
from bench.home import settings_in
from bot.bootstrap import build_bot
from bot.exports import Wanted
from bot.ids import ConversationId, PersonId, TurnId
from bot.inbound import Operator
from bot.settings import load_settings
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.ingest.chunk import passages_of
from storage.search.conditions import Compare, Op
from storage.search.documents import Document
from storage.search.ids import BucketId, DocId, FieldName, LegId, TenantId
from storage.search.plan import Clause, Leg, ListDocuments, Search
from storage.search.schema import Field, FieldType, Schema

FEW = 10_000
MANY = 100_000
_BATCH = 5_000
_BUCKET = BucketId("parcels")
_NUMBER, _CARRIER, _SENT = FieldName("number"), FieldName("carrier"), FieldName("sent")
_SCHEMA = Schema(
    bucket=_BUCKET,
    fields=(
        Field(name=_NUMBER, type=FieldType.NUMBER),
        Field(name=_CARRIER, type=FieldType.CATEGORY, facet=True),
        Field(name=_SENT, type=FieldType.DATE),
    ),
)


async def exporting(folder: Path, rows: int) -> list[Figure]:
    """The index holds `rows` documents, for the small export as for the large one."""
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    settings = settings_in(folder)
    index = await EmbeddedIndex.open(
        settings.index_path, tenant=TenantId(settings.tenant), analysers=analyser_for, embedder=None
    )
    began = time.perf_counter()
    try:
        await index.set_schema(_SCHEMA)
        for start in range(0, rows, _BATCH):
            await index.put(_BUCKET, [_document(number) for number in range(start, min(start + _BATCH, rows))])
    finally:
        await index.close()
    built = time.perf_counter() - began
    few, many = await _child(settings.home, FEW), await _child(settings.home, rows)
    bare = await asyncio.to_thread(_bare, folder / "bare.csv", rows)
    name = f"export of {rows:,} rows from {rows:,} documents"
    return [
        Figure(
            name=f"{name}: peak memory",
            unit="MB",
            runs=(many["mb"],),
            aim=round(few["mb"] * 1.2, 1),
            bare=few["mb"],
            note=f"bare: {FEW:,} rows from the same documents; built in {built:,.0f} s",
        ),
        Figure(name=f"{name}: CPU", unit="s", runs=(many["cpu_s"],), bare=bare, note="bare: csv.writer alone"),
        Figure(
            name=f"{name}: CPU a row",
            unit="µs",
            runs=(many["cpu_s"] / rows * 1e6,),
            bare=few["cpu_s"] / FEW * 1e6,
            note=f"bare: a row of {FEW:,}",
        ),
    ]


def _document(number: int) -> Document:
    text = f"Parcel {number}."
    return Document(
        doc_id=DocId(f"p{number:07}"),
        title=f"Parcel {number}",
        text=text,
        values={_NUMBER: float(number), _CARRIER: f"Carrier {number % 50}", _SENT: f"20{number % 25:02}-03-01"},
        passages=passages_of(text),
        digest=str(number),
    )


async def _child(home: Path, rows: int) -> dict[str, float]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.exporting", "--home", str(home), str(rows)), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    return json.loads(out)


async def _exported(home: Path, rows: int) -> dict[str, float]:
    """In this process: its peak of memory, and the processor time of the export."""
    async with build_bot(load_settings(home, {"PARLEY_EMBEDDER": "none"}).settings) as bot:
        few = Compare(field=_NUMBER, op=Op.LT, value=float(rows))
        search = Search(clauses=(Clause(bucket=_BUCKET, condition=few),))
        leg = Leg(id=LegId("a"), question="", search=search, wanted=ListDocuments())
        wanted = Wanted(
            turn=TurnId(f"t{rows}"),
            conversation=ConversationId("c"),
            person=PersonId("operator"),
            audience=Operator(),
            leg=leg,
        )
        began = time.process_time()
        file = await bot.exports.write(wanted)
        cpu_s = time.process_time() - began
    if file.rows != rows:
        raise SystemExit(f"{file.rows} rows, not {rows}")
    return {"mb": _peak_mb(), "cpu_s": cpu_s}


def _peak_mb() -> float:
    """Of this process alone: `ru_maxrss` would begin with that of whoever started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    [kilobytes] = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(kilobytes) / 1000


def _bare(path: Path, rows: int) -> float:
    began = time.process_time()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows(_row(rows))
    return time.process_time() - began


def _row(rows: int) -> Iterator[tuple[str, ...]]:
    for number in range(rows):
        yield (f"p{number:07}", f"Parcel {number}", str(number), f"Carrier {number % 50}", "2020-03-01", "")


def main() -> None:
    options = argparse.ArgumentParser(prog="bench.exporting", description=__doc__)
    options.add_argument("rows", type=int, nargs="?", default=MANY)
    options.add_argument("--home", type=Path, help="export from this home, and print what it took as JSON")
    given = options.parse_args()
    if given.home is not None:
        sys.stdout.write(json.dumps(asyncio.run(_exported(given.home, given.rows))))
        return
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        Console(width=160).print(table(asyncio.run(exporting(Path(name), given.rows))))


if __name__ == "__main__":
    main()
