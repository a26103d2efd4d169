"""Estimates of the tokens of a text, without a tokeniser."""

_BYTES_A_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """An upper estimate for common tokenisers: four bytes of UTF-8 per token."""
    return -(-len(text.encode(errors="replace")) // _BYTES_A_TOKEN)
