"""Parses sitemaps, as XML or as lines of text: https://www.sitemaps.org/protocol.html."""

import zlib
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from storage.ingest.errors import UnparsableFile

_MAX_UNPACKED_BYTES: Final = 50 * 1024 * 1024  # the limit of the protocol
_NAMESPACE_SEPARATOR: Final = " "


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapPage:
    url: str
    last_modified: str  # `lastmod` as written; empty if it is missing


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapContent:
    """The entries of a sitemap: pages, or further sitemaps."""

    pages: tuple[SitemapPage, ...] = ()
    sitemaps: tuple[str, ...] = ()


def parse_sitemap(data: bytes) -> SitemapContent:
    """Parses a sitemap, compressed with gzip or not. Raises `UnparsableFile`."""
    text = _decompress_sitemap(data)
    if text.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return _parse_xml_sitemap(text)
    lines = [line.strip() for line in text.decode("utf-8-sig", "replace").splitlines() if line.strip()]
    if not lines or not all(line.startswith(("http://", "https://")) for line in lines):
        raise UnparsableFile("it is no sitemap")
    return SitemapContent(pages=tuple(SitemapPage(url=line, last_modified="") for line in lines))


def _decompress_sitemap(data: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    decompressor = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        text = decompressor.decompress(data, _MAX_UNPACKED_BYTES)
    except zlib.error as exc:
        raise UnparsableFile(f"its compression is broken: {exc}") from exc
    if decompressor.unconsumed_tail:
        raise UnparsableFile(f"it is larger than {_MAX_UNPACKED_BYTES // 1024**2} MB unpacked")
    if not decompressor.eof:
        raise UnparsableFile("its compression is broken: it ends too early")
    return text


def _parse_xml_sitemap(text: bytes) -> SitemapContent:
    reader = _SitemapReader()
    parser = expat.ParserCreate(namespace_separator=_NAMESPACE_SEPARATOR)
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reader.start_element, reader.end_element
    parser.CharacterDataHandler, parser.EntityDeclHandler = reader.read_characters, _refuse_entities
    try:
        parser.Parse(text, True)
    except expat.ExpatError as exc:
        raise UnparsableFile(f"it is no XML: {exc}") from exc
    if reader.root_tag not in ("urlset", "sitemapindex"):
        raise UnparsableFile("it is no sitemap")
    return SitemapContent(pages=tuple(reader.pages), sitemaps=tuple(reader.sitemaps))


def _refuse_entities(*declared: object) -> None:
    """Refuses entity declarations: no sitemap needs them, and expanding them can take unlimited memory."""
    raise UnparsableFile("it declares entities")


@dataclass(slots=True)
class _SitemapReader:
    """Collects the entries of an XML sitemap.

    Ignores elements of other namespaces (images, videos, alternatives), whose `loc` is no page.
    """

    root_tag: str = ""
    pages: list[SitemapPage] = field(default_factory=list[SitemapPage])
    sitemaps: list[str] = field(default_factory=list[str])
    _path: list[str] = field(default_factory=list[str])
    _entry: dict[str, str] = field(default_factory=dict[str, str])

    def start_element(self, name: str, attributes: dict[str, str]) -> None:
        self.root_tag = self.root_tag or name.rpartition(_NAMESPACE_SEPARATOR)[2]
        self._path.append(name.rpartition(_NAMESPACE_SEPARATOR)[2])
        if len(self._path) == 2:
            self._entry = {}

    def read_characters(self, text: str) -> None:
        if len(self._path) == 3:
            self._entry[self._path[-1]] = self._entry.get(self._path[-1], "") + text

    def end_element(self, name: str) -> None:
        tag = self._path.pop()
        url = self._entry.get("loc", "").strip()
        if len(self._path) != 1 or not url:
            return
        if tag == "url":
            self.pages.append(SitemapPage(url=url, last_modified=self._entry.get("lastmod", "").strip()))
        elif tag == "sitemap":
            self.sitemaps.append(url)
