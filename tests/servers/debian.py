"""Debian's packages, unpacked into the cache of the test servers. Nothing is installed on the machine."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.servers.artefacts import cache_folder, lock_cache
from tests.servers.missing import ServerMissing


def find_debian_program(server: str, program: str, packages: Sequence[str]) -> tuple[Path, dict[str, str]]:
    """Returns the program and what it needs in its environment: the machine's own, else Debian's from the cache.

    Raises `ServerMissing`.
    """
    name = Path(program).name
    for candidate in (shutil.which(name), f"/{program}"):
        if candidate and Path(candidate).exists():
            return Path(candidate), {}
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise ServerMissing(server, f"neither {name} nor apt-get to fetch it", required=False)
    cache = cache_folder()
    with lock_cache(cache):
        root = cache / f"debian-{server}"
        if not (root / program).exists():
            _unpack_packages(server, packages, root)
    libraries = [str(folder) for base in root.glob("usr/lib/*-linux-gnu") for folder in (base, base / server)]
    return root / program, {"LD_LIBRARY_PATH": ":".join(libraries)}


def _unpack_packages(server: str, packages: Sequence[str], root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    fetched = subprocess.run(["apt-get", "download", *packages], cwd=root, capture_output=True, text=True, check=False)
    if fetched.returncode:
        raise ServerMissing(server, f"apt-get download failed: {fetched.stderr.strip()[-200:]}", required=False)
    for package in root.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True)
        package.unlink()
