"""Names: what a title calls the thing, who stands at the head of a slip, who made an agreement."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from storage.ingest.extract.candidates import Candidate
from storage.ingest.extract.days import days_in
from storage.ingest.extract.joining import key_of
from storage.ingest.extract.page import Cell, Page, lowered
from storage.ingest.extract.wording import any_of, words_of
from storage.search.schema import Schema

_LEGAL = (
    r"inc|incorporated|llc|l\.l\.c|ltd|limited|corp|corporation|company|co|l\.?p|llp|plc|gmbh|ag|s\.?a|n\.?v|b\.?v|lda|sdn|bhd"
    r"|pty|pte|s\.?à?\.?\s?r\.?l|s\.?p\.?a|s/a|a/s|kg|e\.v|ltda|aktiengesellschaft|fsb|trust|bank|university|association|foundation"
    r"|partners|partnership|holdings|group|authority"
)
_LEGAL_FORM = re.compile(rf"(?<![A-Za-z])(?:{_LEGAL})(?![A-Za-z])\.?", re.IGNORECASE)
_NAME_WORD = r"(?:[a-z]-[a-z]\w+|(?:[a-z]-?)?[A-Z0-9][\w&.'’/\-!]*|&|of|the|and|de|for|la|el|\([A-Z][\w.& ]{0,20}\))"
_NAME_BEFORE = re.compile(rf"{_NAME_WORD}(?:,?\s{{1,4}}{_NAME_WORD}){{0,9}},?\s{{0,4}}$")
_DESCRIBED = re.compile(
    r"(?P<name>(?<![A-Za-z-])(?:[a-z]-?)?[A-Z][\w&.'’\-]*(?:[ ]{1,3}(?:[A-Z(][\w&.'’\-)]*|of|the|and|&|de)){0,8}?"
    r"(?:,\s(?:Inc|LLC|L\.?P|Ltd|Corp)\.?)?)\s*,?\s{1,4}"
    r"(?:an? (?:[\w.-]+ ){0,4}(?:corporation|company|limited|partnership|individual|entity|trust|bank|person"
    r"|association|institution|university)"
    r"|\(\s?(?:hereinafter |the |referred to as |herein |collectively |together )*[\"“])"
)
_INTRO = re.compile(r"(?<![a-z])(?:by and between|by and among|between|among|amongst)(?![a-z])[\s:]{1,10}")
_WEAK_INTRO = re.compile(r"(?<![a-z])by(?![a-z])[\s:]{1,10}")
_LEADING = re.compile(
    r"(?:(?:and|the|by|of|between|among|for|agreement|whereas|exhibit|made|this|parties|are)[,:]?\s+)+", re.IGNORECASE
)
_TITLED = re.compile(
    r".*(?<![a-z])(?:between|among|agreement[.:]?|is|are|if|to|with|from|because|disclosed[.:]?|date[.:]|attorney-in-fact|officer"
    r"|director|president|secretary|treasurer|chairman|manager|signatory|title[.:]?|member|client\)"
    r"|(?:reseller|developer|licensor|licensee|distributor|supplier|customer|consultant|contractor|sponsor|lessor|lessee"
    r"|landlord|tenant|buyer|seller|purchaser)[,:]?)\s+(?=\S)",
    re.IGNORECASE | re.DOTALL,
)
_SENTENCE = re.compile(r".*(?<![A-Za-z])(?!(?i:corp|ltda|prof)\.)[A-Za-z]{4,}\.\s+(?=[A-Z])", re.DOTALL)
_NO_NAME = re.compile(
    r"(?<![a-z])(?:article|section|table of|agreement|page|exhibit|representations|hereinafter|commission|version|terms"
    r"|republic of|united states|united kingdom|for company|board of|administrator|officer|street|avenue|suite|floor)"
    r"(?![a-z])|\d\.\d|\d/\d"
)
_CAPTION = re.compile(r"source:\s*$")
_PLACED = re.compile(r"(?<![a-z])(?:in|at|near|under|laws of|state of|kingdom of|republic of)\s+(?:the\s+)?$")
_STATES = frozenset(("CO", "NV", "AG", "SA"))  # legal forms that behind a comma are places
_PARTY_LINE = re.compile(
    r"(?:Party|PARTY)\s+(?:[A-D]|One|Two|1|2)\s?[:：]\s{0,4}(?P<name>(?:[a-z]-?)?[A-Z][^\n;:()\"“]{3,80}?)(?=\n|[;(\"“]|\s{2,}|,\s+a\s)"
)
_BY = re.compile(r"(?<![A-Za-z])(?:By|BY)\s?:")
_INTRO_END = re.compile(
    r"(?<![a-z])(?:whereas|recitals?|witnesseth|background|now, therefore|preliminary statement|table of contents"
    r"|article (?:i|1)|section 1|in consideration of|the parties (?:hereto )?(?:hereby )?agree)(?![a-z])"
)
_TAIL, _ABOVE, _OPENING = 6_000, 90, 3_000  # characters: where signatures stand, the name above one, the head
_BETWEEN, _SHORTENED, _SIGNED = 0.85, 0.7, 0.55
_FEWEST, _FEW, _MANY = 2, 3, 0.3  # names from which on they are worth less
_ADDRESS = re.compile(r".*(?:\d[\w-]*,?|,)\s+(?:and|AND)\s+|.*\d{3,}[\w-]*,?\s+(?=[A-Z])", re.DOTALL)
_MORE_FORMS = re.compile(
    rf"(?:,?\s{{0,2}}(?!(?:company|bank|group|trust)(?![a-z]))(?:{_LEGAL})(?![A-Za-z])\.?){{1,2}}", re.IGNORECASE
)
_NATIONAL = re.compile(r"(?:\s[A-Z][A-Za-z]+){0,3},?\s{0,2}N\.\s?A(?![A-Za-z])\.?|\s+of(?:\s+[A-Z][a-z]+){1,2}")
_OF_PLACE = re.compile(
    r"(?P<name>(?:Bank|University|City|Town|County) of(?: [A-Z][A-Za-z.&'-]+){1,4}(?:,\s{1,2}N\.\s?A(?![A-Za-z])\.?)?)"
)
_SEVERAL = re.compile(r"(?<=\s)(?:and|And|AND)\s+(?=\S+\s+\S+\s+\S)")
_GENERIC = frozenset(  # words that alone are the name of nobody
    "holding holdings company co corporation joint venture ventures registered financial finance bank banks business "
    "investor investors group savings association non-banking limited liability partnership general trust partners "
    "services service effective date time acceptance confidential information national federal foreign owned wholly "
    "enterprise the of and & or for a an university name title provider foundation authority insurance client "
    "consultant contractor party parties abbreviations broker dealer trustee fund funds ownership".split()
)
_ARTICLE = re.compile(r"(?<![A-Za-z])an?\s+$")
_NO_PARTY = frozenset(
    "& section article agreement schedule exhibit each company bank corporation state this any such all either its a b "
    "c i ii 1 2 3 whereas january february march april june july august september october november december party "
    "parties".split()
)
_HEAD = 5_000
_INTRO_REACH = 1_000
_DULL = (
    r"receipt|invoice|tax invoice|bill|welcome|thank you|copy|original|duplicate|customer|order|table|cash|date|time"
    r"|tel|fax|phone|gst|vat|nif|page|no|fatura|recibo|guest check|check|reprint|simplified|full text|talao|factura"
    r"|document|www|http|factuur|rechnung|quittung|kassenbon|kassenzettel|beleg|facture|ticket de caisse|recu|boleta"
    r"|nota|fattura|ricevuta|scontrino|faktura|kvittering|kvitto|paragon|lasku|kuitti|proforma|pro forma|quotation"
    r"|quote|angebot|lieferschein|gutschrift|credit note|delivery note|packing slip|purchase order|statement of account"
)
_IS_DULL = re.compile(rf"(?:{_DULL})(?![a-z])")
_LABEL = re.compile(
    r"(?:(?P<seller>from|by|seller|vendor|merchant|supplier|store|shop|company|issued by|sold by)|[a-z][a-z .]{1,20})"
    r":\s+(?=\w)"
)
_LONGEST_LINE = 60  # characters of a line that can be a name
_MOSTLY_LETTERS = 0.5


# -- in the title


def titled(page: Page, schema: Schema, *, cut: bool) -> Iterator[Candidate]:
    """What title and text begin with alike; else the title without the kind of document and days, and with
    `cut` without what other fields' values say behind it.
    """
    first = next((line for line in page.lines() if page.text[line.start : line.end].strip()), None)
    if first and (common := _common_start(page.title, page.text[first.start : first.end])):
        start = page.text.index(common, first.start)
        yield Candidate(value=common, confidence=0.9, start=start, end=start + len(common))
    rest = _without(page.title, schema)
    if cut:
        rest = _before(rest, schema)
    if rest and rest != page.title.strip() and not _says_unknown(rest):
        at = page.low.find(rest.lower()) if rest.isascii() else page.text.find(rest)
        span = (at, at + len(rest)) if at >= 0 else (None, None)
        yield Candidate(value=rest, confidence=0.85, start=span[0], end=span[1])


def _common_start(title: str, line: str) -> str:
    """Whole words, fewer than all of the title's."""
    words, others = title.split(), line.split()
    count = 0
    while count < min(len(words), len(others)) and words[count] == others[count]:
        count += 1
    common = " ".join(words[:count])
    return common if 0 < count < len(words) and common in line else ""


