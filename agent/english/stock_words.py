"""Words for what is in stock and what it is worth, in questions and in the names of columns."""

VALUE_WORDS = frozenset("value values valued valuation worth valuable".split())
STOCK_WORDS = frozenset("stock stocks inventory inventories stockholding stockholdings".split())
STOCK_PHRASES = (("on", "hand"), ("on", "the", "shelf"), ("on", "the", "shelves"))
PHRASES_FOR_NONE = (("out", "of", "stock"), ("run", "out", "of"), ("sold", "out"), ("run", "out"))
TYING_VERBS = frozenset("tie ties tied tying lock locks locked locking".split())  # "up" money in stock
TIED_MEANS = frozenset("money cash capital funds".split())
STOCK_VALUE_WORDS = VALUE_WORDS | STOCK_WORDS | TYING_VERBS | TIED_MEANS | frozenset("up hand shelf shelves".split())
QUANTITY_IN_STOCK_WORDS = STOCK_WORDS | frozenset("hand left remaining shelf shelves".split())

_MAX_CODE_LETTERS = 3
# Of columns
_STOCK_LABEL_WORDS = STOCK_WORDS | {"hand"}
_QUANTITY_WORDS = frozenset("qty quantity quantities units count pieces pcs".split())
_OTHER_QUANTITY_WORDS = frozenset(
    """min minimum max maximum reorder order ordered safety target par level threshold sold reserved allocated committed
    incoming due pack case box per days age turn turns value worth cost price number no id code""".split()
)
# Of a table about stock, where a column is only called "quantity"
_STOCK_TABLE_WORDS = STOCK_WORDS | frozenset(
    "stores store warehouse stockroom storeroom shelf shelves bin bay aisle reorder min minimum".split()
)
_PRICE_WORDS = frozenset("cost costs price prices rrp msrp".split())
_UNIT_PRICE_WORDS = frozenset("unit each per apiece piece price prices rrp msrp".split())
_COST_WORDS = frozenset("cost costs purchase buy buying wholesale supplier".split())
_SELLING_WORDS = frozenset("sell selling sale sales retail list rrp msrp shop trade customer".split())
_TOTAL_WORDS = frozenset("total totals amount extended line value values worth valuation sum".split())
_OTHER_PRICE_WORDS = frozenset(
    """delivery shipping freight postage last previous old former tax vat discount hour hourly day daily week month
    monthly year yearly annual kg km mile""".split()
)


def rank_stock_name(words: frozenset[str]) -> int:
    """Returns how surely a number with these words in its name is the quantity in stock: 2, 1 for any quantity, or 0.

    A level at which to order is none, nor what was ordered or sold: "stock level" is one, "reorder level" is not.
    """
    if words & (_OTHER_QUANTITY_WORDS - ({"level"} if words & _STOCK_LABEL_WORDS else set())):
        return 0
    if words & _STOCK_LABEL_WORDS:
        return 2
    return 1 if words & _QUANTITY_WORDS else 0


def names_quantity_at_place(label: str) -> bool:
    """Whether the label is of a quantity of one of several places, for which it has a code in capitals: "Qty HB"."""
    has_code = any(word.isalpha() and word.isupper() and 1 < len(word) <= _MAX_CODE_LETTERS for word in label.split())
    return has_code and rank_stock_name(frozenset(label.casefold().split())) > 0


def names_stock_table(words: frozenset[str]) -> bool:
    """Whether words in the name of a table, or of its columns, say that it is about stock and not about sales."""
    return bool(words & _STOCK_TABLE_WORDS)


def is_unit_price_name(words: frozenset[str]) -> bool:
    """Whether an amount with these words in its name is the price of a piece: not "total cost", nor a mere "cost"."""
    if words & (_TOTAL_WORDS | _OTHER_PRICE_WORDS) or not words & _PRICE_WORDS:
        return False
    return bool(words & (_UNIT_PRICE_WORDS | (_COST_WORDS - {"cost", "costs"})))


def names_cost(words: frozenset[str]) -> bool:
    """Whether the words name what is paid for a thing, as "cost price" and "at cost" do."""
    return bool(words & _COST_WORDS) and not words & _SELLING_WORDS


def names_selling_price(words: frozenset[str]) -> bool:
    return bool(words & _SELLING_WORDS)


def names_value(words: frozenset[str]) -> bool:
    """Whether an amount with these words in its name may be the value itself: "stock value", "line total"."""
    return bool(words & _TOTAL_WORDS)
