"""Blocks of code in a text, and the words of the identifiers in them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.text.code_blocks import find_code_blocks, overlapping_blocks
from storage.text.code_identifiers import find_code_identifiers, hidden_words_of, words_of_identifier


def blocks_of(text: str) -> list[tuple[str, str]]:
    return [(block.language, text[block.start : block.end]) for block in find_code_blocks(text)]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("a\n```python\nx = 1\n```\nb", [("python", "x = 1")]),
        ("~~~\none\n\ntwo\n~~~\n", [("", "one\n\ntwo")]),
        ("````md\n```\ninner\n```\n````", [("md", "```\ninner\n```")]),
        ("```{.Rust}\nfn main() {}\n```\n```sh\nls\n```", [("rust", "fn main() {}"), ("sh", "ls")]),
        ("```language-c++\nint x;\n", [("c++", "int x;")]),
        ("``` `no` fence\ntext", []),
        ("```\n\n```\nnothing in it", []),
        ("    ```\nindented too far", []),
        ("text with ```code``` in a line", []),
    ],
)
def test_the_lines_between_fences_are_a_block(text: str, blocks: list[tuple[str, str]]) -> None:
    assert blocks_of(text) == blocks


@given(st.lists(st.sampled_from(["```", "~~~", "````", "```py", "x", "", "\u00e9 = 1"]), max_size=12))
def test_blocks_are_in_order_and_hold_no_opening_fence(lines: list[str]) -> None:
    text = "\n".join(lines)
    blocks = find_code_blocks(text)

    assert all(first.end < second.start for first, second in pairwise(blocks))
    assert all(text[block.start : block.end].strip() for block in blocks)
    assert all(block.start == 0 or text[block.start - 1] == "\n" for block in blocks)


def test_a_block_overlaps_a_passage_that_holds_a_part_of_it() -> None:
    (block,) = find_code_blocks("ab\n```\ncode\n```\ncd")

    assert overlapping_blocks([block], 0, block.start + 1) == [block]
    assert overlapping_blocks([block], 0, block.start) == []


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("parseConfig", ("parse", "config")),
        ("ParseHTTPConfig2", ("parse", "http", "config", "2")),
        ("MAX_RETRIES", ("max", "retries")),
        ("__init__", ("init",)),
        ("größeÄndern", ("größe", "ändern")),
        ("x", ("x",)),
    ],
)
def test_an_identifier_has_words(identifier: str, words: tuple[str, ...]) -> None:
    assert words_of_identifier(identifier) == words


def test_hidden_words_are_those_that_only_capitals_tell_apart() -> None:
    code = "def load_user(userId):\n    return parseConfig(userId).user_name"

    assert hidden_words_of(code, 60) == ("user", "id", "parse", "config")
    assert hidden_words_of(code, 3) == ("user", "id", "parse")


@given(st.text(max_size=200))
def test_identifiers_stand_in_the_text(text: str) -> None:
    assert all(identifier in text for identifier in find_code_identifiers(text))
    assert all(name.isidentifier() for name in find_code_identifiers(text) if name.isascii())
