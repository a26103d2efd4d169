"""Connections to addresses that came in a message: to the public internet alone, never into the company's network."""

from collections.abc import Callable
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from storage.ingest.sources.addresses import AddressRefused as AddressRefused
from storage.ingest.sources.addresses import is_public_address as is_public_address
from storage.ingest.sources.addresses import socket_factory_for

if TYPE_CHECKING:
    from aiohttp import TCPConnector


def open_public_connector(*, allows_loopback: bool = False) -> "TCPConnector":
    """A connector that connects to public addresses alone, whatever a host name resolves to. Needs a running loop.

    A refused connection is a `ClientConnectorError`. `allows_loopback`: also to this machine, for stand-ins.
    """
    from aiohttp import TCPConnector

    return TCPConnector(socket_factory=socket_factory_for(_address_check(allows_loopback)))


def is_secure_url(url: str, *, allows_loopback: bool = False) -> bool:
    """Whether the URL is https without a user name; with `allows_loopback` also http on this machine."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or parts.username is not None or parts.password is not None:
        return False
    return parts.scheme == "https" or (allows_loopback and parts.scheme == "http" and is_loopback_host(host))


def is_loopback_host(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address_check(allows_loopback: bool) -> Callable[[str], bool]:
    if not allows_loopback:
        return is_public_address
    return lambda address: is_public_address(address) or is_loopback_host(address)
