"""What the app asks for, as `manifest.yaml` does; a test holds the two together, which the wheel does not."""

from typing import Final

REQUIRED: Final = frozenset(
    """app_mentions:read assistant:write channels:read chat:write commands files:write groups:read im:history im:write
    mpim:read usergroups:read users:read""".split()
)
OPTIONAL: Final = frozenset({"channels:history", "files:read", "groups:history"})
