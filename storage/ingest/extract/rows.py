"""Rows fields: the lines of a slip or a table that end in an amount, cut into columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.concepts import columns
from storage.ingest.extract.figures import Figure
from storage.ingest.extract.page import Cell, Page
from storage.ingest.extract.wording import labels_of
from storage.search.conditions import Scalar
from storage.search.ids import FieldName
from storage.search.schema import Field, FieldType

_MOST = 300  # rows of one document
_LONGEST = 160  # characters of a line that can be a row
_NO_ROW = re.compile(
    r"(?<![a-z])(?:sub\s?-?total|total|tax|gst|vat|iva|change|cash|tender\w*|balance|round\w*|amount|due|visa|master\w*|card|discount"
    r"|date|tel|fax|phone|invoice|receipt|bill|table|order|server|cashier|service|tip|gratuity|payment|paid|approval|auth|ref|reg"
    r"|nif|contribuinte|troco|numerario|multibanco|taxa|base|capital|kembali\w*|tunai|pajak|pb1|jumlah|member|points|qty|items?|no\s?:|thank\w*)(?![a-z])"
)
_END = re.compile(r"(?<![a-z])(?:sub\s?-?total|grand total|total)(?![a-z])")
_QUANTITY = re.compile(
    r"(?:^|\s)(?P<first>\d{1,4}(?:[.,]\d{1,3})?)\s?(?:x|×|\*|pcs?|un|@|pc|nos?)(?![a-z])|^\s*(?P<lead>\d{1,3})\s+(?=[^\d\s])|(?:^|\s)x\s?(?P<x>\d{1,3})(?!\S)"
)
_LEAD = re.compile(r"\s*\d{1,3}(?:[.,]\d{1,3})?\s*(?:x|×|\*|un|pcs?)?\s+", re.IGNORECASE)
_CODE = re.compile(r"(?:[\d#*]{4,}(?:-\d+)*|\d+\s*[-:.)])[\s:.-]*")
_TAX_CODE = 5  # letters behind an amount: SR, ZRL, EUR
_MOST_LINES, _LONGEST_SLIP = 3_000, 20_000
_LETTERS = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column of a rows field is the name, the quantity, the price and the total; None: it has none."""

    name: FieldName | None
    quantity: FieldName | None
    price: FieldName | None
    total: FieldName | None


def columns_of(field: Field) -> Columns:
    taken = set[FieldName]()

    def one(kind: str, *types: FieldType) -> FieldName | None:
        for column in field.columns:
            if column.name not in taken and column.type in types and set(labels_of(column)) & columns()[kind]:
                taken.add(column.name)
                return column.name
        return None

    numeric = (FieldType.NUMBER, FieldType.MONEY)
    quantity, price = one("quantity", *numeric), one("price", *numeric)
    name = one("name", FieldType.TEXT, FieldType.CATEGORY)
    return Columns(name=name, quantity=quantity, price=price, total=one("total", *numeric))


def rows(page: Page, shape: Columns) -> Iterator[Candidate]:
    """Lines with a name and an amount; a line of figures, or of a code and figures, belongs to the name above it."""
    if shape.name is None:
        return
    above: Cell | None = None
    count = 0
    for line in islice(_lines(page), _MOST_LINES):
        low = page.low[line.start : line.end]
        if _NO_ROW.search(low):
            if count and _END.search(low):
                return
            above = None
            continue
        figures = list(page.figures(line.start, line.end))
        name = _name_in(page, line, figures)
        named = above if above and (name is None or _is_code(page, name)) else name
        if figures and named and _is_price(page, figures[-1]):
            yield _row(page, shape, named, line, figures)
            above, count = None, count + 1
            if count == _MOST:
                return
        else:
            above = name


def _lines(page: Page) -> Iterator[Cell]:
    """The lines; a long one, as of a slip that lost its breaks, in pieces that end in an amount with cents."""
    for line in page.lines():
        if line.end - line.start <= _LONGEST:
            if line.end > line.start:
                yield line
            continue
        start = line.start
        for figure in page.figures(line.start, min(line.end, line.start + _LONGEST_SLIP)):
            if figure.decimals == 2:
                yield Cell(max(start, figure.end - _LONGEST), figure.end)
                start = figure.end


def _is_price(page: Page, figure: Figure) -> bool:
    return figure.decimals == 2 or (not page.has_cents and (figure.number >= 100 or figure.number == 0))


def _is_code(page: Page, name: Cell) -> bool:
    """One word with digits in it."""
    text = page.text[name.start : name.end]
    return " " not in text and any(c.isdigit() for c in text)


def _name_in(page: Page, line: Cell, figures: Sequence[Figure]) -> Cell | None:
    """The line's words: without a quantity or code before them and the figures behind."""
    start, end = line.start, line.end
    for figure in reversed(figures):
        behind = _LETTERS.search(page.text, figure.end, end)
        if behind and end - behind.start() > _TAX_CODE:
            break
        end = figure.start
    lead = _LEAD.match(page.text, start, end)
    start = lead.end() if lead else start
    code = _CODE.match(page.text, start, end)
    start = code.end() if code else start
    cell = page.trimmed(start, end)
    return cell if _LETTERS.search(page.text, cell.start, cell.end) else None


def _row(page: Page, shape: Columns, name: Cell, line: Cell, figures: Sequence[Figure]) -> Candidate:
    total = figures[-1]
    low = page.low[line.start : line.end]
    counted = _QUANTITY.search(low)
    quantity = _counted(counted) if counted else 1.0
    prices = [one for one in figures[:-1] if one.decimals == 2 or one.number >= 100]
    row: dict[FieldName, Scalar] = {}
    said = " ".join(page.text[name.start : name.end].split()).strip(" .:*-|xX@") or page.text[name.start : name.end]
    if shape.name:
        row[shape.name] = said
    if shape.quantity:
        row[shape.quantity] = quantity
    if shape.price:
        row[shape.price] = float(prices[-1].number) if prices else float(total.number) / max(quantity, 1.0)
    if shape.total:
        row[shape.total] = float(total.number)
    start, end = min(name.start, line.start), max(name.end, line.end)
    return Candidate(value=(row,), confidence=0.65, start=start, end=end)


def _counted(match: re.Match[str]) -> float:
    digits = next(filter(None, match.groups()))
    number = float(digits.replace(",", "."))
    return number if number > 0 else 1.0
