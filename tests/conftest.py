"""What all tests share."""

from collections.abc import Sequence

import pytest

pytest_plugins = ("tests.servers.plugin",)


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Tests of one server share a worker of pytest-xdist (`--dist loadgroup`): each worker would start its own."""
    for item in items:
        if item.get_closest_marker("servers"):
            item.add_marker(pytest.mark.xdist_group("opensearch" if "opensearch" in item.nodeid else "postgres"))
