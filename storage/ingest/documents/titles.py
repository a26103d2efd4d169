"""Chooses the title of a document: its title property, else its first heading, else its file name."""

import re
from pathlib import Path

from storage.ingest.documents.headings import first_heading

_MAX_TITLE_CHARACTERS = 300
# Default titles that programs write, also in German and French, and file names.
_MEANINGLESS_TITLE = re.compile(
    r"(microsoft (word|powerpoint|excel)\b.*|untitled\b.*|unbenannt\b.*|sans titre\b.*|(no|kein) ?title"
    r"|(word |powerpoint )?(document|dokument|presentation|präsentation|présentation|book|mappe|classeur|slide|folie)"
    r" ?\d*|title|titel|.*\.(docx?|pptx?|xlsx?|indd|qxd|pmd|p65|rtf|odt|pdf|html?|tex|dvi|ps))",
    re.IGNORECASE | re.DOTALL,
)


def title_of(property_title: str, text: str, path: Path) -> str:
    """Returns the title of a document, at most 300 characters. `text` has its headings as Markdown."""
    flat_title = " ".join(property_title.split())
    title = flat_title if flat_title and not _MEANINGLESS_TITLE.fullmatch(flat_title) else first_heading(text)
    return title[:_MAX_TITLE_CHARACTERS] or title_from_file_name(path)


def title_from_file_name(path: Path) -> str:
    """Returns the file name as words: `Annual report` for `Annual_report.pdf`."""
    return " ".join(path.stem.replace("_", " ").split()) or path.stem
