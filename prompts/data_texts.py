"""How texts of documents and people are put into prompts: as data that no reader can take for a part of the prompt."""

import json
import re
import unicodedata
from functools import cache

_JOINERS = "\u200c\u200d"  # some scripts need them between letters
_LINE_BREAKS = "\u2028\u2029"
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs"})
# They choose the shape of the character before them, and can carry any text, as tags (U+E0000) can.
_VARIATION_SELECTORS = (range(0xFE00, 0xFE0F), range(0xE0100, 0xE01F0))
_HEADING = re.compile(r"^(?=[ \t]*[#＃]+[ \t])", re.MULTILINE)  # with a look-alike


class _ShownCharacters(dict[int, str | None]):
    """A table for `str.translate`, filled as characters occur: what is shown of each; None for a hidden one."""

    def __missing__(self, code: int) -> str | None:
        shown = _show_character(chr(code))
        self[code] = shown
        return shown


def _show_character(character: str) -> str | None:
    if any(ord(character) in selectors for selectors in _VARIATION_SELECTORS):
        return None
    if character in _LINE_BREAKS:
        return "\n"
    is_shown = character in "\n\t" or character in _JOINERS
    return character if is_shown or unicodedata.category(character) not in _HIDDEN_CATEGORIES else None


_SHOWN_CHARACTERS = _ShownCharacters()


def drop_hidden_characters(text: str) -> str:
    """Returns the text without characters that no reader sees, which may hide instructions or change the direction."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_SHOWN_CHARACTERS)


def quote_value(text: str, max_characters: int = 200) -> str:
    """Returns the text as a JSON string on one line, without its end if it is long."""
    shown = text if len(text) <= max_characters else text[:max_characters] + "…"
    return json.dumps(drop_hidden_characters(shown), ensure_ascii=False)


def escape_headings(text: str) -> str:
    """Returns a text that stands below a heading of a prompt: no line of it is a heading itself."""
    return _HEADING.sub(r"\\", drop_hidden_characters(text))


def escape_tags(text: str, *names: str) -> str:
    """Returns a text that stands between tags of a prompt: it holds no tag of these names, nor what looks like one."""
    return _tag_pattern(names).sub(lambda match: f"({match['slash']}{match['name']}", text)


def escape_attribute(text: str) -> str:
    """Returns a text that stands as an attribute of a tag, in double quotation marks: one line that ends neither."""
    line = " ".join(drop_hidden_characters(text).split())
    return line.replace('"', "'").replace("<", "(").replace(">", ")")


@cache
def _tag_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Matches the beginnings of tags, also with look-alikes of the angle brackets."""
    return re.compile(rf"[<＜‹〈⟨]\s*(?P<slash>/?)\s*(?P<name>{'|'.join(names)})\b", re.IGNORECASE)
