"""Who calls: whether from this machine, and by which address callers are distinguished."""

import ipaddress
from urllib.parse import urlsplit

from aiohttp import web

_FORWARDING_HEADERS = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")


def is_local_request(request: web.Request) -> bool:
    """Whether it comes from this machine, by a loopback name, and through no proxy.

    A proxy on the same machine, or a foreign name that resolves to 127.0.0.1 (DNS rebinding), is not local.
    """
    if any(name in request.headers for name in _FORWARDING_HEADERS):
        return False
    return is_loopback(request.remote or "") and is_loopback(_hostname_of(request.host))


def is_loopback(host: str) -> bool:
    """Whether the host is `localhost` or an address of the loopback interface."""
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def caller_address_of(request: web.Request) -> str:
    """Returns the caller's address. Only a proxy on this machine is trusted to name it in `X-Forwarded-For`.

    Of an IPv6 address, the network of 64 bits, which one caller can use as a whole.
    """
    peer = request.remote or ""
    forwarded_for = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    return network_of(forwarded_for if forwarded_for and is_loopback(peer) else peer)


def network_of(address_text: str) -> str:
    """Returns an IPv4 address itself, and of an IPv6 address the network of 64 bits; empty for no address."""
    try:
        address = ipaddress.ip_address(address_text.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False).network_address)


def _hostname_of(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
