"""Months, currency signs and spelled numbers stand in one table each: `storage.quantities`."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from storage.quantities.days import ENGLISH_MONTH_NUMBERS
from storage.quantities.money import SIGN_CHARACTERS
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, ORDINALS_BY_WORD

ROOT = Path(__file__).parents[3]
ROOMS = ("adapters", "agent", "bench", "bot", "prompts", "storage")
HOME = ROOT / "storage" / "quantities"
SMALLEST_TABLE = 3  # entries in one string or in one display of strings
WORD = re.compile(r"[a-z]+")


@lru_cache(maxsize=1)
def texts_elsewhere() -> tuple[tuple[str, str], ...]:
    """Each text of a module outside `storage.quantities`, with its place."""
    return tuple(
        (f"{module.relative_to(ROOT)}:{line}", text)
        for module in modules_elsewhere()
        for line, text in texts_of(module)
    )


def modules_elsewhere() -> Iterator[Path]:
    for room in ROOMS:
        yield from (path for path in sorted((ROOT / room).rglob("*.py")) if HOME not in path.parents)


def texts_of(module: Path) -> Iterator[tuple[int, str]]:
    """Strings that are no docstrings, and displays of short strings joined by blanks, each with its line."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value
        elif isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            members = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
            words = [member.value for member in members if isinstance(member, ast.Constant)]
            yield node.lineno, " ".join(word for word in words if isinstance(word, str) and len(word) < 12)


def months_in(text: str) -> set[int]:
    words = set(WORD.findall(text.lower()))
    return {number for name, number in ENGLISH_MONTH_NUMBERS.items() if name in words and name not in ("may", "march")}


def signs_in(text: str) -> set[str]:
    return set(text) & (set(SIGN_CHARACTERS) - {"$"})


def spelled_numbers_in(text: str) -> set[str]:
    return set(WORD.findall(text.lower())) & (NUMBERS_BY_WORD.keys() - {"one"})


def ordinals_in(text: str) -> set[str]:
    return set(WORD.findall(text.lower())) & (ORDINALS_BY_WORD.keys() - {"first", "second"})


@pytest.mark.parametrize("entries_in", [months_in, signs_in, spelled_numbers_in, ordinals_in])
def test_no_table_of_months_signs_or_spelled_numbers_stands_twice(entries_in: Callable[[str], set[object]]) -> None:
    assert [place for place, text in texts_elsewhere() if len(entries_in(text)) >= SMALLEST_TABLE] == []
