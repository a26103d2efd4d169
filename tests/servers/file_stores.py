"""Real servers that hold files: S3 (moto), WebDAV (WsgiDAV) and SFTP (OpenSSH), each with a place that tests change."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast
from urllib.request import Request, urlopen

from storage.ingest.sources.stores.open_store import StoreLocation
from tests.servers.debian import find_debian_program
from tests.servers.missing import ServerMissing
from tests.servers.process import UNPRIVILEGED, free_port, last_log_line, run_server, scratch_folder

USER: Final = "parley"
SECRET: Final = "hush-hush-0451"
_BUSY_BODY: Final = b"<Error><Code>SlowDown</Code><Message>slow down</Message></Error>"
_START_S: Final = 30
_SSH_PACKAGES: Final = ("openssh-server", "openssh-sftp-server", "libwrap0")
WsgiApplication = Callable[[dict[str, Any], Any], Iterable[bytes]]


@dataclass
class RequestGate:
    """Stands before a WSGI application: refuses the next requests as busy, and the paths that are forbidden."""

    application: WsgiApplication
    busy_count: int = 0
    forbidden: set[str] = field(default_factory=set[str])  # endings of paths
    requests: list[str] = field(default_factory=list[str])
    held_path: str = ""  # a request for it waits until `release_requests`
    _is_holding: threading.Event = field(default_factory=threading.Event)
    _is_released: threading.Event = field(default_factory=threading.Event)

    def wait_for_held_request(self) -> None:
        assert self._is_holding.wait(timeout=240)

    def release_requests(self) -> None:
        self.held_path = ""
        self._is_released.set()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}?{environ.get('QUERY_STRING', '')}"
        self.requests.append(path)
        if self.held_path and self.held_path in path:
            self._is_holding.set()
            self._is_released.wait(timeout=240)
        if self.busy_count > 0:
            self.busy_count -= 1
            start_response("503 Slow Down", [("Content-Type", "application/xml"), ("Retry-After", "1")])
            return [_BUSY_BODY]
        if any(ending in path for ending in self.forbidden):
            start_response("403 Forbidden", [("Content-Type", "text/plain"), ("Content-Length", "0")])
            return []
        return self.application(environ, start_response)


class FolderOfServer:
    """A folder that a server serves; the server's own user may read and write all in it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, text: str) -> None:
        file = self.path / name
        file.parent.mkdir(exist_ok=True, parents=True)
        time_ns = self._next_time_ns()
        file.write_text(text)
        os.utime(file, ns=(time_ns, time_ns))
        if UNPRIVILEGED is not None:
            for owned in (file, file.parent):
                shutil.chown(owned, UNPRIVILEGED)

    def remove(self, name: str) -> None:
        (self.path / name).unlink()

    def _next_time_ns(self) -> int:
        """A time in whole seconds that no file had before: no sync takes a new file for an old one."""
        latest = max((file.stat().st_mtime_ns for file in self.path.rglob("*") if file.is_file()), default=0)
        return max(latest // 10**9 + 1, 1_700_000_000) * 10**9


# -- S3


class ObjectStoreServer:
    """Moto's S3, with one bucket; requests must be signed with `USER` and `SECRET` once keys are `checked`."""

    def __init__(self) -> None:
        import moto.server  # pyright: ignore[reportMissingTypeStubs]
        from werkzeug.serving import WSGIRequestHandler, make_server

        class SilentHandler(WSGIRequestHandler):
            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                """Logs nothing."""

        server = cast(Any, moto.server)
        application = server.DomainDispatcherApplication(server.create_backend_app)
        self.gate = RequestGate(application)
        self._server = make_server("127.0.0.1", 0, self.gate, threaded=True, request_handler=SilentHandler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.request("POST", "/moto-api/reset")

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def set_access(self, path: str, grants: Mapping[str, str]) -> None:
        """Gives an object an access list: a permission by grantee, the id of an account or the address of a group."""
        headers: dict[str, str] = {}
        for grantee, permission in grants.items():
            header = f"x-amz-grant-{permission.lower().replace('_', '-')}"
            listed = f'{"uri" if grantee.startswith("http") else "id"}="{grantee}"'
            headers[header] = f"{headers[header]}, {listed}" if header in headers else listed
        self.request("PUT", f"{path}?acl", headers=headers)

    def request(
        self, method: str, path: str, body: bytes = b"", *, headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        headers = {
            **headers,
            "Authorization": f"AWS4-HMAC-SHA256 Credential={USER}/20261120/us-east-1/s3/aws4_request, "
            "SignedHeaders=host, Signature=0",
            "Content-Type": "application/octet-stream",
        }
        with urlopen(Request(self.url + path, data=body or None, method=method, headers=headers)):
            pass

    def create_bucket(self, name: str) -> None:
        self.request("PUT", f"/{name}")

    def check_keys(self) -> None:
        """From now on, a key that the server does not know is refused."""
        self.request("POST", "/moto-api/reset-auth", b"0")


@contextmanager
def object_store_server() -> Generator[ObjectStoreServer]:
    server = ObjectStoreServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()


# -- WebDAV


@contextmanager
def webdav_server(folder: Path) -> Generator[tuple[str, RequestGate]]:
    """WsgiDAV over a folder, for one user; gives its URL as a source has it."""
    from cheroot.wsgi import Server
    from wsgidav.wsgidav_app import WsgiDAVApp  # pyright: ignore[reportMissingTypeStubs]

    application = cast(Any, WsgiDAVApp)(
        {
            "provider_mapping": {"/": {"root": str(folder), "readonly": True}},
            "simple_dc": {"user_mapping": {"*": {USER: {"password": SECRET}}}},
            "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
            "verbose": 0,
            "logging": {"enable": False},
        }
    )
    gate = RequestGate(application)
    port = free_port()
    server = cast(Any, Server)(("127.0.0.1", port), gate)
    server.prepare()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield f"webdav+http://127.0.0.1:{port}", gate
    finally:
        server.stop()
        thread.join(timeout=30)


# -- SFTP


@dataclass(frozen=True, kw_only=True)
class SftpServer:
    log: Path
    port: int
    host_key: str  # `SHA256:…`
    private_key: str
    user: str

    def location_of(self, folder: Path, *, secret: str | None = None) -> StoreLocation:
        return StoreLocation(
            url=f"sftp://127.0.0.1:{self.port}{folder}",
            user=self.user,
            secret=self.private_key if secret is None else secret,
            host_key=self.host_key,
            allow_private=True,
        )


@contextmanager
def sftp_server() -> Generator[SftpServer]:
    """OpenSSH's sshd, which gives its own user the files that this user can read. Raises `ServerMissing`."""
    sshd, environment = find_debian_program("sshd", "usr/sbin/sshd", _SSH_PACKAGES)
    with scratch_folder("ssh") as scratch:
        for name in ("host_key", "client_key"):
            _run_unprivileged(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(scratch / name)], scratch)
        fingerprint = _run_unprivileged(["ssh-keygen", "-l", "-f", str(scratch / "host_key.pub")], scratch).split()[1]
        port = free_port()
        settings = (
            f"Port {port}",
            "ListenAddress 127.0.0.1",
            f"HostKey {scratch}/host_key",
            f"AuthorizedKeysFile {scratch}/client_key.pub",
            "PidFile none",
            "StrictModes no",
            "UsePAM yes",
            "PasswordAuthentication no",
            "Subsystem sftp internal-sftp",
            "LogLevel VERBOSE",
        )
        (scratch / "sshd_config").write_text("\n".join(settings) + "\n")
        command, log = [str(sshd), "-D", "-e", "-f", str(scratch / "sshd_config")], scratch / "server.log"
        with run_server(command, folder=scratch, log=log, environment=environment) as process:
            wait_for_log("sshd", process, log, "Server listening")
            yield SftpServer(
                log=log,
                port=port,
                host_key=fingerprint,
                private_key=(scratch / "client_key").read_text(),
                user=UNPRIVILEGED or os.environ.get("USER", "root"),
            )


def _run_unprivileged(command: list[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, user=UNPRIVILEGED, capture_output=True, text=True, check=True).stdout


def wait_for_log(server: str, process: "subprocess.Popen[bytes]", log: Path, words: str) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        if words in log.read_text(errors="replace"):
            return
        time.sleep(0.05)
    raise ServerMissing(server, f"it did not start: {last_log_line(log)}", required=False)
