"""A message never breaks Slack's limits, whatever the answer holds: from outcomes to what is posted."""

from typing import Any, TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.outcome import (
    Answer,
    Choice,
    Citation,
    Clarify,
    ExportWanted,
    Grid,
    Outcome,
    OutcomeKind,
    Refused,
    Route,
    StartedOver,
    Trace,
)
from bot.replies import escaped
from storage.search.ids import BucketId, DocId, Generation, LegId
from storage.search.plan import Leg, ListDocuments, Plan, everything_in
from storage.search.refinement import Action, ExportAll, JustAnswer, OnlyBucket, Refinement
from tests.scenarios.slack_messages import posted
from tests.stand_ins.slack.refusing import objects

LEG = LegId("1")
PLAN = Plan(question="q", legs=(Leg(id=LEG, question="q", search=everything_in(), wanted=ListDocuments()),))
TRACE = Trace(route=Route.STRUCTURED)


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["<!channel>", "<@U1> & </at>", "x" * 4_000, "word " * 900, "", "\u202e\u05d0\u2066", "a\x00\x1b", "\ud800",
         "e\u0301" * 500, "😀" * 500, "*_`~>|", "[x](javascript:alert(1))", "@everyone", "../../a/b", "label " * 33]
    ),
)  # fmt: skip


def lines(label: str, count: int) -> str:
    return "\n".join(f"- **{escaped(label[:200])}**: {at:,} [1]" for at in range(count))


def a_grid(cells: list[str], columns: int, rows: int, caption: str) -> Grid:
    def row(start: int) -> tuple[str, ...]:
        return tuple(cells[(start + at) % len(cells)] for at in range(columns))

    return Grid(caption=caption, columns=row(0), rows=tuple(row(at) for at in range(rows)))


LINES = st.builds(lines, HOSTILE, st.sampled_from([1, 20, 1_000]))
CITATIONS = st.builds(
    Citation,
    marker=st.integers(1, 99).map(str),
    doc_id=st.just(DocId("d")),
    title=HOSTILE,
    page=st.none() | st.integers(1, 9_999),
    start=st.just(0),
    end=st.just(1),
    text=HOSTILE,
    url=st.none() | HOSTILE | st.just("https://example.org/a.pdf"),
)
GRIDS = st.builds(
    a_grid,
    st.lists(HOSTILE, min_size=1, max_size=5),
    st.sampled_from([0, 1, 3, 20, 25]),
    st.sampled_from([0, 1, 300]),
    HOSTILE,
)
DOES: tuple[Refinement | Action, ...] = (OnlyBucket(bucket=BucketId("b")), ExportAll(), JustAnswer())
CHOICES = st.builds(
    Choice, label=HOSTILE, count=st.none() | st.integers(1, 10**9), leg=st.just(LEG), does=st.sampled_from(DOES)
)


T = TypeVar("T")


def repeated(few: list[T], times: int) -> tuple[T, ...]:
    return tuple((few * times)[:times])


def some(strategy: st.SearchStrategy[T], most: int) -> st.SearchStrategy[tuple[T, ...]]:
    """None, a few, or as many as there may be: a few of them over and over."""
    return st.builds(repeated, st.lists(strategy, max_size=4), st.sampled_from([1, 4, most]))


SAID: dict[str, st.SearchStrategy[Any]] = {
    "plan": st.just(PLAN),
    "text": st.one_of(HOSTILE.map(escaped), LINES, HOSTILE, st.sampled_from(["x" * 20_000, "word " * 4_000])),
    "legs": st.just(()),
    "choices": some(CHOICES, 100),
    "citations": some(CITATIONS, 50),
    "grids": some(GRIDS, 3),
    "assumptions": some(HOSTILE, 30),
    "kept": some(HOSTILE, 30),
    "trace": st.just(TRACE),
    "generation": st.just(Generation("1")),
}
OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Answer, **SAID),
    st.builds(Clarify, kind=st.sampled_from(OutcomeKind), leg=st.just(LEG), **SAID),
    st.builds(
        ExportWanted, plan=st.just(PLAN), leg=st.just(LEG), count=st.integers(0, 10**9), trace=st.just(TRACE),
        generation=st.just(Generation("1")),
    ),
    st.builds(StartedOver, text=HOSTILE.map(escaped)),
    st.builds(Refused, text=HOSTILE, may_go_private=st.booleans()),
)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(OUTCOMES)
def test_whatever_an_answer_holds_its_message_is_one_that_slack_takes(outcome: Outcome) -> None:
    posted(outcome)


def test_the_largest_answer_keeps_its_buttons_its_table_and_the_way_to_all_of_it() -> None:
    """300 rows of 20 columns, 1,000 lines, 50 citations, 30 assumptions, 100 choices of 200 characters."""
    cell, label = "a cell of some words", "a label of some words " * 10
    answered = Answer(
        plan=PLAN,
        text="\n".join(f"- line {at}" for at in range(1_000)),
        legs=(),
        citations=tuple(_citation(at) for at in range(50)),
        grids=(Grid(caption="300 of 300", columns=(cell,) * 20, rows=((cell,) * 20,) * 300),),
        choices=tuple(Choice(label=f"{at} {label}", count=at + 1, leg=LEG, does=DOES[0]) for at in range(100)),
        assumptions=tuple(f"assumption {at}" for at in range(30)),
        trace=TRACE,
        generation=Generation("1"),
    )

    blocks = posted(answered)["blocks"]
    texts = [one["text"] for one in objects(blocks) if isinstance(one.get("text"), str)]

    assert sum(one.get("action_id", "").startswith("clarify:") for one in objects(blocks)) == 24
    assert "76 more choices" in texts
    assert "Show all" in texts
    assert any("more rows not shown." in text for text in texts)
    assert "line 0" in "".join(texts)


def _citation(at: int) -> Citation:
    quote = "A sentence that says so. " * 10
    return Citation(marker=str(at), doc_id=DocId("d"), title=f"Document {at}", page=at, start=0, end=9, text=quote)
