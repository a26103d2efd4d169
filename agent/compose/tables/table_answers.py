"""Says what the rows of a table answer: the value, how it was found, and the rows that it stands on."""

from agent.compose.composed_leg import ComposedLeg, LegComposer, cite_quotes
from agent.compose.phrases.words import escape_markdown
from agent.review.leg_review import LegReview
from agent.review.table_answers import QuotedRow, SeveralTableAnswersFacts, SeveralTablesFacts, TableAnswerFacts
from agent.tables.row_queries import AnswerKind
from agent.translation.message_catalogues import mark_message, translate_message

_MAX_CELL_CHARACTERS = 120
_MAX_CELLS = 12
_SENTENCES = {
    AnswerKind.CELLS: mark_message("{column}: **{value}** – from {title}{conditions}."),
    AnswerKind.COUNT: mark_message("**{value}** – counted in {title}{conditions}."),
    AnswerKind.SUM: mark_message("**{value}** – the sum of {column} in {title}{conditions}."),
    AnswerKind.AVERAGE: mark_message("**{value}** – the average of {column} in {title}{conditions}."),
    AnswerKind.DIFFERENCE: mark_message("**{value}** – the difference between rows of {title}{conditions}."),
    AnswerKind.SPAN: mark_message("**{value}** – from the first to the last year in {title}{conditions}."),
    AnswerKind.GROUP: mark_message("{column}: **{value}** – compared by number of rows in {title}{conditions}."),
    AnswerKind.VERDICT: mark_message("**{value}**: by the rows of {title}{conditions}."),
}


def _compose_table_answer(facts: TableAnswerFacts, review: LegReview) -> ComposedLeg:
    rows = tuple(f"{_format_row(row)} [{marker}]" for marker, row in enumerate(facts.rows, 1))
    return ComposedLeg(sentences=(_format_answer(facts), *rows), citations=cite_quotes(facts.quotes))


def _compose_several_answers(facts: SeveralTableAnswersFacts, review: LegReview) -> ComposedLeg:
    """Says that several tables may be meant, and what each of them answers."""
    sentences, marker = [translate_message("It depends on which table you mean:")], 0
    for answer in facts.answers:
        markers = "".join(f"[{number}]" for number in range(marker + 1, marker + len(answer.rows) + 1))
        marker += len(answer.rows)
        sentences.append(f"- {_format_answer(answer)} {markers}".rstrip())
    return ComposedLeg(sentences=tuple(sentences), citations=cite_quotes(facts.quotes))


def _compose_choice(facts: SeveralTablesFacts, review: LegReview) -> ComposedLeg:
    text = translate_message(
        "{count} tables answer this, each in its own way. Which one do you mean?", count=facts.table_count
    )
    return ComposedLeg(sentences=(text,))


def _format_answer(facts: TableAnswerFacts) -> str:
    return translate_message(
        _SENTENCES[facts.kind],
        value=escape_markdown("; ".join(facts.values)),
        column=escape_markdown(facts.column or ""),
        title=escape_markdown(facts.document.title),
        conditions=_format_conditions(facts),
    )


def _format_conditions(facts: TableAnswerFacts) -> str:
    """ " (Region: italy; Year: after 1999)": how the rows were chosen."""
    if not facts.conditions:
        return ""
    shown = (f"{column}: {words}" if column else words for column, words in facts.conditions)
    return " " + escape_markdown(f"({'; '.join(shown)})")


def _format_row(row: QuotedRow) -> str:
    cells = (f"{name}: {text[:_MAX_CELL_CHARACTERS]}" if name else text for name, text in row.cells[:_MAX_CELLS])
    return translate_message("Row {number}: ", number=row.number) + escape_markdown(" · ".join(cells))


COMPOSERS = (
    LegComposer(TableAnswerFacts, _compose_table_answer),
    LegComposer(SeveralTableAnswersFacts, _compose_several_answers),
    LegComposer(SeveralTablesFacts, _compose_choice),
)
