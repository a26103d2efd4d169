"""What a document of a file is called: as its properties say, else by its first heading, else by its file."""

import re
from pathlib import Path

from storage.ingest.headings import first_heading

_LONGEST = 300  # characters
# What programs write of themselves where nobody gave a title, also in German and French; and names of files.
_MEANINGLESS = re.compile(
    r"(microsoft (word|powerpoint|excel)\b.*|untitled\b.*|unbenannt\b.*|sans titre\b.*|(no|kein) ?title"
    r"|(word |powerpoint )?(document|dokument|presentation|präsentation|présentation|book|mappe|classeur|slide|folie)"
    r" ?\d*|title|titel|.*\.(docx?|pptx?|xlsx?|indd|qxd|pmd|p65|rtf|odt|pdf|html?|tex|dvi|ps))",
    re.IGNORECASE | re.DOTALL,
)


def title_of(property_title: str, text: str, path: Path) -> str:
    """`text` has its headings as Markdown."""
    given = " ".join(property_title.split())
    title = given if given and not _MEANINGLESS.fullmatch(given) else first_heading(text)
    return title[:_LONGEST] or stem_of(path)


def stem_of(path: Path) -> str:
    """In words: `Annual_report.pdf` is the `Annual report`."""
    return " ".join(path.stem.replace("_", " ").split()) or path.stem
