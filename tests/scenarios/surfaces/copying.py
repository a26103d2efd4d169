"""Gives each office a home of its own, so that no test sees another test's turns."""

import shutil
from pathlib import Path


def copy_home(home: Path, target: Path) -> Path:
    """Copies a home that no bot has open. Returns `target`."""
    shutil.copytree(home, target)
    return target
