"""Draws the Home tab, modals and messages of Slack as a web page: a likeness of their blocks, not Slack's own."""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

Block = Mapping[str, Any]
_MENTION = re.compile(r"&lt;([@#!])([^&]*?)&gt;")
_MAX_SHORT_CELL = 14  # characters
_THUMB = (
    '<svg class="thumb" viewBox="0 0 22 22"><path d="M2 10h3v9H2zM7 19v-9l4-8c1.5 0 2.5 1 2 3l-1 4h6c1 0 2 1 1.7 2'
    'l-1.7 7c-.3.7-1 1-2 1z"/></svg>'
)
_STYLE = """
body { margin: 0; padding: 14px 24px 20px; width: 672px; font: 15px/22px Lato, "Liberation Sans", Arial, sans-serif;
  color: #1d1c1d; background: #fff; }
body.modal { padding: 0; width: 520px; border: 1px solid #ddd; border-radius: 8px; margin: 16px; }
.modal header { display: flex; justify-content: space-between; padding: 14px 24px; font-size: 20px; font-weight: 700; }
.modal main { padding: 0 24px 12px; }
.modal footer { display: flex; justify-content: flex-end; gap: 10px; padding: 12px 24px; border-top: 1px solid #ddd; }
h3 { margin: 10px 0 4px; font-size: 18px; line-height: 24px; }
p { margin: 4px 0; white-space: pre-wrap; }
hr { border: 0; border-top: 1px solid #ddd; margin: 10px 0; }
ul, ol { margin: 4px 0; padding-left: 28px; }
.section { display: flex; justify-content: space-between; gap: 16px; align-items: flex-start; margin: 4px 0; }
.context { color: #616061; font-size: 13px; line-height: 18px; margin: 6px 0; }
.actions { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0; }
.button { display: inline-block; padding: 2px 9px; border: 1px solid #bbb; border-radius: 4px; font-size: 13px;
  font-weight: 700; line-height: 22px; white-space: nowrap; background: #fff; }
.danger { color: #e01e5a; border-color: #e01e5a; }
.primary { color: #fff; background: #007a5a; border-color: #007a5a; }
.input { margin: 10px 0; }
.input b { display: block; }
.input i { font-weight: 400; font-style: normal; color: #616061; }
.field { border: 1px solid #bbb; border-radius: 4px; padding: 5px 10px; white-space: pre-wrap; min-height: 22px; }
.menu::after { content: "⌄"; float: right; color: #616061; }
.quiet { color: #868686; }
.hint { color: #616061; font-size: 13px; }
table { border-collapse: collapse; margin: 6px 0; font-size: 13px; }
th, td { border: 1px solid #ddd; padding: 4px 8px; text-align: left; vertical-align: top; }
.short { white-space: nowrap; }
blockquote { margin: 4px 0; padding-left: 12px; border-left: 4px solid #ddd; white-space: pre-wrap; }
pre { margin: 4px 0; padding: 8px; border: 1px solid #ddd; background: #f8f8f8; white-space: pre-wrap; }
.message { display: flex; gap: 10px; }
.message > div { flex: 1; min-width: 0; }
.avatar { flex: none; width: 36px; height: 36px; border-radius: 6px; background: #1f3a4d; color: #fff; font-size: 20px;
  line-height: 36px; text-align: center; }
.thumb { width: 16px; height: 16px; vertical-align: -3px; fill: none; stroke: #1d1c1d; stroke-width: 1.6; }
.bad .thumb { transform: rotate(180deg); }
.mention { color: #1264a3; background: #e8f5fa; border-radius: 3px; padding: 0 2px; }
"""


