"""Several questions in one message."""

import re
from itertools import pairwise

_MOST = 4
_ASKS = (
    r"how|what|which|who|whose|whom|when|where|list|show|find|count|summari[sz]e|compare|give|tell|is|are|was|were|does|do|"
    r"did|has|have|can|could|please"
)
_END = re.compile(
    r"(?<=[?!])\s+(?=\S)|\s*\n+\s*|(?<=[a-z\d]\.)\s+(?=(?:Also|And|Then|Plus|Additionally|Finally|Next|"
    + _ASKS
    + r")\b)"
    rf"|\s*;\s+(?=(?:and\s+|also\s+)*(?:{_ASKS})\b)",
    re.IGNORECASE,
)
_AND = re.compile(
    r",?\s+and\s+(?:(?:also|then)\s+)?(?=(?:how\s+(?:many|much|often|long|old|big|high)|what|which|who|when|where|"
    r"list|show|find|summari[sz]e)\b)",
    re.IGNORECASE,
)
_AND_FOR = re.compile(
    r",\s+and\s+(?:also\s+)?(?=(?:in|from|at|for|on|by|with|during)\s+[^,?;]{1,60}\??$)", re.IGNORECASE
)  # "how many in 2024, and in 2023?"
_NUMBER_ASKED = re.compile(r"how\s+(?:many|much)\b|what\s+(?:is|was|are|were|did)\b", re.IGNORECASE)
_FRAME = re.compile(rf"^(?:for|in|from|at|during|about)\s[^,:?]{{1,60}}[,:]\s+(?=(?:{_ASKS})\b)", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:^|(?<=[\s:;,]))\(?([1-9])[.)]\s+(?=\S)")
_LEAD = re.compile(r"^(?:and|also|then|plus|additionally|finally|next|secondly|furthermore)\b,?\s+", re.IGNORECASE)
_COUNTS_ALL = re.compile(r"\bhow many (?:there|they) (?:are|were)\b", re.IGNORECASE)
_RELATIVE = re.compile(r"(?<=\w)\s+(?:which|who|that|whose)\b", re.IGNORECASE)
_RELATES = re.compile(r"(?:which|who)\b", re.IGNORECASE)
_MAY_RELATE = re.compile(r"(?:which|who|where)\b(?!\s+(?:is|are|was|were|do|does|did|of)\b)", re.IGNORECASE)
_LISTS = re.compile(
    r"(?:(?:please|can|could|you|i|we|need|want|would|like|me|us)\s+)*"
    r"(?:list|show|find|give|get|name|which|what|all|every|the)\b",
    re.IGNORECASE,
)  # whoever lists says more of what is listed
_POINTS_BACK = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those|he|she|his|her)\b", re.IGNORECASE)


def questions_of(text: str) -> tuple[str, ...]:
    """What is asked, by number, by sentence and by "and how many …", at most four; a text that does not ask in several
    is one. A part may need the words of the one before it (`points_back`)."""
    listed = _numbered(text)
    parts = [_LEAD.sub("", part.strip()) for part in (listed or _END.split(text)) if part.strip()]
    sentences = [one for part in parts for joined in _joined(part) for one in _repeated(joined)]
    asking = [part for part in sentences if part.endswith("?") or _starts_asking(part)]
    if len(asking) < 2 or len(asking) != len(sentences):
        return (text.strip(),)
    return (*asking[: _MOST - 1], " ".join(asking[_MOST - 1 :])) if len(asking) > _MOST else tuple(asking)


def points_back(part: str) -> bool:
    """Whether the part speaks of what another part is about."""
    return bool(_POINTS_BACK.search(part))


def _numbered(text: str) -> list[str]:
    """The items of "1. … 2. …"; none where the numbers do not run on, or where more than a greeting goes before."""
    marks = list(_NUMBERED.finditer(text))
    if len(marks) < 2 or [int(one[1]) for one in marks] != list(range(1, len(marks) + 1)):
        return []
    if len(text[: marks[0].start()].split()) > 6:
        return []
    ends = [*(one.start() for one in marks[1:]), len(text)]
    return [text[mark.end() : end].strip(" ,;\n") for mark, end in zip(marks, ends, strict=True)]


def _joined(sentence: str) -> list[str]:
    """Questions that "and" puts beside each other; not a second clause about the same thing ("which … and which …")."""
    parts = [part.strip() for part in _AND.split(sentence)]
    alone = all(part and _starts_asking(part) for part in parts) and not any(_COUNTS_ALL.search(p) for p in parts[1:])
    clauses = any(
        (_RELATES.match(after) and _RELATIVE.search(before)) or (_MAY_RELATE.match(after) and _LISTS.match(before))
        for before, after in pairwise(parts)
    )
    return parts if alone and not clauses else [sentence]


def _repeated(sentence: str) -> list[str]:
    """The same number asked of one more thing."""
    found = _AND_FOR.search(sentence)
    if found is None or not _NUMBER_ASKED.match(sentence):
        return [sentence]
    last = sentence[found.end() :].strip()
    return [sentence[: found.start()].strip(), last if last.endswith("?") else f"{last}?"]


def _starts_asking(sentence: str) -> bool:
    return bool(re.match(rf"(?:{_ASKS})\b", sentence, re.IGNORECASE)) or _FRAME.match(sentence) is not None
