"""Checks the composed sentences against the passages that they cite, and removes sentences that fail.

A sentence fails if one of its markers has no citation, or if the cited passages do not hold its quotations (marks of
Markdown apart) and the numbers in them. A sentence of a template also fails if the facts of its leg do not hold each of
its figures, names and absences (`agent.verification.composed_sentences`). A sentence that a model wrote fails if what
it cites does not hold each of its figures, names and addresses (`agent.verification.supported_claims`), or if it cites
nothing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, zip_longest

from agent.compose.composed_leg import ComparisonColumn, ComposedLeg
from agent.compose.phrases.words import clean_quotation
from agent.outcome import Citation
from agent.review.review import ReviewedPlan
from agent.review.written_answer import SupportedClaim
from agent.translation.languages import DEFAULT_LANGUAGE, get_reply_language, list_languages
from agent.verification.composed_sentences import find_sentence_fault
from agent.verification.derived_figures import DerivedFigure, derive_changes
from agent.verification.leg_evidence import SentenceEvidence, collect_leg_evidence, join_evidence
from agent.verification.supported_claims import ClaimFault, find_claim_fault
from storage.search.analyser import fold_text

_MARKER = re.compile(r"\[(\d+)\]")
_QUOTATION = re.compile(r"“([^”]+)”")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_BOLD = re.compile(r"(?<!\\)\*\*")  # text from documents is escaped, so unescaped signs are our own bold text
_ESCAPED_CHARACTER = re.compile(r"\\([\\`*_{}\[\]<>#|~])")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedLeg:
    """A composed leg, reduced to the sentences and citations that passed verification."""

    composed: ComposedLeg
    sentences: tuple[str, ...]
    citations: tuple[Citation, ...]
    faults: tuple[ClaimFault, ...] = ()  # of the sentences that were removed
    evidence: SentenceEvidence | None = None  # that the sentences were checked against

    @property
    def has_lost_everything(self) -> bool:
        """Whether sentences were removed and nothing is left to show."""
        return bool(self.faults) and not self.sentences and not self.composed.tables

    @property
    def text(self) -> str:
        return self.composed.prefix + self.composed.separator.join(self.sentences)

    @property
    def result_text(self) -> str:
        """The text of the leg's own result."""
        if self.composed.is_result_first_sentence:
            return next(iter(self.sentences), "")
        return self.text if self.composed.is_prefix_in_result else self.text.removeprefix(self.composed.prefix)


def verify_legs(composed_legs: Sequence[ComposedLeg], reviewed: ReviewedPlan) -> list[VerifiedLeg]:
    """Verifies each leg against the facts that it was composed of."""
    language = reviewed.plan.language if reviewed.plan.language in list_languages() else DEFAULT_LANGUAGE
    return [
        verify_leg(composed, collect_leg_evidence(decision.facts, review, decision.result.count), language)
        for composed, decision, review in zip(composed_legs, reviewed.decisions, reviewed.reviews, strict=True)
    ]


def verify_leg(composed: ComposedLeg, evidence: SentenceEvidence | None = None, language: str = "en") -> VerifiedLeg:
    """Keeps the sentences that pass and the citations that they use. Adds the fallback if no citation is left.

    A sentence that begins with a blank or a new line continues the one before it, and says nothing without it.

    `evidence`: what the facts of the leg hold; None: only quotations and what a model wrote are checked.
    """
    by_marker = {citation.marker: citation for citation in composed.citations}
    evidence = evidence.with_derived(composed.derived_figures) if evidence is not None else None
    kept: list[str] = []
    used: list[Citation] = []
    faults: list[ClaimFault] = []
    for sentence, claim in zip_longest(composed.sentences, composed.claims):
        markers = markers_in(sentence)
        sources = [by_marker[marker] for marker in markers if marker in by_marker]
        fault = (
            ClaimFault.TOO_FEW_SOURCES
            if len(sources) < len(markers)
            else _find_fault(sentence, claim, sources, evidence, language)
        )
        is_continuation = sentence.startswith((" ", "\n")) and bool(faults) and not kept
        if fault is not None or is_continuation:
            faults += [fault] if fault is not None else []
            continue
        kept.append(sentence)
        used += [source for source in sources if source not in used]
    fallback = composed.fallback
    if not used and fallback is not None:
        kept, used = [*kept, fallback.text], [fallback.citation] if fallback.citation is not None else []
    return VerifiedLeg(
        composed=composed, sentences=tuple(kept), citations=tuple(used), faults=tuple(faults), evidence=evidence
    )


