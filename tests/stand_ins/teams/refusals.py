"""Refusals of the connector, and the building blocks of its checks."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

JsonMapping: TypeAlias = Mapping[str, Any]


class ConnectorRefused(Exception):
    """A call that the connector refuses. `code`: the error code; `detail`: its text."""

    def __init__(self, status: int, code: str, detail: str, *, retry_after: int | None = None) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status, self.code, self.detail, self.retry_after = status, code, detail, retry_after


def refuse_call_unless(holds: bool, detail: str, *, status: int = 400, code: str = "BadSyntax") -> None:
    if not holds:
        raise ConnectorRefused(status, code, detail)


def mapping_in(value: object, where: str) -> JsonMapping:
    """Returns the value if it is an object; refuses it otherwise."""
    refuse_call_unless(isinstance(value, Mapping), f"{where}: no object")
    return cast(JsonMapping, value)


def sequence_in(value: object, where: str) -> Sequence[Any]:
    """Returns the value if it is a list; refuses it otherwise."""
    refuse_call_unless(isinstance(value, list), f"{where}: no list")
    return cast(Sequence[Any], value)


def filled_text_in(holder: JsonMapping, name: str, where: str, *, longest: int | None = None) -> str:
    """Returns a text that is not blank; refuses anything else."""
    value = holder.get(name)
    refuse_call_unless(isinstance(value, str) and bool(value.strip()), f"{where}: {name} is no text")
    text = cast(str, value)
    refuse_call_unless(longest is None or utf16_units(text) <= longest, f"{where}: {name} is over {longest}")
    return text


def is_whole_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def utf16_units(text: str) -> int:
    return utf16_bytes(text) // 2


def utf16_bytes(text: str) -> int:
    return len(text.encode("utf-16-le", errors="surrogatepass"))


def compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
