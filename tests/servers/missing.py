"""What happens when a real server cannot be had: a skip that names what is missing, or under `.ci/run` a failure."""

import os
from typing import NoReturn

import pytest


class ServerMissing(Exception):
    """A server for tests cannot be had here. `required` says that a machine like this one should have had it."""

    def __init__(self, name: str, reason: str, *, required: bool) -> None:
        super().__init__(f"no {name} server for tests: {reason}")
        self.name, self.required = name, required


def skip_or_fail(missing: ServerMissing) -> NoReturn:
    """Skip; fail where `PARLEY_TEST_REQUIRE` is set, the server could be had, and `PARLEY_TEST_SKIP` lists it not."""
    allowed = {name.strip() for name in os.environ.get("PARLEY_TEST_SKIP", "").split(",")}
    if os.environ.get("PARLEY_TEST_REQUIRE") and missing.required and missing.name not in allowed:
        pytest.fail(f"{missing} (PARLEY_TEST_SKIP={missing.name} would skip it)", pytrace=False)
    pytest.skip(str(missing))