def number_citations(legs: Sequence[VerifiedLeg]) -> list[VerifiedLeg]:
    """Returns the legs with their markers numbered from 1 across all of them."""
    numbered: list[VerifiedLeg] = []
    count = 0
    for leg in legs:
        numbers = {citation.marker: str(number) for number, citation in enumerate(leg.citations, count + 1)}
        count += len(leg.citations)
        prefix = _replace_markers(leg.composed.prefix, numbers)
        numbered.append(
            VerifiedLeg(
                composed=replace(leg.composed, prefix=prefix) if prefix != leg.composed.prefix else leg.composed,
                sentences=tuple(_replace_markers(sentence, numbers) for sentence in leg.sentences),
                citations=tuple(replace(citation, marker=numbers[citation.marker]) for citation in leg.citations),
                evidence=leg.evidence,
            )
        )
    return numbered


def verify_comparison(text: str, legs: Sequence[VerifiedLeg]) -> str:
    """Keeps the lines on the differences of the legs that pass. They are checked against all sides together.

    A difference, also in percent, is computed again from the values in one row.
    """
    sides = [leg.evidence for leg in legs if leg.evidence is not None]
    if len(sides) < len(legs):
        return text
    columns = [leg.composed.column for leg in legs if leg.composed.column is not None]
    evidence = join_evidence(sides).with_derived(_derive_differences(columns))
    evidence = evidence.with_words(word for column in columns for word in _words_of_column(column))
    evidence = replace(evidence, numbers=evidence.numbers | _count_rows(columns))
    lines = text.split("\n")
    return "\n".join(
        line for line in lines if find_sentence_fault(plain_text_of(line), evidence, get_reply_language()) is None
    )


def _derive_differences(columns: Sequence[ComparisonColumn]) -> Iterator[DerivedFigure]:
    values: dict[str, list[float]] = {}
    for column in columns:
        for cell in column.cells:
            if isinstance(cell.value, (int, float)):
                values.setdefault(cell.row_label, []).append(float(cell.value))
    for row in values.values():
        for first, last in permutations(row, 2):
            yield from derive_changes(first, last)


def _count_rows(columns: Sequence[ComparisonColumn]) -> frozenset[float]:
    """The number of rows of the comparison, and of those that differ."""
    rows: dict[str, set[str]] = {}
    for column in columns:
        for cell in column.cells:
            rows.setdefault(cell.row_label, set()).add(cell.text)
    differing = sum(len(texts) > 1 for texts in rows.values())
    return frozenset({float(len(rows)), float(differing), float(len(rows) - differing)})


def _words_of_column(column: ComparisonColumn) -> Iterator[str]:
    """The title of a side may be a part of the question; the labels of the rows come from the schema."""
    yield column.title
    for cell in column.cells:
        yield cell.row_label
        if cell.value is None:
            yield cell.text


def _replace_markers(text: str, numbers: Mapping[str, str]) -> str:
    return _MARKER.sub(lambda match: f"[{numbers.get(match[1], match[1])}]", text)


def plain_text_of(sentence: str) -> str:
    """Returns a composed sentence as a reader sees it, without its markers."""
    return _ESCAPED_CHARACTER.sub(r"\1", _BOLD.sub("", _MARKER.sub("", sentence)))


def markers_in(sentence: str) -> list[str]:
    """Returns the markers of a composed sentence, in order."""
    return _MARKER.findall(sentence)


def _find_fault(
    sentence: str,
    claim: SupportedClaim | None,
    sources: Sequence[Citation],
    evidence: SentenceEvidence | None,
    language: str,
) -> ClaimFault | None:
    """Checks a model's claim against what it cites, and a template's sentence against its sources and the facts."""
    if claim is not None:
        return find_claim_fault(claim)
    if sources and not _is_supported(sentence, sources, evidence):
        return ClaimFault.QUOTATION
    if evidence is None:
        return None
    cited = "\n".join(f"{source.title}\n{source.text}\n{clean_quotation(source.text)}" for source in sources)
    known = replace(evidence, text=f"{evidence.text}\n{cited}") if cited else evidence
    return find_sentence_fault(plain_text_of(sentence), known, language)


def _is_supported(line: str, sources: Sequence[Citation], known: SentenceEvidence | None) -> bool:
    """Whether the quotations in the line appear in its sources; a field's label in quotation marks does not count."""
    plain = plain_text_of(line)
    evidence = fold_text(" ".join(f"{source.title} {source.text}" for source in sources))
    shown_evidence = fold_text(" ".join(f"{source.title} {clean_quotation(source.text)}" for source in sources))
    quoted = [
        text for text in _QUOTATION.findall(plain) if known is None or not known.holds_whole_text(fold_text(text))
    ]
    quotations = [fold_text(quotation).rstrip(" …") for quotation in quoted]
    if any(quotation not in evidence and quotation not in shown_evidence for quotation in quotations):
        return False
    quoted_text = " ".join(quoted)
    quoted_numbers = {_normalize_number(number) for number in _NUMBER.findall(quoted_text)}
    evidence_numbers = {_normalize_number(number) for number in _NUMBER.findall(evidence)}
    return quoted_numbers <= evidence_numbers


def _normalize_number(number: str) -> str:
    return number.replace(",", "").rstrip(".")
