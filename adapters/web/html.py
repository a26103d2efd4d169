"""Markup that is safe by construction: text becomes markup only through `element`, which escapes it."""

from html import escape

_VOID = frozenset({"br", "hr", "input", "meta", "link"})


class Html(str):
    """Markup to be sent as it is."""

    __slots__ = ()


def element(tag: str, /, *children: str, **attributes: str | bool | None) -> Html:
    """`<tag …>children</tag>`. A child that is not `Html` is escaped; so is every attribute.

    `class_` is `class`, `aria_label` is `aria-label`; True gives the bare attribute, False and None none at all.
    """
    written = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{joined(*children)}</{tag}>")


def joined(*children: str) -> Html:
    """The children one after the other, escaped where they are plain text."""
    return Html("".join(child if isinstance(child, Html) else escape(_visible(child)) for child in children))


def _attribute(name: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    written = name.rstrip("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{escape(_visible(value))}"'


def _visible(text: str) -> str:
    """Without NUL and lone surrogates, which no HTML document can hold."""
    return "".join("\ufffd" if c == "\x00" or "\ud800" <= c <= "\udfff" else c for c in text)
