"""What a sitemap says: https://www.sitemaps.org/protocol.html, as XML or as lines of text."""

import zlib
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from storage.ingest.errors import Unparsable

_LARGEST: Final = 50 * 1024 * 1024  # bytes, unpacked: the protocol's own limit
_NAMESPACE: Final = " "


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    url: str
    changed: str  # as written; empty: it does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """Pages, or further sitemaps."""

    pages: tuple[Page, ...] = ()
    sitemaps: tuple[str, ...] = ()


def parsed(data: bytes) -> Sitemap:
    """Packed or not. Raises `Unparsable`."""
    text = _unpacked(data)
    if text.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return _of_xml(text)
    lines = [line.strip() for line in text.decode("utf-8-sig", "replace").splitlines() if line.strip()]
    if not lines or not all(line.startswith(("http://", "https://")) for line in lines):
        raise Unparsable("it is no sitemap")
    return Sitemap(pages=tuple(Page(url=line, changed="") for line in lines))


def _unpacked(data: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    unpacking = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        text = unpacking.decompress(data, _LARGEST)
    except zlib.error as exc:
        raise Unparsable(f"its compression is broken: {exc}") from exc
    if unpacking.unconsumed_tail:
        raise Unparsable(f"it is larger than {_LARGEST // 1024**2} MB unpacked")
    if not unpacking.eof:
        raise Unparsable("its compression is broken: it ends too early")
    return text


def _of_xml(text: bytes) -> Sitemap:
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=_NAMESPACE)
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = reader.characters, _no_entities
    try:
        parser.Parse(text, True)
    except expat.ExpatError as exc:
        raise Unparsable(f"it is no XML: {exc}") from exc
    if reader.root not in ("urlset", "sitemapindex"):
        raise Unparsable("it is no sitemap")
    return Sitemap(pages=tuple(reader.pages), sitemaps=tuple(reader.sitemaps))


def _no_entities(*declared: object) -> None:
    """A sitemap has none; expanding them can cost any amount of memory."""
    raise Unparsable("it declares entities")


@dataclass(slots=True)
class _Reader:
    """Of other namespaces (images, videos, alternatives) nothing is read: their `loc` is no page."""

    root: str = ""
    pages: list[Page] = field(default_factory=list[Page])
    sitemaps: list[str] = field(default_factory=list[str])
    _path: list[str] = field(default_factory=list[str])
    _entry: dict[str, str] = field(default_factory=dict[str, str])

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.root = self.root or name.rpartition(_NAMESPACE)[2]
        self._path.append(name.rpartition(_NAMESPACE)[2])
        if len(self._path) == 2:
            self._entry = {}

    def characters(self, text: str) -> None:
        if len(self._path) == 3:
            self._entry[self._path[-1]] = self._entry.get(self._path[-1], "") + text

    def end(self, name: str) -> None:
        kind = self._path.pop()
        url = self._entry.get("loc", "").strip()
        if len(self._path) != 1 or not url:
            return
        if kind == "url":
            self.pages.append(Page(url=url, changed=self._entry.get("lastmod", "").strip()))
        elif kind == "sitemap":
            self.sitemaps.append(url)
