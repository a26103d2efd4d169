"""Sentence splitting, and extractive summaries: the key sentences of a text.

SumBasic (Nenkova and Vanderwende 2005): the score of a sentence is the average probability of its content words in the
text. When a sentence is selected, the probabilities of its words are squared, so that the next sentence has other
words. Early sentences score higher (the lead bias of Edmundson 1969), and so do words of the query.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from storage.quantities.days import MONTH_PATTERN
from storage.search.analyser import fold_text
from storage.text.code_blocks import find_code_blocks, find_fence_lines

_ABBREVIATION_PATTERN = re.compile(  # a company form, a title, a reference or an initial; the sentence goes on after it
    r"(?<!\w)(?:[a-z]|pvt|ltd|inc|corp|co|llc|plc|pte|pty|sdn|bhd|bros|no|nos|art|sec|par|para|cl|ch|fig|vol|pp|ref|ex"
    r"|mr|mrs|ms|dr|prof|st|jr|sr|messrs|hon|rev|gen|col|capt|vs|cf|viz|approx|dept|est|incl|max|min"
    r"|nr|abs|ziff|bzw|ggf|usw|gem|vgl|str|tel|evtl|inkl|zzgl|ca|hr|fr|dipl|ing|urt|anm|rn"
    r"|cie|ste|mme|mlle|mm|bd|av|env|sté|éts|ets|arts|sra|srta|ud|uds|avda|núm|num|pág|pag|ltda|cía|cia|dña|lic)\.$",
    re.IGNORECASE,
)
_SENTENCE_START_PATTERN = re.compile(  # words that begin a sentence even after an abbreviation
    r"(?:The|This|These|That|It|In|If|Each|All|Any|For|On|At|When|Where|Such|Neither|Either|Both|Nothing|There|Then|They|He|She|However|We|You"
    r"|Der|Die|Das|Ein|Eine|Es|Im|Le|La|Les|Il|Elle|Un|Une|El|Los|Las|Una|En)(?!\w)"
)
_DAY_OF_MONTH_PATTERN = re.compile(r"(?<![\w.,])[0-3]?\d\.$")
_MONTH_START_PATTERN = re.compile(rf"{MONTH_PATTERN}(?!\w)", re.IGNORECASE)
_MAX_ABBREVIATION_CHARS = 8  # characters, the full stop included
_SENTENCE_END_PATTERN = re.compile(  # a line break before a small letter is a wrapped line; two points lead to a value
    r"(?<=[.!?;])(?<!\.\.)\s+(?=[\"“(A-Z0-9•-])|\n\s*\n\s*|\n(?![a-z])"
)
_CODE_LINE_PATTERN = re.compile(r"\S[^\n]*")
_MIN_SENTENCE_WORDS = 5
_MAX_SENTENCE_WORDS = 60
_COMMON_WORD_SHARE = 0.4  # of the sentences; a word that occurs in more of them is ignored, in any language
_QUERY_WORD_WEIGHT = 4.0  # factor for words of the query
_LEAD_WEIGHT = 0.6  # the first sentence scores this much more
_MAX_HEADING_WORDS = 9
_WORD_PATTERN = re.compile(r"\w+")
_SIGN_PATTERN = re.compile(r"[^\w\s]|[\d_]")
_HEADING_PATTERN = re.compile(r"(?:#{1,6}\s+)?(?P<title>(?:[\dIVX]+[.)]\s*)*[^\W\d_].*)")


class SentenceSpan(NamedTuple):
    """`text[start:end]` is a sentence or a line, without blanks around it."""

    start: int
    end: int
    is_code: bool


def find_sentence_spans(text: str) -> Iterator[SentenceSpan]:
    """Yields each sentence or line of `text`; none is empty.

    A line of a block of code is taken by itself, and the fences of the block are left out.
    """
    fences, start = find_fence_lines(text), 0
    blocks = find_code_blocks(text) if fences else ()
    block_starts = [block.start for block in blocks]
    for fence_start, fence_end in [*fences, (len(text), len(text))]:
        block = bisect_right(block_starts, start + 1) - 1
        is_code = block >= 0 and start < blocks[block].end
        for first, last in (_split_code_lines if is_code else _split_prose)(text, start, fence_start):
            yield SentenceSpan(first, last, is_code)
        start = fence_end


def _split_prose(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    ends = [(match.start(), match.end()) for match in _SENTENCE_END_PATTERN.finditer(text, start, end)]
    for stop, next_start in [*ends, (end, end)]:
        if stop < end and _is_after_abbreviation(text, max(start, stop - _MAX_ABBREVIATION_CHARS), stop, next_start):
            continue
        sentence = text[start:stop]
        if sentence.strip():
            yield start + len(sentence) - len(sentence.lstrip()), start + len(sentence.rstrip())
        start = next_start


def _split_code_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _CODE_LINE_PATTERN.finditer(text, start, end):
        yield match.start(), match.start() + len(match[0].rstrip())


def _is_after_abbreviation(text: str, start: int, stop: int, following: int) -> bool:
    """Whether the full stop before `stop` belongs to an abbreviation, so that the sentence goes on."""
    if "\n" in text[stop:following] or following >= len(text) or _SENTENCE_START_PATTERN.match(text, following):
        return False
    if _DAY_OF_MONTH_PATTERN.search(text, start, stop) and _MONTH_START_PATTERN.match(text, following):
        return True  # "9. Dezember"
    return _ABBREVIATION_PATTERN.search(text, start, stop) is not None


def is_heading(sentence: str, text: str, start: int, end: int) -> bool:
    """Whether `sentence`, which is `text[start:end]`, is a short line of its own without a full stop at its end."""
    if sentence.startswith("#"):
        return True
    is_own_line = text[end : end + 1] in ("", "\n", "\r") and (start == 0 or text[start - 1] == "\n")
    has_no_end_mark = ":" not in sentence.rstrip(": ") and not sentence.rstrip().endswith((".", ";", ",", "!", "?"))
    is_short = has_no_end_mark and len(sentence.split()) <= _MAX_HEADING_WORDS
    return (
        is_own_line
        and is_short
        and sentence[:1].isupper()
        and not any(character.isdigit() for character in sentence[1:])
    )


def heading_text_of(sentence: str) -> str:
    """Returns the heading without `#` signs and the colon at its end."""
    match = _HEADING_PATTERN.fullmatch(sentence.lstrip("# ").strip().removesuffix(":").rstrip())
    return match["title"] if match else sentence.strip("# ")


def reads_as_sentence(text: str) -> bool:
    """Whether the text has as many words as a sentence and is not the row of a table."""
    if "|" in text or not _MIN_SENTENCE_WORDS <= len(text.split()) <= _MAX_SENTENCE_WORDS:
        return False
    return len(_SIGN_PATTERN.findall(text)) <= 0.3 * len(text)


def select_key_sentences(sentences: Sequence[str], limit: int, query_words: Collection[str] = ()) -> list[int]:
    """Returns the indexes of the at most `limit` best sentences for a summary, ascending.

    Sentences with any of `query_words` (folded) are preferred. Of sentences with the same words only one is selected.
    """
    words_by_sentence = [_content_words_of(sentence) for sentence in sentences]
    common_words = _common_words_of(words_by_sentence)
    scored_words = [sentence_words - common_words for sentence_words in words_by_sentence]
    probabilities = _word_probabilities(scored_words, query_words)
    query_word_set, selected = set(query_words), list[int]()
    remaining = {index for index, sentence_words in enumerate(scored_words) if sentence_words}
    scores = {index: _score_sentence(scored_words[index], probabilities, index, len(sentences)) for index in remaining}
    while remaining and len(selected) < limit:
        best = max(
            remaining, key=lambda index: (bool(words_by_sentence[index] & query_word_set), scores[index], -index)
        )
        selected.append(best)
        for word in scored_words[best]:
            probabilities[word] *= probabilities[word]
        remaining -= {index for index in remaining if words_by_sentence[index] == words_by_sentence[best]}
        for index in remaining:
            if scored_words[index] & scored_words[best]:
                scores[index] = _score_sentence(scored_words[index], probabilities, index, len(sentences))
    return sorted(selected)


def _word_probabilities(words_by_sentence: Sequence[set[str]], query_words: Collection[str]) -> dict[str, float]:
    counts = Counter(word for sentence_words in words_by_sentence for word in sentence_words)
    total = sum(counts.values()) or 1
    return {
        word: count * (_QUERY_WORD_WEIGHT if word in query_words else 1.0) / total for word, count in counts.items()
    }


def _score_sentence(
    sentence_words: set[str], probabilities: dict[str, float], position: int, sentence_count: int
) -> float:
    lead_factor = 1.0 + _LEAD_WEIGHT * (1.0 - position / max(sentence_count, 1)) ** 4
    return lead_factor * sum(probabilities[word] for word in sentence_words) / len(sentence_words)


def _common_words_of(words_by_sentence: Sequence[set[str]]) -> set[str]:
    """Returns the words that occur in many of the sentences; none for a text of four sentences or fewer."""
    counts = Counter(word for sentence_words in words_by_sentence for word in sentence_words)
    return {
        word
        for word, count in counts.items()
        if len(words_by_sentence) > 4 and count > _COMMON_WORD_SHARE * len(words_by_sentence)
    }


def _content_words_of(text: str) -> set[str]:
    return {word for word in _WORD_PATTERN.findall(fold_text(text)) if len(word) > 3 or word.isdigit()}
