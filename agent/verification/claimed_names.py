"""Names, identifiers, addresses and quotations of a sentence, and whether a text holds them."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from agent.english.function_words import FORMS_OF_BE, LEGAL_FORMS, LINKING_VERBS, MODAL_VERBS, STOP_WORDS
from storage.quantities.calendar_arithmetic import MONTHS, WEEKDAYS
from storage.quantities.days import MONTH_NUMBERS
from storage.quantities.money import CURRENCY_CODES
from storage.quantities.spelled_numbers import parse_spelled_number
from storage.quantities.units import parse_unit
from storage.search.analyser import fold_text
from storage.text.noun_classes import ADDRESSEE_NOUNS, PERIOD_NOUNS, PERSON_NOUNS, PLACE_NOUNS

_NOUNS_IN_CAPITALS = frozenset({"de", "lb"})  # languages that write every noun with a capital letter
_MIN_SHARED_PREFIX = 4  # characters that two forms of one word share
_MAX_ENDING = 3  # characters in which they may differ
_MIN_QUOTED_CHARACTERS = 2
_TOKEN = re.compile(r"[^\W_]+(?:[-.&/][^\W_]+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;|]\s)[\s\"“„«‘'(*•-]*$")
_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>\"“”]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![\w@.])(?:[a-z0-9-]+\.)+[a-z]{2,}(?![\w@])(?:/[^\s<>\"“”]*)?|(?<!\w)@\w+|<[!@#][^>\s]*>?",
    re.IGNORECASE,
)
_QUOTATION = re.compile(r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|\"([^\"]+)\"|(?<!\w)‘([^‘’]+)’(?!\w)")
_QUARTER = re.compile(r"[QT][1-4] (?:19|20)\d\d\b")
_OMISSION = re.compile(r"\[?(?:…|\.\.\.)\]?")
_SIGNS_IN_QUOTATIONS = str.maketrans(
    {**dict.fromkeys("“”„«»\"‘’'`´", ""), **dict.fromkeys("‐‑‒–—−", "-"), "\u00ad": "", "\u200b": ""}
)
_CALENDAR_NAMES = frozenset({*MONTHS, *WEEKDAYS, *(name for name in MONTH_NUMBERS if len(name) > 3)})
_TITLES = frozenset("mr mrs ms dr prof herr frau sir mme mlle monsieur madame señor señora don doña".split())
_LEGAL_FORMS = LEGAL_FORMS | frozenset("gmbh ag kg ohg se sarl sas sa srl nv bv oy ab as plc llc inc ltd".split())
_VERBS_AFTER_NAMES = FORMS_OF_BE | LINKING_VERBS | MODAL_VERBS
_ORDINARY_ENDINGS = tuple(
    "ly tion sion ment ance ence ing ity ness ship ism age ure ers ors ees ies ts ns ds ks gs ms".split()
)
# Words that begin sentences without an article
_WORDS_WITHOUT_ARTICLE = (
    STOP_WORDS
    | PLACE_NOUNS
    | PERIOD_NOUNS
    | PERSON_NOUNS
    | ADDRESSEE_NOUNS
    | frozenset(
        """access advice alcohol anyone approval breakfast business care cash change coffee consent cost credit damage
        data demand dinner dust electricity entry equipment everyone everything feedback food freight fuel gas heat
        heating help income information interest labour law leave liability lunch mail maintenance material money music
        news nobody noise nothing notice oil overtime parking payroll post postage power price production profit
        progress quality rain rent research revenue risk safety sales scrap sick smoke snow software someone something
        stock storage subject supply support tax time title traffic transport travel turnover usage use value waste
        water wear weather wind work working""".split()
    )
)


def find_unsupported_name(
    sentence: str, evidence: str, question: str, language: str, other_words: frozenset[str] = frozenset()
) -> str | None:
    """Returns a name or identifier of the sentence that neither the evidence nor the question holds; None if there is
    none.

    Names are words in capitals, words with capitals inside, words with letters and digits, and words with a capital
    letter. At the start of a sentence, and in languages that write nouns with a capital letter, such a word counts only
    beside another sign of a name. `other_words` are folded words that may occur as well.
    """
    known = words_of_text(evidence) | words_of_text(question) | other_words
    return next((name for name in _find_names(sentence, known, language) if not _is_known(name, known)), None)


def _find_names(sentence: str, known: frozenset[str], language: str) -> Iterator[str]:
    text = _ADDRESS.sub(" ", sentence)
    tokens = list(_TOKEN.finditer(text))
    for position, match in enumerate(tokens):
        token = match[0]
        if token.islower() and token.isalpha():
            continue  # most words
        if not token[0].isupper() and not _is_identifier_like(token):
            continue
        if _is_part_of_figure(token, text[: match.start()]) or token in ("I", "A"):
            continue
        if _QUARTER.match(text, match.start()) is not None:
            continue  # it is checked as a period
        if _has_currency_sign(text[: match.start()][-1:] + text[match.end() : match.end() + 1]):
            continue  # "$US", "CA$", "£GB"
        following = tokens[position + 1][0] if position + 1 < len(tokens) else ""
        before = tokens[position - 1][0] if position else ""
        is_start = _SENTENCE_START.search(text[: match.start()]) is not None
        if (
            _is_identifier_like(token)
            or _stands_beside_name_sign(before, following)
            or (language not in _NOUNS_IN_CAPITALS and not is_start)
            or (is_start and _reads_as_name(token, following, language))
        ):
            yield token


def _has_currency_sign(characters: str) -> bool:
    return any(unicodedata.category(character) == "Sc" for character in characters)


def _is_part_of_figure(token: str, before: str) -> bool:
    """Whether the word belongs to a day, an amount or a number, which are checked as such: `June`, `EUR`, `5 W`."""
    is_unit = before.rstrip()[-1:].isdigit() and parse_unit(token) is not None
    is_number = parse_spelled_number(token) is not None
    return is_unit or is_number or fold_text(token) in _CALENDAR_NAMES or token in CURRENCY_CODES


def _is_identifier_like(token: str) -> bool:
    """`B-120`, `NASA`, `iPhone`; not `12th`, which is a number."""
    letters = [character for character in token if character.isalpha()]
    has_inner_capital = any(character.isupper() for character in token[1:] if character.isalpha())
    has_digit = any(character.isdigit() for character in token)
    if has_digit:
        return len(letters) > 0 and token[0].isalpha()
    return len(letters) > 1 and has_inner_capital and not all(part[:1].isupper() and part[1:].islower()
                                                             for part in re.split(r"[-.&/]", token))  # fmt: skip


def _stands_beside_name_sign(before: str, following: str) -> bool:
    return (following[:1].isupper() and fold_text(following) in _LEGAL_FORMS) or fold_text(before) in _TITLES


def _reads_as_name(token: str, following: str, language: str) -> bool:
    """Whether the first word of a sentence is a name, and no ordinary word with the capital of its place."""
    folded = fold_text(token)
    if folded in _WORDS_WITHOUT_ARTICLE or language in _NOUNS_IN_CAPITALS:
        return False
    if following[:1].isupper() and fold_text(following) not in _CALENDAR_NAMES:
        return not folded.endswith(_ORDINARY_ENDINGS)
    is_subject = fold_text(following) in _VERBS_AFTER_NAMES or (following.islower() and following.endswith("s"))
    return language in ("en", "") and is_subject and not folded.endswith(_ORDINARY_ENDINGS)


@lru_cache(maxsize=512)
def words_of_text(text: str) -> frozenset[str]:
    """The words of the text, folded, and the parts of those with a hyphen or the like."""
    tokens = {fold_text(match[0]) for match in _TOKEN.finditer(text)}
    parts = {part for token in tokens for part in re.split(r"[-.&/]", token) if part}
    return frozenset(tokens | parts)


def _is_known(name: str, known: frozenset[str]) -> bool:
    folded = fold_text(name)
    if folded in known:
        return True
    if _is_identifier_like(name) and any(character.isdigit() for character in name):
        return False
    parts = [part for part in re.split(r"[-.&/]", folded) if part]
    return all(part in known or _is_inflected(part, known) for part in parts)


def _is_inflected(word: str, known: frozenset[str]) -> bool:
    """Whether a known word is the same but for its ending: `Supplier's`, `Suppliers`."""
    shared = max(_MIN_SHARED_PREFIX, len(word) - _MAX_ENDING)
    if len(word) < _MIN_SHARED_PREFIX:
        return False
    return any(other[:shared] == word[:shared] and abs(len(other) - len(word)) <= _MAX_ENDING for other in known)


# -- addresses


def find_unsupported_address(sentence: str, evidence: str) -> str | None:
    """Returns an address of the web or of mail, or a mention (`@all`), that the evidence lacks; else None."""
    folded = fold_text(evidence)
    addresses = (match[0].rstrip(".,;:!?)’'\"*_") for match in _ADDRESS.finditer(sentence))
    return next((address for address in addresses if fold_text(address) not in folded), None)


# -- quotations


def find_unsupported_quotation(sentence: str, quote: str, evidence: str, question: str) -> str | None:
    """Returns a quotation that is not in the evidence word for word; None if there is none.

    White space, case, and the forms of quotation marks and dashes do not count. `…` stands for left out words. Words in
    quotation marks may also be the question's.
    """
    known, asked = _fold_quotation(evidence), _fold_quotation(question)
    quoted = [next(group for group in match.groups() if group) for match in _QUOTATION.finditer(sentence)]
    for text in quoted:
        if not _holds_quotation(text, known) and not _holds_quotation(text, asked):
            return text
    return quote if quote.strip() and not _holds_quotation(quote, known) else None


def quotations_in(sentence: str) -> list[str]:
    """Returns the texts between quotation marks, in order."""
    return [next(group for group in match.groups() if group) for match in _QUOTATION.finditer(sentence)]


def is_quoted_from(quotation: str, text: str) -> bool:
    """Whether the text holds the quotation word for word."""
    return _holds_quotation(quotation, _fold_quotation(text))


def _holds_quotation(text: str, folded_evidence: str) -> bool:
    """Whether all its parts appear in the evidence, in order."""
    start = 0
    for part in _OMISSION.split(text):
        folded = _fold_quotation(part).strip(" .,;:")
        if len(folded) < _MIN_QUOTED_CHARACTERS:
            continue
        place = folded_evidence.find(folded, start)
        if place < 0:
            return False
        start = place + len(folded)
    return True


@lru_cache(maxsize=512)
def _fold_quotation(text: str) -> str:
    return " ".join(fold_text(text.translate(_SIGNS_IN_QUOTATIONS)).split())
