"""Downloads of server parts, in a cache that outlives the session: `PARLEY_TEST_CACHE`, else `.servers/` here."""

import fcntl
import os
import shutil
import subprocess
import urllib.request
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.process import UNPRIVILEGED

_CENTRAL = "https://repo.maven.apache.org/maven2"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
_TIMEOUT_S = 300


class NotDownloaded(Exception):
    """An artefact is not in the cache and cannot be downloaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MavenZip:
    """A zip file of Maven Central."""

    group: str
    name: str
    version: str

    @property
    def file_name(self) -> str:
        return f"{self.name}-{self.version}.zip"

    @property
    def url(self) -> str:
        return f"{_CENTRAL}/{self.group.replace('.', '/')}/{self.name}/{self.version}/{self.file_name}"


def cache_folder() -> Path:
    """Returns the cache folder; outside the checkout if the servers' unprivileged user cannot read the checkout."""
    configured = os.environ.get("PARLEY_TEST_CACHE")
    folder = Path(configured) if configured else Path(__file__).resolve().parents[2] / ".servers"
    if UNPRIVILEGED is not None and not all(parent.stat().st_mode & 0o001 for parent in folder.parents):
        folder = Path("/var/tmp/parley-test-servers")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def lock_cache(cache: Path) -> Generator[None]:
    """Lock the cache, so that one process at a time fills it."""
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_central_reachable() -> bool:
    """Whether Maven Central can be reached from here."""
    try:
        with urllib.request.urlopen(f"{_CENTRAL}/org/opensearch/", timeout=10):
            return True
    except OSError:
        return False


def download_zip(artefact: MavenZip, cache: Path) -> Path:
    """Returns the zip in the cache; downloads it by `mvn` if installed (it knows the mirrors), else over HTTPS."""
    target = cache / artefact.file_name
    if target.exists():
        return target
    _download_by_maven(artefact, cache)
    if not target.exists():
        _download_by_https(artefact, target)
    return target


def _download_by_maven(artefact: MavenZip, cache: Path) -> None:
    if (mvn := shutil.which("mvn")) is None:
        return
    artifact = f"{artefact.group}:{artefact.name}:{artefact.version}:zip"
    command = [mvn, "-B", "-q", _COPY, f"-Dartifact={artifact}", f"-DoutputDirectory={cache}"]
    subprocess.run(command, cwd=cache, capture_output=True, timeout=_TIMEOUT_S, check=False)


def _download_by_https(artefact: MavenZip, target: Path) -> None:
    partial_file = target.with_suffix(".part")
    try:
        with urllib.request.urlopen(artefact.url, timeout=60) as response, partial_file.open("wb") as output:
            shutil.copyfileobj(response, output)
    except OSError as exc:
        raise NotDownloaded(f"{artefact.url} did not come: {exc}") from exc
    partial_file.rename(target)


def unzip_archive(archive: Path, folder: Path) -> None:
    """Unzip the archive and make everything readable for all users, because the server runs as another user."""
    with zipfile.ZipFile(archive) as zip_file:
        zip_file.extractall(folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
