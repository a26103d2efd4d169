"""Composes answers that a language model wrote: each sentence with its citations, in the layout of the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.compose.composed_leg import ComposedLeg, LegComposer, cite_quotes
from agent.compose.phrases.words import escape_markdown
from agent.compose.registry import compose_facts
from agent.outcome import ResultTable
from agent.retrieval.quotations import CitedQuote
from agent.review.leg_review import LegReview
from agent.review.written_answer import (
    CELL_SEPARATOR,
    AnswerLayout,
    SupportedClaim,
    UnansweredFacts,
    WrittenAnswerFacts,
    WrittenSentence,
)
from agent.translation.message_catalogues import mark_message, translate_message

_VERDICTS: Mapping[str, tuple[str, str]] = {
    "en": ("Yes", "No"),
    "de": ("Ja", "Nein"),
    "fr": ("Oui", "Non"),
    "es": ("Sí", "No"),
    "it": ("Sì", "No"),
    "pt": ("Sim", "Não"),
    "nl": ("Ja", "Nee"),
}
_UNSETTLED_TEXT = mark_message("What I found does not settle this with a yes or no:")
_TABLE_TEXT = mark_message("What the documents say:")
_CONTRADICTION_TEXT = mark_message("The sources disagree:")
_CUT_SHORT_TEXT = mark_message("The answer was cut short.")
_SOURCE_COLUMN = mark_message("Source")


def compose_written_answer(facts: WrittenAnswerFacts) -> ComposedLeg:
    markers = {_place_of(cited): marker for marker, cited in enumerate(facts.quotes, 1)}
    is_table = facts.layout is AnswerLayout.TABLE
    lines: list[tuple[str, SupportedClaim | None]] = []
    if not facts.settles_question:
        lines.append((translate_message(_UNSETTLED_TEXT), None))
    if is_table:
        lines.append((_compose_table_line(facts, markers), None))
    else:
        claims = (sentence.claim for sentence in facts.sentences)
        lines += zip(_compose_lines(facts, markers), claims, strict=True)
    if facts.contradiction is not None:
        sentence = _compose_sentence(facts.contradiction, markers)
        lines.append((f"\n\n**{translate_message(_CONTRADICTION_TEXT)}** {sentence}", facts.contradiction.claim))
    lines += [(remark, None) for remark in _compose_remarks(facts)]
    return ComposedLeg(
        sentences=tuple(line for line, _ in lines),
        claims=tuple(claim for _, claim in lines),
        separator=" " if facts.layout is AnswerLayout.PROSE else "\n",
        citations=cite_quotes(facts.quotes),
        tables=(_compose_table(facts),) if is_table else (),
    )


def _compose_lines(facts: WrittenAnswerFacts, markers: Mapping[tuple[str, int, int], int]) -> list[str]:
    lines = [_compose_sentence(sentence, markers) for sentence in facts.sentences]
    if facts.layout is AnswerLayout.STEPS:
        lines = [f"{number}. {line}" for number, line in enumerate(lines, 1)]
    elif facts.layout is AnswerLayout.LIST:
        lines = [f"- {line}" for line in lines]
    if facts.verdict is not None and lines:
        yes, no = _VERDICTS.get(facts.language, _VERDICTS["en"])
        lines[0] = f"**{yes if facts.verdict else no}**: {lines[0]}"
    return lines


def _compose_sentence(sentence: WrittenSentence, markers: Mapping[tuple[str, int, int], int]) -> str:
    """The sentence and its markers. Everything that the model wrote is escaped."""
    text = escape_markdown(sentence.claim.text)
    cited = "".join(f"[{marker}]" for marker in sorted({markers[_place_of(cited)] for cited in sentence.quotes}))
    return f"{text} {cited}" if cited else text


def _compose_table_line(facts: WrittenAnswerFacts, markers: Mapping[tuple[str, int, int], int]) -> str:
    places = {_place_of(cited) for sentence in facts.sentences for cited in sentence.quotes}
    cited = "".join(f"[{marker}]" for marker in sorted(markers[place] for place in places))
    text = translate_message(_TABLE_TEXT)
    return f"{text} {cited}" if cited else text


def _compose_table(facts: WrittenAnswerFacts) -> ResultTable:
    rows = (_compose_row(sentence, len(facts.columns)) for sentence in facts.sentences)
    return ResultTable(caption="", columns=(*facts.columns, translate_message(_SOURCE_COLUMN)), rows=tuple(rows))


def _compose_row(sentence: WrittenSentence, width: int) -> tuple[str, ...]:
    cells = [" ".join(cell.split()) for cell in sentence.claim.text.strip(f" {CELL_SEPARATOR}").split(CELL_SEPARATOR)]
    cells = [*cells[:width], *([""] * (width - len(cells)))]
    sources = dict.fromkeys(
        cited.document.title + (f" ({cited.quote.page})" if cited.quote.page is not None else "")
        for cited in sentence.quotes
    )
    return (*cells, "; ".join(sources))


def _compose_remarks(facts: WrittenAnswerFacts) -> Sequence[str]:
    remarks = [_compose_missing(facts.missing)] if facts.missing else []
    remarks += [translate_message(_CUT_SHORT_TEXT)] if facts.is_cut_short else []
    return [f"\n\n_{remark}_" if index == 0 else f"_{remark}_" for index, remark in enumerate(remarks)]


def _compose_missing(missing: Sequence[str]) -> str:
    """ "I did not find: the date of signature; who pays." The gaps are a model's words, so they are escaped."""
    gaps = "; ".join(escape_markdown(gap).strip(" .;") for gap in missing)
    return translate_message("I did not find: {gaps}.", gaps=gaps)


def _place_of(cited: CitedQuote) -> tuple[str, int, int]:
    return cited.document.doc_id, cited.quote.start, cited.quote.end


def _compose_written(facts: WrittenAnswerFacts, review: LegReview) -> ComposedLeg:
    return compose_written_answer(facts)


def _compose_unanswered(facts: UnansweredFacts, review: LegReview) -> ComposedLeg:
    """What the rules say where they find nothing, and what a model has looked for in vain."""
    composed = compose_facts(facts.rule_facts, review)
    if not facts.missing:
        return composed
    return replace(composed, sentences=(*composed.sentences, _compose_missing(facts.missing)))


COMPOSERS = (LegComposer(WrittenAnswerFacts, _compose_written), LegComposer(UnansweredFacts, _compose_unanswered))
