"""Downloaded parts of servers, in a cache that outlives the session: `PARLEY_TEST_CACHE`, else `.servers/` here."""

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
    """An artefact is neither in the cache nor to be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Zip:
    """A zip of Maven Central."""

    group: str
    name: str
    version: str

    @property
    def file(self) -> str:
        return f"{self.name}-{self.version}.zip"

    @property
    def url(self) -> str:
        return f"{_CENTRAL}/{self.group.replace('.', '/')}/{self.name}/{self.version}/{self.file}"


def cache_folder() -> Path:
    """The cache; outside the checkout where the unprivileged user of the servers could not read it there."""
    chosen = os.environ.get("PARLEY_TEST_CACHE")
    folder = Path(chosen) if chosen else Path(__file__).resolve().parents[2] / ".servers"
    if UNPRIVILEGED is not None and not all(parent.stat().st_mode & 0o001 for parent in folder.parents):
        folder = Path("/var/tmp/parley-test-servers")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def locked(cache: Path) -> Generator[None]:
    """One process at a time fills the cache."""
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def central_answers() -> bool:
    """Whether Maven Central can be reached from here."""
    try:
        with urllib.request.urlopen(f"{_CENTRAL}/org/opensearch/", timeout=10):
            return True
    except OSError:
        return False


def download(wanted: Zip, cache: Path) -> Path:
    """The zip in the cache, by `mvn` where it is installed (it knows the mirrors), else over HTTPS."""
    target = cache / wanted.file
    if target.exists():
        return target
    _by_maven(wanted, cache)
    if not target.exists():
        _by_https(wanted, target)
    return target


def _by_maven(wanted: Zip, cache: Path) -> None:
    if (mvn := shutil.which("mvn")) is None:
        return
    artifact = f"{wanted.group}:{wanted.name}:{wanted.version}:zip"
    command = [mvn, "-B", "-q", _COPY, f"-Dartifact={artifact}", f"-DoutputDirectory={cache}"]
    subprocess.run(command, cwd=cache, capture_output=True, timeout=_TIMEOUT_S, check=False)


def _by_https(wanted: Zip, target: Path) -> None:
    part = target.with_suffix(".part")
    try:
        with urllib.request.urlopen(wanted.url, timeout=60) as response, part.open("wb") as out:
            shutil.copyfileobj(response, out)
    except OSError as exc:
        raise NotDownloaded(f"{wanted.url} did not come: {exc}") from exc
    part.rename(target)


def unzip(archive: Path, folder: Path) -> None:
    """Everything readable by everyone: the server runs as another user."""
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
