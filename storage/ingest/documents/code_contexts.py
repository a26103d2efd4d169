"""Contexts of passages that hold code: the words within identifiers, by which the passages are then found too."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from storage.search.documents import Passage
from storage.text.code_blocks import CodeBlock, find_code_blocks, overlapping_blocks
from storage.text.code_identifiers import hidden_words_of

_MAX_WORDS: Final = 60  # of a passage


def with_code_words(text: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Returns the passages; those that hold code have the words of `parseConfig` as their context: parse, config."""
    blocks = find_code_blocks(text)
    return tuple(_add_words(text, passage, blocks) if blocks else passage for passage in passages)


def join_contexts(*contexts: str) -> str:
    return " ".join(filter(None, contexts))


def _add_words(text: str, passage: Passage, blocks: Sequence[CodeBlock]) -> Passage:
    code = "\n".join(
        text[max(block.start, passage.start) : min(block.end, passage.end)]
        for block in overlapping_blocks(blocks, passage.start, passage.end)
    )
    return replace(passage, context=join_contexts(passage.context, *hidden_words_of(code, _MAX_WORDS)))
