"""Building blocks of the checks: the refusal with Slack's error code, and checks of text.

Lengths are in UTF-16 units, the stricter reading of Slack's documentation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

Payload: TypeAlias = Mapping[str, Any]

ID: Final = 255
_ENTITY = re.compile(r"&(?!amp;|lt;|gt;)")
_ANGLE = re.compile(r"<(?P<inside>[^<>]*)>|[<>]")


class PayloadRefused(Exception):
    """A payload that Slack would refuse. `error` is Slack's error code; `detail` names the place."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(f"{error}: {detail}")
        self.error, self.detail = error, detail


def refuse_unless(holds: bool, error: str, detail: str) -> None:
    if not holds:
        raise PayloadRefused(error, detail)


def refuse_block_unless(holds: bool, detail: str) -> None:
    refuse_unless(holds, "invalid_blocks", detail)


def utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def is_text(value: object, most: int) -> bool:
    """Whether the value is a text that is not blank and has at most `most` characters."""
    return isinstance(value, str) and bool(value.strip()) and utf16_length(value) <= most


def is_between(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def list_members(value: object, where: str) -> Sequence[Any]:
    """Returns the value if it is a list; raises otherwise."""
    refuse_block_unless(isinstance(value, list | tuple), f"{where}: no list")
    return cast(Sequence[Any], value)


def objects_in(value: Any) -> Iterator[Payload]:
    """Yield all objects in the value, at any depth, including the value itself."""
    if isinstance(value, Mapping):
        mapping = cast(Payload, value)
        yield mapping
        for member in mapping.values():
            yield from objects_in(member)
    elif isinstance(value, list | tuple):
        for member in cast(Sequence[Any], value):
            yield from objects_in(member)


def text_length(block: Payload) -> int:
    return sum(utf16_length(element["text"]) for element in objects_in(block) if isinstance(element.get("text"), str))


def check_known_keys(holder: Payload, where: str, *names: str) -> None:
    unknown = holder.keys() - {"type", "block_id", *names}
    refuse_block_unless(not unknown, f"{where}: unknown {sorted(unknown)}")


def check_id(holder: Payload, name: str, where: str) -> None:
    if name in holder:
        refuse_block_unless(isinstance(holder[name], str) and 1 <= utf16_length(holder[name]) <= ID, f"{where}: {name}")


def check_flags(holder: Payload, where: str, *names: str) -> None:
    for name in names:
        refuse_block_unless(isinstance(holder.get(name, False), bool), f"{where}: {name} is true or false")


def check_text(value: Any, where: str, most: int, kinds: Sequence[str] = ("plain_text", "mrkdwn")) -> None:
    """Check a text object: not empty (sdk) and of an allowed kind (sdk)."""
    refuse_block_unless(isinstance(value, Mapping), f"{where}: wants a text object")
    text = cast(Payload, value)
    refuse_block_unless(text.get("type") in kinds, f"{where}: wants {' or '.join(kinds)}")
    check_known_keys(text, where, "text", "verbatim" if text["type"] == "mrkdwn" else "emoji")
    content = text.get("text", "")
    refuse_block_unless(isinstance(content, str) and bool(content.strip()), f"{where}: empty text")
    refuse_block_unless(utf16_length(content) <= most, f"{where}: over {most} characters")
    if text["type"] == "mrkdwn":
        check_mrkdwn(content, where)


def check_plain(value: Any, where: str, most: int) -> None:
    check_text(value, where, most, ["plain_text"])


def check_mrkdwn(text: str, where: str) -> None:
    """Check that entities are well-formed: a lone `<`, `>` or `&` is unescaped data."""
    refuse_unless(not _ENTITY.search(text), "unescaped", f"{where}: &")
    for angle in _ANGLE.finditer(text):
        refuse_unless(bool(angle["inside"]), "unescaped", f"{where}: {angle[0]}")
