"""What starting costs: the command line's help, and the demo from a clean clone."""

import subprocess
import sys
import time
from collections.abc import Sequence
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
    pairs = [(_seconds(asked), _seconds(bare)) for _ in range(runs)]
    imported = subprocess.run([sys.executable, "-c", _IMPORTED], cwd=ROOT, capture_output=True, text=True, check=True)
    return [
        Figure(
            name="parley --help",
            unit="s",
            runs=tuple(pair[0] for pair in pairs),
            aim=_AIM_HELP_S,
            bare=sorted(pair[1] for pair in pairs)[runs // 2],
            note=f"bare: python -c pass; of the heavy modules it imports {imported.stdout.strip()}",
        )
    ]


def demo(folder: Path) -> list[Figure]:
    """Once: it makes an environment and loads the corpus."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    seconds = _seconds(["make", "demo"], folder=clone)
    return [Figure(name="make demo from a clean clone", unit="s", runs=(seconds,), aim=_AIM_DEMO_S)]


def _seconds(command: Sequence[str], *, folder: Path = ROOT) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return time.perf_counter() - started
