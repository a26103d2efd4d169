"""The call about one set: its prompt, and what its reply says of each document."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from agent.model.answering.answer_prompts import escape_data, escape_item, escape_line
from agent.model.answering.evidence import EvidenceItem
from agent.verification.claimed_names import is_quoted_from
from agent.verification.supported_claims import text_of_source
from prompts.data_texts import quote_value
from prompts.outputs.document_check import DocumentCheckOutput, OutputFit
from prompts.prompt_library import RenderedPrompt, load_prompt
from storage.search.analyser import fold_text
from storage.search.ids import DocId

CHECK_PROMPT = "check_documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSet:
    """The documents that fit, and those that may fit, in the order in which they were read."""

    read_count: int
    fitting: tuple[DocId, ...]
    unclear: tuple[DocId, ...]

    def with_certain(self, certain: Collection[DocId], read: Sequence[DocId]) -> "CheckedSet":
        """Returns the set with the documents that fields decide, whatever was read. `read`: all, in their order."""
        fitting = {*self.fitting, *certain}
        return CheckedSet(
            read_count=self.read_count,
            fitting=tuple(doc_id for doc_id in read if doc_id in fitting),
            unclear=tuple(doc_id for doc_id in self.unclear if doc_id not in fitting),
        )


def render_check_prompt(
    question: str, conditions: Sequence[str], items: Sequence[EvidenceItem], today: date
) -> RenderedPrompt:
    """Renders the prompt. `conditions`: of the question, that all items meet; raw text."""
    return load_prompt(CHECK_PROMPT).render(
        today=today.isoformat(),
        conditions=[quote_value(escape_line(condition)) for condition in conditions],
        items=[escape_item(item) for item in items],
        question=escape_data(question),
    )


def read_reply(reply: DocumentCheckOutput, items: Sequence[EvidenceItem]) -> CheckedSet:
    """Returns which documents fit. A `yes` whose quotation is not in the item is unclear; unknown ids do not count."""
    by_id = {item.id: item for item in items}
    fitting, possible = set[int](), set[int]()
    for checked in reply.documents:
        item = by_id.get(checked.id)
        if item is None or checked.fits is OutputFit.NO:
            continue
        possible.add(item.id)
        if checked.fits is OutputFit.YES and _holds_quotation(item, checked.quote):
            fitting.add(item.id)
    return CheckedSet(
        read_count=len(items),
        fitting=_ids_of(items, fitting),
        unclear=_ids_of(items, possible - fitting),
    )


def _ids_of(items: Sequence[EvidenceItem], numbers: set[int]) -> tuple[DocId, ...]:
    return tuple(item.document.doc_id for item in items if item.document is not None and item.id in numbers)


def _holds_quotation(item: EvidenceItem, quotation: str) -> bool:
    """Whether the words appear in the item as the model has read it; no words prove nothing."""
    has_words = any(character.isalnum() for character in fold_text(quotation))
    return has_words and is_quoted_from(quotation, text_of_source(item.source))