def _without(title: str, schema: Schema) -> str:
    """The title without its document's kind, days, and what other fields' values say."""
    rest = title
    for day in reversed(days_in(title.lower(), day_first=False)):
        rest = f"{rest[: day.start]} {rest[day.end :]}"
    kinds = _kinds(tuple(schema.synonyms), schema.label, str(schema.bucket))
    if kinds:
        low = rest.lower()
        match = kinds.match(low.lstrip()) if len(low) == len(rest) else None
        if match:
            rest = rest.lstrip()[match.end() :]
    return " ".join(rest.split()).strip(" -:,|")


def _before(title: str, schema: Schema) -> str:
    """The title up to where a value of another field begins."""
    values = _values(tuple(value for one in schema.fields for value in one.values))
    match = values.search(lowered(title), 1) if values else None
    return title[: match.start()].strip(" -:,|") if match and match.start() > 1 else title


@lru_cache(maxsize=64)
def _values(values: tuple[str, ...]) -> re.Pattern[str] | None:
    return any_of(one for one in values if len(one) > 2)


@lru_cache(maxsize=64)
def _kinds(synonyms: tuple[str, ...], label: str, bucket: str) -> re.Pattern[str] | None:
    return any_of([*synonyms, label, bucket])


def _says_unknown(text: str) -> bool:
    return words_of(text)[:1] in (("unknown",), ("untitled",), ("unnamed",), ("no",))


