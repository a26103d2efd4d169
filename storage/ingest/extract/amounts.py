"""Money fields: of the amounts beside a label, that of the best label; and the currency they are in."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.concepts import Concept, aside_words, currency_words, payment_words, without_cents
from storage.ingest.extract.figures import Figure
from storage.ingest.extract.labelled import labels_in, labels_of
from storage.ingest.extract.page import Cell, Page
from storage.ingest.extract.targets import Target
from storage.ingest.extract.wording import words_of
from storage.ingest.literals import currency_of

_AROUND = 40  # characters before a label that can make another thing of it
_REACH = 120  # characters behind a label
_HEAD = 8_000  # characters in which currencies and payments are looked for
_STRONG, _OWN, _WEAK = 0.62, 0.55, 0.35  # a label of several words; the field's very name; another word for it
_SYNONYM = 0.52  # the same of a field of which nothing else is known
_SPOILT = 0.35
_PAID, _AGREED, _LARGEST, _COLUMN = 0.22, 0.08, 0.05, 0.12
_PAID_ALONE, _REPEATED, _ALONE = (
    0.56,
    0.55,
    0.5,
)  # without a label: what was paid, the largest amount said twice, or once
_COUNT, _SMALL = 0.05, 100  # what a small number without cents, where others have them, is worth less
_ANY = 0.15  # what the largest amount is worth less as the value of any other field
_LEAST = 0.5  # of a labelled amount, below which the largest is looked at too
_LONG_NUMBER = 10_000
_ROUNDING = Decimal("0.05")  # by which what is paid in coins may differ from the total
_NEAR = 16  # characters between a word that spoils and the label
_WORD = re.compile(r"[^\W\d_]{3,}")
_SIGN = re.compile(
    r"(?<![a-z])(?:us\$|r\$|hk\$|s\$|[$€£¥₹₩₫฿₺]|rm|rp\.?)\s?(?=\d)|(?<=\d)\s?[€£$](?!\d)", re.IGNORECASE
)
_CODE = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
_SIGNED = 3  # amounts for each sign, at most
_WITHOUT_CENTS = "IDR"  # the largest of the currencies that are counted in thousands


@dataclass(frozen=True, slots=True)
class _Labelled:
    figure: Figure
    confidence: float
    label: Cell


def money(page: Page, target: Target) -> Iterator[Candidate]:
    """Each labelled amount; likelier where several say it and where it is what was then paid."""
    paid = _paid(page) if target.concept else dict[Decimal, Cell]()
    found = [one for one in _labelled(page, target) if one.figure.number > 0]
    numbers = [one.figure.number for one in found if one.confidence > _WEAK]
    for one in found:
        number, confidence = one.figure.number, one.confidence
        confidence += _PAID * (number in paid) + _AGREED * (numbers.count(number) > 1)
        confidence += _LARGEST * (bool(numbers) and number == max(numbers))
        start, end = min(one.label.start, one.figure.start), max(one.label.end, one.figure.end)
        yield Candidate(value=float(number), confidence=min(confidence, 0.95), start=start, end=end)
    for number, cell in paid.items():
        rounded = any(0 < abs(number - one) <= _ROUNDING for one in numbers)
        sure = _PAID_ALONE + 0.3 * rounded
        yield Candidate(value=float(number), confidence=sure, start=cell.start, end=cell.end)
    if not any(one.confidence >= _LEAST for one in found):
        yield from _largest(page, surely=target.concept is not None)


def _labelled(page: Page, target: Target) -> Iterator[_Labelled]:
    for label in labels_of(page, target, target.labels):
        figure, is_far = _amount_for(page, label)
        if figure is None or (target.concept is not None and _is_number(page, figure)):
            continue
        spoilt = target.concept is not None and _is_spoilt(page, target.concept, label, figure)
        confidence = _strength(page.low[label.start : label.end], target) - _SPOILT * spoilt - 0.1 * is_far
        confidence -= _COUNT * (page.has_cents and not figure.decimals and figure.number < _SMALL)
        yield _Labelled(figure, confidence - _COLUMN * _has_more(page, figure), label)


def _is_spoilt(page: Page, concept: Concept, label: Cell, figure: Figure) -> bool:
    """Whether words right before the label, or up to the amount, make another thing of it."""
    line = page.line_at(label.start)
    head = page.low[max(line.start, label.start - _AROUND) : label.start]
    between = page.low[label.end : figure.start]
    if concept.never is None:
        return False
    before = [one.end() for one in concept.never.finditer(head)]
    if before and len(head) - before[-1] <= _NEAR and not any(c.isdigit() for c in head[before[-1] :]):
        return True
    included = concept.unless is not None and concept.unless.search(page.low, label.start, figure.start) is not None
    return not included and concept.never.search(between) is not None


def _strength(label: str, target: Target) -> float:
    words = " ".join(words_of(label))
    if target.concept and words in target.concept.labels:
        return _STRONG if " " in words else _OWN
    if words in (target.field.name.casefold().replace("_", " "), target.field.label.casefold()):
        return _OWN
    return _WEAK if target.concept else _SYNONYM


def _has_more(page: Page, figure: Figure) -> bool:
    """Whether another amount follows on the line without a word between: a line of a table of taxes."""
    line = page.line_at(figure.start)
    other = next(page.figures(figure.end, min(line.end, figure.end + _AROUND)), None)
    return other is not None and not _WORD.search(page.text, figure.end, other.start)


def _amount_for(page: Page, label: Cell) -> tuple[Figure | None, bool]:
    """The amount after the label on its line, else alone on the next; and whether it was the latter."""
    line = page.line_at(label.start)
    same = list(page.figures(label.end, min(line.end, label.end + _REACH)))
    if same:
        return _main(same), False
    below = page.next_line(label.start)
    if below and not _has_words(page, below):
        under = list(page.figures(below.start, min(below.end, below.start + _AROUND)))
        if under:
            return under[-1], True
    return None, False


def _main(figures: Sequence[Figure]) -> Figure:
    """The first that is no count; the last, if those before it are its parts."""
    likely = [one for one in figures if one.decimals == 2 or one.number >= 100] or list(figures)
    if 2 < len(likely) <= 4 and sum(one.number for one in likely[:-1]) == likely[-1].number:
        return likely[-1]
    return likely[0]


def _has_words(page: Page, line: Cell) -> bool:
    return sum(c.isalpha() for c in page.text[line.start : line.end]) > 5


def _paid(page: Page) -> Mapping[Decimal, Cell]:
    """What was paid: amounts beside words of payment, and what is left of them after the change."""
    given, returned = (_beside(page, pattern) for pattern in payment_words())
    if not given:
        return {}
    due = dict[Decimal, Cell]()
    for change in returned or {Decimal(0): Cell(0, 0)}:
        for amount, cell in given.items():
            if amount > change:
                due.setdefault(amount - change, cell)
    return {amount: cell for amount, cell in due.items() if amount in page.amounts}


def _beside(page: Page, pattern: re.Pattern[str]) -> dict[Decimal, Cell]:
    found = dict[Decimal, Cell]()
    for label in labels_in(page, pattern):
        figure, _ = _amount_for(page, label)
        if figure is not None and (figure.decimals == 2 or (not page.has_cents and figure.number >= 100)):
            found.setdefault(figure.number, Cell(label.start, figure.end))
    return found


def _largest(page: Page, *, surely: bool) -> Iterator[Candidate]:
    """Without any label the largest amount with decimals, doubtful; of a field that is not what was paid in all, too
    doubtful to be its value.
    """
    said = list(page.figures(0, min(len(page.text), _HEAD)))
    found = (one for one in said if one.decimals == 2)
    figures = [one for one in found if one.number > 0 and not _is_told(page, one)] or list(_grouped(page))
    if figures:
        best = max(figures, key=lambda one: one.number)
        confidence = (_REPEATED if page.amounts[best.number] > 1 else _ALONE) - _ANY * (not surely)
        yield Candidate(value=float(best.number), confidence=confidence, start=best.start, end=best.end)


def _grouped(page: Page) -> Iterator[Figure]:
    """Amounts of a slip without cents: whole thousands written with a mark."""
    for one in page.figures(0, min(len(page.text), _HEAD)):
        if not page.has_cents and one.number >= 1000 and not page.text[one.start : one.end].isdigit():
            yield one


def _is_number(page: Page, figure: Figure) -> bool:
    """Whether it is the number of something: a long one without any mark where amounts have cents."""
    return page.has_cents and figure.number >= _LONG_NUMBER and page.text[figure.start : figure.end].isdigit()


def _is_told(page: Page, figure: Figure) -> bool:
    """Whether its line, or the one above where it stands alone, says that it is nothing that was paid."""
    line = page.line_at(figure.start)
    alone = not page.text[line.start : figure.start].strip()
    start = page.line(max(0, page.line_number(figure.start) - 1)).start if alone else line.start
    return aside_words().search(page.low, max(start, figure.start - _REACH), figure.start) is not None


# -- which currency


def currencies(page: Page) -> Iterator[Candidate]:
    """The currency of the document's amounts: by the signs and codes beside them, else by words that tell the country,
    else by amounts that are all counted in thousands.
    """
    seen = dict[str, list[tuple[float, int, int]]]()
    written = list(_written(page))
    for code, weight, start, end in (*written, *_told(page)):
        seen.setdefault(code, []).append((weight, start, end))
    weights = {code: sum(weight for weight, _, _ in told) for code, told in seen.items()}
    if _in_thousands(page) and not _is_signed(page, len(written)):
        weights = {code: weight for code, weight in weights.items() if code in without_cents()}
    for code, weight in weights.items():
        _, start, end = max(seen[code], key=lambda one: one[0])
        share = weight / sum(weights.values())
        yield Candidate(value=code, confidence=min(0.95, 0.4 + 0.55 * share), start=start, end=end)
    if not weights and (figure := _in_thousands(page)):
        yield Candidate(value=_WITHOUT_CENTS, confidence=0.55, start=figure.start, end=figure.end)


def _is_signed(page: Page, signs: int) -> bool:
    """Whether signs and codes stand beside many of the amounts: one alone is a slip of the scanner's."""
    large = sum(one.number >= 1000 for one in page.figures(0, min(len(page.text), _HEAD)))
    return _SIGNED * signs >= max(large, 1)


