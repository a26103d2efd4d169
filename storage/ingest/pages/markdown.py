"""How text of any format is written down: headings, list items and rows of tables as Markdown has them."""

from collections.abc import Iterable

_LONGEST_HEADING = 200  # characters; what is longer is a paragraph that somebody gave the look of a heading


def heading(level: int, words: str) -> str:
    flat = line(words)
    return f"{'#' * max(1, min(level, 6))} {flat}" if 0 < len(flat) <= _LONGEST_HEADING else words.strip()


def item(words: str) -> str:
    return f"- {words.strip()}" if words.strip() else ""


def joined(blocks: Iterable[str]) -> str:
    """Apart by a blank line, items of a list by none."""
    parts, before = list[str](), ""
    for block in blocks:
        if parts:
            parts.append("\n" if before.startswith("- ") and block.startswith("- ") else "\n\n")
        parts.append(block)
        before = block
    return "".join(parts)


def row(cells: Iterable[str]) -> str:
    """`a | b | c`; empty if all are."""
    flat = [line(cell) for cell in cells]
    return " | ".join(flat).rstrip() if any(flat) else ""


def line(words: str) -> str:
    """On one line, with single blanks."""
    return " ".join(words.split())
