"""The rolling summary of a conversation under one scope: structured state, rendered to at most 400 tokens."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any as Json
from typing import assert_never

from agent.outcome import Answer, Clarify, ExportWanted, Outcome, Refused, StartedOver

BUDGET_TOKENS = 400
_EXCHANGES = 12  # kept in the database; fewer are rendered where the budget ends
_TITLES = 5  # documents named, of one exchange
_LONGEST = 300  # code points of a question


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What was asked and what came of it."""

    asked: str
    outcome: str  # answer, overload, …
    count: int | None
    kept: tuple[str, ...] = ()  # filters in words
    documents: tuple[str, ...] = ()  # titles named
    turn: str = ""  # empty where that was not kept yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Oldest first."""

    exchanges: tuple[Exchange, ...] = ()

    def with_outcome(self, asked: str, outcome: Outcome, turn: str = "") -> "Summary":
        """The summary after one more turn; empty after starting over."""
        match outcome:
            case StartedOver():
                return Summary()
            case Refused():
                return self
            case ExportWanted(count=count):
                return self._and(Exchange(asked=asked[:_LONGEST], outcome="export", count=count, turn=turn))
            case Answer() | Clarify():
                return self._and(replace(_exchange(asked, outcome), turn=turn))
            case _:
                assert_never(outcome)

    def without(self, turns: Collection[str]) -> "Summary":
        return Summary(exchanges=tuple(one for one in self.exchanges if one.turn not in turns))

    def _and(self, exchange: Exchange) -> "Summary":
        return Summary(exchanges=(*self.exchanges, exchange)[-_EXCHANGES:])


def rendered(summary: Summary) -> str:
    """The latest exchanges that fit the budget, oldest first, a line each."""
    lines: list[str] = []
    left = BUDGET_TOKENS
    for exchange in reversed(summary.exchanges):
        line = _line(exchange)
        left -= tokens(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(reversed(lines))


def tokens(text: str) -> int:
    """An estimate from above for the usual tokenisers: four bytes of UTF-8 a token."""
    return -(-len(text.encode(errors="replace")) // 4)


def summary_to_json(summary: Summary) -> dict[str, Json]:
    exchanges = [
        {
            "asked": one.asked,
            "outcome": one.outcome,
            "count": one.count,
            "kept": list(one.kept),
            "documents": list(one.documents),
            "turn": one.turn,
        }
        for one in summary.exchanges
    ]
    return {"version": 1, "exchanges": exchanges}


def summary_from_json(data: Mapping[str, Json]) -> Summary:
    exchanges = tuple(
        Exchange(
            asked=one["asked"],
            outcome=one["outcome"],
            count=one["count"],
            kept=tuple(one["kept"]),
            documents=tuple(one["documents"]),
            turn=one.get("turn", ""),
        )
        for one in data["exchanges"]
    )
    return Summary(exchanges=exchanges)


def _exchange(asked: str, outcome: Answer | Clarify) -> Exchange:
    kind = outcome.kind.value if isinstance(outcome, Clarify) else "answer"
    count = outcome.legs[0].count if len(outcome.legs) == 1 else None
    titles = dict.fromkeys(citation.title for citation in outcome.citations)
    return Exchange(
        asked=asked[:_LONGEST], outcome=kind, count=count, kept=outcome.kept, documents=tuple(titles)[:_TITLES]
    )


def _line(exchange: Exchange) -> str:
    came = exchange.outcome if exchange.count is None else f"{exchange.outcome}, {exchange.count} documents"
    kept = f"; kept {', '.join(exchange.kept)}" if exchange.kept else ""
    named = f"; named {', '.join(exchange.documents)}" if exchange.documents else ""
    return f"asked: {exchange.asked} -> {came}{kept}{named}"
