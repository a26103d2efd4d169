"""The rolling summary of a conversation under one scope: structured data, rendered to at most 400 tokens."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, assert_never
from typing import Any as Json

from pydantic import Field, TypeAdapter

from agent.outcome import Answer, Clarify, ExportOutcome, Outcome, OutcomeKind, Refused, StartOverOutcome
from agent.token_counts import estimate_tokens
from storage.search.ids import DocId

SUMMARY_BUDGET_TOKENS = 400
_MAX_EXCHANGES = 12  # stored in the database; the token budget may render fewer
_MAX_TITLES = 5  # cited documents of one exchange
_MAX_QUESTION_CHARS = 300  # code points


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryExchange:
    """A question and its outcome."""

    question: Annotated[str, Field(alias="asked")]
    outcome: str  # answer, overload, …
    count: int | None
    filters: Annotated[tuple[str, ...], Field(alias="kept")] = ()  # in words
    titles: Annotated[tuple[str, ...], Field(alias="documents")] = ()  # of the cited documents
    turn: str = ""  # empty in old summaries
    found_nothing: bool = False  # no part of the question found a document
    unknown_words: tuple[str, ...] = ()  # that the reply asked about
    found_documents: tuple[DocId, ...] = ()  # that the reply cited


@dataclass(frozen=True, slots=True, kw_only=True)
class PolishedSummary:
    """The exchanges up to `turn` in sentences, as a language model wrote them."""

    text: str
    turn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSummary:
    """The latest exchanges, oldest first."""

    exchanges: tuple[SummaryExchange, ...] = ()
    polished: PolishedSummary | None = None
    web_subject: str = ""  # of the pages of the web that answered last; empty after any other turn

    def with_outcome(self, question: str, outcome: Outcome, turn: str = "") -> "ConversationSummary":
        """The summary after one more turn; empty after starting over. A question on a new topic starts it again."""
        from agent.new_topic import split_new_topic

        if split_new_topic(question) is not None and isinstance(outcome, (Answer, Clarify, ExportOutcome)):
            return ConversationSummary()._with_turn(question, outcome, turn)
        return self._with_turn(question, outcome, turn)

    def _with_turn(self, question: str, outcome: Outcome, turn: str) -> "ConversationSummary":
        match outcome:
            case StartOverOutcome():
                return ConversationSummary()
            case Refused():
                return self
            case ExportOutcome(count=count):
                return self._with_exchange(
                    SummaryExchange(question=question[:_MAX_QUESTION_CHARS], outcome="export", count=count, turn=turn)
                )
            case Answer() | Clarify():
                return self._with_exchange(replace(_exchange_of(question, outcome), turn=turn))
            case _:
                assert_never(outcome)

    @property
    def found_nothing(self) -> bool:
        """Whether the last question, thanks not counted, found no document."""
        exchanges = [exchange for exchange in self.exchanges if not _is_any_thanks(exchange.question)]
        return bool(exchanges) and exchanges[-1].found_nothing

    @property
    def pending_words(self) -> tuple[str, ...]:
        """The words that the last reply asked about; a click or another question leaves none."""
        return self.exchanges[-1].unknown_words if self.exchanges else ()

    @property
    def found_documents(self) -> tuple[DocId, ...]:
        """The documents that the last reply cited."""
        return self.exchanges[-1].found_documents if self.exchanges else ()

    def with_polished(self, text: str) -> "ConversationSummary":
        """The summary with all of its exchanges in sentences, too."""
        return replace(self, polished=PolishedSummary(text=text, turn=self.exchanges[-1].turn))

    def without_turns(self, turns: Collection[str]) -> "ConversationSummary":
        """The summary without these exchanges, and without sentences that may tell of them."""
        return ConversationSummary(
            exchanges=tuple(exchange for exchange in self.exchanges if exchange.turn not in turns)
        )

    def _with_exchange(self, exchange: SummaryExchange) -> "ConversationSummary":
        return replace(self, exchanges=(*self.exchanges, exchange)[-_MAX_EXCHANGES:], web_subject="")

    @property
    def unpolished_exchanges(self) -> tuple[SummaryExchange, ...]:
        """The exchanges after those that are in sentences."""
        turns = [exchange.turn for exchange in self.exchanges]
        if self.polished is None or self.polished.turn not in turns:
            return self.exchanges
        return self.exchanges[turns.index(self.polished.turn) + 1 :]


def render_summary(summary: ConversationSummary) -> str:
    """What was polished and a line for each later exchange, if all that fits the budget; else the latest exchanges that
    fit, oldest first, one per line.
    """
    if summary.polished is not None:
        lines = [summary.polished.text, *map(_exchange_line, summary.unpolished_exchanges)]
        if estimate_tokens("\n".join(lines)) <= SUMMARY_BUDGET_TOKENS:
            return "\n".join(lines)
    return "\n".join(list_exchange_lines(summary))


def list_exchange_lines(summary: ConversationSummary) -> list[str]:
    """A line for each of the latest exchanges that fit the budget, oldest first."""
    lines: list[str] = []
    remaining_tokens = SUMMARY_BUDGET_TOKENS
    for exchange in reversed(summary.exchanges):
        line = _exchange_line(exchange)
        remaining_tokens -= estimate_tokens(line) + 1
        if remaining_tokens < 0:
            break
        lines.append(line)
    return lines[::-1]


_SUMMARY_ADAPTER = TypeAdapter(ConversationSummary)  # the aliases of the fields are stored data


def summary_to_json(summary: ConversationSummary) -> dict[str, Json]:
    data = _SUMMARY_ADAPTER.dump_python(summary, mode="json", by_alias=True)
    if summary.polished is None:
        del data["polished"]
    if not summary.web_subject:
        del data["web_subject"]
    return {"version": 1, **data}


def summary_from_json(data: Mapping[str, Json]) -> ConversationSummary:
    """Raises `ValueError` for what is not a summary."""
    return _SUMMARY_ADAPTER.validate_python(data)


def _exchange_of(question: str, outcome: Answer | Clarify) -> SummaryExchange:
    kind = outcome.kind.value if isinstance(outcome, Clarify) else "answer"
    count = outcome.legs[0].count if len(outcome.legs) == 1 else None
    titles = dict.fromkeys(citation.title for citation in outcome.citations)
    return SummaryExchange(
        question=question[:_MAX_QUESTION_CHARS],
        outcome=kind,
        count=count,
        filters=outcome.kept_conditions,
        titles=tuple(titles)[:_MAX_TITLES],
        unknown_words=tuple(word for leg in outcome.legs for word in leg.unknown_words),
        found_documents=tuple(dict.fromkeys(citation.doc_id for citation in outcome.citations))[:_MAX_TITLES],
        found_nothing=all(leg.kind is OutcomeKind.NO_RESULTS for leg in outcome.legs) and not _is_any_thanks(question),
    )


def _is_any_thanks(question: str) -> bool:
    from agent.english.commands import is_thanks
    from agent.languages.command_phrases import CommandKind, is_foreign_command

    return is_thanks(question) or is_foreign_command(question, CommandKind.THANKS)


def _exchange_line(exchange: SummaryExchange) -> str:
    outcome = exchange.outcome if exchange.count is None else f"{exchange.outcome}, {exchange.count} documents"
    filters = f"; kept {', '.join(exchange.filters)}" if exchange.filters else ""
    titles = f"; named {', '.join(exchange.titles)}" if exchange.titles else ""
    return " ".join(f"asked: {exchange.question} -> {outcome}{filters}{titles}".split())
