"""What a page says about itself: title, description, keywords, headings, languages of its code. All of it is data."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any as Json
from typing import Final, cast

_MAX_HEAD_BYTES: Final = 200_000
_MAX_TITLE_CHARS, _MAX_DESCRIPTION_CHARS, _MAX_WORD_CHARS = 200, 500, 60
_MAX_KEYWORDS, _MAX_HEADINGS, _MAX_CODE_LANGUAGES = 10, 20, 5
_META: Final = re.compile(r"<meta\b([^<>]{0,2000})>", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title\b[^<>]{0,200}>([^<]{0,1000})", re.IGNORECASE)
_HEADING: Final = re.compile(r"<h[1-3]\b[^<>]{0,500}>([^<]{1,300})", re.IGNORECASE)
_CODE_LANGUAGE: Final = re.compile(r"\b(?:language|lang|highlight-source)-([a-z][\w+#-]{0,20})", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"([a-z:-]{1,20})\s{0,5}=\s{0,5}(?:\"([^\"]{0,1000})\"|'([^']{0,1000})')", re.IGNORECASE)
_SITE_NAME: Final = re.compile(r"\s+[|–—·»-]\s+.*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOutline:
    """Raw text in single lines, cut to short lengths."""

    title: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    code_languages: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """What the page is about, in a few words: its title without the name of the site, else its first heading."""
        return _SITE_NAME.sub("", self.title).strip() or next(iter((*self.headings, *self.keywords)), "")

    def to_json(self) -> dict[str, Json]:
        return {
            "title": self.title,
            "description": self.description,
            "keywords": list(self.keywords),
            "headings": list(self.headings),
            "code_languages": list(self.code_languages),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "PageOutline":
        """Reads stored JSON; what another version wrote otherwise is left out."""
        return cls(
            title=str(data.get("title", "")),
            description=str(data.get("description", "")),
            keywords=_texts_of(data.get("keywords")),
            headings=_texts_of(data.get("headings")),
            code_languages=_texts_of(data.get("code_languages")),
        )


def read_outline(body: bytes, suffix: str) -> PageOutline:
    """Reads the beginning of an HTML page; an empty outline for other formats. Takes time in proportion to its size."""
    if suffix != ".html":
        return PageOutline()
    text = body[:_MAX_HEAD_BYTES].decode("utf-8", "replace")
    metas = [_read_attributes(match[1]) for match in _META.finditer(text)]
    values = {
        name.casefold(): meta.get("content", "")
        for meta in reversed(metas)
        if (name := meta.get("name") or meta.get("property"))
    }
    title = _TITLE.search(text)
    keywords = (_to_line(word, _MAX_WORD_CHARS) for word in values.get("keywords", "").split(","))
    headings = (_to_line(match[1], _MAX_TITLE_CHARS) for match in _HEADING.finditer(text))
    languages = (match[1].casefold() for match in _CODE_LANGUAGE.finditer(text)) if "<code" in text.casefold() else ()
    return PageOutline(
        title=_to_line(title[1] if title else values.get("og:title", ""), _MAX_TITLE_CHARS),
        description=_to_line(values.get("description") or values.get("og:description", ""), _MAX_DESCRIPTION_CHARS),
        keywords=tuple(dict.fromkeys(filter(None, keywords)))[:_MAX_KEYWORDS],
        headings=tuple(dict.fromkeys(filter(None, headings)))[:_MAX_HEADINGS],
        code_languages=tuple(dict.fromkeys(languages))[:_MAX_CODE_LANGUAGES],
    )


def _read_attributes(text: str) -> dict[str, str]:
    return {match[1].casefold(): match[2] or match[3] or "" for match in _ATTRIBUTE.finditer(text)}


def _to_line(text: str, max_characters: int) -> str:
    unescaped = html.unescape(text).encode("utf-8", "replace").decode()
    printable = "".join(character if character.isprintable() else " " for character in unescaped)
    return " ".join(printable.split())[:max_characters].strip()


def _texts_of(value: Json) -> tuple[str, ...]:
    return tuple(map(str, cast("Sequence[Json]", value))) if isinstance(value, list) else ()
