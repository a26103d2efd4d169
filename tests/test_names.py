"""Holds the names and docstrings of the repository to the house style. CONTRIBUTING.md states the rules."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("adapters", "agent", "bot", "prompts", "storage")
EVERYWHERE = (*ROOMS, "bench", "tests")
MAX_MODULES = 16  # of one folder
MIGRATIONS = ROOT / "storage/sql/migrations/versions"  # each is written once and stays
MAX_RULE_MODULES = 12  # of one folder in agent/rules
EMPTY_NAMES = {"one", "at", "it", "them"}
COLUMNS = {("storage/sql/stores/audit.py", "at")}  # a name of stored data
# Participles that say neither what is done nor what is returned.
BARE_PARTICIPLES = frozenset(
    """accepted added admitted allowed answered applied asked assembled begun bound brought built called cancelled
    chosen claimed cleaned closed coloured compared compiled completed computed confirmed converted counted cut
    decided decoded deleted delivered denied described done drawn dropped ended escaped expired explained
    exported extracted fetched filled filtered finished fitted folded forgotten found fused given granted
    grouped handed heard held ignored indexed inferred joined judged kept known left linked listed loaded lost
    made marked matched meant measured merged met moved named narrowed noted offered opened ordered paged parsed
    pointed posted pruned quoted ranked read reached received refused released removed renamed rendered renewed
    replaced resolved respelled reviewed revised rewritten run said saved scored searched seen sent settled
    shown signed sorted spelt split spoken stated stopped stored styled summed synced taken taught tidied told
    tried typed understood undone unpacked updated used verified waited wanted written""".split()
)
# The words of the design, which name a class by themselves.
DESIGN_WORDS = frozenset(
    """Plan Search Schema Scope Turn Reply Inbound Leg Clause Refinement Action Choice Document Bucket Chunk Passage
    Answer Clarify Refused Enough More Citation Grant Audience Source Attempt Evidence Decision Reasoner
    Analyser Embedder Extractor Reranker Outbox Surface Directory Settings Application""".split()
)


@cache
def modules_in(*folders: str) -> tuple[Path, ...]:
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return tuple(path for path in paths if path.name != "generate.py")  # the programs of rounds stand alone


@cache
def tree_of(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def place_of(module: Path, node: ast.AST) -> str:
    return f"{module.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"


def functions_in(*folders: str) -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for module in modules_in(*folders):
        for node in ast.walk(tree_of(module)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("__"):
                yield module, node


def classes_in(*folders: str) -> Iterator[tuple[Path, ast.ClassDef]]:
    for module in modules_in(*folders):
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.ClassDef):
                yield module, node


def words_of_function(name: str) -> list[str]:
    return [word for word in name.split("_") if word]


def words_of_class(name: str) -> list[str]:
    return re.findall(r"[A-Z]+[a-z0-9]*", name)


def test_a_class_name_stands_once_in_the_repository() -> None:
    places: dict[str, list[str]] = {}
    for module, node in classes_in(*EVERYWHERE):
        places.setdefault(node.name, []).append(place_of(module, node))

    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_a_class_is_named_by_two_words_or_by_a_word_of_the_design() -> None:
    single = {
        node.name: place_of(module, node) for module, node in classes_in(*ROOMS) if len(words_of_class(node.name)) < 2
    }

    assert {name: place for name, place in single.items() if name not in DESIGN_WORDS} == {}


def test_no_variable_has_an_empty_name() -> None:
    assert [
        place_of(module, node)
        for module in modules_in(*EVERYWHERE)
        for node in ast.walk(tree_of(module))
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id in EMPTY_NAMES
            and (module.relative_to(ROOT).as_posix(), node.id) not in COLUMNS
        )
        or (isinstance(node, ast.arg) and node.arg in EMPTY_NAMES)
    ] == []


def test_no_function_is_named_by_a_bare_participle() -> None:
    found = [(place_of(module, node), node.name) for module, node in functions_in(*ROOMS)]

    assert [(place, name) for place, name in found if name.strip("_") in BARE_PARTICIPLES] == []


def test_function_names_have_a_verb_and_an_object() -> None:
    counts = [len(words_of_function(node.name)) for _, node in functions_in(*ROOMS)]

    assert sum(counts) / len(counts) >= 2.2


def test_a_folder_can_be_taken_in_at_once() -> None:
    counts = Counter(
        module.parent.relative_to(ROOT).as_posix()
        for module in modules_in(*ROOMS)
        if module.name != "__init__.py" and module.parent != MIGRATIONS
    )

    assert {folder: count for folder, count in counts.items() if count > max_modules_of(folder)} == {}


def max_modules_of(folder: str) -> int:
    return MAX_RULE_MODULES if folder.startswith("agent/rules") else MAX_MODULES


def test_a_docstring_begins_with_a_capital_letter_a_name_or_a_quotation() -> None:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    fragments = [
        (place_of(module, node), docstring.splitlines()[0])
        for module in modules_in(*EVERYWHERE)
        for node in ast.walk(tree_of(module))
        if isinstance(node, documented) and (docstring := ast.get_docstring(node)) and docstring[0].islower()
    ]

    assert fragments == []
