"""Several commands of `parley` in one process, which is started once: most of a short command is the start."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bot.cli.app import app
from tests.cli.conftest import environment_for

_TIMEOUT_S: Final = 600.0


def run_commands(home: Path, commands: Sequence[Sequence[str]], settings: Mapping[str, str]) -> str:
    """Returns what they print. Raises `RuntimeError` for the first that fails."""
    ended = subprocess.run(
        [sys.executable, "-m", __name__, json.dumps(commands)],
        env=environment_for(home, **settings),
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if ended.returncode:
        raise RuntimeError(ended.stderr)
    return ended.stdout


def main() -> None:
    for words in json.loads(sys.argv[1]):
        if status := app(words, standalone_mode=False):
            sys.exit(f"parley {' '.join(words)} failed with the status {status}")


if __name__ == "__main__":
    main()
