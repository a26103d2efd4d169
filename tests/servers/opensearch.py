"""A real OpenSearch for the session: the one of `PARLEY_TEST_OPENSEARCH_URL`, Docker's, or one from Maven Central."""

import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.artefacts import NotDownloaded, Zip, cache_folder, central_answers, download, locked, unzip
from tests.servers.java import find_java
from tests.servers.missing import ServerMissing
from tests.servers.process import UNPRIVILEGED, last_line, running, scratch_folder

# The newest version whose k-NN plugin is on Maven Central too.
_SERVER = Zip(group="org.opensearch.distribution.integ-test-zip", name="opensearch", version="3.6.0")
_KNN = Zip(group="org.opensearch.plugin", name="opensearch-knn", version="3.6.0.0")
_IMAGE = "opensearchproject/opensearch:3.6.0"
# Without analysis-common and the vector module it starts on every Java, also on one cut down by jlink.
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


@contextmanager
def opensearch_server() -> Generator[str]:
    """Its address. Raises `ServerMissing`."""
    if given := os.environ.get("PARLEY_TEST_OPENSEARCH_URL"):
        yield given
    elif _docker_answers():
        with _from_docker() as url:
            yield url
    else:
        with _from_maven() as url:
            yield url


def _docker_answers() -> bool:
    if (docker := shutil.which("docker")) is None:
        return False
    try:
        return subprocess.run([docker, "info"], capture_output=True, timeout=20, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


@contextmanager
def _from_docker() -> Generator[str]:
    # Killed tests leave no container behind for long: it ends when its standard input does.
    options = ["-i", "--rm", "-p", "127.0.0.1::9200", "-e", "discovery.type=single-node"]
    options += ["-e", "DISABLE_SECURITY_PLUGIN=true", "-e", "OPENSEARCH_JAVA_OPTS=-Xms512m -Xmx512m"]
    name = f"parley-test-opensearch-{os.getpid()}"
    pulled = subprocess.run(["docker", "pull", "-q", _IMAGE], capture_output=True, timeout=900, check=False)
    if pulled.returncode:
        raise ServerMissing("opensearch", f"docker pull {_IMAGE} failed", required=central_answers())
    subprocess.run(["docker", "run", "-d", "--name", name, *options, _IMAGE], capture_output=True, check=True)
    try:
        shown = subprocess.run(["docker", "port", name, "9200/tcp"], capture_output=True, text=True, check=True)
        url = f"http://{shown.stdout.splitlines()[0]}"
        if not _answers(url, time.monotonic() + _START_S):
            raise ServerMissing("opensearch", "the container does not answer", required=True)
        yield url
    finally:
        subprocess.run(["docker", "rm", "-f", name], capture_output=True, check=False)


@contextmanager
def _from_maven() -> Generator[str]:
    cache = cache_folder()
    try:
        with locked(cache):
            java, home = find_java(cache), _home(cache)
    except NotDownloaded as exc:
        raise ServerMissing("opensearch", str(exc), required=central_answers()) from exc
    with scratch_folder("opensearch") as scratch:
        _configure(scratch)
        log = scratch / "server.log"
        with running(_command(java, home, scratch), folder=home, log=log) as process:
            yield _ready(process, scratch, log)


def _home(cache: Path) -> Path:
    """The unzipped server with its plugin; built beside its place and moved there whole."""
    home = cache / f"opensearch-{_SERVER.version}"
    if all((home / "modules" / name).exists() for name in _MODULES):
        return home
    shutil.rmtree(home, ignore_errors=True)
    building = cache / "building"
    shutil.rmtree(building, ignore_errors=True)
    unzip(download(_SERVER, cache), building)
    built = building / f"opensearch-{_SERVER.version}"
    for module in (built / "modules").iterdir():
        if module.name not in _MODULES:
            shutil.rmtree(module)
    unzip(download(_KNN, cache), built / "plugins" / "opensearch-knn")
    built.rename(home)
    return home


def _configure(scratch: Path) -> None:
    for name in ("config", "data", "logs"):
        (scratch / name).mkdir()
        if UNPRIVILEGED is not None:
            shutil.chown(scratch / name, UNPRIVILEGED)
    (scratch / "config" / "opensearch.yml").write_text(_YML.format(scratch=scratch))
    (scratch / "config" / "log4j2.properties").write_text(_LOG4J)


def _command(java: Path, home: Path, scratch: Path) -> list[str]:
    heap = ["-Xms512m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
    opens = ["--add-opens=java.base/java.nio=org.apache.arrow.memory.core,ALL-UNNAMED"]
    paths = [f"-Dopensearch.path.home={home}", f"-Dopensearch.path.conf={scratch / 'config'}"]
    agent = [f"-javaagent:{home / 'agent' / 'opensearch-agent.jar'}", "-Dopensearch.distribution.type=zip"]
    temporary = [f"-Djava.io.tmpdir={scratch / 'data'}"]
    main = ["-cp", f"{home / 'lib'}/*", "org.opensearch.bootstrap.OpenSearch"]
    return [str(java), *heap, *opens, *agent, *paths, *temporary, *main]


def _ready(process: "subprocess.Popen[bytes]", scratch: Path, log: Path) -> str:
    deadline = time.monotonic() + _START_S
    ports = scratch / "logs" / "http.ports"
    while time.monotonic() < deadline and process.poll() is None:
        if ports.exists() and (lines := ports.read_text().split()):
            url = f"http://{lines[0]}"
            if _answers(url, deadline):
                return url
        time.sleep(0.1)
    raise ServerMissing("opensearch", f"it did not start: {last_line(log)}", required=True)


def _answers(url: str, deadline: float) -> bool:
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/_cluster/health?wait_for_status=yellow&timeout=5s", timeout=10):
                return True
        except OSError:
            time.sleep(0.2)
    return False
