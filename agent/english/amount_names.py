"""Words in the names of amounts: which is the total of a record, and which are only parts of it or rates."""

from collections.abc import Set

_GRAND_TOTAL_WORDS = frozenset("total totals grand".split())
_SUM_WORDS = frozenset("sum overall gross amount payable".split())
_WHOLE_WORDS = frozenset("value price cost costs revenue turnover sales".split())
_PART_WORDS = frozenset(
    """tax taxes vat gst duty customs deposit discount rebate reduction material materials labour labor parts shipping
    freight postage delivery packaging handling travel tip gratuity surcharge supplement advance extras extra excess
    prepayment instalment installment downpayment credit penalty interest commission bonus allowance paid outstanding
    remaining""".split()
)
_RATE_WORDS = frozenset("per unit each hourly daily rate apiece single".split())


def rank_amount_name(words: Set[str]) -> int:
    """Returns how likely an amount with these words in its name is what the whole record costs or earns.

    4 for a total, 3 for a sum, 2 for a price or value, 1 for any other amount, 0 for a rate, -1 for a part of it.
    "Total tax" is a part and "total per unit" is a rate.
    """
    if words & _PART_WORDS:
        return -1
    if words & _RATE_WORDS:
        return 0
    tiers = ((4, _GRAND_TOTAL_WORDS), (3, _SUM_WORDS), (2, _WHOLE_WORDS))
    return next((rank for rank, names in tiers if words & names), 1)
