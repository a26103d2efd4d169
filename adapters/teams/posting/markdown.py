"""Writes the Markdown of replies as the Markdown of Teams. All data is escaped: nothing in it turns into a mention, a
link, a citation marker or a format.

https://learn.microsoft.com/microsoftteams/platform/bots/how-to/format-your-bot-messages
"""

import re
from typing import Final
from urllib.parse import quote

from bot.surface.markdown import (
    BulletList,
    CitationMarker,
    MarkdownLine,
    MarkdownRun,
    ParagraphBlock,
    parse_blocks,
    strip_control_characters,
)

HARD_BREAK: Final = "  \n"  # a line break within a paragraph
MAX_URL_CHARACTERS: Final = 1_000

_INVISIBLE_SPACE: Final = "\u200b"
_MARKUP: Final = re.compile(r"[\\`*_~\[\]]")
_LINE_START: Final = re.compile(r"^(?P<number>\d{1,9})(?=[.)](?:\s|$))|^(?=(?:#{1,6}|[+-])(?:\s|$)|[=-]+\s*$)")
_LIVE_MARKER: Final = re.compile(r"\[(?=\w{1,8}\])")
_LIVE_ADDRESS: Final = re.compile(r"(?<=[a-z]:)(?=//)|(?<=\bwww)(?=\.)|(?<=\bmailto:)|(?<=\btel:)", re.IGNORECASE)
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_UNSAFE_IN_LINK: Final = re.compile(r"[()<>\[\]\\`*_~\"']")
_WEB_ADDRESS: Final = re.compile(r"https?://[!-~]+")
_CODE_UNSAFE: Final = re.compile(r"[`<>&]")


def escape_for_teams(text: str) -> str:
    """The text on one line, shown unchanged but for white space, within a line that begins with something else."""
    line = " ".join(strip_control_characters(text).split())
    return _escape_inline(line)


def escape_line(text: str) -> str:
    """The same for a text that begins a line."""
    return _escape_line_start(escape_for_teams(text))


def shorten_plain(text: str, characters: int) -> str:
    """Raw text on one line, shortened and not escaped. Of a very long text only the beginning is looked at."""
    line = " ".join(strip_control_characters(text[: characters * 4 + 100]).split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


def teams_lines_of(markdown: str) -> list[str]:
    """The lines in order, to be joined with "\\n". An empty line separates blocks."""
    lines: list[str] = []
    for block in parse_blocks(strip_control_characters(markdown)):
        match block:
            case ParagraphBlock(lines=block_lines):
                shown = [line for line in map(_format_line, block_lines) if line]
                formatted = [f"{line}  " for line in shown[:-1]] + shown[-1:]
            case BulletList(items=items):
                formatted = [f"- {line}" for line in map(_format_line, items) if line]
        lines += ["", *formatted] if lines and formatted else formatted
    return lines


def format_bold(text: str) -> str:
    """Raw text in bold."""
    return _wrap_text(escape_for_teams(text), "**")


def format_italic(text: str) -> str:
    """Raw text in italics."""
    return _wrap_text(escape_for_teams(text), "_")


def format_link(text: str, address: str) -> str:
    """Raw text as a link. `address` is one that `safe_web_address` has returned."""
    return f"[{escape_for_teams(text)}]({_UNSAFE_IN_LINK.sub(lambda found: quote(found[0], safe=''), address)})"


def safe_web_address(url: str | None, page: int | None = None) -> str | None:
    """The address if a click on it can only open a web page; for a PDF, with its page."""
    if url is None or len(url) > MAX_URL_CHARACTERS - 20 or not _WEB_ADDRESS.fullmatch(url):
        return None
    return f"{url}#page={page}" if page is not None and url.casefold().endswith(".pdf") else url


def _format_line(line: MarkdownLine) -> str:
    pieces: list[str] = []
    for piece in line:
        match piece:
            case CitationMarker(marker=marker):
                pieces.append(f"[{marker}]")
            case MarkdownRun():
                text = _format_run(piece)
                is_after_marker = bool(pieces) and pieces[-1].endswith("]")
                pieces.append(_INVISIBLE_SPACE + text if is_after_marker and text.startswith(("(", ":")) else text)
    return _escape_line_start("".join(pieces).strip())


def _format_run(run: MarkdownRun) -> str:
    if run.code and not _CODE_UNSAFE.search(run.text):
        text = f"`{_LIVE_ADDRESS.sub(_INVISIBLE_SPACE, run.text)}`" if run.text.strip() else run.text
    else:
        text = _escape_inline(run.text)
    text = _wrap_text(text, "_") if run.italic else text
    return _wrap_text(text, "**") if run.bold else text


def _wrap_text(text: str, delimiter: str) -> str:
    """White space stays outside, as Markdown demands."""
    core = text.strip()
    if not core:
        return text
    start = text.index(core)
    return f"{text[:start]}{delimiter}{core}{delimiter}{text[start + len(core) :]}"


def _escape_inline(text: str) -> str:
    inert = _LIVE_ADDRESS.sub(_INVISIBLE_SPACE, _LIVE_MARKER.sub(f"[{_INVISIBLE_SPACE}", text))
    escaped = _MARKUP.sub(lambda found: f"\\{found[0]}", inert)
    return re.sub("[&<>]", lambda found: _ENTITIES[found[0]], escaped)


def _escape_line_start(line: str) -> str:
    """Escapes what would begin a heading, a list or a rule."""
    return _LINE_START.sub(lambda found: f"{found['number'] or ''}\\", line, count=1)
