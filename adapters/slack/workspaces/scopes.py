"""The OAuth scopes that the app requests. A test compares them with `manifest.yaml`, which the wheel lacks."""

from typing import Final

REQUIRED_SCOPES: Final = frozenset(
    """app_mentions:read assistant:write channels:read chat:write commands files:write groups:read im:history im:write
    mpim:read usergroups:read users:read""".split()
)
OPTIONAL_SCOPES: Final = frozenset({"channels:history", "files:read", "groups:history", "users:read.email"})
