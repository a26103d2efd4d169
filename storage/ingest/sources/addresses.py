"""Network addresses that a fetch may connect to: by default none of the company's private network."""

import errno
import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, TypeAlias

ResolvedAddress: TypeAlias = tuple[
    int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]
]  # as `getaddrinfo` returns it
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")


class AddressRefused(OSError):
    """Connecting to an address is forbidden. An OSError, as clients expect of an address that does not work."""

    def __init__(self) -> None:  # all addresses of a host have the same text, so aiohttp merges their errors into one
        super().__init__(errno.EACCES, "it is on a private network, which only --allow-private allows")


def is_public_address(address: str) -> bool:
    """Whether the address belongs to the public internet. False for text that is no address."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return parsed.is_global and not parsed.is_multicast
    embedded_addresses = _embedded_ipv4_addresses(parsed)
    is_unicast = parsed in _GLOBAL_UNICAST and parsed.is_global
    return (is_unicast or parsed in _NAT64 or parsed.ipv4_mapped is not None) and all(
        embedded.is_global and not embedded.is_multicast for embedded in embedded_addresses
    )


def _embedded_ipv4_addresses(address: IPv6Address) -> list[IPv4Address]:
    """Returns the IPv4 addresses that an IPv6 address contains and that a gateway may route to."""
    teredo = address.teredo[1] if address.teredo is not None else None
    nat64 = IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None
    return [embedded for embedded in (address.ipv4_mapped, address.sixtofour, teredo, nat64) if embedded is not None]


def is_any_address(address: str) -> bool:
    """Returns True: for a source within the private network."""
    return True


def address_rule_for(*, allow_private: bool) -> Callable[[str], bool]:
    return is_any_address if allow_private else is_public_address


def find_refused_address(exc: BaseException) -> AddressRefused | None:
    """Returns the refusal that led to an error of a library: HTTP clients wrap it, some of them twice."""
    found: set[int] = set()
    current: BaseException | None = exc
    while current is not None and id(current) not in found:
        if isinstance(current, AddressRefused):
            return current
        found.add(id(current))
        inner = getattr(current, "os_error", None)  # of aiohttp
        current = inner if isinstance(inner, OSError) else current.__cause__ or current.__context__
    return None


def socket_factory_for(is_allowed: Callable[[str], bool]) -> Callable[[ResolvedAddress], socket.socket]:
    """Returns a function that makes sockets for allowed addresses and raises `AddressRefused` for others.

    The check runs on the resolved address, so it also covers host names, literal addresses and redirects, and a name
    cannot be resolved differently after the check.
    """

    def open_socket(resolved: ResolvedAddress) -> socket.socket:
        family, kind, protocol, _, socket_address = resolved
        if not is_allowed(str(socket_address[0])):
            raise AddressRefused()
        return socket.socket(family=family, type=kind, proto=protocol)

    return open_socket


def require_allowed_host(host: str, port: int, *, allow_private: bool) -> Sequence[ResolvedAddress]:
    """Resolves the host, and returns its addresses. Raises `OSError`, and `AddressRefused` for a private one.

    Only these addresses are checked: who connects to the name resolves it again, and may get others.
    """
    addresses: Sequence[ResolvedAddress] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    if not allow_private and not all(is_public_address(str(resolved[4][0])) for resolved in addresses):
        raise AddressRefused()
    return addresses


def connect_to_host(host: str, port: int, *, allow_private: bool, timeout_s: float) -> socket.socket:
    """Connects to one of the checked addresses, so that the name is not resolved a second time. Raises `OSError`."""
    last_error: OSError = OSError(errno.EHOSTUNREACH, "it has no address")
    for family, kind, protocol, _, address in require_allowed_host(host, port, allow_private=allow_private):
        connection = socket.socket(family, kind, protocol)
        connection.settimeout(timeout_s)
        try:
            connection.connect(address)
        except OSError as exc:
            connection.close()
            last_error = exc
        else:
            return connection
    raise last_error
