"""What the web searches of one turn cost."""

from dataclasses import dataclass


@dataclass(slots=True)
class WebUsage:
    """Counted as it is spent, so that it also holds for a turn that fails, is stopped or takes too long."""

    requests: int = 0  # to the search server
    pages: int = 0  # fetched over the network, or tried to
    bytes_read: int = 0  # of these pages, uncompressed

    @property
    def is_empty(self) -> bool:
        return not (self.requests or self.pages)
