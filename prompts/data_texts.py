"""How texts of documents and people are put into prompts: as data that no reader can take for a part of the prompt."""

import json
import re
import unicodedata
from functools import cache

_JOINERS = "\u200c\u200d"  # some scripts need them between letters
_LINE_BREAKS = "\u2028\u2029"
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs"})
# They choose the shape of the character before them, and can carry any text, as tags (U+E0000) can.
_VARIATION_SELECTORS = re.compile("[\ufe00-\ufe0e\U000e0100-\U000e01ef]")
_HEADING = re.compile(r"^(?=[ \t]*[#＃]+[ \t])", re.MULTILINE)  # with a look-alike


def drop_hidden_characters(text: str) -> str:
    """Returns the text without characters that no reader sees, which may hide instructions or change the direction."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "\n" if character in _LINE_BREAKS else character
        for character in _VARIATION_SELECTORS.sub("", text)
        if character in "\n\t" or character in _JOINERS or unicodedata.category(character) not in _HIDDEN_CATEGORIES
    )


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
