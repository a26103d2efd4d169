"""The sentences that say most of a text, taken as they stand.

SumBasic (Nenkova and Vanderwende 2005): a sentence is worth the average probability of its content words in the text;
once one is taken, its words count for less (their probability is squared), so that the next says something else. What
stands early says more of the whole (the lead bias of Edmundson 1969), and words that are asked for weigh more.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agent.compose import Quote, split_sentences
from storage.search.documents import Document
from storage.search.text import fold

_LONGEST_TEXT = 200_000  # code points of one document that are read
_LEAST_WORDS = 5
_MOST_WORDS = 60
_COMMON = 0.4  # of the sentences: a word in more of them says nothing, in any language
_ASKED = 4.0  # how much more a word counts that is asked for
_LEAD = 0.6  # how much more the first sentence counts
_HEADING_WORDS = 9
_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+)?(?P<title>(?:[\dIVX]+[.)]\s*)*[^\W\d_].*?)\s*:?\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """A sentence of a document, and the heading it stands under; empty for none."""

    quote: Quote
    heading: str


def telling_sentences(document: Document, most: int, asked: Collection[str] = ()) -> list[Telling]:
    """At most `most` sentences in the order of the text; those that hold words of `asked` (folded) first of all."""
    found = _sentences(document)
    words = [_content(one.quote.text) for one in found]
    common = _common_words(words)
    chances = _chances(words, common, asked)
    wanted, taken = set(asked), list[int]()
    left = {at for at, own in enumerate(words) if own - common}
    while left and len(taken) < most:
        worth = {at: _worth(words[at] - common, chances, at, len(found)) for at in left}
        best = max(left, key=lambda at: (bool(words[at] & wanted), worth[at], -at))
        taken.append(best)
        left.discard(best)
        for word in words[best] - common:
            chances[word] *= chances[word]
        left -= {at for at in left if words[at] == words[best]}
    return [found[at] for at in sorted(taken)]


def _chances(words: Sequence[set[str]], common: set[str], asked: Collection[str]) -> dict[str, float]:
    counts = Counter(word for own in words for word in own - common)
    total = sum(counts.values()) or 1
    return {word: count * (_ASKED if word in asked else 1.0) / total for word, count in counts.items()}


def _worth(own: set[str], chances: dict[str, float], at: int, sentences: int) -> float:
    early = 1.0 + _LEAD * (1.0 - at / max(sentences, 1)) ** 4
    return early * sum(chances[word] for word in own) / len(own)


def _common_words(words: Sequence[set[str]]) -> set[str]:
    """Those of nearly every sentence; in a text of a few, none."""
    counts = Counter(word for own in words for word in own)
    return {word for word, count in counts.items() if len(words) > 4 and count > _COMMON * len(words)}


def _content(text: str) -> set[str]:
    return {word for word in _WORD.findall(fold(text)) if len(word) > 3 or word.isdigit()}


def _sentences(document: Document) -> list[Telling]:
    """The sentences that read as such, each with the heading before it. Headings and rows of tables are none."""
    found: list[Telling] = []
    heading = ""
    for passage in document.passages:
        if passage.start > _LONGEST_TEXT:
            break
        pieces = split_sentences(document.text[passage.start : passage.end], passage.start, passage.page)
        for at, quote in enumerate(pieces):
            if _is_heading(quote, document.text, followed=at + 1 < len(pieces)):
                heading = _title(quote.text)
            elif _reads_as_sentence(quote.text):
                found.append(Telling(quote=quote, heading=heading))
    return list({one.quote.start: one for one in found}.values())  # passages may overlap


def _is_heading(quote: Quote, text: str, *, followed: bool) -> bool:
    """A short line of its own that ends in no full stop."""
    if quote.text.startswith("#"):
        return True
    alone = text[quote.end : quote.end + 1] in ("", "\n", "\r") and (quote.start == 0 or text[quote.start - 1] == "\n")
    plain = ":" not in quote.text.rstrip(": ") and not quote.text.rstrip().endswith((".", ";", ",", "!", "?"))
    short = plain and len(quote.text.split()) <= _HEADING_WORDS
    return followed and alone and short and quote.text[:1].isupper() and not any(c.isdigit() for c in quote.text[1:])


def _title(text: str) -> str:
    match = _HEADING.match(text.lstrip("# "))
    return match["title"] if match else text.strip("# ")


def _reads_as_sentence(text: str) -> bool:
    words = text.split()
    letters = sum(c.isalpha() or c.isspace() for c in text)
    return _LEAST_WORDS <= len(words) <= _MOST_WORDS and letters >= 0.7 * len(text) and "|" not in text
