"""Flag fields: yes or no beside the label, else whether the text mentions the label at all."""

import re
from collections.abc import Iterator

from storage.ingest.extract.candidates import ValueCandidate
from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.extraction_targets import ExtractionTarget
from storage.ingest.extract.fields.clauses import ClausePatterns
from storage.ingest.extract.fields.labelled_values import find_field_labels
from storage.ingest.schemas.literals import parse_flag

_ANSWER_WORD = re.compile(r"[\s:=|.?*-]*(?P<word>[^\W\d_]+|✓)(?![^\W_])")
_SHORT_TEXT_CHARACTERS = 5_000  # in a longer text a mention says less about the whole
_MENTION_CONFIDENCE, _LONG_TEXT_MENTION_CONFIDENCE = 0.7, 0.4
_REACH_CHARACTERS = 40  # after the label
_NEGATION_WORDS = re.compile(
    r"(?<![a-z])(?:not?|non|without|never|neither|nor|un|kein\w*|sem|sin|sans)[\s-]+(?:\w+\s){0,2}$"
)


_PAID_LINE = re.compile(
    r"(?:\[[^\]\n]{0,20}\]|(?:office )?stamp:?|[*•>#-])*\s*"
    r"(?:(?P<unpaid>(?:received\W{1,3})?(?:not (?:yet )?(?:been )?paid|unpaid|awaiting payment|payment outstanding"
    r"|unbezahlt|nicht bezahlt|offen|impaye|non paye|no pagad[ao]|pendiente de pago)(?![a-z]))"
    r"|(?P<paid>(?:fully |already )?(?:paid|bezahlt|payee?|acquittee?|pagad[ao])(?![a-z])"
    r"|payment received(?![a-z]))).{0,60}"
)
_RECEIPT = re.compile(
    r"(?<![a-z])(?:receipt|pay and display|total paid|kassenbon|quittung|recibo|ticket de caisse)(?![a-z])"
)
_HEAD_CHARACTERS = 600
_PAID_CONFIDENCE, _RECEIPT_CONFIDENCE = 0.85, 0.7
_PROMISED_PAYMENT = re.compile(
    r"(?:paid|pagad[ao]|payee?) (?:by|within|before|on receipt|para)(?![a-z])(?! (?:bacs|card|cash|cheque))"
)


def payment_mark_candidates(document: DocumentText) -> Iterator[ValueCandidate]:
    """Whether a line by itself says that the document was paid: `PAID 09/03/2026`, `[stamp] RECEIVED - NOT PAID YET`.

    Of several marks the last counts, which was made later. Without one, a receipt is for what was paid.
    """
    for line in reversed(list(document.lines_from())):
        span = document.trim_span(line.start, line.end)
        match = _PAID_LINE.fullmatch(document.folded, span.start, span.end)
        if match is not None and (match["unpaid"] or not _PROMISED_PAYMENT.search(match[0])):
            value = match["unpaid"] is None
            yield ValueCandidate(value=value, confidence=_PAID_CONFIDENCE, start=span.start, end=span.end)
            return
    if receipt := _RECEIPT.search(document.folded, 0, _HEAD_CHARACTERS):
        yield ValueCandidate(value=True, confidence=_RECEIPT_CONFIDENCE, start=receipt.start(), end=receipt.end())


def flag_candidates(
    document: DocumentText, target: ExtractionTarget, clauses: ClausePatterns
) -> Iterator[ValueCandidate]:
    for label in find_field_labels(document, target, target.own_label_pattern):
        word = _ANSWER_WORD.match(document.folded, label.end, label.end + _REACH_CHARACTERS)
        cell = document.cell_below(label.start)
        below = _ANSWER_WORD.match(document.folded, cell.start, cell.end) if cell else None
        for answer in filter(None, (word, below)):
            value = parse_flag(answer["word"])
            if value is not None:
                start, end = min(label.start, answer.start()), max(label.end, answer.end())
                yield ValueCandidate(value=value, confidence=0.95, start=start, end=end)
        negation = _NEGATION_WORDS.search(document.folded, max(0, label.start - 24), label.start)
        is_short = len(document.text) <= _SHORT_TEXT_CHARACTERS
        confidence = _MENTION_CONFIDENCE if is_short else _LONG_TEXT_MENTION_CONFIDENCE
        yield ValueCandidate(value=negation is None, confidence=confidence, start=label.start, end=label.end)
    for match in clauses.find_matches(document):
        yield ValueCandidate(value=True, confidence=match.confidence, start=match.start, end=match.end)
