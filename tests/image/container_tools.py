"""The programs that build and run an image without a daemon: buildah, runc or crun, and debootstrap for a base."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.servers.missing import ServerMissing

STAND_IN: Final = "debootstrap"  # in place of the name of a base image: one of Debian's packages
BASE_NAME: Final = "localhost/parley-python-stand-in"
DEBIAN: Final = ("trixie", "http://deb.debian.org/debian")
DEBIAN_PACKAGES: Final = "python3,python3-pip,ca-certificates"
CERTIFICATES: Final = Path("/etc/ssl/certs/ca-certificates.crt")
_STEP_S: Final = 1_800


@dataclass(frozen=True, kw_only=True)
class ContainerTools:
    """`debootstrap` is needed for the stand-in alone."""

    buildah: str
    runtime: str
    debootstrap: str


def find_tools(base: str) -> ContainerTools:
    """Raises `ServerMissing` with the names of all programs that are missing."""
    search_path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
    programs = ("buildah", "runc", "crun", *(("debootstrap",) if base == STAND_IN else ()))
    paths = {name: shutil.which(name, path=search_path) or "" for name in programs}
    runc, crun = paths.pop("runc"), paths.pop("crun")
    paths["runc or crun"] = runtime = runc or crun
    missing = [name for name, path in paths.items() if not path]
    if missing or os.geteuid() != 0:
        reason = f"not installed: {', '.join(missing)}" if missing else "building needs root"
        raise ServerMissing("image", reason, required=False)
    return ContainerTools(buildah=paths["buildah"], runtime=runtime, debootstrap=paths.get("debootstrap", ""))


def run_step(command: Sequence[str], **options: Any) -> str:
    """Runs a program to its end and returns its output. Fails with the last lines of what it has said."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=_STEP_S, check=False, **options)
    said = "\n".join((result.stdout + result.stderr).splitlines()[-30:])
    assert result.returncode == 0, f"{' '.join(command[:6])} …\n{said}"
    return result.stdout


@dataclass(frozen=True, kw_only=True)
class ImageStore:
    """Images in a folder of their own, so that nothing is left on the machine."""

    tools: ContainerTools
    folder: Path

    def call_buildah(self, *arguments: str) -> str:
        places = ("--root", str(self.folder / "images"), "--runroot", str(self.folder / "run"))
        return run_step([self.tools.buildah, "--storage-driver", "vfs", *places, *arguments]).strip()

    def build_image(self, source: Path, name: str, base: str) -> None:
        """Docker's format, since the other one has no health check."""
        options = ("--isolation", "chroot", "--format", "docker", "--pull-never" if base == BASE_NAME else "--pull")
        arguments = ("--build-arg", f"PYTHON_IMAGE={base}", "--tag", name, str(source))
        self.call_buildah("build", *options, *arguments)

    def load_config(self, name: str) -> Mapping[str, Any]:
        return json.loads(self.call_buildah("inspect", "--type", "image", name))["Docker"]["config"]

    def open_files(self, name: str) -> Path:
        """Returns the folder with the files of the image."""
        return Path(self.call_buildah("mount", self.call_buildah("from", "--pull-never", name)))


def make_stand_in(store: ImageStore, cache: Path) -> None:
    """Makes a base image of Debian's own Python, with what the Dockerfile expects: `python`, `pip` and `useradd`.

    It trusts the certificates that this machine trusts.
    """
    files = cache / f"python-{DEBIAN[0]}"
    if not (files / "usr" / "bin" / "python3").exists():
        shutil.rmtree(files, ignore_errors=True)
        command = [store.tools.debootstrap, "--variant=minbase", f"--include={DEBIAN_PACKAGES}"]
        run_step([*command, DEBIAN[0], str(files), DEBIAN[1]])
    for name in ("python", "pip"):
        link = files / "usr" / "local" / "bin" / name
        link.unlink(missing_ok=True)
        link.symlink_to(f"/usr/bin/{name}3")
    for mark in files.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
        mark.unlink()
    shutil.copy(CERTIFICATES, files / CERTIFICATES.relative_to("/"))
    container = store.call_buildah("from", "scratch")
    store.call_buildah("add", "--quiet", container, str(files), "/")
    trust = ("--env", f"SSL_CERT_FILE={CERTIFICATES}", "--env", f"PIP_CERT={CERTIFICATES}")
    store.call_buildah("config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", *trust, container)
    store.call_buildah("commit", "--quiet", "--rm", container, BASE_NAME)
