"""Category fields: the values that the schema names, found by their words; else what stands beside the label."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.concepts import kind_words
from storage.ingest.extract.labelled import labels_of, places_after, written_after
from storage.ingest.extract.page import Cell, Page
from storage.ingest.extract.targets import Target
from storage.ingest.extract.wording import pattern_of, words_of
from storage.search.schema import Field

_SEGMENT = re.compile(r"[,;\n|]|\.\s|\s{3,}")
_LONGEST = 80  # characters of a value written beside its label
_LONGEST_SHAPE = 28
_HEAD = 1_500
_SHORTEST = 3  # characters of a word that tells a value without a label
_MOST = 400  # words of values that are counted in one document


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """The words of a field's values, as one pattern."""

    pattern: re.Pattern[str]
    value_of: Mapping[str, str]  # words set apart by blanks -> value


def kinds_of(field: Field) -> Kinds | None:
    """None for a field whose schema names no values."""
    value_of = dict[str, str]()
    for value, synonyms in field.values.items():
        for one in (value, *synonyms):
            if words := words_of(one):
                value_of.setdefault(" ".join(words), value)
    if not value_of:
        return None
    for kind, several in kind_words().items():
        if kind in value_of:
            for one in several:
                value_of.setdefault(" ".join(words_of(one)), value_of[kind])
    patterns = sorted((_exactly(one) for one in value_of), key=len, reverse=True)
    return Kinds(pattern=re.compile(rf"(?<![^\W_])(?:{'|'.join(patterns)})(?![^\W_])"), value_of=value_of)


def _exactly(words: str) -> str:
    return pattern_of(words) if len(words) > 5 else r"[\s_\-./]{0,2}".join(map(re.escape, words.split()))


def of_kinds(page: Page, target: Target, kinds: Kinds) -> Iterator[Candidate]:
    """Beside a label; in the title; else by how many of a value's words the text holds, those at its head double."""
    for label in labels_of(page, target, target.own):
        for place in places_after(page, label):
            match = kinds.pattern.search(page.low, place.start, min(place.end, place.start + 40))
            if match and (value := value_in(match[0], kinds)):
                far = match.start() - place.start
                yield Candidate(
                    value=value, confidence=max(0.55, 0.95 - 0.03 * far), start=match.start(), end=match.end()
                )
                break
    for match in kinds.pattern.finditer(page.title_low):
        if len(match[0]) >= _SHORTEST and (value := value_in(match[0], kinds)):
            longest = len(match[0]) / max(len(page.title_low), 1)
            yield Candidate(value=value, confidence=0.8 + 0.1 * longest)
    yield from _by_weight(page, kinds)


def _by_weight(page: Page, kinds: Kinds) -> Iterator[Candidate]:
    weights = dict[str, float]()
    words = dict[str, set[str]]()
    first = dict[str, Cell]()
    for count, match in enumerate(kinds.pattern.finditer(page.low)):
        if count == _MOST:
            break
        value = value_in(match[0], kinds)
        if value is None or len(match[0]) < _SHORTEST:
            continue
        first.setdefault(value, Cell(match.start(), match.end()))
        is_new = match[0] not in words.setdefault(value, set())
        words[value].add(match[0])
        weight = (1.0 if is_new else 0.15) * (2.0 if match.start() < _HEAD else 1.0)
        weights[value] = weights.get(value, 0.0) + weight
    total = sum(weights.values())
    for value, weight in weights.items():
        share = weight / total
        confidence = 0.3 + 0.45 * share * min(1.0, weight / 2)
        yield Candidate(value=value, confidence=confidence, start=first[value].start, end=first[value].end)


def value_in(found: str, kinds: Kinds) -> str | None:
    """The value whose word this is."""
    words = " ".join(words_of(found))
    for one in (words, words.removesuffix("s"), words.removesuffix("es"), words.replace(" ", "")):
        if one in kinds.value_of:
            return kinds.value_of[one]
    squeezed = {key.replace(" ", ""): value for key, value in kinds.value_of.items()}
    return squeezed.get(words.replace(" ", ""))


def written(page: Page, target: Target) -> Iterator[Candidate]:
    """What stands beside the label, as it stands."""
    for text, place in written_after(page, target):
        if len(text) <= _LONGEST:
            yield Candidate(value=text, confidence=place.confidence - 0.15, start=place.start, end=place.end)


def shaped(page: Page, shapes: re.Pattern[str]) -> Iterator[Candidate]:
    """What looks like a value of the concept: the whole of a short segment that begins so, else the word itself."""
    for count, match in enumerate(shapes.finditer(page.low)):
        if count == 20:
            return
        segment = _segment_around(page, match.start())
        whole = page.text[segment.start : segment.end]
        if segment.start == match.start() and len(whole) <= _LONGEST_SHAPE:
            yield Candidate(value=whole, confidence=0.8 - 0.01 * count, start=segment.start, end=segment.end)
        else:
            end = match.end()
            while (
                end < len(page.text) and (page.text[end].isalnum() or page.text[end] in "-/") and end < match.end() + 12
            ):
                end += 1
            yield Candidate(value=page.text[match.start() : end], confidence=0.6, start=match.start(), end=end)


def _segment_around(page: Page, at: int) -> Cell:
    start = max((match.end() for match in _SEGMENT.finditer(page.text, max(0, at - 120), at)), default=max(0, at - 120))
    stop = _SEGMENT.search(page.text, at, min(len(page.text), at + 120))
    return page.trimmed(start, stop.start() if stop else min(len(page.text), at + 120))
