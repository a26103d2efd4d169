"""What starting costs: the command line's help, and the demo from a clean clone."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Figure

ROOT = Path(__file__).parents[1]
_AIM_HELP_S = 0.5
_AIM_DEMO_S = 120.0
_HEAVY = ("litellm", "botbuilder", "numpy", "sqlalchemy", "aiohttp", "pydantic", "slack_bolt", "rich", "wordllama")
_IMPORTED = f"import sys, bot.cli.app; print([name for name in {_HEAVY!r} if name in sys.modules])"


def startup(runs: int) -> list[Figure]:
    asked, bare = [sys.executable, "-m", "bot.cli", "--help"], [sys.executable, "-c", "pass"]
    _seconds(asked)  # bytecode is written
    ours, theirs = zip(*((_seconds(asked), _seconds(bare)) for _ in range(runs)), strict=True)
    imported = subprocess.run([sys.executable, "-c", _IMPORTED], cwd=ROOT, capture_output=True, text=True, check=True)
    note = f"bare: python -c pass; of the heavy modules it imports {imported.stdout.strip()}"
    return [
        Figure(
            name="parley --help",
            unit="s",
            runs=tuple(one.wall for one in ours),
            aim=_AIM_HELP_S,
            bare=statistics.median(one.wall for one in theirs),
            note=note,
        ),
        Figure(
            name="parley --help, CPU",
            unit="s",
            runs=tuple(one.cpu for one in ours),
            bare=statistics.median(one.cpu for one in theirs),
        ),
    ]


def demo(folder: Path) -> list[Figure]:
    """Once: it makes an environment and loads the corpus."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    took = _seconds(["make", "demo"], folder=clone)
    return [Figure(name="make demo from a clean clone", unit="s", runs=(took.wall,), aim=_AIM_DEMO_S)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    wall: float
    cpu: float


def _seconds(command: Sequence[str], *, folder: Path = ROOT) -> Seconds:
    started, before = time.perf_counter(), _children_cpu()
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return Seconds(wall=time.perf_counter() - started, cpu=_children_cpu() - before)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
