"""Rows fields: lines of a slip or a table that end in an amount, cut into columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.concepts import column_names_by_role
from storage.ingest.extract.document_text import DocumentText, TextSpan
from storage.ingest.extract.field_patterns import label_phrases_of
from storage.quantities.numbers import NumberSpan
from storage.search.conditions import Scalar
from storage.search.ids import FieldName
from storage.search.schema import FieldType, SchemaField

_MAX_ROWS = 300  # of one document
_MAX_ROW_CHARACTERS = 160  # of a line that can be a row
_NOT_ROW_WORDS = re.compile(
    r"(?<![a-z])(?:sub\s?-?total|total|tax|gst|vat|iva|change|cash|tender\w*|balance|round\w*|amount|due|visa"
    r"|master\w*|card|discount"
    r"|date|tel|fax|phone|invoice|receipt|bill|table|order|server|cashier|service|tip|gratuity|payment|paid"
    r"|approval|auth|ref|reg"
    r"|nif|contribuinte|troco|numerario|multibanco|taxa|base|capital|kembali\w*|tunai|pajak|pb1|jumlah|member"
    r"|points|qty|items?|no\s?:|thank\w*)(?![a-z])"
)
_TABLE_END_WORDS = re.compile(r"(?<![a-z])(?:sub\s?-?total|grand total|total)(?![a-z])")
_QUANTITY = re.compile(
    r"(?:^|\s)(?P<first>\d{1,4}(?:[.,]\d{1,3})?)\s?(?:x|×|\*|pcs?|un|@|pc|nos?)(?![a-z])|^\s*(?P<lead>\d{1,3})\s+"
    r"(?=[^\d\s])|(?:^|\s)x\s?(?P<x>\d{1,3})(?!\S)"
)
_QUANTITY_BEFORE_NAME = re.compile(r"\s*\d{1,3}(?:[.,]\d{1,3})?\s*(?:x|×|\*|un|pcs?)?\s+", re.IGNORECASE)
_CODE_BEFORE_NAME = re.compile(r"(?:[\d#*]{4,}(?:-\d+)*|\d+\s*[-:.)])[\s:.-]*")
_MAX_TAX_CODE_LETTERS = 5  # after an amount: SR, ZRL, EUR
_MAX_LINES, _MAX_SLIP_CHARACTERS = 3_000, 20_000
_WORD_LETTERS = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowColumns:
    """The columns of a rows field for the name, quantity, price and total; None for a role without a column."""

    name: FieldName | None
    quantity: FieldName | None
    price: FieldName | None
    total: FieldName | None


def row_columns_of(field: SchemaField) -> RowColumns:
    used = set[FieldName]()

    def find_column(role: str, *types: FieldType) -> FieldName | None:
        for column in field.columns:
            if (
                column.name not in used
                and column.type in types
                and set(label_phrases_of(column)) & column_names_by_role()[role]
            ):
                used.add(column.name)
                return column.name
        return None

    numeric = (FieldType.NUMBER, FieldType.MONEY)
    quantity, price = find_column("quantity", *numeric), find_column("price", *numeric)
    name = find_column("name", FieldType.TEXT, FieldType.CATEGORY)
    return RowColumns(name=name, quantity=quantity, price=price, total=find_column("total", *numeric))


def row_candidates(document: DocumentText, row_columns: RowColumns) -> Iterator[ValueCandidate]:
    """Lines with a name and an amount. A line of amounts, or of a code and amounts, belongs to the name above it."""
    if row_columns.name is None:
        return
    above: TextSpan | None = None
    count = 0
    for line in islice(_row_lines(document), _MAX_LINES):
        folded = document.folded[line.start : line.end]
        if _NOT_ROW_WORDS.search(folded):
            if count and _TABLE_END_WORDS.search(folded):
                return
            above = None
            continue
        amounts = list(document.find_amounts(line.start, line.end))
        own_name = _name_in_line(document, line, amounts)
        name = above if above and (own_name is None or _is_product_code(document, own_name)) else own_name
        if amounts and name and _is_price_amount(document, amounts[-1]):
            yield _row_candidate(document, row_columns, name, line, amounts)
            above, count = None, count + 1
            if count == _MAX_ROWS:
                return
        else:
            above = own_name


def _row_lines(document: DocumentText) -> Iterator[TextSpan]:
    """The lines. A long one (a slip that lost its line breaks) is cut after each amount with cents."""
    for line in document.lines_from():
        if line.end - line.start <= _MAX_ROW_CHARACTERS:
            if line.end > line.start:
                yield line
            continue
        start = line.start
        for amount in document.find_amounts(line.start, min(line.end, line.start + _MAX_SLIP_CHARACTERS)):
            if amount.decimal_places == 2:
                yield TextSpan(max(start, amount.end - _MAX_ROW_CHARACTERS), amount.end)
                start = amount.end


def _is_price_amount(document: DocumentText, amount: NumberSpan) -> bool:
    return amount.decimal_places == 2 or (not document.has_cents and (amount.number >= 100 or amount.number == 0))


def _is_product_code(document: DocumentText, name: TextSpan) -> bool:
    """Whether the name is one word with digits in it."""
    text = document.text[name.start : name.end]
    return " " not in text and any(c.isdigit() for c in text)


def _name_in_line(document: DocumentText, line: TextSpan, amounts: Sequence[NumberSpan]) -> TextSpan | None:
    """The line's words without the quantity or code before them and the amounts after them."""
    start, end = line.start, line.end
    for amount in reversed(amounts):
        word = _WORD_LETTERS.search(document.text, amount.end, end)
        if word and end - word.start() > _MAX_TAX_CODE_LETTERS:
            break
        end = amount.start
    quantity = _QUANTITY_BEFORE_NAME.match(document.text, start, end)
    start = quantity.end() if quantity else start
    code = _CODE_BEFORE_NAME.match(document.text, start, end)
    start = code.end() if code else start
    cell = document.trim_span(start, end)
    return cell if _WORD_LETTERS.search(document.text, cell.start, cell.end) else None


def _row_candidate(
    document: DocumentText, row_columns: RowColumns, name: TextSpan, line: TextSpan, amounts: Sequence[NumberSpan]
) -> ValueCandidate:
    total = amounts[-1]
    match = _QUANTITY.search(document.folded[line.start : line.end])
    quantity = _parse_quantity(match) if match else 1.0
    prices = [amount for amount in amounts[:-1] if amount.decimal_places == 2 or amount.number >= 100]
    row: dict[FieldName, Scalar] = {}
    written_name = document.text[name.start : name.end]
    if row_columns.name:
        row[row_columns.name] = " ".join(written_name.split()).strip(" .:*-|xX@") or written_name
    if row_columns.quantity:
        row[row_columns.quantity] = quantity
    if row_columns.price:
        row[row_columns.price] = float(prices[-1].number) if prices else float(total.number) / max(quantity, 1.0)
    if row_columns.total:
        row[row_columns.total] = float(total.number)
    start, end = min(name.start, line.start), max(name.end, line.end)
    return ValueCandidate(value=(row,), confidence=0.65, start=start, end=end)


def _parse_quantity(match: re.Match[str]) -> float:
    digits = next(filter(None, match.groups()))
    number = float(digits.replace(",", "."))
    return number if number > 0 else 1.0
