"""An OpenSearch cluster of one node or several, whose nodes can be killed, paused, and started on the same data."""

import signal
import subprocess
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.servers.artefacts import NotDownloaded, cache_folder, is_central_reachable, lock_cache
from tests.servers.java import find_java
from tests.servers.missing import ServerMissing
from tests.servers.opensearch import ServerSize, command_line_for, prepare_server_home, write_configuration
from tests.servers.process import free_port, run_server, scratch_folder

_YML = """
cluster.name: parley-faults-{cluster}
node.name: {name}
network.host: 127.0.0.1
http.port: {http_port}
transport.port: {transport_port}
{discovery}
path.data: {{scratch}}/data
path.logs: {{scratch}}/logs
action.auto_create_index: false
search.keep_alive_interval: 2s
cluster.routing.allocation.disk.threshold_enabled: false
"""


class ClusterNode:
    """A node of the cluster. `command` starts it, in `home`."""

    def __init__(self, command: Sequence[str], *, home: Path, log: Path, http_port: int) -> None:
        self._command, self._home, self._log = command, home, log
        self._running = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self._url = f"http://127.0.0.1:{http_port}"

    @property
    def url(self) -> str:
        return self._url

    @property
    def is_running(self) -> bool:
        """Also True while it is starting or paused."""
        return self._process is not None and self._process.poll() is None

    def launch(self) -> None:
        """Return before it answers. The node ends with the thread that calls this."""
        self._process = self._running.enter_context(run_server(self._command, folder=self._home, log=self._log))

    def kill(self) -> None:
        """Kill it with SIGKILL, also while it is paused."""
        self._process = None
        self._running.close()

    def pause(self) -> None:
        self._send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._send_signal(signal.SIGCONT)

    def _send_signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)


@contextmanager
def opensearch_cluster(node_count: int) -> Generator[list[ClusterNode]]:
    """Launch a cluster of one's own, which does not answer yet. Raises `ServerMissing`."""
    cache = cache_folder()
    try:
        with lock_cache(cache):
            java, home = find_java(cache), prepare_server_home(cache)
    except NotDownloaded as exc:
        raise ServerMissing("opensearch", str(exc), required=is_central_reachable()) from exc
    transport_ports = [free_port() for _ in range(node_count)]
    with ExitStack() as stack:
        nodes: list[ClusterNode] = []
        for number, transport_port in enumerate(transport_ports):
            scratch, http_port = stack.enter_context(scratch_folder("opensearch")), free_port()
            settings = _YML.format(
                cluster=transport_ports[0],
                name=f"node-{number}",
                http_port=http_port,
                transport_port=transport_port,
                discovery=_discovery_settings_for(transport_ports),
            )
            write_configuration(scratch, settings)
            command = command_line_for(java, home, scratch, ServerSize())
            node = ClusterNode(command, home=home, log=scratch / "server.log", http_port=http_port)
            stack.callback(node.kill)
            node.launch()
            nodes.append(node)
        yield nodes


def _discovery_settings_for(transport_ports: Sequence[int]) -> str:
    if len(transport_ports) == 1:
        return "discovery.type: single-node"
    hosts = ", ".join(f'"127.0.0.1:{port}"' for port in transport_ports)
    names = ", ".join(f"node-{number}" for number in range(len(transport_ports)))
    return f"discovery.seed_hosts: [{hosts}]\ncluster.initial_cluster_manager_nodes: [{names}]"