# -- at the head of a slip


def at_head(page: Page) -> Iterator[Candidate]:
    """The first lines that could be a name; one with a legal form is likelier."""
    confidence = 0.62
    for number in range(min(8, len(page.line_starts))):
        line = page.line(number)
        cell = _unlabelled(page, page.trimmed(line.start, min(line.end, line.start + _LONGEST_LINE)))
        if not _is_name(page, cell):
            continue
        has_form = _LEGAL_FORM.search(page.text, cell.start, cell.end) is not None
        value = page.text[cell.start : cell.end].strip(" *-=_.:|")
        if len(value) < 2:
            continue
        yield Candidate(value=value, confidence=min(0.85, confidence + 0.2 * has_form), start=cell.start, end=cell.end)
        confidence -= 0.12
        if confidence < 0.3:
            return


def _unlabelled(page: Page, cell: Cell) -> Cell:
    """The name in `From: Acme Ltd`; nothing of a line that another label leads."""
    label = _LABEL.match(page.low, cell.start, cell.end)
    if label is None:
        return cell
    return page.trimmed(label.end(), cell.end if label["seller"] else label.end())


def _is_name(page: Page, cell: Cell) -> bool:
    text = page.low[cell.start : cell.end]
    letters = sum(c.isalpha() for c in text)
    return letters >= max(2, _MOSTLY_LETTERS * len(text)) and not _IS_DULL.match(text.strip(" *-=_.:|<>#"))


