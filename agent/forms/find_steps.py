"""Steps of a procedure: quotes a whole list or section of the document that answers.

The documents are those with the best sentences. If no heading in them matches the question, or no matching section
has steps that can be quoted, those sentences are the answer.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from agent.english.function_words import YES_NO_VERBS
from agent.forms.find_passages import QuotationsFacts, decide_passages
from agent.forms.form_handler import FormHandler
from agent.retrieval.fusion import matchers_by_bucket
from agent.retrieval.leg_requests import LegInquiry, LegRequests, weigh_question_terms
from agent.retrieval.quotations import CitedQuote, DocumentQuote, split_sentences
from agent.retrieval.relevance import QueryTerm, StemMatcher, matched_share_of
from agent.review.leg_review import Enough, LegClarification, LegFacts, LegReview
from storage.search.documents import Document
from storage.search.index import DocumentRequest
from storage.search.plan import FindSteps
from storage.text.key_sentences import heading_text_of, is_heading, reads_as_sentence

_PROCEDURE_WORDS = frozenset("step steps procedure procedures instruction instructions follow take guide".split())
_MIN_HEADING_SHARE = 0.5  # of the question, that heading and title together must hold
_MIN_OWN_SHARE = 0.25  # of the question, that the heading alone must hold
_MIN_STEPS, _MAX_STEPS = 2, 30
_MAX_STEP_CHARACTERS = 400  # of a step; a procedure with a longer step is not quoted
_MAX_DOCUMENTS = 3  # documents whose sections are compared
_LINE = re.compile(r"[^\n]+")
_LIST_MARKER = re.compile(r"\s*(?P<number>\d{1,2})[.)]\s+(?=\S)|\s*[-*•]\s+(?:\[[ x]\]\s+)?(?=\S)")
_HEADING_LEVEL = re.compile(r"\s*(?P<signs>#{1,6})\s")
_STEP_HEADING = re.compile(r"[*\s]*(?:step\s+)?\d{1,2}\s*[.):]\s*", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_STEPS_INTRODUCTION = re.compile(r"to\b", re.IGNORECASE)
_BOLD_LINE = re.compile(r"\s*\*\*[^*]+\*\*:?\s*")
_LOWEST_LEVEL = 7  # of a heading without "#" signs


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureStep:
    """A step, or a heading above steps. `number` is the number of the step in the document."""

    quote: DocumentQuote
    number: int | None = None
    is_heading: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsFacts(LegFacts):
    """A whole procedure with its heading."""

    document: Document
    heading: str
    steps: tuple[ProcedureStep, ...]

    @property
    def quotes(self) -> tuple[CitedQuote, ...]:
        return tuple(CitedQuote(document=self.document, quote=step.quote) for step in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class _DocumentSection:
    """A heading with all text under it, including lower headings."""

    heading: str
    heading_quote: DocumentQuote
    level: int
    is_step: bool  # the heading is itself a step, as "Step 2: …"
    steps: tuple[ProcedureStep, ...]  # from its lists
    sentences: tuple[ProcedureStep, ...]  # from its prose

    @property
    def has_list(self) -> bool:
        return sum(not step.is_heading for step in self.steps) >= _MIN_STEPS

    @property
    def is_numbered(self) -> bool:
        return any(step.number is not None for step in self.steps)


def _build_requests(_: FindSteps, inquiry: LegInquiry) -> LegRequests:
    """Builds the requests of a text question, without words like "steps": few procedures contain them."""
    requests = inquiry.request_text(inquiry.ranking_text)
    return replace(
        requests,
        asked_stems=_without_procedure_words(requests.asked_stems),
        content_stems=_without_procedure_words(requests.content_stems),
    )


def _without_procedure_words(stems: Mapping[str, str]) -> Mapping[str, str]:
    remaining_stems = {word: stem for word, stem in stems.items() if word not in _PROCEDURE_WORDS}
    return remaining_stems or stems


async def decide_steps(answer_form: FindSteps, review: LegReview) -> Enough | LegClarification:
    decision = await decide_passages(review)
    if not isinstance(decision, Enough) or not isinstance(decision.facts, QuotationsFacts):
        return decision
    ids = tuple(dict.fromkeys(cited.document.doc_id for cited in decision.facts.quotes))[:_MAX_DOCUMENTS]
    fetch = DocumentRequest(ids)
    documents = (await review.session.ask_index((fetch,)))[fetch] if ids else ()
    possible_procedures = (_find_procedure(answer_form, review, decision.facts, document) for document in documents)
    procedures = [procedure for procedure in possible_procedures if procedure is not None]
    if not procedures:
        return decision
    # Of equal ranks `max` takes the first: the document with the best sentences.
    _, facts = max(procedures, key=lambda procedure: procedure[0])
    return replace(decision, facts=facts, result=replace(decision.result, doc_ids=(facts.document.doc_id,)))


def _find_procedure(
    answer_form: FindSteps, review: LegReview, facts: QuotationsFacts, document: Document
) -> tuple[float, StepsFacts] | None:
    """Returns the section whose heading matches the question best, and the share of the question in that heading.

    The share comes first. Only sections that can be quoted whole are considered. A list after a line that introduces
    it is a part of a section, so it is considered only if no section fits. Returns None if there is none.
    """
    quoted = [passage.hit for sentence in facts.sentences for passage, _ in sentence.places]
    bucket = next(hit.bucket for hit in quoted if hit.doc_id == document.doc_id)
    terms = weigh_question_terms(review.requests, review.answers, review.question_context)
    question = _ProcedureQuestion(
        answer_form=answer_form,
        terms=terms,
        matcher=matchers_by_bucket(terms, review.question_context.analysers)[bucket],
        document=document,
        quoted_starts=frozenset(cited.quote.start for cited in facts.quotes),
    )
    best = question.find_best_section(_sections_of(document)) or question.find_best_section(_lists_of(document))
    if best is None:
        return None
    share, section = best
    return share, StepsFacts(document=document, heading=section.heading, steps=question.steps_of(section))


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProcedureQuestion:
    """What a procedure in one document must answer."""

    answer_form: FindSteps
    terms: Sequence[QueryTerm]
    matcher: StemMatcher
    document: Document
    quoted_starts: frozenset[int]  # offsets of the best sentences

    def find_best_section(self, sections: Iterable[_DocumentSection]) -> tuple[float, _DocumentSection] | None:
        """Returns the share of the question (0 to 1) in the best section's heading, and the section."""
        ranked = [(self._rank_section(section), section) for section in sections if self._is_procedure(section)]
        ranked = [(rank, section) for rank, section in ranked if rank[0]]
        if not ranked:
            return None
        rank, best = max(ranked, key=lambda pair: pair[0])  # of equal ranks, the first
        return rank[0], self._join_parts(
            best, [section for other_rank, section in ranked if other_rank[0] == rank[0] and _are_parts(section, best)]
        )

    def _join_parts(self, best: _DocumentSection, parts: Sequence[_DocumentSection]) -> _DocumentSection:
        """Returns the section with the steps of all its parts, in order; alone, if together they are too long."""
        steps = [
            step
            for part in parts
            for step in (ProcedureStep(quote=part.heading_quote, is_heading=True), *self.steps_of(part))
        ]
        if len(parts) < 2 or not best.has_list or not _can_be_quoted(steps):
            return best
        return replace(best, heading=parts[0].heading, steps=tuple(steps[1:]))

    def steps_of(self, section: _DocumentSection) -> tuple[ProcedureStep, ...]:
        if section.has_list:
            return section.steps
        return section.sentences if self.answer_form.allows_prose else ()

    def _is_procedure(self, section: _DocumentSection) -> bool:
        steps = self.steps_of(section)
        return _can_be_quoted(steps) and _names_action(self._action, section.heading, steps, self.matcher)

    def _rank_section(self, section: _DocumentSection) -> tuple[float, bool, bool, int]:
        holds_quote = any(
            step.quote.start <= start < step.quote.end
            for step in self.steps_of(section)
            for start in self.quoted_starts
        )
        share = round(_heading_share(section, self.document, self.terms, self.matcher), 3)
        return share, section.is_numbered, holds_quote, section.level

    @property
    def _action(self) -> str:
        word = self.answer_form.action
        return next((term.stem for term in self.terms if term.word == word), word)


