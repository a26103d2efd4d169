"""The configuration that all tests share."""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run, so that a failure can be repeated, and as slow as they are; PARLEY_TEST_RANDOM=1 draws
# random ones.
settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
if not os.environ.get("PARLEY_TEST_RANDOM"):
    settings.load_profile("steady")

pytest_plugins = ("tests.servers.plugin",)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Sends all tests that name a server to one worker, which starts that server once; the others go to any free
    worker.

    Selects by id, since marks do not reach the scheduler with pytest 9.2:
    https://github.com/pytest-dev/pytest-xdist/issues/1386
    """
    from xdist.scheduler import LoadScopeScheduling  # pyright: ignore[reportMissingTypeStubs]

    class ByServer(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next(
                (
                    server
                    for server in ("opensearch", "postgres", "dovecot", "real_searxng", "playground", "test_wheel")
                    if server in nodeid
                ),
                nodeid,
            )

    return ByServer(config, log)