# -- who made an agreement


def parties(page: Page) -> Iterator[Candidate]:
    """Behind "between": names with a legal form, and those that are described or given a short name. Where nothing
    leads to them, those given a short name at the head, else those behind "by", else those that signed.
    """
    led = list[Cell]()  # a lone name behind the first that has one
    for intro in _INTRO.finditer(page.low, 0, _HEAD):
        found = _behind(page, intro)
        if len(_apart(page, found)) >= _FEWEST:
            yield from _told(page, found, _BETWEEN)
            return
        led = led or found
    found = _in_order([*led, *(one for one in _named_short(page) if not _overlaps(one, led))])
    if len(_apart(page, found)) >= _FEWEST:
        yield from _told(page, found, _SHORTENED)
        return
    for intro in () if led else _WEAK_INTRO.finditer(page.low, 0, _HEAD):
        made = _behind(page, intro)
        if len(_apart(page, made)) >= _FEWEST:
            yield from _told(page, made, _BETWEEN)
            return
    yield from _told(page, _in_order([*found, *_signed(page)]), _SIGNED)


def _behind(page: Page, intro: re.Match[str]) -> list[Cell]:
    return _in_order(_parties_in(page, intro.end(), _end_of_intro(page, intro.end())))


def _in_order(cells: Iterable[Cell]) -> list[Cell]:
    return sorted(cells, key=lambda one: one.start)


def _apart(page: Page, cells: Sequence[Cell]) -> set[str]:
    """The names that are no spellings of each other."""
    return {key_of(page.text[one.start : one.end]).letters for one in cells}


def _named_short(page: Page) -> Iterator[Cell]:
    """`Acme Inc. ("Acme")`, `Party A: Acme Inc.`, `Acme Inc., a Delaware corporation` at the head."""
    taken = list[Cell]()
    for pattern in (_PARTY_LINE, _DESCRIBED):
        for match in pattern.finditer(page.text, 0, _OPENING):
            cell = _led(page, match.start("name"), match.end("name"))
            if cell and not _overlaps(cell, taken) and _is_party(page, cell):
                taken.append(cell)
    yield from taken


def _signed(page: Page) -> Iterator[Cell]:
    """The names right above "By:" in the last part, with a legal form."""
    for by in _BY.finditer(page.text, max(0, len(page.text) - _TAIL)):
        forms = list(_LEGAL_FORM.finditer(page.text, max(0, by.start() - _ABOVE), by.start()))
        if not forms or not page.text[forms[-1].start()].isupper():
            continue
        form = forms[-1]
        before = _NAME_BEFORE.search(page.text, max(0, form.start() - 90), form.start())
        cell = _led(page, before.start(), form.end()) if before else None
        if cell and _is_party(page, cell):
            yield cell


def _end_of_intro(page: Page, start: int) -> int:
    stop = min(len(page.low), start + _INTRO_REACH)
    found = _INTRO_END.search(page.low, start, stop)
    return found.start() if found else stop


def _parties_in(page: Page, start: int, end: int) -> Sequence[Cell]:
    """A name without a form that "and" follows is half of a longer one, where two others stand beside it."""
    person = _person_at(page, start, end)
    found = list(_formed(page, start, end, [person])) if person else []
    return found if 0 < len(found) <= _FEWEST else list(_formed(page, start, end, []))


