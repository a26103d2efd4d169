"""`parley doctor`: shows every setting with its source, and checks whether the configured services answer."""

import asyncio
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed, exit_on_failure
from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import global_options, is_debug_on, print_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bot.settings import LoadedSettings, Settings
    from bot.surface.checkup import CheckupFinding

_MODEL = "model"  # the heading of the findings about language models
_INDEX = "index"
_PASSWORD_IN_URL = re.compile(r"(://[^/:@\s]*:)[^@\s,]+@")


def _check_surface_names(names: list[str] | None) -> list[str] | None:
    """Raises `typer.BadParameter` (exit 2) for a surface without a checkup."""
    from importlib.metadata import entry_points

    known_names = sorted(entry_points(group="parley.checkups").names)
    for name in names or ():
        if name not in known_names:
            raise typer.BadParameter(f"{name!r} cannot be checked; choose one of: {', '.join(known_names)}")
    return names


def doctor(
    surface: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            callback=_check_surface_names,
            help="Ask this chat product about its tokens, scopes and addresses: slack, teams. Repeatable.",
        ),
    ] = None,
    slack: Annotated[bool, typer.Option("--slack", help="The same as --surface slack.")] = False,
    teams: Annotated[bool, typer.Option("--teams", help="The same as --surface teams.")] = False,
    index: Annotated[
        bool,
        typer.Option("--index", help="Check OpenSearch: its version, plugins, rights, disks, blocks, shards, aliases."),
    ] = False,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """What is set, from where, and what is wrong."""
    with exit_on_failure(debug=is_debug_on(debug)):
        loaded = _survey_settings(home)
        problems = _find_setting_problems(loaded)
        if not loaded.errors:
            problems += asyncio.run(_find_unreachable_services(loaded.settings))
        products = [*(surface or ()), *(["slack"] if slack else []), *(["teams"] if teams else [])]
        findings = asyncio.run(_run_checkups(loaded, products))
        if index and not loaded.errors:
            findings = {_INDEX: asyncio.run(_check_index(loaded.settings)), **findings}
        if model_findings := asyncio.run(_check_models(loaded)):
            findings = {_MODEL: model_findings} | findings
        faults = [finding.fault for found in findings.values() for finding in found if finding.fault]
        problems = list(dict.fromkeys([*problems, *faults]))
        rows = _setting_rows_of(loaded)
        if json_:
            checkups = {product: [asdict(finding) for finding in found] for product, found in findings.items()}
            print_line(json.dumps({"settings": rows, "problems": problems, **checkups}, ensure_ascii=False))
        else:
            print_line(_describe_verdict(len(problems)))
            _print_findings(findings)
            _print_setting_rows(rows)
            if not problems:
                print_line(_describe_verdict(0))
        if problems:
            raise CommandFailed(_list_problems(problems))


def _survey_settings(home: Path | None) -> "LoadedSettings":
    """Raises `InvalidSettings` for a home or a file that cannot be read."""
    from bot.settings import survey_settings

    return survey_settings(home or global_options.get().home)


def _setting_rows_of(loaded: "LoadedSettings") -> "list[dict[str, str | None]]":
    values = {
        name: value for section in loaded.settings.sections for name, value in section.values_by_variable().items()
    }
    reasons = {error.setting: error.reason for error in loaded.errors}
    return [
        {
            "name": name,
            "value": "" if name in reasons else _format_setting_value(values[name]),
            "source": source,
            "problem": reasons.get(name),
        }
        for name, source in loaded.sources.items()
    ]


def _format_setting_value(value: object) -> str:
    """The value for display: secrets are masked, and URLs have no passwords."""
    from pydantic import SecretStr

    match value:
        case None | ():
            return ""
        case SecretStr():
            return "********"
        case tuple():
            return ",".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case Path():
            return str(value)
        case _:
            return _mask_passwords(str(value))


def _mask_passwords(text: str) -> str:
    """The text with a mask for the password of each URL."""
    return _PASSWORD_IN_URL.sub(r"\1********@", text)


def _describe_verdict(problem_count: int) -> str:
    """Stands above and below what was found, which is longer than a screen."""
    if problem_count == 0:
        return "Everything answers."
    return f"{problem_count} problem{'s' * (problem_count > 1)}."


def _print_findings(findings: "Mapping[str, Sequence[CheckupFinding]]") -> None:
    """What is wrong comes before what is fine."""
    lines = [(product.capitalize(), finding) for product, found in findings.items() for finding in found]
    for name, finding in sorted(lines, key=lambda line: not line[1].fault):
        print_line(f"{name}: {finding.what}: {finding.fault or finding.found}")


def _print_setting_rows(rows: "list[dict[str, str | None]]") -> None:
    """Wrong settings come before the others."""
    width = max(len(row["name"] or "") for row in rows)
    for row in sorted(rows, key=lambda row: row["problem"] is None):
        value = row["problem"] or row["value"] or "–"
        print_line(f"{row['name']:<{width}}  {value}  ({row['source']})")


def _find_setting_problems(loaded: "LoadedSettings") -> list[str]:
    problems = [str(error).removesuffix(".") for error in loaded.errors]
    problems += [f"{name} is not a setting; is {setting} meant?" for name, setting in loaded.misspelled.items()]
    problems += [problem for section in loaded.settings.sections for problem in section.find_problems()]
    return problems


def _list_problems(problems: "Sequence[str]") -> str:
    """One problem in one line; several on a line each, after their number."""
    return problems[0] if len(problems) == 1 else "\n  - ".join([f"{len(problems)} problems:", *problems])


async def _run_checkups(loaded: "LoadedSettings", products: "Iterable[str]") -> "dict[str, Sequence[CheckupFinding]]":
    """The findings by product. While a setting is invalid, no product is asked."""
    names = dict.fromkeys(products)
    return {name: () if loaded.errors else await _run_checkup(loaded.settings, name) for name in names}


async def _check_models(loaded: "LoadedSettings") -> "Sequence[CheckupFinding]":
    """None without a model, and while a setting is invalid."""
    from bot.bootstrap import run_model_checkup

    return () if loaded.errors else await run_model_checkup(loaded.settings)


async def _check_index(settings: "Settings") -> "Sequence[CheckupFinding]":
    from bot.bootstrap import run_index_checkup

    return await run_index_checkup(settings)


async def _run_checkup(settings: "Settings", product: str) -> "Sequence[CheckupFinding]":
    from bot.bootstrap import run_checkup
    from bot.surface.checkup import CheckupFinding
    from storage.sql.errors import SqlError

    try:
        return await run_checkup(settings, product)
    except SqlError as exc:  # the database has the app's installations
        return [CheckupFinding(what="database", fault=str(exc))]


async def _find_unreachable_services(settings: "Settings") -> list[str]:
    from bot.bootstrap import list_unreachable_backends

    return await list_unreachable_backends(settings)
