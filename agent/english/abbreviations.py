"""Abbreviations in the headers of office tables, and what people say for them: "GPhC Reg", "the registration"."""

from collections.abc import Iterator, Mapping
from itertools import product

# Each abbreviation with the words that it stands for, besides those by which `storage.ingest` finds synonyms.
_SPELLED_OUT: Mapping[str, tuple[str, ...]] = {
    "acc": ("account",), "appt": ("appointment",), "auth": ("authorised", "authorisation"), "bldg": ("building",),
    "cert": ("certificate",), "del": ("delivery", "delivered"), "deliv": ("delivery",),
    "elec": ("electric", "electricity", "electrics", "power"), "ins": ("insurance",),
    "hrs": ("hours",), "mins": ("minutes",),
    "max": ("highest", "peak"), "med": ("medicine",), "min": ("lowest",), "prev": ("previous",),
    "qual": ("qualification",), "rcvd": ("received",), "recd": ("received",), "rec'd": ("received",),
    "reg": ("registration", "registered"), "rep": ("representative",), "req": ("required", "requested"),
    "sched": ("schedule", "scheduled"), "vac": ("vacancy",), "veh": ("vehicle",), "wk": ("week",),
}  # fmt: skip
# Behind a label, the time that an amount is for: "Rent pw"
_PERIODS: Mapping[str, tuple[str, str]] = {
    "pw": ("week", "weekly"), "pcm": ("month", "monthly"), "pm": ("month", "monthly"), "pa": ("year", "annual"),
}  # fmt: skip
# The last word of a street's name, as it is written in short and in full: "Harbour St"
_STREETS = {
    "st": "street", "rd": "road", "ave": "avenue", "ln": "lane", "sq": "square", "cl": "close", "cres": "crescent",
    "gdns": "gardens", "pl": "place", "ct": "court", "dr": "drive", "blvd": "boulevard", "hse": "house",
}  # fmt: skip
OTHER_WORD_OF_STREET: Mapping[str, str] = _STREETS | {full: short for short, full in _STREETS.items()}
# Short forms that are written in small letters and are not the initials of a name
_SHORT_WORDS = frozenset(_STREETS) | frozenset(
    "mr ms mrs hr hrs wk wks yr yrs kg km cm mm ft lb lbs nr pls plz thx ltd th nd pt pts tbc btw pp vs".split()
)
_MAX_SPELLINGS = 6  # of a label with several abbreviations
_MIN_ACRONYM_LETTERS, _MAX_ACRONYM_LETTERS = 2, 4
_VOWELS = frozenset("aeiou")


def spell_out_label(label: str) -> Iterator[str]:
    """Yields the label with its abbreviations written out, if it has any: "Deliv date" as "delivery date".

    Of an amount for a time also what it is called without this: "Rent pw" as "rent", "weekly rent" and "rent per week".
    """
    *name, last = label.split() or [""]
    if name and last.strip("()").casefold() in _PERIODS:
        period, adjective = _PERIODS[last.strip("()").casefold()]
        amount = " ".join(name)
        yield from (amount, f"{adjective} {amount}", f"{amount} per {period}")
    choices = [(word, *_SPELLED_OUT.get(word.rstrip(".").casefold(), ())) for word in label.split()]
    for number, words in enumerate(product(*(choice[1:] or choice for choice in choices))):
        if number >= _MAX_SPELLINGS:
            return
        spelled = " ".join(words)
        if spelled != label:
            yield spelled


def acronyms_in(label: str) -> Iterator[str]:
    """Yields the words of the label that are written in capitals, in lower case: "RA received"."""
    for word in label.split():
        if word.isalpha() and word.isupper() and _MIN_ACRONYM_LETTERS <= len(word) <= _MAX_ACRONYM_LETTERS:
            yield word.casefold()


def initials_of(words: str) -> Iterator[str]:
    """Yields the first letters of the first two words of a name, of the first three, and so on."""
    letters = [word[:1].casefold() for word in words.split() if word[:1].isalpha()]
    for length in range(_MIN_ACRONYM_LETTERS, min(len(letters), _MAX_ACRONYM_LETTERS) + 1):
        yield "".join(letters[:length])


def may_be_acronym(word: str) -> bool:
    """Whether a word in lower case can be no English word: it has no vowel, as "bp" and "cctv", nor a short form."""
    is_short = _MIN_ACRONYM_LETTERS <= len(word) <= _MAX_ACRONYM_LETTERS
    return is_short and word not in _SHORT_WORDS and word.isalpha() and word.isascii() and _VOWELS.isdisjoint(word)
