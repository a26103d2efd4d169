"""A real OpenSearch for the session: from `PARLEY_TEST_OPENSEARCH_URL`, from Docker, or from Maven Central."""

import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.artefacts import (
    MavenZip,
    NotDownloaded,
    cache_folder,
    download_zip,
    is_central_reachable,
    lock_cache,
    unzip_archive,
)
from tests.servers.java import find_java
from tests.servers.missing import ServerMissing
from tests.servers.process import UNPRIVILEGED, last_log_line, run_server, scratch_folder

# The newest version whose k-NN plugin is also on Maven Central.
_SERVER = MavenZip(group="org.opensearch.distribution.integ-test-zip", name="opensearch", version="3.6.0")
_KNN = MavenZip(group="org.opensearch.plugin", name="opensearch-knn", version="3.6.0.0")
_IMAGE = "opensearchproject/opensearch:3.6.0"
# Without analysis-common and the vector module it starts on every Java, even on one reduced by jlink.
_MODULES = frozenset({"lang-painless", "parent-join", "transport-netty4", "transport-grpc", "reindex"})
_START_S = 120
_YML = """
cluster.name: parley-tests
discovery.type: single-node
network.host: 127.0.0.1
http.port: 0
transport.port: 0
node.portsfile: true
path.data: {scratch}/data
path.logs: {scratch}/logs
action.auto_create_index: false
cluster.routing.allocation.disk.threshold_enabled: false
"""
_LOG4J = """
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%p][%c{1.}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSize:
    """The size of a server. `is_optimised`: it runs as installed ones do. `is_on_disk`: its data is not in memory."""

    heap_mb: int = 512
    is_optimised: bool = False
    is_on_disk: bool = False

    @property
    def java_options(self) -> list[str]:
        heap = [f"-Xms{self.heap_mb}m", f"-Xmx{self.heap_mb}m"]
        if self.is_optimised:  # as OpenSearch is installed; without G1 its circuit breaker refuses much of a load
            return [*heap, "-XX:+UseG1GC"]
        return [*heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


_SMALL_SERVER = ServerSize()


@contextmanager
def opensearch_server(size: ServerSize = _SMALL_SERVER) -> Generator[str]:
    """Run an OpenSearch server for the length of the block; gives its address. Raises `ServerMissing`."""
    if configured_url := os.environ.get("PARLEY_TEST_OPENSEARCH_URL"):
        yield configured_url
    elif _is_docker_running():
        with _run_in_docker(size) as url:
            yield url
    else:
        with _run_from_maven(size) as url:
            yield url


def _is_docker_running() -> bool:
    if (docker := shutil.which("docker")) is None:
        return False
    try:
        return subprocess.run([docker, "info"], capture_output=True, timeout=20, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


@contextmanager
def _run_in_docker(size: ServerSize) -> Generator[str]:
    # The container ends with its standard input, so killed tests do not leave a container behind.
    options = ["-i", "--rm", "-p", "127.0.0.1::9200", "-e", "discovery.type=single-node"]
    options += ["-e", "DISABLE_SECURITY_PLUGIN=true", "-e", f"OPENSEARCH_JAVA_OPTS={' '.join(size.java_options)}"]
    name = f"parley-test-opensearch-{os.getpid()}"
    pull = subprocess.run(["docker", "pull", "-q", _IMAGE], capture_output=True, timeout=900, check=False)
    if pull.returncode:
        raise ServerMissing("opensearch", f"docker pull {_IMAGE} failed", required=is_central_reachable())
    subprocess.run(["docker", "run", "-d", "--name", name, *options, _IMAGE], capture_output=True, check=True)
    try:
        port_output = subprocess.run(["docker", "port", name, "9200/tcp"], capture_output=True, text=True, check=True)
        url = f"http://{port_output.stdout.splitlines()[0]}"
        if not _answers_before(url, time.monotonic() + _START_S):
            raise ServerMissing("opensearch", "the container does not answer", required=True)
        yield url
    finally:
        subprocess.run(["docker", "rm", "-f", name], capture_output=True, check=False)


@contextmanager
def _run_from_maven(size: ServerSize) -> Generator[str]:
    cache = cache_folder()
    try:
        with lock_cache(cache):
            java, home = find_java(cache), prepare_server_home(cache)
    except NotDownloaded as exc:
        raise ServerMissing("opensearch", str(exc), required=is_central_reachable()) from exc
    with scratch_folder("opensearch", in_memory=not size.is_on_disk) as scratch:
        write_configuration(scratch, _YML)
        log = scratch / "server.log"
        with run_server(command_line_for(java, home, scratch, size), folder=home, log=log) as process:
            yield _wait_until_ready(process, scratch, log)


def prepare_server_home(cache: Path) -> Path:
    """Returns the folder of the unzipped server with its plugin; built in another folder and then moved as a whole.

    The caller has locked the cache.
    """
    home = cache / f"opensearch-{_SERVER.version}"
    if all((home / "modules" / name).exists() for name in _MODULES):
        return home
    shutil.rmtree(home, ignore_errors=True)
    build_folder = cache / "building"
    shutil.rmtree(build_folder, ignore_errors=True)
    unzip_archive(download_zip(_SERVER, cache), build_folder)
    built_home = build_folder / f"opensearch-{_SERVER.version}"
    for module in (built_home / "modules").iterdir():
        if module.name not in _MODULES:
            shutil.rmtree(module)
    unzip_archive(download_zip(_KNN, cache), built_home / "plugins" / "opensearch-knn")
    built_home.rename(home)
    return home


def write_configuration(scratch: Path, settings: str) -> None:
    """`settings`: the text of `opensearch.yml`, in which `{scratch}` is the server's own folder."""
    for name in ("config", "data", "logs"):
        (scratch / name).mkdir()
        if UNPRIVILEGED is not None:
            shutil.chown(scratch / name, UNPRIVILEGED)
    (scratch / "config" / "opensearch.yml").write_text(settings.format(scratch=scratch))
    (scratch / "config" / "log4j2.properties").write_text(_LOG4J)


def command_line_for(java: Path, home: Path, scratch: Path, size: ServerSize) -> list[str]:
    heap = [*size.java_options, "-Xshare:auto"]
    opens = ["--add-opens=java.base/java.nio=org.apache.arrow.memory.core,ALL-UNNAMED"]
    paths = [f"-Dopensearch.path.home={home}", f"-Dopensearch.path.conf={scratch / 'config'}"]
    agent = [f"-javaagent:{home / 'agent' / 'opensearch-agent.jar'}", "-Dopensearch.distribution.type=zip"]
    temporary = [f"-Djava.io.tmpdir={scratch / 'data'}"]
    main = ["-cp", f"{home / 'lib'}/*", "org.opensearch.bootstrap.OpenSearch"]
    return [str(java), *heap, *opens, *agent, *paths, *temporary, *main]


def _wait_until_ready(process: "subprocess.Popen[bytes]", scratch: Path, log: Path) -> str:
    deadline = time.monotonic() + _START_S
    ports = scratch / "logs" / "http.ports"
    while time.monotonic() < deadline and process.poll() is None:
        if ports.exists() and (lines := ports.read_text().split()):
            url = f"http://{lines[0]}"
            if _answers_before(url, deadline):
                return url
        time.sleep(0.1)
    raise ServerMissing("opensearch", f"it did not start: {last_log_line(log)}", required=True)


def _answers_before(url: str, deadline: float) -> bool:
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/_cluster/health?wait_for_status=yellow&timeout=5s", timeout=10):
                return True
        except OSError:
            time.sleep(0.2)
    return False
