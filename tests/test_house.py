"""What holds for the whole house, and no linter knows."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("adapters", "agent", "bot", "prompts", "storage")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CATCHES_ALL = {"Exception", "BaseException"}
ONLY_NAMED = {"asyncpg"}  # SQLAlchemy imports it, by the name in a database's URL


def modules(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def catch_all_handlers(module: Path) -> Iterator[int]:
    """Lines of `except:`, `except Exception`, `except (…, Exception)`, unless they tidy up and raise again."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler) and not raises_again(node):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(one is None or (isinstance(one, ast.Name) and one.id in CATCHES_ALL) for one in caught):
                yield node.lineno


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Whatever was caught, and nothing in its place."""
    last, raised = handler.body[-1], [node for node in ast.walk(handler) if isinstance(node, (ast.Raise, ast.Return))]
    return isinstance(last, ast.Raise) and all(isinstance(one, ast.Raise) and one.exc is None for one in raised)


def test_every_exception_is_caught_in_one_place_alone_around_a_whole_turn() -> None:
    places = [str(module.relative_to(ROOT)) for module in modules(*ROOMS) for _ in catch_all_handlers(module)]

    assert places == ["bot/turns.py"]


def test_modules_are_named_for_what_they_hold() -> None:
    vague = re.compile(r"(^|_)(utils?|helpers?|common|managers?|misc|shared)(_|$)")

    assert [path for path in modules(*ROOMS, "tests", "bench") if vague.search(path.stem)] == []


def runtime_dependencies() -> list[str]:
    return named(PROJECT["project"]["dependencies"])


def extras() -> list[str]:
    return [name for wanted in PROJECT["project"]["optional-dependencies"].values() for name in named(wanted)]


def named(requirements: list[str]) -> list[str]:
    return [re.split(r"[\[<>=!~ ]", one)[0] for one in requirements]


def test_every_dependency_has_its_line() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `([^`]+)` \|", page, flags=re.MULTILINE)

    assert lines == [*runtime_dependencies(), *extras(), *named(PROJECT["dependency-groups"]["dev"])]


def imported(module: Path) -> Iterator[str]:
    """Top names of the packages that a module imports, also inside functions."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.partition(".")[0]


def test_all_that_is_imported_is_asked_for_and_nothing_else() -> None:
    from importlib.metadata import packages_distributions

    names = {name for module in modules(*ROOMS) for name in imported(module)}
    by_import = {name: [name] for name in extras()} | dict(packages_distributions())  # an extra may not be installed
    needed = {by_import[name][0].lower().replace("_", "-") for name in names - {*ROOMS} if name in by_import}

    assert needed | ONLY_NAMED == {*runtime_dependencies(), *extras()}
