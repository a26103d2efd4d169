"""Every citation marker must stand in the evidence, every number and quotation in what it cites.

What fails is removed: a sentence whose marker leads nowhere, or whose quotation or numbers its source does not hold.
"""

import re
from collections.abc import Sequence

from agent.outcome import Citation
from storage.search.text import fold

_MARKER = re.compile(r"\[(\d+)\]")
_QUOTED = re.compile(r"“([^”]+)”")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_BOLD = re.compile(r"(?<!\\)\*\*")  # data is escaped, so that these are ours
_UNESCAPE = re.compile(r"\\([\\`*_{}\[\]<>#|~])")


def verified(lines: Sequence[str], citations: Sequence[Citation]) -> tuple[list[str], list[Citation], int]:
    """The lines that hold, the citations they use, and how many lines were removed. Lines without markers pass."""
    by_marker = {one.marker: one for one in citations}
    kept: list[str] = []
    used: list[Citation] = []
    for line in lines:
        markers = _MARKER.findall(line)
        sources = [by_marker[marker] for marker in markers if marker in by_marker]
        if markers and (len(sources) < len(markers) or not _is_borne_out(line, sources)):
            continue
        kept.append(line)
        used += [one for one in sources if one not in used]
    return kept, used, len(lines) - len(kept)


def _is_borne_out(line: str, sources: Sequence[Citation]) -> bool:
    plain = _UNESCAPE.sub(r"\1", _BOLD.sub("", _MARKER.sub("", line)))
    evidence = fold(" ".join(f"{one.title} {one.text}" for one in sources))
    quotations = [fold(one) for one in _QUOTED.findall(plain)]
    if any(one.rstrip(" …") not in evidence for one in quotations):
        return False
    spoken = " ".join(_QUOTED.findall(plain))
    figures = {_digits(one) for one in _NUMBER.findall(spoken)}
    held = {_digits(one) for one in _NUMBER.findall(evidence)}
    return figures <= held


def _digits(number: str) -> str:
    return number.replace(",", "").rstrip(".")
