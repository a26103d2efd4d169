"""Files that came with a question and were not read: said in the answer, never in silence."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.dialogue import Spoken
from bot.replies import Text, escaped

_NAMED: Final = 5
_NAMELESS: Final = "file"
_LONGEST: Final = 100
_WHY: Final = "I answer from the documents that I have been given, not from files in a chat."


def with_unread(spoken: Spoken, names: Sequence[str]) -> Spoken:
    """`names` as the chat product gives them; empty where it gives none."""
    if not names:
        return spoken
    line = unread(names)
    text = spoken.result["text"]
    return replace(
        spoken,
        reply=replace(spoken.reply, parts=(Text(markdown=line), *spoken.reply.parts)),
        result=spoken.result | {"text": f"{line}\n\n{text}" if text else line},
    )


def unread(names: Sequence[str]) -> str:
    """The sentence, as Markdown."""
    named = [f"**{escaped(name[:_LONGEST]) or _NAMELESS}**" for name in names[:_NAMED]]
    more = [f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    *first, last = [*named, *more]
    listed = f"{', '.join(first)} and {last}" if first else last
    were = "was" if len(names) == 1 else "were"
    return f"The attached {listed} {were} not read: {_WHY}"
