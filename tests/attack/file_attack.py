"""`python -m tests.attack.file_attack`: ingests hostile files, each beside an ordinary one, and prints what it cost.

Each runs in a process of its own, which is ended when it takes too much time or memory.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.attack import further_files, hostile_packages, ordinary_files
from tests.attack.hostile_texts import WRITERS

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_POLL_S = 0.1
_NEIGHBOUR = "Notice period: three months.\n\nThe landlord is Orchard Homes.\n"
LONG_RUNS = frozenset({*further_files.LONG_RUNS, *ordinary_files.DOCUMENTS_OF_ORDINARY_FILES, "million_rows.xlsx"})
OTHER_WRITERS = (
    hostile_packages.__name__,
    further_files.__name__,
    ordinary_files.__name__,
)  # importing a module registers its files


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceCaps:
    """What a run may take before it is ended."""

    cpu_s: int
    wall_s: float
    memory_mb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackResult:
    """What a hostile file cost, and what became of it."""

    name: str
    file_mb: float
    cpu_s: float
    wall_s: float
    peak_mb: float
    outcome: str
    has_neighbour: bool  # whether the ordinary file beside it was loaded
    document_count: int = 0  # of the file

    @property
    def is_held(self) -> bool:
        """Whether the ordinary file beside it was loaded, and all of a large ordinary file."""
        expected = ordinary_files.DOCUMENTS_OF_ORDINARY_FILES.get(self.name, self.document_count)
        return self.has_neighbour and self.document_count == expected


def attack_with(name: str, caps: ResourceCaps) -> AttackResult:
    """Ingests a folder with the hostile file and an ordinary one."""
    with tempfile.TemporaryDirectory(prefix="parley-attack-") as folder_name:
        folder = Path(folder_name)
        documents = folder / "documents"
        documents.mkdir()
        WRITERS[name](documents / name)
        (documents / "zz_ordinary.txt").write_text(_NEIGHBOUR, encoding="utf-8")
        file_mb = (documents / name).lstat().st_size / 1e6
        result = _measure_ingestion(name, file_mb, documents, folder, caps)
        if (documents / name).is_dir():
            further_files.remove_deep_folder(documents / name)
        return result


def _measure_ingestion(name: str, file_mb: float, documents: Path, folder: Path, caps: ResourceCaps) -> AttackResult:
    arguments = ("-m", "tests.attack.ingest_folder", str(documents), str(folder / "home"))
    started_s, peak_bytes, ended_for = time.monotonic(), 0, ""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen([sys.executable, *arguments], stdout=out, stderr=err)
        while process.poll() is None:
            tree = list_process_tree(process.pid)
            memory, cpu_s = sum(map(_resident_bytes, tree)), sum(map(read_cpu_seconds, tree))
            peak_bytes = max(peak_bytes, memory)
            if memory > caps.memory_mb * 1e6:
                ended_for = f"ENDED: over {caps.memory_mb:,} MB"
            elif cpu_s > caps.cpu_s:
                ended_for = f"ENDED: over {caps.cpu_s} s of CPU"
            elif time.monotonic() - started_s > caps.wall_s:
                ended_for = f"ENDED: over {caps.wall_s:g} s"
            if ended_for:
                for process_id in reversed(tree):
                    _end_process(process_id)
                process.wait()
                break
            time.sleep(_POLL_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome, has_neighbour, document_count = _read_outcome(folder, ended_for)
    return AttackResult(
        name=name,
        file_mb=file_mb,
        cpu_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        wall_s=time.monotonic() - started_s,
        peak_mb=peak_bytes / 1e6,
        outcome=outcome,
        has_neighbour=has_neighbour,
        document_count=document_count,
    )


def list_process_tree(root: int) -> list[int]:
    """Returns a process and its descendants, parents first."""
    tree = [root]
    for process_id in tree:
        for children in Path(f"/proc/{process_id}/task").glob("*/children"):
            try:
                tree += map(int, children.read_text().split())
            except OSError:
                continue
    return tree


def _resident_bytes(process_id: int) -> int:
    try:
        return int(Path(f"/proc/{process_id}/statm").read_text().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0


def read_cpu_seconds(process_id: int) -> float:
    """Returns the CPU seconds of a process and its ended children."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _end_process(process_id: int) -> None:
    try:
        os.kill(process_id, 9)
    except ProcessLookupError:
        return


def _read_outcome(folder: Path, ended_for: str) -> tuple[str, bool, int]:
    """Returns what the report says of the hostile file, whether the ordinary file was loaded, and how many documents
    of the hostile one.
    """
    if ended_for:
        return ended_for, False, 0
    try:
        report = json.loads((folder / "out").read_text(encoding="utf-8"))
    except ValueError:
        error_lines = (folder / "err").read_text(encoding="utf-8").strip().splitlines() or ["no report"]
        return f"BROKE: {error_lines[-1]}", False, 0
    failures = [(where, reason) for where, reason in report["failures"] if not where.startswith("zz_ordinary")]
    has_neighbour = len(failures) == len(report["failures"]) and report["added"] > 0
    document_count = report["added"] - has_neighbour
    notes = [f"{document_count:,} added"]
    if failures:
        where = failures[0][0].partition(", ")[2]
        notes.append(f"{report['failed']:,} failed: {where + ': ' if where else ''}{failures[0][1]}")
    remarks = (remark.partition(": ")[2][:100] for remark in report["remarks"][:1])
    return "; ".join([*notes, *remarks]), has_neighbour, document_count


def format_result(result: AttackResult) -> str:
    neighbour = "yes" if result.is_held else "NO"
    sizes = f"{result.file_mb:.2f} | {result.cpu_s:.1f} | {result.wall_s:.1f} | {result.peak_mb:,.0f}"
    name = result.name if len(result.name) < 60 else f"{result.name[:20]}… ({len(result.name)} characters)"
    return f"| {name.encode('unicode_escape').decode()} | {sizes} | {neighbour} | {result.outcome} |"


def main() -> None:
    options = argparse.ArgumentParser(prog="tests.attack.file_attack", description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help="parts of the names of files; all without")
    options.add_argument("--cpu", type=int, default=60, help="seconds of CPU before a run is ended [60]")
    options.add_argument("--wall", type=float, default=300, help="seconds before a run is ended [300]")
    options.add_argument("--memory", type=int, default=1_500, help="MB, all processes together [1500]")
    options.add_argument("--list", action="store_true", help="print the names and end")
    arguments = options.parse_args()
    caps = ResourceCaps(cpu_s=arguments.cpu, wall_s=arguments.wall, memory_mb=arguments.memory)
    names = [name for name in WRITERS if not arguments.names or any(part in name for part in arguments.names)]
    if arguments.list:
        sys.stdout.write("\n".join([*names, ""]))
        return
    sys.stdout.write(
        "| file | MB | CPU s | wall s | peak MB | rest loaded | outcome |\n|---|---|---|---|---|---|---|\n"
    )
    for name in names:
        sys.stdout.write(f"{format_result(attack_with(name, caps))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
