"""Limits that a rule states, compared with the amount in a question: "a note is needed only after three days"."""

import re
from dataclasses import dataclass
from decimal import Decimal

from agent.english.function_words import STOP_WORDS
from storage.quantities.spelled_numbers import NUMBERS_BY_WORD, alternatives_of
from storage.search.analyser import fold_text

_FLAGS = re.IGNORECASE | re.VERBOSE
_NUMBER_PATTERN = rf"(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,9}}(?:\.\d{{1,2}})?|{alternatives_of(NUMBERS_BY_WORD)})"
_AMOUNT_PATTERN = rf"""(?: (?P<sign>[£$€]) [ ]? (?P<money>\d[\d,]{{0,12}}(?:\.\d\d)?)
    | (?<![\w.,]) (?P<number>{_NUMBER_PATTERN}) [ -]? (?P<nouns> % | [a-z]{{3,20}} (?: [ ] [a-z]{{3,20}} )? ) )"""
_AMOUNT = re.compile(_AMOUNT_PATTERN, _FLAGS)
_BEYOND = re.compile(
    r"\b (?: (?: longer | more | greater | higher ) [ ] than | over | above | exceed(?:s|ing)? ) [ ] $", _FLAGS
)
_WITHIN = re.compile(r"\b (?: up [ ] to | at [ ] most | maximum [ ] of ) [ ] $", _FLAGS)
_NEED = re.compile(r"\b (?: need(?:s|ed)? | require[sd]? | must | necessary | (?:have|has) [ ] to ) \b", _FLAGS)
_LEAVE = re.compile(r"\b (?: may | can | could | allowed | permitted | possible ) \b", _FLAGS)
_CASE = re.compile(r"\b (?: if | when | where | for | after | once | only ) \b", _FLAGS)
# A sentence with one of them holds in a part of the cases, or not at all.
_OTHER_CONDITION = re.compile(
    r"""\b (?: not | no | never | nobody | none | nothing | without | unless | except | but | until | otherwise | cannot
        | \w+n['’]t ) \b""",
    _FLAGS,
)
_NARROWING_START = re.compile(r"\W* (?: not | no | but | except | unless | only | this | that | it | if ) \b", _FLAGS)
_CLAUSE_END = re.compile(r";\s")
_KINDS_OF_DAYS = frozenset("working business school bank weekend".split())


@dataclass(frozen=True, slots=True)
class _StatedAmount:
    value: Decimal
    nouns: frozenset[str]  # a sign of a currency, or the nouns behind the number, in the singular
    start: int  # in the folded text

    def is_comparable(self, other: "_StatedAmount") -> bool:
        return bool(self.nouns & other.nouns) and self.nouns & _KINDS_OF_DAYS == other.nouns & _KINDS_OF_DAYS


def verdict_by_limit(sentence: str, claim: str) -> bool | None:
    """Whether an amount in the question is on the side of a limit for which the sentence says yes; None if unclear.

    Both must speak of a need, or both of leave: "needed only if you are away for *longer than three days*" says no to
    "do I need a note for *two days*?", and "*up to five days* may be carried over" says no to "can I carry over *six*
    days?". A sentence or a question with several amounts, or with another condition, tells nothing.
    """
    clause = _clause_with_amount(fold_text(sentence))
    asked, told = _amounts_in(fold_text(claim)), _amounts_in(clause)
    if len(asked) != 1 or len(told) != 1 or not asked[0].is_comparable(told[0]):
        return None
    if _OTHER_CONDITION.search(clause) or _OTHER_CONDITION.search(claim):
        return None
    needs = _NEED.search(clause) is not None and _NEED.search(claim) is not None
    leaves = _LEAVE.search(clause) is not None and _LEAVE.search(claim) is not None and not _NEED.search(claim)
    before = clause[: told[0].start]
    if _BEYOND.search(before) and _CASE.search(clause) and (needs or leaves):
        return asked[0].value > told[0].value
    return asked[0].value <= told[0].value if _WITHIN.search(before) and leaves else None


def _clause_with_amount(sentence: str) -> str:
    """Returns the part before or behind a semicolon that holds the amount; all, if another part narrows it."""
    clauses = _CLAUSE_END.split(sentence)
    holding = [clause for clause in clauses if _AMOUNT.search(clause)]
    narrows = any(_NARROWING_START.match(clause) for clause in clauses[1:])
    return holding[0] if len(holding) == 1 and not narrows else sentence


def _amounts_in(text: str) -> list[_StatedAmount]:
    return [
        _StatedAmount(
            value=_value_of(match["money"] or match["number"]),
            nouns=frozenset({match["sign"]} if match["sign"] else _nouns_of(match["nouns"])),
            start=match.start(),
        )
        for match in _AMOUNT.finditer(text)
    ]


def _value_of(number: str) -> Decimal:
    spelled = NUMBERS_BY_WORD.get(number)
    return Decimal(number.replace(",", "")) if spelled is None else Decimal(spelled)


def _nouns_of(words: str) -> set[str]:
    return {word.removesuffix("s") for word in words.split() if word not in STOP_WORDS}
