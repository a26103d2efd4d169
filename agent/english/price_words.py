"""Words for the two prices of a thing: what is paid for it, and what it is sold for."""

from collections.abc import Sequence, Set
from enum import Enum

from storage.quantities.money import CURRENCIES_BY_NAME
from storage.quantities.units import UNITS_BY_SPELLING


class PriceSide(Enum):
    """Whose price it is."""

    BOUGHT = "bought"
    SOLD = "sold"


_PRICE_NAMES = frozenset("price prices rrp srp msrp".split())
_SOLD_NAMES = frozenset("selling sell sells sold retail rrp srp msrp customer shop list".split())
_BOUGHT_NAMES = frozenset("cost costs buying buy bought purchase trade wholesale supplier landed".split())
_NAMES_OF_SUMS = frozenset("total totals line order invoice job value stock year month annual monthly weekly".split())
_SELLING_VERBS = frozenset("sell sells selling charge charges charging retail retails".split())
_BUYING_VERBS = frozenset("pay buy".split())
_COSTING_VERBS = frozenset("cost costs".split())
_PRESENT_OPENINGS = frozenset(
    (*opening, verb)
    for opening, verbs in {("how", "much"): "is are s does do for", ("what",): "does do"}.items()
    for verb in verbs.split()
)
_OPENINGS_OF_NAMED = (("what", "is"), ("what", "s"), ("what", "are"))
_WORDS_OF_SUMS = frozenset(
    """total totals altogether all sum together overall average most least worth stock left cheapest dearest per each
    every month year week day""".split()
)


_COLLOQUIAL_CURRENCIES = {"quid": "GBP", "bucks": "USD"}
_WORDS_FOR_PIECES = frozenset("unit piece item pair box bottle jar".split())


def currency_said(before: str, word: str) -> str:
    """ "In *pounds*": returns the code of the currency in which an amount is asked for; else nothing."""
    return (_COLLOQUIAL_CURRENCIES.get(word) or CURRENCIES_BY_NAME.get(word) or "") if before == "in" else ""


def is_unit_of_price(before: str, word: str) -> bool:
    """ "Per *kilo*", "a *litre*": whether the word says of how much a price is."""
    return before in ("per", "a", "an") and (word in UNITS_BY_SPELLING or word in _WORDS_FOR_PIECES)


# They say nothing of the thing whose prices are asked for.
MARGIN_WORDS = frozenset("difference gap margin markup profit between pay buy sell charge cost price".split())


PRICE_VERBS = _SELLING_VERBS | _BUYING_VERBS


def side_of_price_name(words: Set[str]) -> PriceSide | None:
    """Returns whose price an amount with these words in its name is; a plain price is what things are sold for.

    None for an amount that is no price of a single thing.
    """
    if words & _NAMES_OF_SUMS:
        return None
    if words & _BOUGHT_NAMES:
        return PriceSide.BOUGHT
    is_sold = bool(words & _SOLD_NAMES) and bool(words & (_PRICE_NAMES | {"for"}))
    return PriceSide.SOLD if is_sold or words & _PRICE_NAMES else None


def asked_price_side(words: Sequence[str]) -> PriceSide | None:
    """Returns whose price a question about a thing asks for: "what do we pay for", "how much is".

    None for a question that asks for no price, or may ask for a sum.
    """
    if not _WORDS_OF_SUMS.isdisjoint(words):
        return None
    if (is_named := tuple(words[:2]) in _OPENINGS_OF_NAMED) and _PRICE_NAMES.isdisjoint(words):
        return None
    if not is_named and tuple(words[:3]) not in _PRESENT_OPENINGS and tuple(words[:2]) not in _PRESENT_OPENINGS:
        return None
    if not _SELLING_VERBS.isdisjoint(words):
        return PriceSide.SOLD
    if _is_said_of_us(words) or (is_named and not _BOUGHT_NAMES.isdisjoint(words)):
        return PriceSide.BOUGHT
    is_open = is_named or words[0] == "how" or not _COSTING_VERBS.isdisjoint(words)
    return PriceSide.SOLD if is_open and _BUYING_VERBS.isdisjoint(words) else None


def side_of_verbs(words: Sequence[str]) -> PriceSide | None:
    """ "The most expensive frame *we sell*", "the cheapest one *we buy*": returns whose price orders the things."""
    if not _SELLING_VERBS.isdisjoint(words):
        return PriceSide.SOLD
    return PriceSide.BOUGHT if _is_said_of_us(words) else None


def asks_for_margin(words: Sequence[str]) -> bool:
    """ "The *difference* between what we *pay* and what we *sell* it for", "the *margin* on": whether both prices of a
    thing are asked for, and what lies between them.
    """
    if not {"margin", "markup", "profit"}.isdisjoint(words):
        return _WORDS_OF_SUMS.isdisjoint(words)
    is_bought = _is_said_of_us(words) or bool(_BOUGHT_NAMES & set(words))
    is_sold = bool((_SELLING_VERBS | _PRICE_NAMES) & set(words))
    return not {"difference", "gap"}.isdisjoint(words) and is_bought and is_sold


def _is_said_of_us(words: Sequence[str]) -> bool:
    """ "What *we pay* for it", "what it *costs us*"."""
    return any(
        (word in _BUYING_VERBS and words[index - 1] == "we") or (word == "us" and words[index - 1] in _COSTING_VERBS)
        for index, word in enumerate(words)
        if index
    )
