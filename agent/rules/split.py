"""Several questions in one message."""

import re

_MOST = 4
_END = re.compile(
    r"(?<=[?!])\s+(?=\S)|(?<=[a-z\d]\.)\s+(?=(?:What|Which|How|When|Who|Where|List|Show|Find|Is|Are|Does|Do|And)\b)"
)
_AND = re.compile(r",?\s+and\s+(?=(?:how (?:many|much|often|long)|what (?:is|are|was|were)|list)\b)", re.I)
_POINTS_BACK = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those|he|she|his|her|many there)\b", re.I)


def questions_of(text: str) -> tuple[str, ...]:
    """What is asked, by sentence and by "and how many …", at most four; a text that does not ask in several is one."""
    sentences = [one for part in _END.split(text) if part.strip() for one in _joined(part.strip())]
    asking = [part for part in sentences if part.endswith("?") or _starts_asking(part)]
    if len(asking) < 2 or len(asking) != len(sentences):
        return (text.strip(),)
    return (*asking[: _MOST - 1], " ".join(asking[_MOST - 1 :])) if len(asking) > _MOST else tuple(asking)


def _joined(sentence: str) -> list[str]:
    """Questions that "and" puts beside each other, unless one needs the words of the other."""
    parts = [part.strip() for part in _AND.split(sentence)]
    alone = all(part and _starts_asking(part) for part in parts) and not any(
        _POINTS_BACK.search(part) for part in parts[1:]
    )
    return parts if alone else [sentence]


def _starts_asking(sentence: str) -> bool:
    first = sentence.split()[0].lower().strip(",.")
    return first in ("what", "which", "how", "when", "who", "where", "list", "show", "find", "is", "are", "does", "do")
