"""Text for a terminal: no name of a file and no value of a document moves the cursor or sets a colour."""

import re

# C0 without tabs and line breaks, C1, and marks that reverse the order of letters.
_CONTROL_PATTERN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    """The text with each control character as JSON writes it, such as `\\u001b`; so JSON stays the same JSON."""
    return _CONTROL_PATTERN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
