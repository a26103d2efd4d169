"""Chooses the title of a document: its title property, else its first heading or subject line, else its file name."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from storage.ingest.documents.headings import first_heading, leading_heading, reads_as_heading
from storage.ingest.extract.kinds.kind_phrases import kind_phrase_in

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
# The subject line of a letter
_LETTER_SUBJECT = re.compile(
    r"^[ \t*_]*(?:re|ref|concerning|betreff|betrifft|betr\.?|objet|concerne|asunto)[ \t]*:[ \t*_]*"
    r"(?P<subject>\S[^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)
_BOLD_LINE = re.compile(r"^[ \t]*\*\*(?P<words>[^*\n]{3,80})\*\*[^\n:|]{0,60}$", re.MULTILINE)
_LETTERHEAD = re.compile(r"[^*|·•]+(?:\s+[*|·•]\s+[^*|·•]+)+")  # a name and an address in one line
_DATE_LINE = re.compile(
    r"^[ \t*_-]*(?:date|datum|fecha)[ \t*_]*:[ \t*_]*(?P<day>[^\n*_]{6,30})$", re.MULTILINE | re.IGNORECASE
)
_PART_HEADING = re.compile(r"^ {0,3}#{2,6}[ \t]+(?P<words>\S[^\n]*)$", re.MULTILINE)
_MAX_TEXT_BEFORE_TITLE = 200  # characters
_TOP_LINES, _TOP_CHARACTERS = 8, 1_500


def title_of(property_title: str, text: str, path: Path) -> str:
    """Returns the title of a document, at most 300 characters. `text` has its headings as Markdown.

    It is the title property, else the title in the front matter, the first heading, the subject of a mail, a line near
    the top that is a heading, or the file name. A line that names a kind of document, and the subject of a letter, come
    before a letterhead. The first heading is taken if it says more than the title property.
    """
    flat_title = " ".join(property_title.split())
    if not flat_title or _MEANINGLESS_TITLE.fullmatch(flat_title):
        flat_title = _title_in_text(text)
    elif _says_more(heading := first_heading(text), flat_title):
        flat_title = heading
    return explain_file_code(flat_title, text)[:_MAX_TITLE_CHARACTERS] or title_from_file_name(path)


def explain_file_code(title: str, text: str) -> str:
    """Returns the title; a code such as "EX-10.5_8-K" follows the title in the text in brackets, if there is one."""
    named = _title_in_text(text) if _FILE_CODE.fullmatch(title) else ""
    return f"{named[: _MAX_TITLE_CHARACTERS - len(title) - 3]} ({title})" if named and title not in named else title


def _title_in_text(text: str) -> str:
    title = _front_matter_title(text) or _title_heading(text) or _subject_of(text) or _title_at_top(text)
    day = _DATE_LINE.search(text, 0, _TOP_CHARACTERS)
    is_shared = _names_document(title) and not any(c.isdigit() for c in title)
    return f"{title}, {day['day'].strip()}" if is_shared and day else title


def _title_heading(text: str) -> str:
    """Returns the first heading; empty if it is the heading of a part, below much text."""
    heading = first_heading(text)
    part = _PART_HEADING.search(text) if heading else None
    is_of_part = part is not None and part["words"].strip("# ") == heading and part.start() > _MAX_TEXT_BEFORE_TITLE
    return "" if is_of_part else heading


def _says_more(heading: str, title: str) -> bool:
    """Whether a heading repeats the title and goes on, or names the kind of document where the title does not."""
    if heading.casefold().startswith(title.casefold()):
        return True
    has_number = any(c.isdigit() for c in heading) and not any(c.isdigit() for c in title)
    return has_number and _names_document(heading) and not _names_document(title)


def _title_at_top(text: str) -> str:
    leading = leading_heading(text)
    is_letterhead = _LETTERHEAD.fullmatch(leading) is not None
    if _names_document(leading) or (any(c.isdigit() for c in leading) and not is_letterhead):
        return leading
    top = text[:_TOP_CHARACTERS]
    named = next((line for line in _heading_lines(top) if _names_document(line)), "")
    subject = _LETTER_SUBJECT.search(top)
    if named or subject:
        return named or " ".join((subject["subject"] if subject else "").strip("*_ ").split())
    bold = _BOLD_LINE.search(top)
    if bold and (not leading or is_letterhead):
        return " ".join(bold["words"].split())
    return leading


def _heading_lines(text: str) -> Iterator[str]:
    """Yields the first lines that read as headings, up to the first that begins a text or a section."""
    lines = (line.strip() for line in text.splitlines() if line.strip())
    for line in islice(lines, _TOP_LINES):
        if line[0].isdigit() or line[-1] in ".!?":
            return
        if reads_as_heading(line) and not _LETTERHEAD.fullmatch(line):
            yield line


def _names_document(line: str) -> bool:
    phrase = kind_phrase_in(line)
    return phrase is not None and bool(phrase.noun)


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
