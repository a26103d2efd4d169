"""Verifies Slack's request signature: HMAC v0, https://docs.slack.dev/authentication/verifying-requests-from-slack."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

MAX_TIMESTAMP_AGE: Final = timedelta(minutes=5)


def is_signed(secret: str, body: bytes, headers: Mapping[str, str], now: datetime) -> bool:
    """Whether Slack signed the request within five minutes of `now`. Compares in constant time."""
    timestamp = headers.get("X-Slack-Request-Timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    if abs(now.timestamp() - int(timestamp)) > MAX_TIMESTAMP_AGE.total_seconds():
        return False
    digest = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"v0={digest}".encode(), headers.get("X-Slack-Signature", "").encode(errors="replace"))
