"""What of a prompt stands outside of its data: headings, tags, and lines of the program's own."""

import re
import unicodedata
from collections.abc import Iterator

from agent.gateway.messages import MessageRole, ModelRequest
from tests.agent.model.injections.corpus import HostileText
from tests.agent.model.injections.hostile_index import LETTERS

_HEADINGS = (
    "# Buckets",
    "# Words of the question that stand in values",
    "# Conversation so far",
    "# Last plan",
    "# Question",
)
_DATA_HEADINGS = ("# Conversation so far", "# Question")
_TAGS = ("evidence", "question", "conversation")
_JSON_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_TEXT_BLOCK = re.compile(r"^<text>\n.*?\n</text>$", re.MULTILINE | re.DOTALL)
_HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
_JOINERS = "\u200c\u200d"
_SELECTORS = re.compile("[\ufe00-\ufe0e\U000e0100-\U000e01ef]")
_MIN_SAMPLE_CHARACTERS = 12


def find_structure_faults(request: ModelRequest, hostile: HostileText) -> Iterator[str]:
    """Yields how the hostile text got out of the data of the request."""
    for message in request.messages:
        if message.role is MessageRole.ASSISTANT:
            continue  # what the model itself has written
        yield from _find_hidden_characters(message.content)
        match message.role:
            case MessageRole.SYSTEM:
                own = message.content
            case MessageRole.TOOL:
                own = _JSON_TEXT.sub('""', _TEXT_BLOCK.sub("", message.content))
            case _ if request.prompt.startswith(("answer_question", "check_documents", "combine_answers")):
                yield from _find_tag_faults(message.content)
                own = _JSON_TEXT.sub('""', _without_tagged(message.content))
            case _:
                yield from _find_heading_faults(message.content)
                own = _JSON_TEXT.sub('""', _without_data_sections(message.content))
        yield from (f"{sample!r} outside of the data" for sample in _samples_of(hostile) if sample in own)


def _find_hidden_characters(text: str) -> Iterator[str]:
    hidden = {
        character
        for character in text
        if unicodedata.category(character) in _HIDDEN and character not in "\n\t" and character not in _JOINERS
    }
    if hidden or _SELECTORS.search(text):
        yield f"hidden characters in the prompt: {sorted(map(ord, hidden))}"


def _find_heading_faults(text: str) -> Iterator[str]:
    lines = [line.strip() for line in text.splitlines()]
    headings = [line for line in lines if re.match(r"#\s", line)]
    expected = [heading for heading in _HEADINGS if heading in headings]
    if headings != expected:
        yield f"forged headings: {headings}"
    buckets = [line for line in lines if re.match(r"#{2,6}\s", line)]
    if any(not line.startswith(f"## {LETTERS}: ") for line in buckets) or len(buckets) > 1:
        yield f"forged buckets: {buckets}"


def _find_tag_faults(text: str) -> Iterator[str]:
    for tag in _TAGS:
        opened, closed = len(re.findall(rf"<{tag}>", text)), len(re.findall(rf"</\s*{tag}\s*>", text, re.IGNORECASE))
        if opened > 1 or opened != closed:
            yield f"{opened} <{tag}> and {closed} </{tag}>"
    items = re.findall(r'^<item id="\d+" title="[^"<>\n]*"(?: page="\d+")?(?: date="[\d-]+")?(?: outside="yes")?>$',
                       text, re.MULTILINE)  # fmt: skip
    if not len(items) == len(re.findall("<item", text)) == len(re.findall("</item>", text)):
        yield f"{len(items)} items, and other tags of items"
    if re.search(r"[＜‹〈⟨]\s*/?\s*(?:item|evidence|question)", text):
        yield "look-alikes of tags"


def _without_tagged(text: str) -> str:
    return re.sub(r"<(evidence|question|conversation)>.*?</\1>", "", text, flags=re.DOTALL)


def _without_data_sections(text: str) -> str:
    kept, is_data = list[str](), False
    for line in text.splitlines():
        if line in _HEADINGS:
            is_data = line in _DATA_HEADINGS
        if not is_data:
            kept.append(line)
    return "\n".join(kept)


def _samples_of(hostile: HostileText) -> Iterator[str]:
    """Yields the beginnings of the lines of the hostile text, where they are long enough to be told apart."""
    for line in hostile.text.splitlines():
        sample = line.strip()[: 2 * _MIN_SAMPLE_CHARACTERS]
        if len(sample) >= _MIN_SAMPLE_CHARACTERS and not FEE_WORDS.search(sample):
            yield sample


FEE_WORDS = re.compile(r"fee of the harbour crane", re.IGNORECASE)  # which any prompt may hold
