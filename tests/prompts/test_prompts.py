"""Every prompt: what it needs is given, its text is as reviewed, and a reply of its kind can be read.

`examples/NAME.json` holds the values of one rendering and a reply; `golden/NAME.txt` the rendering. After a change of a
prompt that is meant, `PARLEY_WRITE_GOLDEN=1 pytest tests/prompts` writes the renderings anew.
"""

import json
import os
from pathlib import Path
from typing import Any as Json

import jsonschema
import pytest
from jinja2 import UndefinedError

from prompts.prompt_library import UnreadablePrompt, load_prompt, parse_prompt, prompt_names

HERE = Path(__file__).parent


def load_example(name: str) -> dict[str, Json]:
    return json.loads((HERE / "examples" / f"{name}.json").read_text(encoding="utf-8"))


def list_needed_values(name: str) -> list[str]:
    """The values of the example without which the prompt cannot be rendered."""
    values: dict[str, Json] = load_example(name)["values"]
    needed: list[str] = []
    for key in values:
        try:
            load_prompt(name).render(**{other: value for other, value in values.items() if other != key})
        except UndefinedError:
            needed.append(key)
    return needed


@pytest.mark.parametrize("name", prompt_names())
def test_every_value_of_the_example_is_used_and_none_is_lacking(name: str) -> None:
    values: dict[str, Json] = load_example(name)["values"]

    assert list_needed_values(name) == list(values)
    assert load_prompt(name).name == name


@pytest.mark.parametrize("name", prompt_names())
def test_the_rendering_is_the_reviewed_one(name: str) -> None:
    prompt = load_prompt(name).render(**load_example(name)["values"])
    text = f"{prompt.label} ({prompt.role})\n\n# system\n{prompt.system}\n\n# user\n{prompt.user}\n"
    golden = HERE / "golden" / f"{name}.txt"
    if os.environ.get("PARLEY_WRITE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")

    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in prompt_names() if load_prompt(name).output_type is not None])
def test_a_reply_follows_the_schema_and_is_read(name: str) -> None:
    reply, prompt = load_example(name)["reply"], load_prompt(name)
    assert prompt.output_type is not None
    assert prompt.output_schema is not None

    jsonschema.validate(reply, prompt.output_schema)
    assert prompt.output_type.model_validate(reply).model_dump(mode="json") == reply


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no front matter", "begins with front matter"),
        ("---\nname: x\n---\n{% block system %}{% endblock %}", "not complete"),
        ("---\nname: x\nversion: 1\nrole: main\npurpose: p\n---\n{% block system %}{% endblock %}", "no block user"),
        (
            "---\nname: x\nversion: 1\nrole: main\npurpose: p\noutput: Nothing\n---\n"
            "{% block system %}{% endblock %}{% block user %}{% endblock %}",
            "not complete",
        ),
    ],
)
def test_a_prompt_that_is_not_whole_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UnreadablePrompt, match=reason):
        parse_prompt(text)


def test_a_missing_prompt_is_named_beside_those_that_are_there() -> None:
    with pytest.raises(UnreadablePrompt, match=r"no prompt 'nothing', only .*plan_question"):
        load_prompt("nothing")
