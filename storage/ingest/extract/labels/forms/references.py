"""References of documents in headings and lines: `IR-204`, `H/2031/17`, `No. 17`."""

import re

REFERENCE_PATTERN = re.compile(
    r"(?<![\w/-])(?:[A-Z]{1,6}[-/]?\d[\w]*(?:[-/.]\w+)*|[A-Z]{1,6}(?:[-/][A-Z\d]+)*[-/]\d\w*|\d+[-/][A-Z]+[-/]?\d*)(?![\w])"
)
_NUMBERED = re.compile(r"(?:\bno\.?|\bnr\.?|\bnumber|#)\s*(?P<number>[A-Z]{0,5}-?\d[\w/-]*)", re.IGNORECASE)
_FINAL_NUMBER = re.compile(r"[^\W\d_]{3}[^\d]*\s(?P<number>\d{3,})")  # `Invoice 20412`


def reference_in(text: str) -> str:
    """Returns the reference in a heading: `IR-204`, `No. 17`; empty if there is none."""
    if match := REFERENCE_PATTERN.search(text):
        return match[0]
    numbered = _NUMBERED.search(text) or _FINAL_NUMBER.fullmatch(text)
    return numbered["number"] if numbered else ""
