"""Sentences of a text, and those that say most of it, taken as they stand.

SumBasic (Nenkova and Vanderwende 2005): a sentence is worth the average probability of its content words in the text;
once one is taken, its words count for less (their probability is squared), so that the next says something else. What
stands early says more of the whole (the lead bias of Edmundson 1969), and words that are asked for weigh more.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from storage.search.text import fold

_ABBREVIATED = re.compile(  # behind which a full stop ends no sentence: a firm's form, a title, a reference, an initial
    r"(?<!\w)(?:[a-z]|pvt|ltd|inc|corp|co|llc|plc|pte|pty|sdn|bhd|bros|no|nos|art|sec|par|para|cl|ch|fig|vol|pp|ref|ex"
    r"|mr|mrs|ms|dr|prof|st|jr|sr|messrs|hon|rev|gen|col|capt|vs|cf|viz|approx|dept|est|incl|max|min"
    r"|nr|abs|ziff|bzw|ggf|usw|gem|vgl|str|tel|evtl|inkl|zzgl|ca|hr|fr|dipl|ing|urt|anm|rn"
    r"|cie|ste|mme|mlle|mm|bd|av|env|sté|éts|ets|arts|sra|srta|ud|uds|avda|núm|num|pág|pag|ltda|cía|cia|dña|lic)\.$",
    re.IGNORECASE,
)
_BEGINNING = re.compile(  # words that begin a sentence all the same
    r"(?:The|This|These|That|It|In|If|Each|All|Any|For|On|At|When|Where|Such|Neither|Either|Both|Nothing|There|Then|They|He|She|However|We|You"
    r"|Der|Die|Das|Ein|Eine|Es|Im|Le|La|Les|Il|Elle|Un|Une|El|Los|Las|Una|En)(?!\w)"
)
_LONGEST_ABBREVIATION = 8  # characters, the full stop included
_END = re.compile(r"(?<=[.!?;])\s+(?=[\"“(A-Z0-9•-])|\n\s*\n\s*|\n(?![a-z])")  # not within a wrapped line
_LEAST_WORDS = 5
_MOST_WORDS = 60
_COMMON = 0.4  # of the sentences: a word in more of them says nothing, in any language
_ASKED = 4.0  # how much more a word counts that is asked for
_LEAD = 0.6  # how much more the first sentence counts
_HEADING_WORDS = 9
_WORD = re.compile(r"\w+")
_SIGN = re.compile(r"[^\w\s]|[\d_]")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+)?(?P<title>(?:[\dIVX]+[.)]\s*)*[^\W\d_].*?)\s*:?\s*$")


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences and lines of `text` start and end, without the blanks around them; none is blank."""
    at = 0
    ends = [(match.start(), match.end()) for match in _END.finditer(text)] + [(len(text), len(text))]
    for stop, following in ends:
        if _is_within(text, max(at, stop - _LONGEST_ABBREVIATION), stop, following):
            continue
        piece = text[at:stop]
        if piece.strip():
            yield at + len(piece) - len(piece.lstrip()), at + len(piece.rstrip())
        at = following


def _is_within(text: str, start: int, stop: int, following: int) -> bool:
    """Whether the full stop before `stop` ends an abbreviation, and the sentence goes on."""
    if "\n" in text[stop:following] or following >= len(text) or _BEGINNING.match(text, following):
        return False
    return _ABBREVIATED.search(text, start, stop) is not None


def is_heading(sentence: str, text: str, start: int, end: int) -> bool:
    """Whether `sentence`, which is `text[start:end]`, is a short line of its own that ends in no full stop."""
    if sentence.startswith("#"):
        return True
    alone = text[end : end + 1] in ("", "\n", "\r") and (start == 0 or text[start - 1] == "\n")
    plain = ":" not in sentence.rstrip(": ") and not sentence.rstrip().endswith((".", ";", ",", "!", "?"))
    short = plain and len(sentence.split()) <= _HEADING_WORDS
    return alone and short and sentence[:1].isupper() and not any(c.isdigit() for c in sentence[1:])


def heading_words(sentence: str) -> str:
    """A heading without its marks and numbers' dots."""
    match = _HEADING.match(sentence.lstrip("# "))
    return match["title"] if match else sentence.strip("# ")


def reads_as_sentence(text: str) -> bool:
    """Words, neither very few nor very many; no row of a table."""
    if "|" in text or not _LEAST_WORDS <= len(text.split()) <= _MOST_WORDS:
        return False
    return len(_SIGN.findall(text)) <= 0.3 * len(text)


def telling(sentences: Sequence[str], most: int, asked: Collection[str] = ()) -> list[int]:
    """Places of the at most `most` that say most of them all, ascending; those that hold words of `asked` (folded)
    first of all. None is said twice.
    """
    words = [_content(one) for one in sentences]
    common = _common_words(words)
    telling_words = [own - common for own in words]
    chances = _chances(telling_words, asked)
    wanted, taken = set(asked), list[int]()
    left = {at for at, own in enumerate(telling_words) if own}
    worth = {at: _worth(telling_words[at], chances, at, len(sentences)) for at in left}
    while left and len(taken) < most:
        best = max(left, key=lambda at: (bool(words[at] & wanted), worth[at], -at))
        taken.append(best)
        for word in telling_words[best]:
            chances[word] *= chances[word]
        left -= {at for at in left if words[at] == words[best]}
        for at in left:
            if telling_words[at] & telling_words[best]:
                worth[at] = _worth(telling_words[at], chances, at, len(sentences))
    return sorted(taken)


def _chances(words: Sequence[set[str]], asked: Collection[str]) -> dict[str, float]:
    counts = Counter(word for own in words for word in own)
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
