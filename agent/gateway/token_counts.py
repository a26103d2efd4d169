"""Counts tokens where no provider has counted them."""

_BYTES_PER_TOKEN = 4  # of UTF-8; an upper estimate for common tokenisers and English text


def estimate_tokens(text: str) -> int:
    """Returns an upper estimate of the number of tokens: one for each four bytes of UTF-8."""
    return -(-len(text.encode(errors="replace")) // _BYTES_PER_TOKEN)