def _names_action(action: str, heading: str, steps: Sequence[ProcedureStep], matcher: StemMatcher) -> bool:
    """Whether the heading or a step names the action.

    This excludes sections such as a list of features, whose heading may match the question too.
    `action` is a stem, or the word itself if it is too common to have a weight ("set", "get").
    """
    texts = [heading, *(step.quote.text for step in steps)]
    if not action or action in YES_NO_VERBS or any(action in matcher.find_stems(text) for text in texts):
        return True
    return any(action in _WORD.findall(text.casefold()) for text in texts)


def _heading_share(
    section: _DocumentSection, document: Document, terms: Sequence[QueryTerm], matcher: StemMatcher
) -> float:
    """Returns the share (0 to 1) of the question that the heading holds; 0 if heading and title hold too little of it.

    A heading that is itself a step ("Step 2: …") must hold enough alone; else the section above it is the procedure.
    Words of the title name the document and no section of it: a heading must hold others, if the question has others.
    """
    heading_stems, title_stems = matcher.find_stems(section.heading), matcher.find_stems(document.title)
    share = matched_share_of(terms, heading_stems)
    with_title = matched_share_of(terms, {**heading_stems, **title_stems})
    asked_terms = [term for term in terms if term.stem not in title_stems] or terms
    own_share = matched_share_of(asked_terms, heading_stems)
    if with_title < _MIN_HEADING_SHARE or own_share < _MIN_OWN_SHARE:
        return 0.0
    return own_share if not section.is_step or share >= _MIN_HEADING_SHARE else 0.0


def _are_parts(section: _DocumentSection, other: _DocumentSection) -> bool:
    """Whether two sections are parts of one: "Maintenance, part one" and "Maintenance, part two"."""
    names = [_WORD.findall(heading.casefold())[:1] for heading in (section.heading, other.heading)]
    return section.level == other.level and not (section.is_step or other.is_step) and names[0] == names[1]