def page_of_view(view: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Returns the page of a Home tab or a modal. `names`: of people and channels, by id."""
    content = "".join(_html_of_block(block, names) for block in view["blocks"])
    if view["type"] == "modal":
        title, submit = _escape_text(view["title"]["text"]), view.get("submit")
        buttons = [f'<span class="button">{_escape_text(view["close"]["text"])}</span>']
        buttons += [f'<span class="button primary">{_escape_text(submit["text"])}</span>'] if submit else []
        frame = f"<header>{title}<span>✕</span></header><main>{content}</main><footer>{''.join(buttons)}</footer>"
        return _page_of(frame, "modal")
    return _page_of(content, "home")


def page_of_message(message: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Returns the page of a posted message: its blocks."""
    content = "".join(_html_of_block(block, names) for block in message["blocks"])
    head = "<p><b>Parley</b> <small>APP</small></p>"
    return _page_of(f'<div class="message"><span class="avatar">P</span><div>{head}{content}</div></div>', "home")


def _page_of(body: str, kind: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><style>{_STYLE}</style><body class="{kind}">{body}</body>'


def _html_of_block(block: Block, names: Mapping[str, str]) -> str:
    match block["type"]:
        case "header":
            return f"<h3>{_escape_text(block['text']['text'])}</h3>"
        case "divider":
            return "<hr>"
        case "section":
            accessory = _html_of_element(block["accessory"]) if "accessory" in block else ""
            return f'<div class="section"><p>{_html_of_text(block["text"], names)}</p>{accessory}</div>'
        case "context":
            texts = (_html_of_text(element, names) for element in block["elements"])
            return f'<div class="context">{" ".join(texts)}</div>'
        case "actions":
            return f'<div class="actions">{"".join(map(_html_of_element, block["elements"]))}</div>'
        case "context_actions":
            thumbs = (f'<span class="button {kind}">{_THUMB}</span>' for kind in ("good", "bad"))
            return f'<div class="actions">{"".join(thumbs)}</div>'
        case "data_table":
            return _html_of_data_table(block)
        case "rich_text":
            return "".join(_html_of_rich_text(element, names) for element in block["elements"])
        case "input":
            optional = " <i>(optional)</i>" if block.get("optional") else ""
            hint = f'<div class="hint">{_escape_text(block["hint"]["text"])}</div>' if "hint" in block else ""
            label = f"<b>{_escape_text(block['label']['text'])}{optional}</b>"
            return f'<div class="input">{label}{_html_of_element(block["element"])}{hint}</div>'
        case kind:
            raise ValueError(f"a block of type {kind} is not drawn yet")


def _html_of_text(text: Block, names: Mapping[str, str]) -> str:
    escaped = _escape_text(html.unescape(text["text"]))
    if text["type"] != "mrkdwn":
        return escaped
    named = _MENTION.sub(lambda found: _mention_html(found[1] + names.get(found[2], found[2])), escaped)
    return re.sub(r"(?<!\w)\*([^*\n]+)\*(?!\w)", r"<b>\1</b>", named).replace(":white_check_mark:", "✅")


def _html_of_rich_text(element: Block, names: Mapping[str, str]) -> str:
    match element["type"]:
        case "rich_text_list":
            tag = "ol" if element["style"] == "ordered" else "ul"
            items = "".join(f"<li>{_html_of_rich_text(item, names)}</li>" for item in element["elements"])
            return f"<{tag}>{items}</{tag}>"
        case "rich_text_section" | "rich_text_quote" | "rich_text_preformatted":
            inner = "".join(_html_of_rich_text(part, names) for part in element["elements"])
            tag = {"rich_text_quote": "blockquote", "rich_text_preformatted": "pre"}.get(element["type"], "div")
            return f"<{tag}>{inner}</{tag}>"
        case "text":
            text = _escape_text(element["text"]).replace("\n", "<br>")
            return f"<b>{text}</b>" if element.get("style", {}).get("bold") else text
        case "link":
            return f'<span style="color:#1264a3">{_escape_text(element.get("text") or element["url"])}</span>'
        case "user":
            return _mention_html("@" + names.get(element["user_id"], element["user_id"]))
        case kind:
            raise ValueError(f"a rich text element of type {kind} is not drawn yet")


def _html_of_element(element: Block) -> str:
    match element["type"]:
        case "button":
            return f'<span class="button {element.get("style", "")}">{_escape_text(element["text"]["text"])}</span>'
        case "static_select":
            chosen = element.get("initial_option")
            return _field_html("menu", chosen["text"]["text"] if chosen else "", element)
        case "users_select" | "conversations_select":
            return _field_html("menu", "", element)
        case "plain_text_input" | "number_input":
            return _field_html("", element.get("initial_value", ""), element)
        case "checkboxes":
            ticked = [option["value"] for option in element.get("initial_options", ())]
            return "".join(_tick_html(option, is_ticked=option["value"] in ticked) for option in element["options"])
        case "overflow":
            return '<span class="button">⋯</span>'
        case kind:
            raise ValueError(f"an element of type {kind} is not drawn yet")


def _html_of_data_table(block: Block) -> str:
    """The first page, as Slack shows it."""
    head, *rows = block["rows"]
    lines = [_row_html(head, "th")]
    lines += [_row_html(row, "td") for row in rows[: block["page_size"]]]
    more = f'<p class="hint">{len(rows):,} rows</p>' if len(rows) > block["page_size"] else ""
    return f"<p><b>{_escape_text(block['caption'])}</b></p><table>{''.join(lines)}</table>{more}"


def _row_html(cells: Sequence[Block], tag: str) -> str:
    inner = "".join(f"<{tag}{_cell_class(cell)}>{_escape_text(cell['text'])}</{tag}>" for cell in cells)
    return f"<tr>{inner}</tr>"


def _cell_class(cell: Block) -> str:
    """A day or an amount stays on one line."""
    return ' class="short"' if len(cell["text"]) <= _MAX_SHORT_CELL else ""


def _tick_html(option: Block, *, is_ticked: bool) -> str:
    return f"<div>{'☑' if is_ticked else '☐'} {_escape_text(option['text']['text'])}</div>"


def _field_html(kind: str, value: str, element: Block) -> str:
    placeholder: Sequence[str] = [element["placeholder"]["text"]] if "placeholder" in element else [""]
    shown = _escape_text(value) if value else f'<span class="quiet">{_escape_text(placeholder[0])}</span>'
    return f'<div class="field {kind}">{shown}</div>'


def _mention_html(name: str) -> str:
    return f'<span class="mention">{name}</span>'


def _escape_text(text: str) -> str:
    return html.escape(text, quote=False)
