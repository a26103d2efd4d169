"""Measures memory and time of a small and a large export from one index, each in its own process, and a bare writer.

`python -m bench.export ROWS` measures sets of ten thousand and of ROWS rows (default 100,000).
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

from bench.demo_index import settings_in
from bench.export_parcels import first_parcels_search, put_parcels
from bench.figures import BenchmarkFigure, build_figure_table
from bot.bootstrap import open_application
from bot.conversation.exports import ExportFileRequest
from bot.ids import ConversationId, PersonId, TurnId
from bot.settings import load_settings
from bot.surface.inbound import OperatorAudience
from storage.embedded.index import EmbeddedIndex
from storage.search.ids import LegId, TenantId
from storage.search.plan import Leg, ListDocuments
from storage.text.snowball_analyser import analyser_for

SMALL_EXPORT_ROWS = 10_000
DEFAULT_EXPORT_ROWS = 100_000


async def measure_exports(folder: Path, rows: int) -> list[BenchmarkFigure]:
    """Measure both exports from an index of `rows` documents."""
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    settings = settings_in(folder)
    index = await EmbeddedIndex.open(
        settings.index_path, tenant=TenantId(settings.tenant), analysers=analyser_for, embedder=None
    )
    began = time.perf_counter()
    try:
        async for _ in put_parcels(index, rows):
            pass
    finally:
        await index.close()
    build_s = time.perf_counter() - began
    small, large = (
        await _export_in_child_process(settings.home, SMALL_EXPORT_ROWS),
        await _export_in_child_process(settings.home, rows),
    )
    bare_cpu_s = await asyncio.to_thread(_time_bare_writer, folder / "bare.csv", rows)
    name = f"export of {rows:,} rows from {rows:,} documents"
    return [
        BenchmarkFigure(
            name=f"{name}: peak memory",
            unit="MB",
            run_values=(large["mb"],),
            target=round(small["mb"] * 1.2, 1),
            baseline=small["mb"],
            note=f"bare: {SMALL_EXPORT_ROWS:,} rows from the same documents; built in {build_s:,.0f} s",
        ),
        BenchmarkFigure(
            name=f"{name}: CPU",
            unit="s",
            run_values=(large["cpu_s"],),
            baseline=bare_cpu_s,
            note="bare: csv.writer alone",
        ),
        BenchmarkFigure(
            name=f"{name}: CPU a row",
            unit="µs",
            run_values=(large["cpu_s"] / rows * 1e6,),
            baseline=small["cpu_s"] / SMALL_EXPORT_ROWS * 1e6,
            note=f"bare: a row of {SMALL_EXPORT_ROWS:,}",
        ),
    ]


async def _export_in_child_process(home: Path, rows: int) -> dict[str, float]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.export", "--home", str(home), str(rows)), stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    return json.loads(output)


async def _export_rows(home: Path, rows: int) -> dict[str, float]:
    """Export in this process. Returns the peak memory of the process and the CPU time of the export."""
    async with open_application(load_settings(home, {"PARLEY_EMBEDDER": "none"}).settings) as bot:
        leg = Leg(id=LegId("a"), question="", search=first_parcels_search(rows), answer_form=ListDocuments())
        request = ExportFileRequest(
            turn=TurnId(f"t{rows}"),
            conversation=ConversationId("c"),
            person=PersonId("operator"),
            audience=OperatorAudience(),
            leg=leg,
        )
        began = time.process_time()
        file = await bot.exports.write_file(request)
        cpu_s = time.process_time() - began
    if file.rows != rows:
        raise SystemExit(f"{file.rows} rows, not {rows}")
    return {"mb": _peak_memory_mb(), "cpu_s": cpu_s}


def _peak_memory_mb() -> float:
    """The peak memory of this process. `ru_maxrss` would include the peak of the parent process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    [kilobytes] = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(kilobytes) / 1000


def _time_bare_writer(path: Path, rows: int) -> float:
    began = time.process_time()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows(_bare_csv_rows(rows))
    return time.process_time() - began


def _bare_csv_rows(rows: int) -> Iterator[tuple[str, ...]]:
    for number in range(rows):
        yield (f"p{number:07}", f"Parcel {number}", str(number), f"Carrier {number % 50}", "2020-03-01", "")


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.export", description=__doc__)
    parser.add_argument("rows", type=int, nargs="?", default=DEFAULT_EXPORT_ROWS)
    parser.add_argument("--home", type=Path, help="export from this home, and print what it took as JSON")
    options = parser.parse_args()
    if options.home is not None:
        sys.stdout.write(json.dumps(asyncio.run(_export_rows(options.home, options.rows))))
        return
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        Console(width=160).print(build_figure_table(asyncio.run(measure_exports(Path(name), options.rows))))


if __name__ == "__main__":
    main()
