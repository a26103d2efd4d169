"""The JSON schemas of tools, as servers of models take them."""

from typing import Any as Json
from typing import cast

from pydantic import BaseModel

from agent.gateway.messages import ToolDefinition
from prompts.prompt_library import strict_schema_of


def define_tool(name: str, description: str, arguments_type: type[BaseModel]) -> ToolDefinition:
    """Returns the definition of a tool with these arguments.

    References within the schema are replaced by what they refer to, since small servers do not resolve them.
    """
    return _define(name, description, strict_schema_of(arguments_type))


def define_open_tool(name: str, description: str, arguments_type: type[BaseModel]) -> ToolDefinition:
    """Returns the definition of a tool whose arguments may be left out where they have a default."""
    return _define(name, description, arguments_type.model_json_schema())


def _define(name: str, description: str, schema: dict[str, Json]) -> ToolDefinition:
    definitions = cast(dict[str, Json], schema.pop("$defs", {}))
    parameters = cast(dict[str, Json], _inline_references(schema, definitions))
    parameters.pop("description", None)  # the docstring of the class, which is for readers of the code
    return ToolDefinition(name=name, description=description, parameters=parameters)


def _inline_references(node: Json, definitions: dict[str, Json]) -> Json:
    """No definition refers to itself."""
    if isinstance(node, list):
        return [_inline_references(item, definitions) for item in cast(list[Json], node)]
    if not isinstance(node, dict):
        return node
    members = cast(dict[str, Json], node)
    reference = members.get("$ref")
    if not isinstance(reference, str):
        return {key: _inline_references(value, definitions) for key, value in members.items()}
    target = cast(dict[str, Json], _inline_references(definitions[reference.rpartition("/")[2]], definitions))
    return {**target, **{key: value for key, value in members.items() if key != "$ref"}}
