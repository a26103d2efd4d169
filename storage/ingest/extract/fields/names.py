"""Names: in titles, at the head of a slip, of the parties of an agreement, and of the agreement itself."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.document_text import DocumentText, TextSpan, fold_characters
from storage.ingest.extract.field_patterns import any_phrase_pattern, words_of_phrase
from storage.ingest.extract.labels.forms.references import REFERENCE_PATTERN
from storage.ingest.extract.name_variants import name_key_of
from storage.quantities.days import ENGLISH_MONTHS, find_dates
from storage.search.schema import Schema

_LEGAL_FORM_WORDS = (
    r"inc|incorporated|llc|l\.l\.c|ltd|limited|corp|corporation|company|co|l\.?p|llp|plc|gmbh|ag|s\.?a|n\.?v|b\.?v"
    r"|lda|sdn|bhd"
    r"|pty|pte|s\.?à?\.?\s?r\.?l|s\.?p\.?a|s/a|a/s|kg|e\.v|ltda|aktiengesellschaft|fsb|trust|bank|university"
    r"|association|foundation"
    r"|partners|partnership|holdings|group|authority"
)
_LEGAL_FORM = re.compile(rf"(?<![A-Za-z])(?:{_LEGAL_FORM_WORDS})(?![A-Za-z])\.?", re.IGNORECASE)
_NAME_WORD = r"(?:[a-z]-[a-z]\w+|(?:[a-z]-?)?[A-Z0-9][\w&.'’/\-!]*|&|of|the|and|de|for|la|el|\([A-Z][\w.& ]{0,20}\))"
_NAME_BEFORE = re.compile(rf"{_NAME_WORD}(?:,?\s{{1,4}}{_NAME_WORD}){{0,9}},?\s{{0,4}}$")
_DESCRIBED_NAME = re.compile(
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
_LEAD_IN_WORDS = re.compile(
    r".*(?<![a-z])(?:between|among|agreement[.:]?|is|are|if|to|with|from|because|disclosed[.:]?|date[.:]"
    r"|attorney-in-fact|officer"
    r"|director|president|secretary|treasurer|chairman|manager|signatory|title[.:]?|member|client\)"
    r"|(?:reseller|developer|licensor|licensee|distributor|supplier|customer|consultant|contractor|sponsor|lessor"
    r"|lessee"
    r"|landlord|tenant|buyer|seller|purchaser)[,:]?)\s+(?=\S)",
    re.IGNORECASE | re.DOTALL,
)
_SENTENCE_BEFORE_NAME = re.compile(r".*(?<![A-Za-z])(?!(?i:corp|ltda|prof)\.)[A-Za-z]{4,}\.\s+(?=[A-Z])", re.DOTALL)
_NOT_IN_NAMES = re.compile(
    r"(?<![a-z])(?:article|section|table of|agreement|page|exhibit|representations|hereinafter|commission|version|terms"
    r"|republic of|united states|united kingdom|for company|board of|administrator|officer|street|avenue|suite|floor)"
    r"(?![a-z])|\d\.\d|\d/\d"
)
_SOURCE_CAPTION = re.compile(r"source:\s*$")
_PLACE_LEAD_IN = re.compile(r"(?<![a-z])(?:in|at|near|under|laws of|state of|kingdom of|republic of)\s+(?:the\s+)?$")
_FORMS_THAT_ARE_STATES = frozenset(("CO", "NV", "AG", "SA"))  # after a comma these legal forms are places
_PARTY_LINE = re.compile(
    r"(?:Party|PARTY)\s+(?:[A-D]|One|Two|1|2)\s?[:：]\s{0,4}(?P<name>(?:[a-z]-?)?[A-Z][^\n;:()\"“]{3,80}?)(?=\n"
    r"|[;(\"“]|\s{2,}|,\s+a\s)"
)
_SIGNATURE_BY = re.compile(r"(?<![A-Za-z])(?:By|BY)\s?:")
_INTRO_END = re.compile(
    r"(?<![a-z])(?:whereas|recitals?|witnesseth|background|now, therefore|preliminary statement|table of contents"
    r"|article (?:i|1)|section 1|in consideration of|the parties (?:hereto )?(?:hereby )?agree)(?![a-z])"
)
_TAIL_CHARACTERS = 6_000  # where signatures are
_ABOVE_CHARACTERS = 90  # above a signature, where the signing party is named
_OPENING_CHARACTERS = 3_000  # where an agreement describes its parties
_BETWEEN_CONFIDENCE, _SHORT_NAME_CONFIDENCE, _SIGNATURE_CONFIDENCE = 0.85, 0.7, 0.55
_MIN_PARTIES = 2  # of an agreement
_USUAL_PARTIES = 3  # the usual maximum
_MANY_PARTIES_PENALTY = 0.3  # for each name after the usual number of parties
_ADDRESS_BEFORE_NAME = re.compile(r".*(?:\d[\w-]*,?|,)\s+(?:and|AND)\s+|.*\d{3,}[\w-]*,?\s+(?=[A-Z])", re.DOTALL)
_MORE_FORMS = re.compile(
    rf"(?:,?\s{{0,2}}(?!(?:company|bank|group|trust)(?![a-z]))(?:{_LEGAL_FORM_WORDS})(?![A-Za-z])\.?){{1,2}}",
    re.IGNORECASE,
)
_BANK_NAME_END = re.compile(r"(?:\s[A-Z][A-Za-z]+){0,3},?\s{0,2}N\.\s?A(?![A-Za-z])\.?|\s+of(?:\s+[A-Z][a-z]+){1,2}")
_NAME_OF_PLACE = re.compile(
    r"(?P<name>(?:Bank|University|City|Town|County) of(?: [A-Z][A-Za-z.&'-]+){1,4}(?:,\s{1,2}N\.\s?A(?![A-Za-z])\.?)?)"
)
_NAME_CONJUNCTION = re.compile(r"(?<=\s)(?:and|And|AND)\s+(?=\S+\s+\S+\s+\S)")
_GENERIC_WORDS = frozenset(  # words that alone are not a name
    "holding holdings company co corporation joint venture ventures registered financial finance bank banks business "
    "investor investors group savings association non-banking limited liability partnership general trust partners "
    "services service effective date time acceptance confidential information national federal foreign owned wholly "
    "enterprise the of and & or for a an university name title provider foundation authority insurance client "
    "consultant contractor party parties abbreviations broker dealer trustee fund funds ownership".split()
)
_ARTICLE = re.compile(r"(?<![A-Za-z])an?\s+$")
_NOT_PARTY_WORDS = frozenset(
    "& section article agreement schedule exhibit each company bank corporation state this any such all either its a b "
    "c i ii 1 2 3 whereas party parties".split()
) | {month.lower() for month in ENGLISH_MONTHS if month != "May"}
_HEAD_CHARACTERS = 5_000
_INTRO_CHARACTERS = 1_000
_NOT_NAME_WORDS = (
    r"receipt|invoice|tax invoice|bill|welcome|thank you|copy|original|duplicate|customer|order|table|cash|date|time"
    r"|tel|fax|phone|gst|vat|nif|page|no|fatura|recibo|guest check|check|reprint|simplified|full text|talao|factura"
    r"|document|www|http|factuur|rechnung|quittung|kassenbon|kassenzettel|beleg|facture|ticket de caisse|recu|boleta"
    r"|nota|fattura|ricevuta|scontrino|faktura|kvittering|kvitto|paragon|lasku|kuitti|proforma|pro forma|quotation"
    r"|quote|angebot|lieferschein|gutschrift|credit note|delivery note|packing slip|purchase order|statement of account"
)
_NOT_NAME_PATTERN = re.compile(rf"(?:{_NOT_NAME_WORDS})(?![a-z])")
_LINE_LABEL = re.compile(
    r"(?:(?P<seller>from|by|seller|vendor|merchant|supplier|store|shop|company|issued by|sold by)|[a-z][a-z .]{1,20})"
    r":\s+(?=\w)"
)
_NAME_BEFORE_MARKS = re.compile(r"[\s*=_|.:-]*(?P<name>\w[^*|=_•·\n]*?)\s*(?:\*{2,}|[|•·]|={2,}|_{2,}|\s{3,}).*")
_MAX_NAME_LINE_CHARACTERS = 60  # of a line that can be a name
_MIN_LETTER_SHARE = 0.5
_VERB = re.compile(r" (?:is|are|was|were|will|shall|has|have|ist|sind|war|est|sont|es|son) ")
_DOCUMENT_NUMBER_CONFIDENCE = 0.4


# -- in the title


def title_candidates(
    document: DocumentText, schema: Schema, *, cut_at_values: bool, names_number: bool
) -> Iterator[ValueCandidate]:
    """The words that title and text both begin with; and the title without the kind of document and its days.

    With `cut_at_values` the title ends where a value of another field begins. `names_number`: the field can hold the
    number of the document; for another field `SR-17` in "Service report SR-17" is doubtful.
    """
    first = next((line for line in document.lines_from() if document.text[line.start : line.end].strip()), None)
    if first and (common := _common_title_start(document.title, document.text[first.start : first.end])):
        start = document.text.index(common, first.start)
        yield ValueCandidate(value=common, confidence=0.9, start=start, end=start + len(common))
    rest = _strip_kind_and_dates(document.title, schema)
    if cut_at_values:
        rest = _cut_at_other_value(rest, schema)
    if rest.startswith("(") and rest.endswith(")"):  # the file or the number that tells "INVOICE" from others
        rest = rest[1:-1] if names_number else ""
    if rest and rest != document.title.strip() and not _is_unknown_title(rest):
        index = document.folded.find(rest.lower()) if rest.isascii() else document.text.find(rest)
        span = (index, index + len(rest)) if index >= 0 else (None, None)
        kind = _kind_at_start(document.title, schema)
        is_number = bool(kind) and REFERENCE_PATTERN.fullmatch(rest) is not None
        has_initials = rest.partition("-")[0].casefold() == "".join(word[0] for word in kind.split())
        confidence = _DOCUMENT_NUMBER_CONFIDENCE if is_number and (has_initials or not names_number) else 0.85
        yield ValueCandidate(value=rest, confidence=confidence, start=span[0], end=span[1])


def _common_title_start(title: str, line: str) -> str:
    """The whole words that both begin with; empty where they are all words of the title."""
    words, others = title.split(), line.split()
    count = 0
    while count < min(len(words), len(others)) and words[count] == others[count]:
        count += 1
    common = " ".join(words[:count])
    return common if 0 < count < len(words) and common in line else ""


def _strip_kind_and_dates(title: str, schema: Schema) -> str:
    """The title without the kind of document at its beginning and without days."""
    rest = title
    for day in reversed(find_dates(title.lower(), day_first=False)):
        rest = f"{rest[: day.start]} {rest[day.end :]}"
    kinds = _document_kind_pattern(tuple(schema.synonyms), schema.label, str(schema.bucket))
    if kinds:
        lowered = rest.lower()
        match = kinds.match(lowered.lstrip()) if len(lowered) == len(rest) else None
        if match:
            rest = rest.lstrip()[match.end() :]
    return " ".join(rest.split()).strip(" -:,|")


def _kind_at_start(title: str, schema: Schema) -> str:
    """The kind of document that the title begins with, in small letters."""
    kinds = _document_kind_pattern(tuple(schema.synonyms), schema.label, str(schema.bucket))
    match = kinds.match(title.lower().lstrip()) if kinds else None
    return match[0] if match else ""


def _cut_at_other_value(title: str, schema: Schema) -> str:
    """The title up to the first value of another field."""
    values = _value_pattern(tuple(value for field in schema.fields for value in field.values))
    match = values.search(fold_characters(title), 1) if values else None
    return title[: match.start()].strip(" -:,|") if match and match.start() > 1 else title


@lru_cache(maxsize=64)
def _value_pattern(values: tuple[str, ...]) -> re.Pattern[str] | None:
    return any_phrase_pattern(value for value in values if len(value) > 2)


@lru_cache(maxsize=64)
def _document_kind_pattern(synonyms: tuple[str, ...], label: str, bucket: str) -> re.Pattern[str] | None:
    return any_phrase_pattern([*synonyms, label, bucket])


def _is_unknown_title(text: str) -> bool:
    return words_of_phrase(text)[:1] in (("unknown",), ("untitled",), ("unnamed",), ("no",))


# -- at the head of a slip


def head_name_candidates(document: DocumentText) -> Iterator[ValueCandidate]:
    """The first lines that could be a name; a line with a legal form is more confident."""
    confidence = 0.62
    for number in range(min(8, len(document.line_starts))):
        line = document.line_by_number(number)
        if _is_running_text(document, line):
            continue
        cell = _strip_label(
            document, document.trim_span(line.start, min(line.end, line.start + _MAX_NAME_LINE_CHARACTERS))
        )
        if not _could_be_name(document, cell):
            continue
        if form := _NAME_BEFORE_MARKS.match(document.text, cell.start, cell.end):  # "** Acme Ltd **  14 Forge Way"
            cell = document.trim_span(*form.span("name"))
        has_form = _LEGAL_FORM.search(document.text, cell.start, cell.end) is not None
        value = document.text[cell.start : cell.end].strip(" *-=_.:|")
        if len(value) < 2:
            continue
        yield ValueCandidate(
            value=value, confidence=min(0.85, confidence + 0.2 * has_form), start=cell.start, end=cell.end
        )
        confidence -= 0.12
        if confidence < 0.3:
            return


def _is_running_text(document: DocumentText, line: TextSpan) -> bool:
    """Whether a line is too long for a name, and has a sentence in it."""
    return line.end - line.start > _MAX_NAME_LINE_CHARACTERS and bool(
        _VERB.search(document.folded, line.start, line.start + _MAX_NAME_LINE_CHARACTERS)
    )


def _strip_label(document: DocumentText, cell: TextSpan) -> TextSpan:
    """The name in `From: Acme Ltd`; an empty span for a line with another label."""
    label = _LINE_LABEL.match(document.folded, cell.start, cell.end)
    if label is None:
        return cell
    return document.trim_span(label.end(), cell.end if label["seller"] else label.end())


def _could_be_name(document: DocumentText, cell: TextSpan) -> bool:
    text = document.folded[cell.start : cell.end]
    letters = sum(c.isalpha() for c in text)
    return letters >= max(2, _MIN_LETTER_SHARE * len(text)) and not _NOT_NAME_PATTERN.match(text.strip(" *-=_.:|<>#"))


# -- the parties of an agreement


def party_candidates(document: DocumentText) -> Iterator[ValueCandidate]:
    """The names after "between": with a legal form, a description, or a short name. Else the names at the head that get
    a short name, else the names after "by", else the names of the signatures.
    """
    lone_names = list[TextSpan]()  # after the first "between" that has any
    for intro in _INTRO.finditer(document.folded, 0, _HEAD_CHARACTERS):
        parties = _parties_behind(document, intro)
        if len(_distinct_names(document, parties)) >= _MIN_PARTIES:
            yield from _name_candidates(document, parties, _BETWEEN_CONFIDENCE)
            return
        lone_names = lone_names or parties
    others = (cell for cell in _parties_with_short_names(document) if not _overlaps_any(cell, lone_names))
    at_head = _in_text_order([*lone_names, *others])
    if len(_distinct_names(document, at_head)) >= _MIN_PARTIES:
        yield from _name_candidates(document, at_head, _SHORT_NAME_CONFIDENCE)
        return
    for intro in () if lone_names else _WEAK_INTRO.finditer(document.folded, 0, _HEAD_CHARACTERS):
        parties = _parties_behind(document, intro)
        if len(_distinct_names(document, parties)) >= _MIN_PARTIES:
            yield from _name_candidates(document, parties, _BETWEEN_CONFIDENCE)
            return
    everyone = _in_text_order([*at_head, *_signing_parties(document)])
    yield from _name_candidates(document, everyone, _SIGNATURE_CONFIDENCE)


def _parties_behind(document: DocumentText, intro: re.Match[str]) -> list[TextSpan]:
    return _in_text_order(_parties_in(document, intro.end(), _end_of_intro(document, intro.end())))


def _in_text_order(cells: Iterable[TextSpan]) -> list[TextSpan]:
    return sorted(cells, key=lambda cell: cell.start)


def _distinct_names(document: DocumentText, cells: Sequence[TextSpan]) -> set[str]:
    """The keys of the names: spellings of the same name count once."""
    return {name_key_of(document.text[cell.start : cell.end]).letters for cell in cells}


def _parties_with_short_names(document: DocumentText) -> Iterator[TextSpan]:
    """The names at the head in `Acme Inc. ("Acme")`, `Party A: Acme Inc.`, `Acme Inc., a Delaware corporation`."""
    cells = list[TextSpan]()
    for pattern in (_PARTY_LINE, _DESCRIBED_NAME):
        for match in pattern.finditer(document.text, 0, _OPENING_CHARACTERS):
            cell = _strip_lead_in(document, match.start("name"), match.end("name"))
            if cell and not _overlaps_any(cell, cells) and _could_be_party(document, cell):
                cells.append(cell)
    yield from cells


def _signing_parties(document: DocumentText) -> Iterator[TextSpan]:
    """The names with a legal form right above "By:" in the last part."""
    for by in _SIGNATURE_BY.finditer(document.text, max(0, len(document.text) - _TAIL_CHARACTERS)):
        forms = list(_LEGAL_FORM.finditer(document.text, max(0, by.start() - _ABOVE_CHARACTERS), by.start()))
        if not forms or not document.text[forms[-1].start()].isupper():
            continue
        form = forms[-1]
        before = _NAME_BEFORE.search(document.text, max(0, form.start() - 90), form.start())
        cell = _strip_lead_in(document, before.start(), form.end()) if before else None
        if cell and _could_be_party(document, cell):
            yield cell


def _end_of_intro(document: DocumentText, start: int) -> int:
    stop = min(len(document.folded), start + _INTRO_CHARACTERS)
    match = _INTRO_END.search(document.folded, start, stop)
    return match.start() if match else stop


def _parties_in(document: DocumentText, start: int, end: int) -> Sequence[TextSpan]:
    """The parties of an introduction. A person before "and" counts, unless more than one name with a form follows."""
    person = _person_at(document, start, end)
    with_person = list(_parties_with_legal_form(document, start, end, [person])) if person else []
    return (
        with_person
        if 0 < len(with_person) <= _MIN_PARTIES
        else list(_parties_with_legal_form(document, start, end, []))
    )


def _parties_with_legal_form(
    document: DocumentText, start: int, end: int, found_spans: list[TextSpan]
) -> Iterator[TextSpan]:
    for form in _LEGAL_FORM.finditer(document.text, start, end):
        behind_comma = document.text[max(0, form.start() - 3) : form.start()].rstrip().endswith(",")
        if not (document.text[form.start()].isupper() or behind_comma):
            continue
        if any(cell.start <= form.start() < cell.end for cell in found_spans):
            continue
        follows_comma = document.text[max(0, form.start() - 4) : form.start()].rstrip().endswith(",")
        if form[0] in _FORMS_THAT_ARE_STATES and follows_comma:
            continue  # Denver, CO
        first = max([start, form.start() - 90, *(cell.end for cell in found_spans if cell.end <= form.start())])
        before = _NAME_BEFORE.search(document.text, first, form.start())
        cell = _strip_lead_in(document, before.start(), _end_of_name(document, form)) if before else None
        if cell and _could_be_party(document, cell) and not _overlaps_any(cell, found_spans):
            found_spans.append(cell)
    for pattern in (_NAME_OF_PLACE, _DESCRIBED_NAME):
        for match in pattern.finditer(document.text, start, end):
            cell = _strip_lead_in(document, match.start("name"), match.end("name"))
            if (
                cell
                and not _overlaps_any(cell, found_spans)
                and _could_be_party(document, cell)
                and not _is_address_part(document, cell)
            ):
                found_spans.append(cell)
    yield from found_spans


def _end_of_name(document: DocumentText, form: re.Match[str]) -> int:
    """The end of `Acme Bank, N.A.`, `Acme Bank of Ohio`, `Acme Co., Ltd.` after their first form."""
    if form[0].lower() in ("bank", "university") and (
        more := _BANK_NAME_END.match(document.text, form.end(), form.end() + 60)
    ):
        return more.end()
    further = _MORE_FORMS.match(document.text, form.end(), form.end() + 24)
    return further.end() if further else form.end()


_PERSON_NAME = re.compile(
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)?[A-Z][\w.'’-]*(?:\s[A-Z][\w.'’-]*){1,3}(?=,?\s+(?:and|AND)\s"
    r"|\s*,\s+an?\s+individual)"
)


def _person_at(document: DocumentText, start: int, end: int) -> TextSpan | None:
    """A name right after "between" and before "and", which needs no legal form."""
    match = _PERSON_NAME.match(document.text, start, end)
    if match is None or _LEGAL_FORM.search(document.text, match.start(), match.end()):
        return None
    cell = TextSpan(match.start(), match.end())
    return cell if _could_be_party(document, cell) else None


def _is_address_part(document: DocumentText, cell: TextSpan) -> bool:
    """Whether a name without a legal form is the last part of an address: `…, 9 Pine Road, Hong Kong ("Acme")`."""
    before = document.text[max(0, cell.start - 12) : cell.start].rstrip()
    has_form = _LEGAL_FORM.search(document.text, cell.start, cell.end) is not None
    return not has_form and (before.endswith(",") or before[-1:].isdigit())


def _could_be_party(document: DocumentText, cell: TextSpan) -> bool:
    """Whether it can be a name: several words, no clause, no place with a form ("a Nevada Corporation")."""
    words = document.text[cell.start : cell.end].split()
    if all(word.strip(".,()").casefold() in _GENERIC_WORDS for word in words) or _is_joined_role(words):
        return False
    is_led = words[0].casefold().strip(".,") in _NOT_PARTY_WORDS and words[1:2] != ["of"]
    if len(words) < 2 or is_led or words[-1].casefold() in ("of", "and"):
        return False
    if _NOT_IN_NAMES.search(document.folded, cell.start, cell.end) or _PLACE_LEAD_IN.search(
        document.folded, max(0, cell.start - 20), cell.start
    ):
        return False
    before = max(0, cell.start - 12)
    return not (
        _ARTICLE.search(document.text, before, cell.start)
        or _SOURCE_CAPTION.search(document.folded, before, cell.start)
    )


def _is_joined_role(words: Sequence[str]) -> bool:
    """Whether it is two short names of an agreement: `Acme and Company`."""
    return (
        len(words) >= _USUAL_PARTIES and words[-2].casefold() in ("and", "&") and words[-1].casefold() in _GENERIC_WORDS
    )


def _overlaps_any(cell: TextSpan, spans: Sequence[TextSpan]) -> bool:
    return any(cell.start < other.end and other.start < cell.end for other in spans)


def _strip_lead_in(document: DocumentText, start: int, end: int) -> TextSpan | None:
    """The name without the text before it: an address, another party, "by and between the"."""
    for lead in (_ADDRESS_BEFORE_NAME, _SENTENCE_BEFORE_NAME, _LEAD_IN_WORDS, _LEADING):
        match = lead.match(document.text, start, end)
        start = match.end() if match and match.end() < end else start
    for conjunction in _NAME_CONJUNCTION.finditer(document.text, start, end):
        if _LEGAL_FORM.search(document.text, start, conjunction.start()):
            start = conjunction.end()
    cell = document.trim_span(start, end)
    return cell if cell.end - cell.start > 3 else None


def _name_candidates(
    document: DocumentText, cells: Sequence[TextSpan], base_confidence: float
) -> Iterator[ValueCandidate]:
    seen = set[str]()
    for cell in cells:
        value = " ".join(document.text[cell.start : cell.end].split()).strip(" ,;")
        if value.casefold() not in seen:
            confidence = base_confidence if len(seen) < _USUAL_PARTIES else base_confidence - _MANY_PARTIES_PENALTY
            seen.add(value.casefold())
            yield ValueCandidate(value=(value,), confidence=confidence, start=cell.start, end=cell.end)


_ROLE_BOUND = re.compile(
    r"(?<![a-z])(?:between|among|amongst|by|from|to)(?![a-z])[\s:]+|\"\s*\)[\s,;]*(?:and\s+)?|\n\s*\n"
)
_ROLE_CHARACTERS = 400  # from a name to its short name
_FIRST_NAME = re.compile(
    r"[\s,;-]*(?i:of the \w+ part)?[\s,;-]*(?i:and)?[\s,;-]*(?:the\s+)?"
    r"(?P<name>(?:(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)?[A-Z][\w.'’&-]*(?:\s[A-Z&][\w.'’&-]*){1,5})"
)


def role_candidates(document: DocumentText, role_pattern: re.Pattern[str]) -> Iterator[ValueCandidate]:
    """The name whose short name is the role: `Orlo Limited, of 9 Pine Road (the "Tenant")`."""
    for match in islice(
        re.finditer(rf'"\s?(?:the\s+)?{role_pattern.pattern}\s?"', document.folded[:_HEAD_CHARACTERS]), _USUAL_PARTIES
    ):
        start = max(0, match.start() - _ROLE_CHARACTERS)
        bounds = [bound.end() for bound in _ROLE_BOUND.finditer(document.folded, start, match.start())]
        cell = _first_name_in(document, bounds[-1] if bounds else start, match.start())
        if cell:
            value = " ".join(document.text[cell.start : cell.end].split()).strip(" ,;")
            yield ValueCandidate(value=value, confidence=_BETWEEN_CONFIDENCE, start=cell.start, end=cell.end)


def _first_name_in(document: DocumentText, start: int, end: int) -> TextSpan | None:
    formed = _in_text_order(_parties_with_legal_form(document, start, end, []))
    first = None if formed else _FIRST_NAME.match(document.text, start, end)
    return formed[0] if formed else TextSpan(first.start("name"), first.end("name")) if first else None


# -- the name of an agreement


_HEADING = re.compile(
    r"(?<![A-Za-z])[A-Z][A-Za-z&,/'’\-. ]{2,80}?(?:AGREEMENT|Agreement|CONTRACT|Contract|LICENSE|License|LEASE|Lease"
    r"|PLAN|Plan|POLICY|Policy|STATEMENT|Statement)(?![A-Za-z])"
    r"(?:(?: (?!This|THIS)[A-Z][A-Za-z]*| and| AND|,| &){0,5} (?:AGREEMENT|Agreement)(?![A-Za-z]))?"
)


_NOT_IN_HEADING = re.compile(
    r"(?:.*\.\s+(?=[A-Z]{2}))?(?:(?:exhibit|annex|appendix|schedule|attachment)\s+[A-Z0-9][A-Z0-9.-]{0,5}\s+"
    r"|execution (?:copy|version)\s+|conformed copy\s+|(?:this|the|to the|to)\s+)*",
    re.IGNORECASE,
)


def heading_candidates(document: DocumentText) -> Iterator[ValueCandidate]:
    """The first heading of several words that names a kind of document: "agreement" alone is none."""
    for match in _HEADING.finditer(document.text, 0, 3_000):
        before = _NOT_IN_HEADING.match(document.text, match.start(), match.end())
        cell = document.trim_span(before.end() if before else match.start(), match.end())
        words = document.text[cell.start : cell.end].split()
        if len(words) > 1:
            yield ValueCandidate(value=" ".join(words), confidence=0.7, start=cell.start, end=cell.end)
            return
