"""A real Samba, as the servers' unprivileged user, with one share that this user may read."""

import getpass
import pwd
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from storage.ingest.sources.stores.open_store import StoreLocation
from tests.servers.debian import find_debian_program
from tests.servers.file_stores import SECRET, wait_for_log
from tests.servers.process import UNPRIVILEGED, free_port, run_server, scratch_folder

_PACKAGES: Final = (
    "samba",
    "samba-common-bin",
    "samba-libs",
    "libldb2",
    "liblmdb0",
    "libpopt0",
    "libtalloc2",
    "libtdb1",
    "libtevent0",
    "libwbclient0",
)


@dataclass(frozen=True, kw_only=True)
class ShareServer:
    """`share` is the folder behind `smb://127.0.0.1:PORT/docs`."""

    port: int
    user: str
    share: Path

    def location_of(self, folder: Path, *, secret: str = SECRET) -> StoreLocation:
        """`folder` lies in the share."""
        inner = folder.relative_to(self.share).as_posix()
        url = f"smb://127.0.0.1:{self.port}/docs/{inner}"
        return StoreLocation(url=url, user=self.user, secret=secret, allow_private=True)


@contextmanager
def share_server() -> Generator[ShareServer]:
    """Raises `ServerMissing`."""
    smbd, environment = find_debian_program("samba", "usr/sbin/smbd", _PACKAGES)
    user, port = UNPRIVILEGED or getpass.getuser(), free_port()
    with scratch_folder("smb") as scratch:
        for name in ("private", "state", "share"):
            folder = scratch / name
            folder.mkdir()
            if UNPRIVILEGED is not None:
                shutil.chown(folder, UNPRIVILEGED)
        _write_password(scratch / "private" / "smbpasswd", user)
        (scratch / "smb.conf").write_text(_configuration_for(scratch, port), encoding="utf-8")
        log = scratch / "server.log"
        command = [str(smbd), "-F", "--no-process-group", "-s", str(scratch / "smb.conf"), "--debug-stdout", "-d3"]
        with run_server(command, folder=scratch, log=log, environment=environment) as process:
            wait_for_log("samba", process, log, "waiting for connections")
            yield ShareServer(port=port, user=user, share=scratch / "share")


def _write_password(file: Path, user: str) -> None:
    """Writes what `smbpasswd -a` would, which only root may call."""
    from spnego._ntlm_raw.crypto import ntowfv1  # pyright: ignore[reportMissingTypeStubs]

    password_hash = cast(bytes, cast(Any, ntowfv1)(SECRET)).hex().upper()
    user_id = pwd.getpwnam(user).pw_uid
    file.write_text(f"{user}:{user_id}:{'X' * 32}:{password_hash}:[U          ]:LCT-6500AA00:\n")
    if UNPRIVILEGED is not None:
        shutil.chown(file, UNPRIVILEGED)


def _configuration_for(scratch: Path, port: int) -> str:
    places = "\n".join(f"{name} directory = {scratch}/state" for name in ("state", "cache", "lock", "pid"))
    return f"""[global]
workgroup = WORKGROUP
server role = standalone server
smb ports = {port}
interfaces = 127.0.0.1
bind interfaces only = yes
private dir = {scratch}/private
ncalrpc dir = {scratch}/state/ncalrpc
passdb backend = smbpasswd:{scratch}/private/smbpasswd
{places}
load printers = no
disable spoolss = yes
[docs]
path = {scratch}/share
read only = yes
"""
