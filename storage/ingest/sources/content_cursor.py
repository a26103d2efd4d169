"""The cursor of content that is requested conditionally: what the index has of it, and what a server was told of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from storage.ingest.sources.site_client import UnreachableUrl
from storage.ingest.sources.source import FetchFailure, SourceItem, UnchangedItem, VanishedItem

_GONE_STATUSES: Final = frozenset({404, 410})


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentCursor:
    """`etag` and `modified` are those of the last answer, `digest` that of its content. `listed` is the digest of what
    a list said of the item, its readers included.
    """

    etag: str = ""
    modified: str = ""
    digest: str = ""
    listed: str = ""
    readers: Sequence[str] = ()

    @classmethod
    def from_json(cls, text: str) -> "ContentCursor":
        """Parses a cursor; returns an empty one, which fetches the content again, if another version wrote it."""
        try:
            return cls(**json.loads(text))
        except (TypeError, ValueError):
            return cls()

    def to_json(self) -> str:
        return json.dumps({name: value for name, value in asdict(self).items() if value})

    @property
    def request_headers(self) -> Mapping[str, str]:
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in headers.items() if value}

    def confirm_unchanged(self, item: SourceItem) -> UnchangedItem | FetchFailure:
        """Returns the result of an answer that says that nothing has changed since this cursor."""
        if not self.digest:
            return FetchFailure(reason="the site says that it has not changed, and was not asked")
        return UnchangedItem(version=item.version, cursor=self.to_json())


def result_of_unreachable(exc: UnreachableUrl) -> VanishedItem | FetchFailure:
    return VanishedItem() if exc.status in _GONE_STATUSES else FetchFailure(reason=exc.reason)
