"""Finds node, npm and Chromium, and installs the Playground and the browser's driver from the npm registry."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.adapters.web.chromium import CHROMIUM_PATH
from tests.servers.artefacts import cache_folder, lock_cache
from tests.servers.missing import ServerMissing

FOLDER: Final = Path(__file__).parent
_PACKAGE_FILES: Final = ("package.json", "package-lock.json")
_INSTALL_S: Final = 120


@dataclass(frozen=True, kw_only=True)
class PlaygroundTools:
    """The programs. `packages`: the folder `node_modules`."""

    node: str
    chromium: str
    packages: Path

    @property
    def playground(self) -> Path:
        return self.packages / "@microsoft" / "m365agentsplayground" / "cli.js"


def prepare_tools() -> PlaygroundTools:
    """Raises `ServerMissing`."""
    node, npm = shutil.which("node"), shutil.which("npm")
    missing = [name for name, path in (("node", node), ("npm", npm), ("chromium", CHROMIUM_PATH)) if path is None]
    if node is None or npm is None or CHROMIUM_PATH is None:
        raise ServerMissing("playground", f"not installed: {', '.join(missing)}", required=False)
    cache = cache_folder()
    with lock_cache(cache):
        packages = _install_packages(npm, cache / "playground")
    return PlaygroundTools(node=node, chromium=CHROMIUM_PATH, packages=packages)


def _install_packages(npm: str, folder: Path) -> Path:
    """Installs exactly the locked versions, once."""
    packages, mark = folder / "node_modules", folder / "installed-lock.json"
    lock_text = (FOLDER / "package-lock.json").read_text(encoding="utf-8")
    if mark.exists() and mark.read_text(encoding="utf-8") == lock_text:
        return packages
    folder.mkdir(exist_ok=True)
    for name in _PACKAGE_FILES:
        shutil.copy(FOLDER / name, folder / name)
    _run_npm([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)
    mark.write_text(lock_text, encoding="utf-8")
    return packages


def _run_npm(command: Sequence[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, capture_output=True, timeout=_INSTALL_S, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as exc:
        raise ServerMissing("playground", f"npm cannot install it: {type(exc).__name__}", required=False) from exc
