"""The settings of the web search."""

from pathlib import Path

import pytest

from bot.errors import InvalidSettings
from bot.settings import load_settings
from bot.web_search.settings import WebSearchSettings, WebUse


def web_settings_of(home: Path, **environ: str) -> WebSearchSettings:
    return load_settings(home, {f"PARLEY_{name}": value for name, value in environ.items()}).settings.web_search


def test_the_web_is_off_by_default_and_without_a_server(tmp_path: Path) -> None:
    assert (web_settings_of(tmp_path).web, web_settings_of(tmp_path).is_allowed) == (WebUse.OFF, False)
    assert not web_settings_of(tmp_path, SEARXNG_URL="http://searx.example").is_allowed

    without_server = web_settings_of(tmp_path, WEB="auto")
    assert not without_server.is_allowed
    assert without_server.find_problems() == [
        "PARLEY_WEB is auto, but PARLEY_SEARXNG_URL names no server, so the web is not searched"
    ]


def test_the_web_is_allowed_with_a_server(tmp_path: Path) -> None:
    settings = web_settings_of(tmp_path, WEB="ask", SEARXNG_URL="http://searx.example:8080/", WEB_DAYS="3")

    assert settings.is_allowed
    assert (settings.searxng_url, settings.page_lifetime.days) == ("http://searx.example:8080", 3)
    assert settings.find_problems() == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WEB", "yes"),
        ("SEARXNG_URL", "searx.example"),
        ("WEB_ROUNDS", "4"),
        ("WEB_COMPLETENESS", "1.5"),
        ("WEB_NETWORKS", "intranet"),
    ],
)
def test_an_invalid_setting_is_refused(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(InvalidSettings, match=f"PARLEY_{name}"):
        web_settings_of(tmp_path, **{name: value})


def test_private_addresses_are_read_only_in_the_named_networks(tmp_path: Path) -> None:
    settings = web_settings_of(tmp_path, WEB_NETWORKS="10.1.0.0/16, fd00::/8")
    addresses = ("8.8.8.8", "10.1.2.3", "10.2.0.1", "127.0.0.1", "fd00::1", "fe80::1%eth0", "no address")

    assert [settings.is_allowed_address(address) for address in addresses] == [
        True,
        True,
        False,
        False,
        True,
        False,
        False,
    ]
    assert not web_settings_of(tmp_path).is_allowed_address("10.1.2.3")
