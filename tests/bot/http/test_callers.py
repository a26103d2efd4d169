"""Callers are told apart by an address that they cannot change at will."""

import pytest
from aiohttp.test_utils import make_mocked_request

from bot.http.callers import caller_address_of, is_local_request, network_of


class PeerTransport:
    """A connection of which only the peer's address is asked."""

    def __init__(self, address: str) -> None:
        self._address = address

    def get_extra_info(self, name: str, default: object = None) -> object:
        return (self._address, 1234) if name == "peername" else default


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "caller"),
    [
        ("203.0.113.9", "", "203.0.113.9"),
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("127.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "192.0.2.7, 198.51.100.1", "198.51.100.1"),
        ("::1", "2001:db8::1", "2001:db8::"),
        ("127.0.0.1", "no address", ""),
    ],
)
def test_only_a_proxy_on_this_machine_names_the_caller(peer: str, forwarded_for: str, caller: str) -> None:
    headers = {"X-Forwarded-For": forwarded_for} if forwarded_for else {}
    request = make_mocked_request("GET", "/", headers, transport=PeerTransport(peer))

    assert caller_address_of(request) == caller


@pytest.mark.parametrize(
    ("host", "headers", "is_local"),
    [
        ("127.0.0.1:8080", {}, True),
        ("localhost", {}, True),
        ("[::1]:8080", {}, True),
        ("evil.example", {}, False),
        ("[", {}, False),
        ("localhost", {"X-Forwarded-For": "203.0.113.9"}, False),
        ("localhost", {"Forwarded": "for=203.0.113.9"}, False),
        ("localhost", {"X-Real-IP": "203.0.113.9"}, False),
    ],
)
def test_a_request_is_local_by_address_name_and_without_a_proxy(
    host: str, headers: dict[str, str], is_local: bool
) -> None:
    request = make_mocked_request("GET", "/", {"Host": host} | headers, transport=PeerTransport("127.0.0.1"))

    assert is_local_request(request) is is_local


def test_one_caller_has_one_network_of_ipv6() -> None:
    assert network_of("2001:db8:1:2:3:4:5:6") == network_of("2001:db8:1:2::9") == "2001:db8:1:2::"
    assert network_of("::ffff:203.0.113.9") == "203.0.113.9"
    assert network_of("fe80::1%eth0") == "fe80::"
    assert network_of("") == ""