def _formed(page: Page, start: int, end: int, taken: list[Cell]) -> Iterator[Cell]:
    for form in _LEGAL_FORM.finditer(page.text, start, end):
        behind_comma = page.text[max(0, form.start() - 3) : form.start()].rstrip().endswith(",")
        if not (page.text[form.start()].isupper() or behind_comma):
            continue
        if any(cell.start <= form.start() < cell.end for cell in taken):
            continue
        if form[0] in _STATES and page.text[max(0, form.start() - 4) : form.start()].rstrip().endswith(","):
            continue  # Denver, CO
        first = max([start, form.start() - 90, *(one.end for one in taken if one.end <= form.start())])
        before = _NAME_BEFORE.search(page.text, first, form.start())
        cell = _led(page, before.start(), _end_of_name(page, form)) if before else None
        if cell and _is_party(page, cell) and not _overlaps(cell, taken):
            taken.append(cell)
    for pattern in (_OF_PLACE, _DESCRIBED):
        for match in pattern.finditer(page.text, start, end):
            cell = _led(page, match.start("name"), match.end("name"))
            if cell and not _overlaps(cell, taken) and _is_party(page, cell) and not _is_placed(page, cell):
                taken.append(cell)
    yield from taken


def _end_of_name(page: Page, form: re.Match[str]) -> int:
    """`Acme Bank` of `Acme Bank, N.A.`, `Acme Bank of Ohio`, `Acme Co., Ltd.`"""
    low = form[0].lower()
    if low in ("bank", "university") and (more := _NATIONAL.match(page.text, form.end(), form.end() + 60)):
        return more.end()
    further = _MORE_FORMS.match(page.text, form.end(), form.end() + 24)
    return further.end() if further else form.end()


_PERSON = re.compile(
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)?[A-Z][\w.'’-]*(?:\s[A-Z][\w.'’-]*){1,3}(?=,?\s+(?:and|AND)\s|\s*,\s+an?\s+individual)"
)


def _person_at(page: Page, start: int, end: int) -> Cell | None:
    """A name right behind "between" that "and" follows: it needs no legal form."""
    match = _PERSON.match(page.text, start, end)
    if match is None or _LEGAL_FORM.search(page.text, match.start(), match.end()):
        return None
    cell = Cell(match.start(), match.end())
    return cell if _is_party(page, cell) else None


def _is_placed(page: Page, cell: Cell) -> bool:
    """Whether a name without a legal form is the last part of an address: `…, 9 Pine Road, Hong Kong ("Acme")`."""
    before = page.text[max(0, cell.start - 12) : cell.start].rstrip()
    has_form = _LEGAL_FORM.search(page.text, cell.start, cell.end) is not None
    return not has_form and (before.endswith(",") or before[-1:].isdigit())


def _is_party(page: Page, cell: Cell) -> bool:
    """Whether it can be a name: several words, no clause, no place and its form ("a Nevada Corporation")."""
    words = page.text[cell.start : cell.end].split()
    if all(one.strip(".,()").casefold() in _GENERIC for one in words) or _is_joined_role(words):
        return False
    is_led = words[0].casefold().strip(".,") in _NO_PARTY and words[1:2] != ["of"]
    if len(words) < 2 or is_led or words[-1].casefold() in ("of", "and"):
        return False
    if _NO_NAME.search(page.low, cell.start, cell.end) or _PLACED.search(page.low, max(0, cell.start - 20), cell.start):
        return False
    before = max(0, cell.start - 12)
    return not (_ARTICLE.search(page.text, before, cell.start) or _CAPTION.search(page.low, before, cell.start))


def _is_joined_role(words: Sequence[str]) -> bool:
    """`Acme and Company`: two of the short names that an agreement gives."""
    return len(words) >= _FEW and words[-2].casefold() in ("and", "&") and words[-1].casefold() in _GENERIC


def _overlaps(cell: Cell, taken: Sequence[Cell]) -> bool:
    return any(cell.start < other.end and other.start < cell.end for other in taken)


