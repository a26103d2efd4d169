"""What every check is made of: a refusal by Slack's word for it, and text as Slack reads it.

Lengths are in UTF-16 units, the stricter of the two readings of Slack's pages.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

Payload: TypeAlias = Mapping[str, Any]

ID: Final = 255
_ENTITY = re.compile(r"&(?!amp;|lt;|gt;)")
_ANGLE = re.compile(r"<(?P<inside>[^<>]*)>|[<>]")


class Refused(Exception):
    """`error` is Slack's word for it; `detail` says where."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(f"{error}: {detail}")
        self.error, self.detail = error, detail


def need(holds: bool, error: str, detail: str) -> None:
    if not holds:
        raise Refused(error, detail)


def valid(holds: bool, detail: str) -> None:
    need(holds, "invalid_blocks", detail)


def length(text: str) -> int:
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2


def is_text(value: object, most: int) -> bool:
    """Words, neither blank nor over `most` characters."""
    return isinstance(value, str) and bool(value.strip()) and length(value) <= most


def is_between(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def members(value: object, where: str) -> Sequence[Any]:
    """A list, and nothing else."""
    valid(isinstance(value, list | tuple), f"{where}: no list")
    return cast(Sequence[Any], value)


def objects(value: Any) -> Iterator[Payload]:
    """The value and whatever objects it holds, however deep."""
    if isinstance(value, Mapping):
        mapping = cast(Payload, value)
        yield mapping
        for member in mapping.values():
            yield from objects(member)
    elif isinstance(value, list | tuple):
        for member in cast(Sequence[Any], value):
            yield from objects(member)


def text_length(block: Payload) -> int:
    return sum(length(element["text"]) for element in objects(block) if isinstance(element.get("text"), str))


def known(holder: Payload, where: str, *names: str) -> None:
    unknown = holder.keys() - {"type", "block_id", *names}
    valid(not unknown, f"{where}: unknown {sorted(unknown)}")


def check_id(holder: Payload, name: str, where: str) -> None:
    if name in holder:
        valid(isinstance(holder[name], str) and 1 <= length(holder[name]) <= ID, f"{where}: {name}")


def check_flags(holder: Payload, where: str, *names: str) -> None:
    for name in names:
        valid(isinstance(holder.get(name, False), bool), f"{where}: {name} is true or false")


def check_text(value: Any, where: str, most: int, kinds: Sequence[str] = ("plain_text", "mrkdwn")) -> None:
    """A text object: never empty (sdk), only of the kinds that its place takes (sdk)."""
    valid(isinstance(value, Mapping), f"{where}: wants a text object")
    text = cast(Payload, value)
    valid(text.get("type") in kinds, f"{where}: wants {' or '.join(kinds)}")
    known(text, where, "text", "verbatim" if text["type"] == "mrkdwn" else "emoji")
    words = text.get("text", "")
    valid(isinstance(words, str) and bool(words.strip()), f"{where}: empty text")
    valid(length(words) <= most, f"{where}: over {most} characters")
    if text["type"] == "mrkdwn":
        check_mrkdwn(words, where)


def check_plain(value: Any, where: str, most: int) -> None:
    check_text(value, where, most, ["plain_text"])


def check_mrkdwn(text: str, where: str) -> None:
    """Well-formed entities: a lone `<`, `>` or `&` is data that was not escaped."""
    need(not _ENTITY.search(text), "unescaped", f"{where}: &")
    for angle in _ANGLE.finditer(text):
        need(bool(angle["inside"]), "unescaped", f"{where}: {angle[0]}")
