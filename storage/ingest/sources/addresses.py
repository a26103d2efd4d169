"""Which network addresses a fetch from the public web may reach: no machine of the company's own network."""

import errno
import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, TypeAlias

Resolved: TypeAlias = tuple[
    int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]
]  # what `getaddrinfo` gives
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")


class AddressRefused(OSError):
    """An address that may not be reached. An OSError, as whoever connects expects of an address that does not work."""

    def __init__(self) -> None:  # the same text for each address of a host, which aiohttp then gives as one
        super().__init__(errno.EACCES, "it is on a private network, which only --allow-private allows")


def is_public(address: str) -> bool:
    """Whether a host of the public internet has it, as far as an address tells. False for what is no address."""
    try:
        given = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(given, IPv4Address):
        return given.is_global and not given.is_multicast
    within = _within(given)
    is_unicast = given in _GLOBAL_UNICAST and given.is_global
    return (is_unicast or given in _NAT64 or given.ipv4_mapped is not None) and all(
        one.is_global and not one.is_multicast for one in within
    )


def _within(address: IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that are written within it, and that a gateway may lead to."""
    teredo = address.teredo[1] if address.teredo is not None else None
    nat64 = IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None
    return [one for one in (address.ipv4_mapped, address.sixtofour, teredo, nat64) if one is not None]


def is_any(address: str) -> bool:
    """For a source that lies within one's own network."""
    return True


def sockets_for(reaches: Callable[[str], bool]) -> Callable[[Resolved], socket.socket]:
    """Makes sockets for the addresses that `reaches` alone, and raises `AddressRefused` for others.

    So names, literals and redirects are checked where they can no longer change.
    """

    def socket_for(resolved: Resolved) -> socket.socket:
        family, kind, protocol, _, where = resolved
        if not reaches(str(where[0])):
            raise AddressRefused()
        return socket.socket(family=family, type=kind, proto=protocol)

    return socket_for
