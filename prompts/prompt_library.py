"""Loads the prompts of this folder and renders them.

A prompt is a file `NAME.md`: YAML front matter between lines of `---`, then a Jinja2 template with the blocks `system`
and `user`. The front matter holds

- `name`: the file's name without its ending,
- `version`: a whole number, raised with each change of meaning,
- `role`: `main` or `small`, the model that it is for,
- `output`: the class in `prompts.outputs` that the reply must follow as JSON; absent for a reply in plain text,
- `purpose`: one sentence for people.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any as Json
from typing import cast

import yaml
from jinja2 import Environment, StrictUndefined, Template, meta
from pydantic import BaseModel

import prompts.outputs

_FRONT_MATTER = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_BLOCKS = ("system", "user")
_MAPPING_KEYWORDS = frozenset({"properties", "$defs"})
_REFUSED_KEYWORDS = frozenset({"default", "discriminator"})
_STRICT_KEYWORDS = {"oneOf": "anyOf"}


class UnreadablePrompt(Exception):
    """A prompt file is missing, or its front matter or blocks are not as described above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPrompt:
    """The two texts of one call."""

    name: str
    version: int
    role: str
    system: str
    user: str

    @property
    def label(self) -> str:
        """Name and version, as stored with each call."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplate:
    """One prompt file. `output_type` is None if the reply is plain text."""

    name: str
    version: int
    role: str
    purpose: str
    output_type: type[BaseModel] | None
    source: str
    template: Template

    def render(self, **values: object) -> RenderedPrompt:
        """Returns the texts. Raises `jinja2.UndefinedError` for a value that the template uses and that is missing."""
        context = self.template.new_context(values)
        system, user = ("".join(self.template.blocks[block](context)).strip() for block in _BLOCKS)
        return RenderedPrompt(name=self.name, version=self.version, role=self.role, system=system, user=user)

    @property
    def value_names(self) -> Sequence[str]:
        """The names of the values that the texts use, sorted."""
        return sorted(meta.find_undeclared_variables(_environment().parse(self.source)))

    @property
    def output_schema(self) -> dict[str, Json] | None:
        """The JSON schema of the reply, as strict structured output demands it: every property is required."""
        return None if self.output_type is None else strict_schema_of(self.output_type)


def prompt_names() -> Sequence[str]:
    """Returns the names of all prompts, sorted."""
    files = resources.files(__package__ or "prompts").iterdir()
    return sorted(file.name.removesuffix(".md") for file in files if file.name.endswith(".md"))


@cache
def load_prompt(name: str) -> PromptTemplate:
    """Raises `UnreadablePrompt`."""
    file = resources.files(__package__ or "prompts") / f"{name}.md"
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as exc:
        raise UnreadablePrompt(f"there is no prompt {name!r}, only {', '.join(prompt_names())}") from exc
    return parse_prompt(text)


def parse_prompt(text: str) -> PromptTemplate:
    """Returns the prompt of a file's text. Raises `UnreadablePrompt`."""
    match = _FRONT_MATTER.fullmatch(text)
    if match is None:
        raise UnreadablePrompt("a prompt begins with front matter between two lines of ---")
    front_matter = cast(dict[str, Json], yaml.safe_load(match[1]))
    try:
        name, version, role = str(front_matter["name"]), int(front_matter["version"]), str(front_matter["role"])
        purpose, output = str(front_matter["purpose"]), front_matter.get("output")
        output_type = None if output is None else cast(type[BaseModel], getattr(prompts.outputs, str(output)))
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        raise UnreadablePrompt(f"the front matter is not complete: {exc}") from exc
    template = _environment().from_string(match[2])
    missing = [block for block in _BLOCKS if block not in template.blocks]
    if missing:
        raise UnreadablePrompt(f"{name} has no block {' and no block '.join(missing)}")
    return PromptTemplate(
        name=name, version=version, role=role, purpose=purpose, output_type=output_type, source=text, template=template
    )


@cache
def _environment() -> Environment:
    """Prompts are plain text, so nothing is escaped for HTML."""
    return Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701


def strict_schema_of(output_type: type[BaseModel]) -> dict[str, Json]:
    """Returns the JSON schema of the class with all properties required and no others allowed.

    Structured output in the strict mode of OpenAI's API demands both, and refuses `default`, `oneOf` and keywords
    beside `$ref`: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    """
    schema = output_type.model_json_schema()
    if "$ref" in schema:  # of a class that refers to itself: the root must be an object
        schema |= schema["$defs"][schema.pop("$ref").rpartition("/")[2]]
    return cast(dict[str, Json], _make_strict(schema))


def _make_strict(node: Json) -> Json:
    if isinstance(node, list):
        return [_make_strict(item) for item in cast(list[Json], node)]
    if not isinstance(node, dict):
        return node
    strict = {
        _STRICT_KEYWORDS.get(key, key): _strict_members(value) if key in _MAPPING_KEYWORDS else _make_strict(value)
        for key, value in cast(dict[str, Json], node).items()
        if key not in _REFUSED_KEYWORDS
    }
    if isinstance(strict.get("properties"), dict):
        strict["required"] = list(strict["properties"])
        strict["additionalProperties"] = False
    if isinstance(strict.get("title"), str) and "type" in strict:
        del strict["title"]
    if "$ref" in strict and len(strict) > 1:
        strict["anyOf"] = [{"$ref": strict.pop("$ref")}]
    return strict


def _strict_members(schemas: Json) -> Json:
    """The keys are names, not keywords."""
    return {name: _make_strict(schema) for name, schema in cast(dict[str, Json], schemas).items()}
