"""`python -m tests.attack.growth_curves`: what files of three sizes cost `parley ingest`, and then `parley ask`.

Where the work is linear, the second step up costs as much for each unit as the first: a slope ratio near 1. Where it
grows with the square of the size, the ratio is 2 for sizes that double.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.attack.file_attack import list_process_tree, read_cpu_seconds
from tests.attack.hostile_packages import a_sheet_package, a_text_pdf
from tests.attack.hostile_texts import write_lines
from tests.attack.ordinary_files import COLUMNS, make_paragraphs, make_row

_POLL_S = 0.05
_MAX_MEMORY_KB = 3_500_000
_MIN_GROWTH = 1.2  # less is the noise of the machine
_RECORDS = 20  # of a file whose records grow


@dataclass(frozen=True, slots=True, kw_only=True)
class FileShape:
    """Files that differ in one number, and the three sizes that are measured."""

    suffix: str
    write: Callable[[Path, int], object]
    sizes: tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCost:
    """CPU seconds of a command and the processes that it started; the peak memory of its own process."""

    cpu_s: float
    peak_mb: float
    is_complete: bool  # it ended by itself, without an error


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeCost:
    """What a file of one size cost."""

    size: int
    ingest: CommandCost
    ask: CommandCost


def _write_csv(path: Path, row_count: int) -> None:
    rng = random.Random(12)
    write_lines(path, (",".join(row) for row in [COLUMNS, *(make_row(number, rng) for number in range(row_count))]))


def _write_records(path: Path, record_count: int) -> None:
    rng = random.Random(16)
    rows = (dict(zip(COLUMNS, make_row(number, rng), strict=True)) for number in range(record_count))
    write_lines(path, map(json.dumps, rows))


def _write_sheet(path: Path, row_count: int) -> None:
    rng = random.Random(13)

    def sheet_row(cells: Sequence[str]) -> str:
        return "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in cells) + "</row>"

    rows = [COLUMNS, *(make_row(number, rng) for number in range(row_count))]
    path.write_bytes(a_sheet_package(map(sheet_row, rows)))


def _write_pdf(path: Path, page_count: int) -> None:
    paragraphs = make_paragraphs(15)
    path.write_bytes(a_text_pdf("".join(next(paragraphs) for _ in range(4)).splitlines() for _ in range(page_count)))


def _first_characters(count: int) -> Iterator[str]:
    for paragraph in make_paragraphs(14):
        if count <= 0:
            return
        yield paragraph[:count]
        count -= len(paragraph)


def _write_text(path: Path, character_count: int) -> None:
    path.write_text("".join(_first_characters(character_count)), encoding="utf-8")


def _write_html(path: Path, character_count: int) -> None:
    paragraphs = (f"<p>{paragraph}</p>\n" for paragraph in _first_characters(character_count))
    path.write_text(f"<html><title>Works</title><body>{''.join(paragraphs)}</body></html>", encoding="utf-8")


def _write_line(path: Path, character_count: int) -> None:
    path.write_text("".join(_first_characters(character_count)).replace("\n", " "), encoding="utf-8")


def _write_keys(path: Path, key_count: int) -> None:
    keys = [f"key {key}" for key in range(key_count)]
    records = ({"id": f"r{record}", **dict.fromkeys(keys, f"value {record}")} for record in range(_RECORDS))
    write_lines(path, map(json.dumps, records))


def _write_columns(path: Path, column_count: int) -> None:
    header = ",".join(f"column {column}" for column in range(column_count))
    rows = (",".join(f"{row}-{column}" for column in range(column_count)) for row in range(_RECORDS))
    write_lines(path, [header, *rows])


def _write_members(path: Path, member_count: int) -> None:
    records = ({"id": f"r{r}", "parts": [f"part {r} {m}" for m in range(member_count)]} for r in range(_RECORDS))
    write_lines(path, map(json.dumps, records))


SHAPES: Mapping[str, FileShape] = {
    "rows of csv": FileShape(suffix="csv", write=_write_csv, sizes=(3_000, 6_000, 12_000)),
    "rows of xlsx": FileShape(suffix="xlsx", write=_write_sheet, sizes=(2_000, 4_000, 8_000)),
    "records of jsonl": FileShape(suffix="jsonl", write=_write_records, sizes=(3_000, 6_000, 12_000)),
    "pages of pdf": FileShape(suffix="pdf", write=_write_pdf, sizes=(250, 500, 1_000)),
    "characters of text": FileShape(suffix="txt", write=_write_text, sizes=(1_000_000, 2_000_000, 4_000_000)),
    "characters of one line": FileShape(suffix="txt", write=_write_line, sizes=(1_000_000, 2_000_000, 4_000_000)),
    "characters of html": FileShape(suffix="html", write=_write_html, sizes=(1_000_000, 2_000_000, 4_000_000)),
    "keys of a record": FileShape(suffix="jsonl", write=_write_keys, sizes=(450, 900, 1_800)),
    "columns of csv": FileShape(suffix="csv", write=_write_columns, sizes=(500, 1_000, 2_000)),
    "members of a list": FileShape(suffix="jsonl", write=_write_members, sizes=(10_000, 20_000, 40_000)),
}


def measure_size(shape: FileShape, size: int) -> SizeCost:
    """Loads a file of this size into a new home, and asks a question there."""
    with tempfile.TemporaryDirectory(prefix="parley-growth-") as folder:
        path, home = Path(folder) / f"contracts.{shape.suffix}", Path(folder) / "home"
        shape.write(path, size)
        ingest = _measure_command("ingest", str(path), "--bucket", "contracts", "--json", "--home", str(home))
        ask = _measure_command("ask", "how many contracts are open?", "--home", str(home))
        return SizeCost(size=size, ingest=ingest, ask=ask)


def _measure_command(*arguments: str) -> CommandCost:
    command = (sys.executable, "-m", "bot.cli", *arguments)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak_kb, cpu_by_process = 0, dict[int, float]()
    while process.poll() is None:
        # A process that has ended counts in its parent's seconds, so the tree is summed anew each time.
        cpu_by_process = {number: read_cpu_seconds(number) for number in list_process_tree(process.pid)}
        peak_kb = max(peak_kb, _read_peak_kb(process.pid))
        if peak_kb > _MAX_MEMORY_KB:
            process.kill()
        time.sleep(_POLL_S)
    is_complete = process.returncode == 0
    return CommandCost(cpu_s=sum(cpu_by_process.values()), peak_mb=peak_kb / 1024, is_complete=is_complete)


def _read_peak_kb(process_id: int) -> int:
    try:
        lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def slope_ratio(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The cost of a unit between the last two of three sizes, by that between the first two; 1 if it hardly grows."""
    if costs[2] < _MIN_GROWTH * costs[0]:
        return 1.0
    first, second = ((costs[i + 1] - costs[i]) / (sizes[i + 1] - sizes[i]) for i in range(2))
    return 1.0 if second <= 0 else second / first if first > 0 else float("inf")