def _written(page: Page) -> Iterator[tuple[str, float, int, int]]:
    """By signs and codes."""
    known: Set[str] = currency_words().keys()
    signs = Counter[str]()
    for match in _SIGN.finditer(page.text, 0, _HEAD):
        if code := _code_of(match[0]):
            signs[code] += 1
            first = 1.0 if match[0].strip() == "$" else 2.0  # many countries write theirs so
            yield code, first if signs[code] == 1 else 0.1, match.start(), match.end()
    for match in _CODE.finditer(page.text, 0, _HEAD):
        if match[0] in known:
            yield match[0], 1.0, match.start(), match.end()


def _told(page: Page) -> Iterator[tuple[str, float, int, int]]:
    """By words that tell the country."""
    for code, pattern in currency_words().items():
        words = {match[0]: match for match in pattern.finditer(page.low, 0, _HEAD)}
        for match in words.values():
            yield code, 1.0, match.start(), match.end()


def _code_of(sign: str) -> str | None:
    bare = sign.strip().rstrip(".")
    return {"rm": "MYR", "rp": "IDR"}.get(bare.lower()) or currency_of(bare.upper())


def _in_thousands(page: Page) -> Figure | None:
    """The largest amount, where those that a mark groups are at least a thousand and none has cents."""
    figures = list(page.figures(0, min(len(page.text), _HEAD)))
    if any(one.number % 1 for one in figures if one.decimals == 2 or one.number < 1000):
        return None
    grouped = (one for one in figures if one.number >= 1000 and not page.text[one.start : one.end].isdigit())
    return max(grouped, key=lambda one: one.number, default=None)
