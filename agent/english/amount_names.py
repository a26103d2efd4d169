"""Words in the names of amounts: which is the total of a record, and which are only parts of it or rates."""

import re
from collections.abc import Set

_GRAND_TOTAL_WORDS = frozenset("total totals grand".split())
_SUM_WORDS = frozenset("sum overall gross amount payable".split())
_WHOLE_WORDS = frozenset("value price cost costs revenue turnover sales".split())
_PART_WORDS = frozenset(
    """sub subtotal tax taxes vat gst duty customs deposit discount rebate reduction material materials
    labour labor parts shipping freight postage delivery packaging handling travel tip gratuity surcharge
    supplement advance extras extra excess prepayment instalment installment downpayment credit penalty
    interest commission bonus allowance paid outstanding remaining""".split()
)
TAX_WORDS = frozenset("tax taxes vat gst duty".split())
_WITH_TAX_WORDS = frozenset("inc incl including includes included gross with plus".split())
_WITHOUT_TAX_WORDS = frozenset("net ex exc excl excluding no without before less".split())
WORDS_BEFORE_TAXES = frozenset("inc incl including exc excl excluding ex".split())  # in questions: "incl VAT"
_RATE_WORDS = frozenset("per unit each hourly daily rate apiece single".split())


def rank_amount_name(words: Set[str]) -> int:
    """Returns how likely an amount with these words in its name is what the whole record costs or earns.

    4 for a total, 3 for a sum, 2 for a price or value, 1 for any other amount, 0 for a rate, -1 for a part of it.
    "Total tax" is a part and "total per unit" is a rate. "Total inc VAT" and "fee (no VAT)" are not the tax.
    """
    if words & TAX_WORDS and words & (_WITH_TAX_WORDS | _WITHOUT_TAX_WORDS):
        words = words - TAX_WORDS
    if words & _PART_WORDS:
        return -1
    if words & _RATE_WORDS:
        return 0
    tiers = ((4, _GRAND_TOTAL_WORDS), (3, _SUM_WORDS), (2, _WHOLE_WORDS))
    return next((rank for rank, names in tiers if words & names), 1)


def phrases_of_tax(label: str) -> tuple[str, ...]:
    """Returns what people say for an amount whose label says that a tax is in it, or is not; else nothing."""
    words = set(re.findall(r"[a-z]+", label.casefold()))
    if words & _WITH_TAX_WORDS and words & (TAX_WORDS | {"gross"}):
        said = (
            "inc {}",
            "incl {}",
            "including {}",
            "including the {}",
            "with {}",
            "with the {}",
            "{} included",
            "{} and all",
        )
    elif words & _WITHOUT_TAX_WORDS and words & (TAX_WORDS | {"net"}):
        said = (
            "ex {}",
            "excl {}",
            "excluding {}",
            "excluding the {}",
            "without {}",
            "without the {}",
            "before {}",
            "net of {}",
        )
    else:
        return ()
    taxes = sorted(words & TAX_WORDS) or ["vat", "tax"]
    return tuple(phrase.format(tax) for tax in taxes for phrase in said)