def _can_be_quoted(steps: Sequence[ProcedureStep]) -> bool:
    count = sum(not step.is_heading for step in steps)
    return _MIN_STEPS <= count <= _MAX_STEPS and all(len(step.quote.text) <= _MAX_STEP_CHARACTERS for step in steps)


# -- sections of a document


@dataclass(frozen=True, slots=True, kw_only=True)
class _SectionLine:
    """A line of a document. `level` is the level of a heading, from 1; None for other lines."""

    quote: DocumentQuote
    level: int | None
    number: int | None
    is_item: bool


def _sections_of(document: Document) -> Iterator[_DocumentSection]:
    lines = list(_lines_of(document))
    headings = [position for position, line in enumerate(lines) if line.level is not None]
    if not headings:
        yield from _sections_of_pages(document)
    for position in headings:
        heading = lines[position]
        level = heading.level or _LOWEST_LEVEL
        body: list[_SectionLine] = []
        for line in lines[position + 1 :]:
            if line.level is not None and line.level <= level:
                break
            body.append(line)
        sentences = (ProcedureStep(quote=line.quote) for line in body if reads_as_sentence(line.quote.text))
        yield _DocumentSection(
            heading=_plain_heading(heading.quote.text),
            heading_quote=heading.quote,
            level=level,
            is_step=_STEP_HEADING.match(heading_text_of(heading.quote.text)) is not None,
            steps=_steps_of(body),
            sentences=tuple(sentences),
        )


def _lists_of(document: Document) -> Iterator[_DocumentSection]:
    """Yields each list of steps that a sentence with a colon introduces. The sentence is its heading.

    The list is numbered, or the sentence begins like "To end the lease:"; other lists are examples as often as steps.
    """
    lines = list(_lines_of(document))
    for position, line in enumerate(lines):
        sentences = split_sentences(line.quote.text, line.quote.start, line.quote.page)
        if line.is_item or not sentences or not line.quote.text.endswith(":"):
            continue
        items = list(takewhile(lambda following: following.is_item, lines[position + 1 :]))
        heading = _plain_heading(sentences[-1].text)
        if all(item.number is not None for item in items) or _STEPS_INTRODUCTION.match(heading):
            yield _DocumentSection(
                heading=heading,
                heading_quote=sentences[-1],
                level=_LOWEST_LEVEL,
                is_step=False,
                steps=_steps_of(items),
                sentences=(),
            )


def _plain_heading(text: str) -> str:
    return _STEP_HEADING.sub("", heading_text_of(text)).replace("**", "").strip(" :") or heading_text_of(text)


def _steps_of(body: Sequence[_SectionLine]) -> tuple[ProcedureStep, ...]:
    """Returns the items of the lists, each list after its heading if it has one."""
    steps: list[ProcedureStep] = []
    heading: ProcedureStep | None = None
    for line in body:
        if line.level is not None:
            heading = ProcedureStep(quote=line.quote, is_heading=True)
        elif line.is_item:
            steps += [heading] if heading is not None else []
            steps.append(ProcedureStep(quote=line.quote, number=line.number))
            heading = None
    return tuple(steps)


def _lines_of(document: Document) -> Iterator[_SectionLine]:
    for match in _LINE.finditer(document.text):
        text = match[0]
        if not text.strip():
            continue
        marker = _LIST_MARKER.match(text)
        start = match.start() + (marker.end() if marker is not None else len(text) - len(text.lstrip()))
        end = match.end() - (len(text) - len(text.rstrip()))
        quote = DocumentQuote(start=start, end=end, page=_page_at(document, start), text=document.text[start:end])
        level = None if marker is not None else _heading_level(text, document, match.start(), match.end())
        number = int(marker["number"]) if marker is not None and marker["number"] else None
        yield _SectionLine(quote=quote, level=level, number=number, is_item=marker is not None)


def _heading_level(text: str, document: Document, start: int, end: int) -> int | None:
    if (signs := _HEADING_LEVEL.match(text)) is not None:
        return len(signs["signs"])
    is_plain_heading = _BOLD_LINE.fullmatch(text) or is_heading(text, document.text, start, end)
    return _LOWEST_LEVEL if is_plain_heading else None


def _sections_of_pages(document: Document) -> Iterator[_DocumentSection]:
    """Yields a section for each passage of a text without headings. Its first sentence serves as the heading."""
    for passage in document.passages:
        text = document.text[passage.start : passage.end]
        first, *later_quotes = split_sentences(text, passage.start, passage.page) or [None]
        if first is None:
            continue
        sentences = tuple(ProcedureStep(quote=quote) for quote in later_quotes if quote is not None)
        yield _DocumentSection(
            heading=first.text.rstrip(". "), heading_quote=first, level=1, is_step=False, steps=(), sentences=sentences
        )


def _page_at(document: Document, offset: int) -> int | None:
    return next((passage.page for passage in document.passages if passage.start <= offset < passage.end), None)


HANDLER = FormHandler(answer_form=FindSteps, build_requests=_build_requests, decide=decide_steps)
