"""Runs the image as `docker run --read-only --tmpfs /tmp --cap-drop ALL` would, without a daemon."""

import json
import os
import secrets
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_RUN_S: Final = 300
_MOUNTS: Final = (
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=65536k"]},
    {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "nodev", "mode=1777"]},
    {"destination": "/tmp", "type": "tmpfs", "source": "tmp", "options": ["nosuid", "nodev", "mode=1777", "size=256m"]},
)


def bind_mount(source: str, destination: str, access: str) -> Mapping[str, Any]:
    return {"destination": destination, "type": "bind", "source": source, "options": ["bind", access]}


@dataclass(frozen=True, kw_only=True)
class BuiltImage:
    """`runtime`: runc or crun. `files`: the folder with its files; `config`: what the Dockerfile says of its start."""

    runtime: str
    files: Path
    config: Mapping[str, Any]
    scratch: Path

    @property
    def user_id(self) -> int:
        return int(self.config["User"].partition(":")[0])

    def make_home(self) -> Path:
        """Returns an empty folder in the place of the volume, which belongs to the image's user."""
        home = self.scratch / f"home-{secrets.token_hex(4)}"
        home.mkdir(mode=0o700, parents=True)
        os.chown(home, self.user_id, self.user_id)
        return home

    def run(self, home: Path, *arguments: str, entrypoint: Sequence[str] = ()) -> "subprocess.CompletedProcess[str]":
        """Runs a command of the image to its end, by default Parley's."""
        bundle = self._write_bundle(home, [*(entrypoint or self.config["Entrypoint"]), *arguments], {})
        command = [*self._command, "run", "--bundle", str(bundle), bundle.name]
        return subprocess.run(command, capture_output=True, text=True, timeout=_RUN_S, check=False)

    @contextmanager
    def serve(self, home: Path, environment: Mapping[str, str]) -> "Generator[RunningContainer]":
        """Runs what the image starts by itself, and kills what is left of it at the end."""
        bundle = self._write_bundle(home, [*self.config["Entrypoint"], *self.config["Cmd"]], environment)
        command = [*self._command, "run", "--bundle", str(bundle), bundle.name]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            yield RunningContainer(command=self._command, name=bundle.name, process=process)
        finally:
            subprocess.run([*self._command, "delete", "--force", bundle.name], capture_output=True, check=False)
            process.communicate(timeout=_RUN_S)

    @property
    def _command(self) -> list[str]:
        return [self.runtime, "--root", str(self.scratch / "containers")]

    def _write_bundle(self, home: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> Path:
        bundle = self.scratch / f"parley-image-{secrets.token_hex(4)}"
        bundle.mkdir(parents=True)
        volume = next(iter(self.config["Volumes"]))
        mounts = [
            *_MOUNTS,
            *(bind_mount(file, file, "ro") for file in ("/etc/hosts", "/etc/resolv.conf")),
            bind_mount(str(home), volume, "rw"),
        ]
        process = {
            "terminal": False,
            "user": {"uid": self.user_id, "gid": self.user_id},
            "args": list(arguments),
            "env": [*self.config["Env"], *(f"{name}={value}" for name, value in environment.items())],
            "cwd": self.config["WorkingDir"],
            "capabilities": {},
            "noNewPrivileges": True,
        }
        spec = {
            "ociVersion": "1.0.0",
            "process": process,
            "root": {"path": str(self.files), "readonly": True},
            "mounts": mounts,
            "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]},
        }
        (bundle / "config.json").write_text(json.dumps(spec), encoding="utf-8")
        return bundle


@dataclass(frozen=True, kw_only=True)
class RunningContainer:
    command: Sequence[str]
    name: str
    process: "subprocess.Popen[str]"

    def run_inside(self, *arguments: str) -> int:
        """Runs a command beside the first process, and returns its exit status."""
        result = subprocess.run([*self.command, "exec", self.name, *arguments], timeout=_RUN_S, check=False)
        return result.returncode

    def stop(self) -> int:
        """Asks the first process to end, as an engine does, and returns its exit status."""
        subprocess.run([*self.command, "kill", self.name, "TERM"], check=True, timeout=_RUN_S)
        return self.process.wait(timeout=_RUN_S)