def _led(page: Page, start: int, end: int) -> Cell | None:
    """The name without what leads to it: an address, the party before it, "by and between the"."""
    for lead in (_ADDRESS, _SENTENCE, _TITLED, _LEADING):
        found = lead.match(page.text, start, end)
        start = found.end() if found and found.end() < end else start
    for several in _SEVERAL.finditer(page.text, start, end):
        if _LEGAL_FORM.search(page.text, start, several.start()):
            start = several.end()
    cell = page.trimmed(start, end)
    return cell if cell.end - cell.start > 3 else None


def _told(page: Page, cells: Sequence[Cell], sure: float) -> Iterator[Candidate]:
    said = set[str]()
    for cell in cells:
        value = " ".join(page.text[cell.start : cell.end].split()).strip(" ,;")
        if value.casefold() not in said:
            confidence = sure if len(said) < _FEW else sure - _MANY
            said.add(value.casefold())
            yield Candidate(value=(value,), confidence=confidence, start=cell.start, end=cell.end)


_ROLE_BOUND = re.compile(
    r"(?<![a-z])(?:between|among|amongst|by|from|to)(?![a-z])[\s:]+|\"\s*\)[\s,;]*(?:and\s+)?|\n\s*\n"
)
_ROLE_REACH = 400  # characters from a name to the short name that it is given
_FIRST_NAME = re.compile(
    r"[\s,;-]*(?i:of the \w+ part)?[\s,;-]*(?i:and)?[\s,;-]*(?:the\s+)?"
    r"(?P<name>(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)?[A-Z][\w.'’&-]*(?:\s[A-Z&][\w.'’&-]*){1,5})"
)


def called(page: Page, role: re.Pattern[str]) -> Iterator[Candidate]:
    """Who is given the role as a short name: `Orlo Limited, of 9 Pine Road (the "Tenant")`."""
    for match in islice(re.finditer(rf'"\s?(?:the\s+)?{role.pattern}\s?"', page.low[:_HEAD]), _FEW):
        start = max(0, match.start() - _ROLE_REACH)
        bounds = [bound.end() for bound in _ROLE_BOUND.finditer(page.low, start, match.start())]
        cell = _first_named(page, bounds[-1] if bounds else start, match.start())
        if cell:
            value = " ".join(page.text[cell.start : cell.end].split()).strip(" ,;")
            yield Candidate(value=value, confidence=_BETWEEN, start=cell.start, end=cell.end)


def _first_named(page: Page, start: int, end: int) -> Cell | None:
    formed = _in_order(_formed(page, start, end, []))
    first = None if formed else _FIRST_NAME.match(page.text, start, end)
    return formed[0] if formed else Cell(first.start("name"), first.end("name")) if first else None


# -- what an agreement is called


_HEADING = re.compile(
    r"(?<![A-Za-z])[A-Z][A-Za-z&,/'’\-. ]{2,80}?(?:AGREEMENT|Agreement|CONTRACT|Contract|LICENSE|License|LEASE|Lease"
    r"|PLAN|Plan|POLICY|Policy|STATEMENT|Statement)(?![A-Za-z])"
    r"(?:(?: (?!This|THIS)[A-Z][A-Za-z]*| and| AND|,| &){0,5} (?:AGREEMENT|Agreement)(?![A-Za-z]))?"
)


_NO_HEADING = re.compile(
    r"(?:.*\.\s+(?=[A-Z]{2}))?(?:(?:exhibit|annex|appendix|schedule|attachment)\s+[A-Z0-9][A-Z0-9.-]{0,5}\s+"
    r"|execution (?:copy|version)\s+|conformed copy\s+|(?:this|the|to the|to)\s+)*",
    re.IGNORECASE,
)


def heading(page: Page) -> Iterator[Candidate]:
    """The first words at the head that name a kind of paper; "agreement" alone tells nothing."""
    for match in _HEADING.finditer(page.text, 0, 3_000):
        before = _NO_HEADING.match(page.text, match.start(), match.end())
        cell = page.trimmed(before.end() if before else match.start(), match.end())
        words = page.text[cell.start : cell.end].split()
        if len(words) > 1:
            yield Candidate(value=" ".join(words), confidence=0.7, start=cell.start, end=cell.end)
            return
