"""Finds the blocks of code in a text: between fences, as in Markdown, which other formats are read as."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n]*)$", re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t>]*(?:`{3,}[^`\n]*|~{3,}[^\n]*)$", re.MULTILINE)  # in a list or quotation too
_LANGUAGE = re.compile(r"[{.]*(?:lang(?:uage)?[-:=])?(?P<name>[A-Za-z][\w+#-]{0,30})")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBlock:
    """`text[start:end]` are the lines between the fences. `language` is what the fence says, in small letters."""

    start: int
    end: int
    language: str = ""


def find_code_blocks(text: str) -> tuple[CodeBlock, ...]:
    """Returns the blocks in order. A fence that nothing closes goes to the end of the text."""
    blocks: list[CodeBlock] = []
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opened is None:
            if match["fence"][0] != "`" or "`" not in match["info"]:  # else it is code within a line
                opened = match
        elif match["fence"].startswith(opened["fence"]) and not match["info"].strip():
            blocks.append(_block_between(opened, match.start(), text))
            opened = None
    if opened is not None:
        blocks.append(_block_between(opened, len(text), text))
    return tuple(block for block in blocks if text[block.start : block.end].strip())


def find_fence_lines(text: str) -> list[tuple[int, int]]:
    """Returns start and end of each line that opens or closes a block of code, in order."""
    if "```" not in text and "~~~" not in text:
        return []
    return [match.span() for match in _FENCE_LINE.finditer(text)]


def overlapping_blocks(blocks: Iterable[CodeBlock], start: int, end: int) -> Sequence[CodeBlock]:
    """Returns the blocks that have a part of their code in `text[start:end]`."""
    return [block for block in blocks if block.start < end and start < block.end]


def _block_between(opened: re.Match[str], end: int, text: str) -> CodeBlock:
    start = min(opened.end() + 1, end)
    language = _LANGUAGE.match(opened["info"].strip())
    return CodeBlock(
        start=start,
        end=start + len(text[start:end].rstrip("\n")),
        language="" if language is None else language["name"].lower(),
    )
