"""Draws messages of Teams as a web page: the cards by Microsoft's own renderer, the text around them as a likeness."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

CARD_TYPE: Final = "application/vnd.microsoft.card.adaptive"
_RENDERER: Final = Path("adaptivecards") / "dist" / "adaptivecards.min.js"
_STYLE: Final = """
body { margin: 0; padding: 14px 20px 20px; background: #f5f5f5; color: #242424;
  font: 14px/20px "Segoe UI", "Liberation Sans", Arial, sans-serif; }
.message { max-width: 620px; background: #fff; border-radius: 6px; padding: 10px 14px; }
.message p, .message ul { margin: 4px 0; }
ul { box-sizing: border-box; padding-left: 20px; }
.ac-actionSet, .ac-actionSet div { flex-wrap: wrap; row-gap: 8px; }
.card { max-width: 480px; margin-top: 8px; background: #fff; border: 1px solid #d1d1d1; border-radius: 6px; }
.sources { margin-top: 6px; color: #616161; font-size: 12px; }
.ac-pushButton { padding: 5px 10px; border: 1px solid #d1d1d1; border-radius: 4px; background: #fff;
  font: 600 14px/20px "Segoe UI", "Liberation Sans", Arial, sans-serif; color: #242424; }
.ac-pushButton.style-destructive { color: #c4314b; }
.ac-input, select { padding: 5px 8px; border: 1px solid #d1d1d1; border-radius: 4px; background: #fff; font: inherit; }
"""
_HOST_CONFIG: Final[Mapping[str, Any]] = {
    "fontFamily": '"Segoe UI", "Liberation Sans", Arial, sans-serif',
    "supportsInteractivity": True,
    "spacing": {"small": 4, "default": 8, "medium": 12, "large": 16, "extraLarge": 20, "padding": 14},
    "fontSizes": {"small": 12, "default": 14, "medium": 16, "large": 18, "extraLarge": 24},
    "actions": {"maxActions": 6, "buttonSpacing": 8, "actionsOrientation": "horizontal", "actionAlignment": "left"},
    "inputs": {
        "label": {"inputSpacing": 4, "requiredInputs": {"weight": "bolder"}, "optionalInputs": {"weight": "bolder"}}
    },
}
# Parley writes a small part of Markdown: bold, italic, links, bullets, and escaped marks.
_SCRIPT: Final = r"""
const escapeHtml = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
function markdownToHtml(text) {
  const inline = (line) => escapeHtml(line)
    .replace(/\\([\\`*_{}\[\]()#+\-.!<>~|])/g, (_, mark) => `&#${mark.charCodeAt(0)};`)
    .replace(/\[([^\]]*)\]\(([^)]*)\)/g, '<a href="#">$1</a>')
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*]+)\*\*/g, "<b>$1</b>").replace(/(?<!\w)_([^_]+)_(?!\w)/g, "<i>$1</i>")
    .replace(/(?<!\w)\*([^*]+)\*(?!\w)/g, "<i>$1</i>");
  return text.split(/\n{2,}/).map((paragraph) => {
    const lines = paragraph.split("\n");
    return lines.every((line) => /^[-*] /.test(line))
      ? `<ul>${lines.map((line) => `<li>${inline(line.slice(2))}</li>`).join("")}</ul>`
      : `<p>${lines.map((line) => inline(line.replace(/^[-*] /, "• "))).join("<br>")}</p>`;
  }).join("");
}
AdaptiveCards.AdaptiveCard.onProcessMarkdown = (text, result) => {
  result.outputHtml = markdownToHtml(text); result.didProcess = true;
};
const add = (className, html) => {
  const part = document.createElement("div");
  part.className = className; part.innerHTML = html; document.body.append(part);
  return part;
};
if (message.text) add("message", markdownToHtml(message.text));
for (const attachment of message.attachments ?? []) {
  if (attachment.contentType !== CARD_TYPE) {
    const description = escapeHtml(attachment.content?.description ?? "");
    add("card message", `<b>${escapeHtml(attachment.name ?? "")}</b><br>${description}`);
    continue;
  }
  const card = new AdaptiveCards.AdaptiveCard();
  card.hostConfig = new AdaptiveCards.HostConfig(hostConfig);
  card.parse(attachment.content);
  add("card", "").append(card.render());
}
for (const entity of message.entities ?? [])
  for (const claim of entity.citation ?? [])
    add("sources", escapeHtml(`${claim.position} ${claim.appearance.name}: ${claim.appearance.abstract ?? ""}`));
"""


def page_of_activity(activity: Mapping[str, Any], packages: Path) -> str:
    """Returns the page of a message. `packages`: the folder `node_modules` with the renderer."""
    renderer = (packages / _RENDERER).read_text(encoding="utf-8").replace("</script", r"<\/script")
    names = {"message": activity, "hostConfig": _HOST_CONFIG, "CARD_TYPE": CARD_TYPE}
    values = "".join(f"const {name} = {_script_literal(value)};\n" for name, value in names.items())
    return (
        f'<!doctype html><meta charset="utf-8"><style>{_STYLE}</style><body>'
        f"<script>{renderer}</script><script>{values}{_SCRIPT}</script></body>"
    )


def _script_literal(value: Any) -> str:
    return json.dumps(value).replace("<", "\\u003c")
