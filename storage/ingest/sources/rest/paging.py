"""How a list interface is read page by page: by links, cursors or offsets."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from storage.ingest.sources.rest.item_paths import ValuePath

_NEXT_LINK: Final = re.compile(r'<([^<>]*)>[^,<]*;\s*rel\s*=\s*"?next"?', re.IGNORECASE)  # RFC 8288
_URL_START: Final = re.compile(r"https?://|/|\?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPaging:
    """The header `Link` has the address of the next page. Without one, the page is the last or the only one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPaging:
    """A value of the answer leads to the next page: an address, or a cursor that becomes the parameter `parameter`."""

    path: ValuePath
    parameter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetPaging:
    """The parameter says how many items to skip. The last page has no items."""

    parameter: str


Paging: TypeAlias = LinkPaging | PathPaging | OffsetPaging


class MissingCursorParameter(Exception):
    """The next page is named by a cursor, and nobody said which parameter takes it."""

    reason = "it names the next page by a cursor; add the source again with --cursor-param NAME"


def find_next_reference(
    paging: Paging, url: str, headers: Mapping[str, str], value: object, *, item_count: int, page_items: int
) -> str | None:
    """Returns the address of the next page, perhaps relative to `url`; None after the last page.

    `item_count` counts the items up to and including this page, `page_items` those of this page. Raises
    `MissingCursorParameter`.
    """
    match paging:
        case LinkPaging():
            found = _NEXT_LINK.search(headers.get("link", ""))
            return None if found is None else found[1]
        case OffsetPaging(parameter=parameter):
            return with_parameter(url, parameter, str(item_count)) if page_items else None
        case PathPaging(path=path, parameter=parameter):
            reference = path.find_text(value)
            if not reference or _URL_START.match(reference):
                return reference or None
            if parameter is None:
                raise MissingCursorParameter
            return with_parameter(url, parameter, reference)


def with_parameter(url: str, name: str, value: str) -> str:
    """Returns the URL with this value for the parameter, in place of an earlier one."""
    parts = urlsplit(url)
    kept = [(key, other) for key, other in parse_qsl(parts.query, keep_blank_values=True) if key != name]
    return urlunsplit(parts._replace(query=urlencode([*kept, (name, value)])))