def _format_shape(name: str, costs: Sequence[SizeCost]) -> str:
    sizes = [cost.size for cost in costs]
    cells = [name, ", ".join(f"{size:,}" for size in sizes)]
    for commands in ([cost.ingest for cost in costs], [cost.ask for cost in costs]):
        cpu, memory = [command.cpu_s for command in commands], [command.peak_mb for command in commands]
        bytes_per_unit = (memory[-1] - memory[0]) * 1024**2 / (sizes[-1] - sizes[0])
        ended = "" if all(command.is_complete for command in commands) else " (not complete)"
        cells += [
            ", ".join(f"{seconds:.1f}" for seconds in cpu) + f"; {slope_ratio(sizes, cpu):.1f}",
            ", ".join(f"{megabytes:,.0f}" for megabytes in memory) + f"; {bytes_per_unit:,.0f}{ended}",
        ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    options = argparse.ArgumentParser(prog="tests.attack.growth_curves", description=__doc__)
    options.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"all without: {', '.join(SHAPES)}")
    options.add_argument("--sizes", nargs=3, type=int, metavar="N", help="other sizes, ascending")
    arguments = options.parse_args()
    sys.stdout.write(
        "| | sizes | ingest: CPU s; slope ratio | peak MB; bytes a unit | ask: CPU s; slope ratio |"
        " peak MB; bytes a unit |\n|---|---|---|---|---|---|\n"
    )
    for name in arguments.shapes or SHAPES:
        costs = [measure_size(SHAPES[name], size) for size in arguments.sizes or SHAPES[name].sizes]
        sys.stdout.write(f"{_format_shape(name, costs)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
