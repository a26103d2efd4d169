"""What happens without a real server: a skip that names what is missing, or a failure under `.ci/run`."""

import os
from typing import NoReturn

import pytest


class ServerMissing(Exception):
    """A server for tests is not available. `required`: this machine should be able to run it."""

    def __init__(self, name: str, reason: str, *, required: bool) -> None:
        super().__init__(f"no {name} server for tests: {reason}")
        self.name, self.required = name, required


def skip_or_fail(missing: ServerMissing) -> NoReturn:
    """Skip the test; fail it if `PARLEY_TEST_REQUIRE` is set, the server is required, and not in `PARLEY_TEST_SKIP`."""
    skippable = {name.strip() for name in os.environ.get("PARLEY_TEST_SKIP", "").split(",")}
    if os.environ.get("PARLEY_TEST_REQUIRE") and missing.required and missing.name not in skippable:
        pytest.fail(f"{missing} (PARLEY_TEST_SKIP={missing.name} would skip it)", pytrace=False)
    pytest.skip(str(missing))
