"""`parley prompts`: what language models are told, rendered and compared."""

import asyncio
import difflib
import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from bot.cli.failures import CommandFailed, exit_on_failure
from bot.cli.options import DebugOption, HomeOption, JsonOption
from bot.cli.runtime import count_phrase_for, is_debug_on, print_line, settings_for_home

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prompts.prompt_library import PromptTemplate
    from storage.sql.stores.model_calls import PromptUsage

_STDIN = "-"

NameArgument = Annotated[str, typer.Argument(metavar="NAME")]

app = typer.Typer(help="What language models are told. Without a command: the list.", invoke_without_command=True)


@app.callback()
def list_if_alone(context: typer.Context, json_: JsonOption = False) -> None:
    """What language models are told. Without a command: the list."""
    if context.invoked_subcommand is None:
        list_prompts(json_=json_)


@app.command("list")
def list_prompts(json_: JsonOption = False) -> None:
    """The names of the prompts, with their versions and purposes."""
    from prompts.prompt_library import load_prompt, prompt_names

    with _readable_prompts():
        prompts = [load_prompt(name) for name in prompt_names()]
    if json_:
        print_line(json.dumps([_summary_of(prompt) for prompt in prompts], ensure_ascii=False))
        return
    width = max((len(prompt.name) for prompt in prompts), default=0)
    for prompt in prompts:
        print_line(f"{prompt.name:<{width}}  version {prompt.version}, {prompt.role} model: {prompt.purpose}")


@app.command()
def show(name: NameArgument, json_: JsonOption = False, debug: DebugOption = False) -> None:
    """A prompt: its purpose, its values, the schema of the reply, and its text."""
    with exit_on_failure(debug=is_debug_on(debug)):
        prompt = _load_prompt(name)
        if json_:
            print_line(json.dumps(_summary_of(prompt) | {"text": prompt.source}, ensure_ascii=False))
            return
        print_line(f"{prompt.name}, version {prompt.version}, for the {prompt.role} model: {prompt.purpose}")
        print_line(f"values: {', '.join(prompt.value_names) or 'none'}")
        schema = "plain text" if prompt.output_schema is None else json.dumps(prompt.output_schema, indent=2)
        print_line(f"\nreply: {schema}\n")
        print_line(prompt.source)


@app.command()
def render(
    name: NameArgument,
    values: Annotated[
        Path, typer.Option("--values", metavar="FILE", help="A JSON object with the values; - reads it from stdin.")
    ],
    json_: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """The texts that a model gets for these values."""
    from jinja2 import TemplateError

    with exit_on_failure(debug=is_debug_on(debug)):
        prompt, given = _load_prompt(name), _read_values(values)
        missing = [value for value in prompt.value_names if value not in given]
        if missing:
            raise CommandFailed(f"{name} also needs {', '.join(missing)}")
        try:
            rendered = prompt.render(**given)
        except (TemplateError, TypeError) as exc:  # a value of another shape than the template expects
            raise CommandFailed(f"{name} cannot be rendered with these values: {exc}") from exc
        if json_:
            texts = {"prompt": rendered.label, "system": rendered.system, "user": rendered.user}
            print_line(json.dumps(texts, ensure_ascii=False))
        else:
            print_line(f"# {rendered.label}, system\n\n{rendered.system}\n\n# user\n\n{rendered.user}")


@app.command()
def diff(
    name: NameArgument,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Another version of the prompt, such as an edited copy.")
    ] = None,
    json_: JsonOption = False,
    home: HomeOption = None,
    debug: DebugOption = False,
) -> None:
    """How a file differs from the installed prompt; without a file, which versions were sent, and when."""
    with exit_on_failure(debug=is_debug_on(debug)):
        prompt = _load_prompt(name)
        if file is not None:
            _print_file_diff(prompt, file, json_=json_)
            return
        usage = [used for used in _load_usage(home) if used.prompt.rpartition("@")[0] == name]
        if json_:
            print_line(json.dumps([_usage_to_json(used) for used in usage], ensure_ascii=False))
        else:
            _print_usage(prompt, usage)


def _print_file_diff(prompt: "PromptTemplate", path: Path, *, json_: bool) -> None:
    from prompts.prompt_library import parse_prompt

    text = path.read_text(encoding="utf-8")
    with _readable_prompts():
        other = parse_prompt(text)
    lines = list(
        difflib.unified_diff(
            prompt.source.splitlines(),
            text.splitlines(),
            f"{prompt.name}@{prompt.version} installed",
            str(path),
            lineterm="",
        )
    )
    if json_:
        print_line(json.dumps({"installed": prompt.version, "file": other.version, "diff": lines}, ensure_ascii=False))
        return
    print_line("\n".join(lines) or f"{path} is the installed prompt.")
    if lines and prompt.version == other.version:
        print_line(f"\nBoth are version {prompt.version}: raise it in the file if the meaning has changed.")


def _print_usage(prompt: "PromptTemplate", usage: "Sequence[PromptUsage]") -> None:
    installed = f"{prompt.name}@{prompt.version}"
    if all(used.prompt != installed for used in usage):
        print_line(f"{installed}  installed, not sent yet")
    for used in usage:
        remark = "  installed" if used.prompt == installed else ""
        days = f"{used.first_at:%Y-%m-%d} to {used.last_at:%Y-%m-%d}"
        print_line(f"{used.prompt}  {count_phrase_for(used.calls, 'call')}, {used.failures:,} failed, {days}{remark}")


def _load_usage(home: Path | None) -> "Sequence[PromptUsage]":
    from bot.bootstrap import list_prompt_usage

    return asyncio.run(list_prompt_usage(settings_for_home(home).settings))


def _load_prompt(name: str) -> "PromptTemplate":
    """Raises `CommandFailed` for a name that no prompt has."""
    from prompts.prompt_library import load_prompt

    with _readable_prompts():
        return load_prompt(name)


@contextmanager
def _readable_prompts() -> Generator[None]:
    """Turns `UnreadablePrompt` into `CommandFailed`."""
    from prompts.prompt_library import UnreadablePrompt

    try:
        yield
    except UnreadablePrompt as exc:
        raise CommandFailed(str(exc)) from exc


def _read_values(path: Path) -> dict[str, Any]:
    """Raises `CommandFailed` for a file that holds no JSON object, `OSError` for one that cannot be read."""
    text = sys.stdin.read() if str(path) == _STDIN else path.read_text(encoding="utf-8")
    try:
        data = cast(object, json.loads(text))
    except ValueError as exc:
        raise CommandFailed(f"{path} is not JSON ({exc})") from exc
    if not isinstance(data, dict):
        raise CommandFailed(f"{path} holds no JSON object with the values")
    return cast(dict[str, Any], data)


def _summary_of(prompt: "PromptTemplate") -> dict[str, Any]:
    return {
        "name": prompt.name,
        "version": prompt.version,
        "role": prompt.role,
        "purpose": prompt.purpose,
        "values": list(prompt.value_names),
        "output": prompt.output_schema,
    }


def _usage_to_json(used: "PromptUsage") -> dict[str, Any]:
    return {
        "prompt": used.prompt,
        "calls": used.calls,
        "failures": used.failures,
        "first_at": used.first_at.isoformat(),
        "last_at": used.last_at.isoformat(),
    }
