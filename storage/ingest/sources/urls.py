"""URLs in the form in which they are compared."""

from urllib.parse import SplitResult, urlsplit


def normalize_url(url: str) -> str:
    """Normalizes a URL: no fragment, lower-case scheme and host, no default port, a path.

    Returns an invalid URL unchanged.
    """
    try:
        parts = urlsplit(url.strip())
        host = _netloc_of(parts)
    except ValueError:
        return url
    return SplitResult(parts.scheme.lower(), host, parts.path or "/", parts.query, "").geturl()


def _netloc_of(parts: SplitResult) -> str:
    """Returns the host, with its port unless that is the default port. Raises `ValueError` for an invalid port."""
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    default_port = {"http": 80, "https": 443}.get(parts.scheme.lower())
    return host if parts.port in (None, default_port) else f"{host}:{parts.port}"


def host_of(url: str) -> str:
    """Returns the host of a URL, with its port unless that is the default port; empty for an invalid URL."""
    try:
        return _netloc_of(urlsplit(url))
    except ValueError:
        return ""


def origin_of(url: str) -> str:
    return f"{urlsplit(url).scheme}://{host_of(url)}"
