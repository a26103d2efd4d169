"""Chooses the title of a document: its title property, else its first heading or subject line, else its file name."""

import re
from pathlib import Path

from storage.ingest.documents.headings import first_heading, leading_heading

_MAX_TITLE_CHARACTERS = 300
# Default titles that programs write, also in German and French, and file names.
_MEANINGLESS_TITLE = re.compile(
    r"(microsoft (word|powerpoint|excel)\b.*|untitled\b.*|unbenannt\b.*|sans titre\b.*|(no|kein) ?title"
    r"|(word |powerpoint )?(document|dokument|presentation|präsentation|présentation|book|mappe|classeur|slide|folie)"
    r" ?\d*|title|titel|.*\.(docx?|pptx?|xlsx?|indd|qxd|pmd|p65|rtf|odt|pdf|html?|tex|dvi|ps))",
    re.IGNORECASE | re.DOTALL,
)

_FILE_CODE = re.compile(r"(?=.*_)(?=.*\d)(?:[^\W\d_]{1,3}(?![^\W\d_])|[\d_.\- ])+")  # "EX-10.5_8-K"

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\n(?P<lines>(?:[^\n]*\n){1,60}?)---[ \t]*(?:\n|$)")
_FRONT_MATTER_TITLE = re.compile(r"^title[ \t]*:[ \t]*(?P<title>\S[^\n]*)$", re.MULTILINE | re.IGNORECASE)
_MAIL_HEAD = re.compile(r"\s*(?:[A-Z][\w-]{1,30}:[ \t][^\n]*\n(?:[ \t]+[^\n]*\n)*){2,40}")
_SUBJECT = re.compile(
    r"^(?:subject|betreff|objet|asunto)[ \t]*:[ \t]*(?P<subject>\S[^\n]*)$", re.MULTILINE | re.IGNORECASE
)


def title_of(property_title: str, text: str, path: Path) -> str:
    """Returns the title of a document, at most 300 characters. `text` has its headings as Markdown.

    It is the title property, else the title in the front matter, the first heading, the subject of a mail, a first line
    that is a heading, or the file name.
    """
    flat_title = " ".join(property_title.split())
    if not flat_title or _MEANINGLESS_TITLE.fullmatch(flat_title):
        flat_title = _title_in_text(text)
    return explain_file_code(flat_title, text)[:_MAX_TITLE_CHARACTERS] or title_from_file_name(path)


def explain_file_code(title: str, text: str) -> str:
    """Returns the title; a code such as "EX-10.5_8-K" stands in brackets after the title in the text, if it has one."""
    named = _title_in_text(text) if _FILE_CODE.fullmatch(title) else ""
    return f"{named[: _MAX_TITLE_CHARACTERS - len(title) - 3]} ({title})" if named and title not in named else title


def _title_in_text(text: str) -> str:
    return _front_matter_title(text) or first_heading(text) or _subject_of(text) or leading_heading(text)


def add_file_number(title: str, path: Path) -> str:
    """Returns the title with the file name in brackets, if that has a number and the title none: `Complaint (C-118)`.

    Documents of one kind often share their heading, and people call them by the number.
    """
    name = title_from_file_name(path)
    has_number = any(c.isdigit() for c in title) or not any(c.isdigit() for c in name)
    return title if has_number or title == name else f"{title[: _MAX_TITLE_CHARACTERS - len(name) - 3]} ({name})"


def _front_matter_title(text: str) -> str:
    front_matter = _FRONT_MATTER.match(text)
    title = _FRONT_MATTER_TITLE.search(front_matter["lines"]) if front_matter else None
    return " ".join(title["title"].strip("\"' ").split()) if title else ""


def _subject_of(text: str) -> str:
    """Returns the subject in the head of a mail; empty for other texts."""
    head = _MAIL_HEAD.match(text)
    subject = _SUBJECT.search(head[0]) if head else None
    return " ".join(subject["subject"].split()) if subject else ""


def title_from_file_name(path: Path) -> str:
    """Returns the file name as words: `Annual report` for `Annual_report.pdf`."""
    return " ".join(path.stem.replace("_", " ").split()) or path.stem
