"""Formats the text that the parsers extract as Markdown: headings, list items and rows of tables."""

from collections.abc import Iterable

_MAX_HEADING_CHARACTERS = 200  # a longer heading is probably a paragraph with the wrong style


def format_heading(level: int, text: str) -> str:
    flat = to_single_line(text)
    return f"{'#' * max(1, min(level, 6))} {flat}" if 0 < len(flat) <= _MAX_HEADING_CHARACTERS else text.strip()


def format_list_item(text: str) -> str:
    return f"- {text.strip()}" if text.strip() else ""


def format_code_block(code: str, language: str) -> list[str]:
    """Returns the lines: the code between fences that it does not hold itself."""
    fence = "```"
    while fence in code:
        fence += "`"
    return [f"{fence}{language}", code, fence]


def join_blocks(blocks: Iterable[str]) -> str:
    """Joins blocks with a blank line between them, but none between two list items."""
    parts, previous = list[str](), ""
    for block in blocks:
        if parts:
            parts.append("\n" if previous.startswith("- ") and block.startswith("- ") else "\n\n")
        parts.append(block)
        previous = block
    return "".join(parts)


def format_table_row(cells: Iterable[str]) -> str:
    """Returns a row as `a | b | c`; empty if all cells are empty."""
    flat = [to_single_line(cell) for cell in cells]
    return " | ".join(flat).rstrip() if any(flat) else ""


def to_single_line(text: str) -> str:
    """Returns the text on one line, with single blanks."""
    return " ".join(text.split())
