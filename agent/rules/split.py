"""Several questions in one message."""

import re

_MOST = 4
_END = re.compile(
    r"(?<=[?!])\s+(?=\S)|(?<=[a-z\d]\.)\s+(?=(?:What|Which|How|When|Who|Where|List|Show|Find|Is|Are|Does|Do|And)\b)"
)


def questions_of(text: str) -> tuple[str, ...]:
    """The sentences that ask, at most four; a text that does not ask in several is one question."""
    sentences = [part.strip() for part in _END.split(text) if part.strip()]
    asking = [part for part in sentences if part.endswith("?") or _starts_asking(part)]
    if len(asking) < 2 or len(asking) != len(sentences):
        return (text.strip(),)
    return (*asking[: _MOST - 1], " ".join(asking[_MOST - 1 :])) if len(asking) > _MOST else tuple(asking)


def _starts_asking(sentence: str) -> bool:
    first = sentence.split()[0].lower().strip(",.")
    return first in ("what", "which", "how", "when", "who", "where", "list", "show", "find", "is", "are", "does", "do")
