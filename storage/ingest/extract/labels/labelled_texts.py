"""A value beside its label, as a document writes it, before anything is known about a schema."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from storage.ingest.extract.field_patterns import words_of_phrase

MAX_VALUE_CHARACTERS = 300  # of a labelled value; a longer text is prose
_MAX_LABEL_CHARACTERS = 50
_MAX_LABEL_WORDS = 6
_BRACKETED = re.compile(r"\([^()]{0,30}\)|\[[^\[\]]{0,30}\]")
_SENTENCE_MARK = re.compile(r"[!?;\"“”<>{}@\\*]|[.,]\s+\S+\s+\S+\s+\S+|\w{4,}\.\s")
_WIDE_GAP = re.compile(r"\S\s{3,}\S")  # between the columns of a line
_LABEL_START = re.compile(r"[^\W\d_]")
_CLAUSE_WORDS = frozenset(  # a label is not a clause
    "i we you he she they it is are was were will would shall should can could may must have has had do does did "
    "that which who whom whose if because please".split()
)


class LabelForm(StrEnum):
    """How a document writes a label and its value. The order is that of trust."""

    COLON = "colon"  # `Label: value`, `Label = value`, the lines of front matter and of a mail's head
    TABLE = "table"  # a row of two cells, or a header with one row below
    LEADER = "leader"  # `Label ..... value`, a tab or a wide gap
    DASH = "dash"  # `Label – value`
    PLAIN = "plain"  # `Label 12 kg`, a line that ends with an amount, a quantity, a day or a reference
    BLOCK = "block"  # the value on the line below the label, or alone below a heading
    LETTER = "letter"  # implied by the parts of a letter: place and day, salutation, signature
    HEADING = "heading"  # implied by the first heading: kind and reference of the document


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """A label and the text of its value. `start` and `end` bound label and value in the document's text."""

    label: str  # as written, without marks
    text: str  # of a list below the label: its items with `; ` between
    start: int | None  # None: in the title
    end: int | None
    form: LabelForm
    items: tuple[str, ...] = ()  # of a list below the label
    stands_alone: bool = False  # whether it is a paragraph of one line near the top, as a heading is

    @property
    def key(self) -> str:
        """The label's words in small letters: equal for spellings of the same label."""
        return label_key_of(self.label)


def label_key_of(label: str) -> str:
    """Returns the words of a label in small letters, with blanks between: `Rent (EUR):` and `rent  eur` are equal."""
    return " ".join(words_of_phrase(label))


def is_label(text: str, *, may_be_clause: bool = False) -> bool:
    """Whether the text has the shape of a label: a few words, no sentence.

    `may_be_clause`: also "Who rents" and "How long?", which are labels only where their place shows it.
    """
    text = text.rstrip("? ") if may_be_clause else text
    if not 2 <= len(text) <= _MAX_LABEL_CHARACTERS or not _LABEL_START.match(text):
        return False
    bare = _BRACKETED.sub(" ", text)
    words = bare.casefold().replace("/", " ").split()
    return (
        text[-1] not in ",;!?-"
        and 0 < len(words) <= _MAX_LABEL_WORDS
        and not _SENTENCE_MARK.search(bare)
        and not _WIDE_GAP.search(bare)
        and (may_be_clause or _CLAUSE_WORDS.isdisjoint(words))
        and bool(words_of_phrase(text))
    )


def has_label_case(text: str) -> bool:
    """Whether the text begins with a capital letter and is short enough for a label without a mark after it."""
    return text[:1].isupper() and len(text.split()) <= 4 and not any(c.isdigit() for c in text)


def drop_repeated_texts(texts: Iterable[LabelledText]) -> Iterator[LabelledText]:
    """Yields each label with each value once."""
    seen = set[tuple[str, str]]()
    for labelled in texts:
        if (key := (labelled.key, labelled.text)) not in seen:
            seen.add(key)
            yield labelled
