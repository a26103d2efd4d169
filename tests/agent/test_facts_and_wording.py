"""What decides makes no words for people, and every form and every kind of facts has its module."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from agent.compose.registry import load_composers
from agent.forms.registry import load_handlers
from agent.review.leg_review import LegFacts
from storage.search.plan import ANSWER_FORMS

ROOT = Path(__file__).parents[2]
DECIDING = ("agent/forms", "agent/refine", "agent/retrieval", "agent/review")
EXEMPT = {
    "agent/retrieval/answer_type.py": "regular expressions",
    "agent/retrieval/session.py": "notes of the trace",
}
SEVERAL_WORDS = re.compile(r"[^\W\d_]{2,}.*\s.*[^\W\d_]{2,}|[^\W\d_]{2,}\s|\s[^\W\d_]{2,}", re.DOTALL)


def texts_in(module: Path) -> Iterator[tuple[int, str]]:
    """The constants of several words, and the parts of f-strings that stand beside other words: no docstrings, messages
    of exceptions, or lists of words that are split.
    """
    tree = ast.parse(module.read_text(encoding="utf-8"))
    skipped = {id(part) for node in ast.walk(tree) if _is_skipped(node) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in skipped or not isinstance(node.value, str):
            continue
        if SEVERAL_WORDS.search(node.value):
            yield node.lineno, node.value


def _is_skipped(node: ast.AST) -> bool:
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    is_word_list = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split"
    return is_docstring or is_word_list or isinstance(node, ast.Raise)


def test_what_decides_makes_no_words_for_people() -> None:
    modules = (path for folder in DECIDING for path in sorted((ROOT / folder).rglob("*.py")))
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in modules
        if str(path.relative_to(ROOT)) not in EXEMPT
        for line, text in texts_in(path)
    ]

    assert found == []


def test_every_answer_form_has_its_handler() -> None:
    assert set(load_handlers()) == set(ANSWER_FORMS)


def test_every_kind_of_facts_is_composed() -> None:
    load_handlers()

    assert {_name_of(facts) for facts in load_composers()} == {_name_of(facts) for facts in LegFacts.__subclasses__()}


def _name_of(facts_class: type) -> str:
    """Slots make a second class of each: they are one by their name."""
    return f"{facts_class.__module__}.{facts_class.__qualname__}"
