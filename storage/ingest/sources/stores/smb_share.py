"""A share of SMB whose connections go to checked addresses, those that a server of the share refers to included."""
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false
# (fsspec and smbprotocol have hardly any type annotations)

import contextlib
from typing import Any

import smbclient
from fsspec.implementations.smb import SMBFileSystem
from smbprotocol.connection import Connection
from smbprotocol.exceptions import SMBException
from smbprotocol.transport import Tcp

from storage.ingest.sources.addresses import AddressRefused, connect_to_host


class CheckedShare(SMBFileSystem):
    """Its connections are its own, and end with `close_connections`."""

    def __init__(self, host: str, *, allow_private: bool, timeout_s: int, **options: Any) -> None:
        self._connections = _ConnectionCache(allow_private=allow_private, timeout_s=timeout_s)
        super().__init__(host, timeout=timeout_s, **options)

    def _connect(self) -> None:
        smbclient.register_session(
            self.host,
            username=self.username,
            password=self.password,
            port=self._port,
            encrypt=self.encrypt,
            connection_timeout=self.timeout,
            connection_cache=self._connections,
        )

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        return super().info(path, connection_cache=self._connections, **options)

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        return super().ls(path, detail, connection_cache=self._connections, **options)

    def _open(self, path: str, mode: str = "rb", *arguments: Any, **options: Any) -> Any:
        return super()._open(path, mode, *arguments, connection_cache=self._connections, **options)

    @property
    def connection_options(self) -> dict[str, Any]:
        """What smbclient needs to find the share's connections."""
        return {"port": self._port, "connection_cache": self._connections}

    def unc_path_of(self, path: str) -> str:
        return f"\\\\{self.host}{path}".replace("/", "\\")

    def close_connections(self) -> None:
        for connection in self._connections.values():
            with contextlib.suppress(SMBException, OSError, ValueError):
                connection.disconnect()
        self._connections.clear()


class _ConnectionCache(dict[str, Any]):
    """What smbclient keeps its connections in, by `host:port`; it asks here before it would make one itself."""

    def __init__(self, *, allow_private: bool, timeout_s: int) -> None:
        super().__init__()
        self._allow_private, self._timeout_s = allow_private, timeout_s

    def get(self, key: str, default: Any = None) -> Any:
        """Returns a connection that works. Raises `AddressRefused`, and what `Connection.connect` raises."""
        connection = super().get(key)
        if connection is None or not connection.transport.connected:
            host, _, port = key.rpartition(":")
            guid = smbclient.ClientConfig().client_guid
            connection = _CheckedConnection(guid, host, int(port), allow_private=self._allow_private)
            connection.connect(timeout=self._timeout_s)
            self[key] = connection
        return connection


class _CheckedConnection(Connection):
    def __init__(self, guid: Any, host: str, port: int, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        super().__init__(guid, host, port)

    @property
    def transport(self) -> Any:
        return self._transport

    @transport.setter
    def transport(self, transport: Any) -> None:
        """Takes the transport that `connect` makes, and puts one in its place that checks the address."""
        if transport is not None:
            transport = _CheckedTcp(
                transport.server, transport.port, transport.timeout, allow_private=self._allow_private
            )
        self._transport = transport


class _CheckedTcp(Tcp):
    def __init__(self, server: str, port: int, timeout_s: float, *, allow_private: bool) -> None:
        super().__init__(server, port, timeout_s)
        self._allow_private, self._timeout_s = allow_private, timeout_s

    def connect(self) -> None:
        """Raises `ValueError`, as smbprotocol expects, and `AddressRefused`."""
        with self._sock_lock:
            if self.connected:
                return
            try:
                self._sock = connect_to_host(
                    self.server, self.port, allow_private=self._allow_private, timeout_s=self._timeout_s
                )
            except AddressRefused:
                raise
            except OSError as exc:
                raise ValueError(f"no connection to {self.server}:{self.port}") from exc
            self._sock.settimeout(None)
            self.connected = True
