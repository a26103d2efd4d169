"""Rules for the whole repository that no linter checks."""

import ast
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("adapters", "agent", "bot", "prompts", "storage")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CATCHES_ALL = {"Exception", "BaseException"}
ONLY_NAMED = {
    "asyncpg",  # SQLAlchemy imports it by the name in the database URL
    "botbuilder-core",  # has no types; adapters/teams/connector/activity_schema.py alone imports it, by name
}


def modules_in(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def catch_all_handlers(module: Path) -> Iterator[int]:
    """Lines of `except:`, `except Exception`, `except (…, Exception)`, unless they clean up and raise again."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler) and not raises_again(node):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if any(
                type_node is None or (isinstance(type_node, ast.Name) and type_node.id in CATCHES_ALL)
                for type_node in caught
            ):
                yield node.lineno


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether the handler always raises the exception that it caught."""
    last_statement, exits = (
        handler.body[-1],
        [node for node in ast.walk(handler) if isinstance(node, (ast.Raise, ast.Return))],
    )
    return isinstance(last_statement, ast.Raise) and all(
        isinstance(exit_node, ast.Raise) and exit_node.exc is None for exit_node in exits
    )


def test_only_the_turn_processor_catches_every_exception() -> None:
    places = [str(module.relative_to(ROOT)) for module in modules_in(*ROOMS) for _ in catch_all_handlers(module)]

    assert places == ["bot/turns/turn_processor.py"]


def test_modules_have_specific_names() -> None:
    vague_name = re.compile(r"(^|_)(utils?|helpers?|common|managers?|misc|shared)(_|$)")

    assert [path for path in modules_in(*ROOMS, "tests", "bench") if vague_name.search(path.stem)] == []


def test_only_its_client_imports_litellm_and_not_before_it_is_needed() -> None:
    places = [
        (module.relative_to(ROOT).as_posix(), isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)))
        for module in modules_in(*ROOMS, "bench")
        for scope in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        for node in ast.iter_child_nodes(scope)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "litellm" in names_imported_by(node)
    ]

    assert places == [("agent/gateway/litellm_client.py", True)]


def names_imported_by(node: ast.Import | ast.ImportFrom) -> set[str]:
    """The top-level names of the packages."""
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return {name.partition(".")[0] for name in names}


def runtime_dependencies() -> list[str]:
    return distribution_names(PROJECT["project"]["dependencies"])


def extra_dependencies() -> list[str]:
    """Each once, though several extras may need it."""
    names = [
        name
        for requirements in PROJECT["project"]["optional-dependencies"].values()
        for name in distribution_names(requirements)
    ]
    return list(dict.fromkeys(names))


def distribution_names(requirements: list[str]) -> list[str]:
    return [re.split(r"[\[<>=!~ ]", requirement)[0] for requirement in requirements]


def test_every_dependency_is_on_the_dependencies_page() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `([^`]+)` \|", page, flags=re.MULTILINE)

    assert lines == [
        *runtime_dependencies(),
        *extra_dependencies(),
        *distribution_names(PROJECT["dependency-groups"]["dev"]),
        *distribution_names(PROJECT["dependency-groups"]["docs"]),
    ]


def imported_packages(module: Path) -> Iterator[str]:
    """The top-level names of the packages that a module imports, also inside functions."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module and node.level == 0):
            yield from names_imported_by(node)


def test_dependencies_are_exactly_the_imported_packages() -> None:
    from importlib.metadata import packages_distributions

    names = {name for module in modules_in(*ROOMS) for name in imported_packages(module)}
    declared = {*runtime_dependencies(), *extra_dependencies()}
    distributions = {name: [name] for name in extra_dependencies()} | dict(
        packages_distributions()
    )  # an extra may not be installed
    needed_distributions = {
        distribution.lower().replace("_", "-")
        for name in names - {*ROOMS}
        for distribution in providers_of(name, distributions, declared)
    }

    assert needed_distributions | ONLY_NAMED == declared


def providers_of(name: str, distributions: Mapping[str, Sequence[str]], declared: Collection[str]) -> Sequence[str]:
    """The distributions of a package: of a namespace that several share, those that are declared."""
    providers = list(dict.fromkeys(distributions.get(name, ())))
    return providers if len(providers) <= 1 else [provider for provider in providers if provider in declared]
