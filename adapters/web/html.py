"""Builds markup that is safe by construction: text becomes markup only through `html_element`, which escapes it."""

from html import escape

_VOID_ELEMENTS = frozenset({"br", "hr", "img", "input", "meta", "link", "source"})


class SafeHtml(str):
    """Markup that needs no escaping."""

    __slots__ = ()


def html_element(tag: str, /, *children: str, **attributes: str | bool | None) -> SafeHtml:
    """Returns `<tag …>children</tag>`. A child that is not `SafeHtml` is escaped; so is every attribute.

    `class_` becomes `class`, and `aria_label` becomes `aria-label`. True gives an attribute without a value; False and
    None omit the attribute.
    """
    markup = "".join(_attribute_markup(name, value) for name, value in attributes.items())
    if tag in _VOID_ELEMENTS:
        return SafeHtml(f"<{tag}{markup}>")
    return SafeHtml(f"<{tag}{markup}>{join_html(*children)}</{tag}>")


def join_html(*children: str) -> SafeHtml:
    """Join the children; plain text is escaped."""
    return SafeHtml("".join(child if isinstance(child, SafeHtml) else escape(_valid_text(child)) for child in children))


def _attribute_markup(name: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    html_name = name.rstrip("_").replace("_", "-")
    return f" {html_name}" if value is True else f' {html_name}="{escape(_valid_text(value))}"'


def _valid_text(text: str) -> str:
    """Replace NUL and lone surrogates, which are invalid in HTML."""
    return "".join(
        "\ufffd" if character == "\x00" or "\ud800" <= character <= "\udfff" else character for character in text
    )
