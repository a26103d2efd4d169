"""Values in sentences that name a field of a plain schema: "the rent is EUR 900", "the landlord is Orlo Ltd.", "made by
Orlo Ltd."
"""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.document_text import DocumentText, TextSpan
from storage.ingest.extract.extraction_targets import ExtractionTarget
from storage.ingest.extract.field_patterns import any_phrase_pattern, label_phrases_of
from storage.ingest.extract.fields.form_values import read_amount, read_day, read_number
from storage.ingest.extract.fields.labelled_values import is_within_other_label
from storage.ingest.extract.labels.prose_values import GENERAL_LABEL_WORDS, ProsePattern, find_prose_values
from storage.quantities.money import parse_money
from storage.quantities.units import find_quantities
from storage.search.schema import FieldType

_NAME_CONFIDENCE, _AGENT_CONFIDENCE = 0.62, 0.65
_MAX_MATCHES = 20
_COPULA = re.compile(
    r"\.?\s+(?:(?:is|are|was|were)|(?:will|shall)\s+be|ist|sind|war|est|sont|es|son)\s+"
    r"(?:(?:an?|the|die|der|das|eine?|une?|le|la|los|el)\s+)?(?=[^\W_])"
)
_NAME_WORD = r"(?:[A-ZÀ-Ý\d][\w.&'’/+-]*|&|e\.)"
_NAME = re.compile(rf"{_NAME_WORD}(?:,? (?:(?:of|de|del|des|du|la|von|van|und|et|y|and|for) )?{_NAME_WORD}){{0,7}}")
_STOP = re.compile(r"(?P<word>[^\W_]+)\. (?=(?P<next>[A-ZÀ-Ý][\w'’]*))")
_ABBREVIATIONS = frozenset("dr prof mr mrs ms st str av sr jr bros co e".split())
_SENTENCE_STARTS = frozenset(
    "the it this that these he she they we you our your a an its there all both either der die das er sie es ein eine "
    "le la les il elle un une el los las se".split()
)
_PARTICIPLE_BY = re.compile(
    r"(?<![^\W_])(?P<verb>[a-z]{2,14}(?:ed|de|lt|ld|en|wn))\s+by"
    r"\s+(?:the\s+|messrs\.?\s+)?(?=[^\W_])"
)
_IRREGULAR_STEMS = {"made": "mak", "built": "build", "sold": "sell", "written": "writ", "drawn": "draw", "led": "lead"}
_AGENT_ENDING = re.compile(r"(?:e?r|or)\Z")
_FREE_TYPES = frozenset({FieldType.CATEGORY, FieldType.TEXT})
_MEASURED_TYPES = frozenset({FieldType.NUMBER, FieldType.MONEY, FieldType.DATE})


@dataclass(frozen=True, slots=True)
class SentenceReader:
    """Reads one field in sentences."""

    target: ExtractionTarget
    prose_pattern: ProsePattern | None  # of numbers, amounts and days
    name_pattern: re.Pattern[str] | None  # of names and other words
    agent_stems: frozenset[str]  # of verbs whose doer the field is: `manufactur` of a manufacturer

    @classmethod
    def for_target(cls, target: ExtractionTarget, shared_phrases: Set[str]) -> "SentenceReader | None":
        """Returns None for a field that sentences do not give: with listed values, or with too general labels.

        `shared_phrases`: labels of several fields, which name none of them.
        """
        field = target.field
        phrases = [phrase for phrase in label_phrases_of(field) if phrase not in shared_phrases]
        specific = [phrase for phrase in phrases if not GENERAL_LABEL_WORDS.issuperset(phrase.split())]
        if field.type in _MEASURED_TYPES:
            pattern = ProsePattern.for_labels(field, phrases)
            return cls(target, pattern, None, frozenset()) if pattern else None
        if field.type not in _FREE_TYPES or field.values:
            return None
        stems = frozenset(_AGENT_ENDING.sub("", phrase) for phrase in specific if " " not in phrase and len(phrase) > 4)
        return cls(target, None, any_phrase_pattern(specific), stems)

    def find_candidates(self, document: DocumentText, *, day_first: bool | None) -> Iterator[ValueCandidate]:
        if self.prose_pattern is not None:
            yield from self._measured_candidates(document, self.prose_pattern, day_first)
        if self.name_pattern is not None:
            yield from self._name_candidates(document, self.name_pattern)

    def _measured_candidates(
        self, document: DocumentText, pattern: ProsePattern, day_first: bool | None
    ) -> Iterator[ValueCandidate]:
        field = self.target.field
        for written in find_prose_values(document, pattern):
            others = self.target.other_label_pattern
            if others and is_within_other_label(document, others, TextSpan(written.start, written.start + 1)):
                continue
            for text, end in written.possible_texts:
                if field.type is FieldType.DATE:
                    value = read_day(text, written.confidence, day_first)
                elif field.type is FieldType.MONEY:
                    value = read_amount(document, field, text, written.confidence) if parse_money(text) else None
                else:
                    value = (
                        read_number(document, field, text, written.confidence)
                        if _is_measured(text, field.unit)
                        else None
                    )
                if value is not None:
                    yield ValueCandidate(value=value.value, confidence=value.confidence, start=written.start, end=end)
                    break

    def _name_candidates(self, document: DocumentText, pattern: re.Pattern[str]) -> Iterator[ValueCandidate]:
        for count, match in enumerate(pattern.finditer(document.folded)):
            if count == _MAX_MATCHES:
                return
            if match[0].endswith(" by"):
                yield from _name_at(document, match.start(), match.end() + 1, _AGENT_CONFIDENCE)
            elif copula := _COPULA.match(document.folded, match.end()):
                yield from _name_at(document, match.start(), copula.end(), _NAME_CONFIDENCE)
        for match in _PARTICIPLE_BY.finditer(document.folded) if self.agent_stems else ():
            stem = _IRREGULAR_STEMS.get(match["verb"]) or re.sub(r"e?d\Z", "", match["verb"])
            if stem in self.agent_stems or f"{stem}e" in self.agent_stems:
                yield from _name_at(document, match.start(), match.end(), _AGENT_CONFIDENCE)


def _is_measured(text: str, unit: str) -> bool:
    """Whether a text in a sentence can be a number of the field: with a unit, where the field has one."""
    span = next(find_quantities(text, 0, len(text)), None)
    return span is None or bool(span.unit) or not unit or any(c.isalpha() for c in text)


def _ends_sentence(stop: re.Match[str]) -> bool:
    """Whether a stop ends its sentence: not after an initial or an abbreviation, unless `The` or `It` follows."""
    word = stop["word"]
    return stop["next"].casefold() in _SENTENCE_STARTS or (len(word) > 1 and word.casefold() not in _ABBREVIATIONS)


def _name_at(document: DocumentText, label_start: int, start: int, confidence: float) -> Iterator[ValueCandidate]:
    """The name that begins at `start`, up to the end of its sentence."""
    name = _NAME.match(document.text, start, start + 90)
    if name is None:
        return
    stops = _STOP.finditer(document.text, start, name.end())
    end = next((stop.end("word") for stop in stops if _ends_sentence(stop)), name.end())
    value = document.text[start:end].rstrip(",")
    value = value if value.count(".") > 1 else value.removesuffix(".")
    if len(value) > 1:
        yield ValueCandidate(value=value, confidence=confidence, start=label_start, end=start + len(value))
