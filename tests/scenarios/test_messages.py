"""Every surface shows the message of any outcome: within the product's limits, and with nothing of the data live."""

from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.outcome import (
    Answer,
    Choice,
    Citation,
    Clarify,
    ExportOutcome,
    Outcome,
    OutcomeKind,
    Refused,
    ResultTable,
    SearchRoute,
    SearchTrace,
    StartOverOutcome,
)
from bot.surface.replies import escape_markdown
from storage.search.ids import BucketId, DocId, Generation, LegId
from storage.search.plan import Leg, ListDocuments, Plan, unfiltered_search_of
from storage.search.refinement import Action, ExportAll, JustAnswer, OnlyBucket, Refinement
from tests.scenarios.surfaces.rendering import RENDERINGS, reply_of, slack_payload_of, teams_activity_of
from tests.stand_ins.slack.refusing import objects_in
from tests.stand_ins.teams.json_parts import objects_in as objects_in_activity

LEG = LegId("1")
PLAN = Plan(question="q", legs=(Leg(id=LEG, question="q", search=unfiltered_search_of(), answer_form=ListDocuments()),))
TRACE = SearchTrace(route=SearchRoute.STRUCTURED)


HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["<!channel>", "<@U1> & </at>", "x" * 4_000, "word " * 900, "", "\u202e\u05d0\u2066", "a\x00\x1b", "\ud800",
         "e\u0301" * 500, "😀" * 500, "*_`~>|", "[x](javascript:alert(1))", "@everyone", "../../a/b", "label " * 33]
    ),
)  # fmt: skip


def markdown_lines(label: str, count: int) -> str:
    return "\n".join(f"- **{escape_markdown(label[:200])}**: {number:,} [1]" for number in range(count))


def a_grid(cells: list[str], columns: int, rows: int, caption: str) -> ResultTable:
    def row(start: int) -> tuple[str, ...]:
        return tuple(cells[(start + number) % len(cells)] for number in range(columns))

    return ResultTable(caption=caption, columns=row(0), rows=tuple(row(number) for number in range(rows)))


LINES = st.builds(markdown_lines, HOSTILE, st.sampled_from([1, 20, 1_000]))
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
EFFECTS: tuple[Refinement | Action, ...] = (OnlyBucket(bucket=BucketId("b")), ExportAll(), JustAnswer())
CHOICES = st.builds(
    Choice, label=HOSTILE, count=st.none() | st.integers(1, 10**9), leg=st.just(LEG), effect=st.sampled_from(EFFECTS)
)


T = TypeVar("T")


def repeat_values(few: list[T], times: int) -> tuple[T, ...]:
    return tuple((few * times)[:times])


def tuples_of(strategy: st.SearchStrategy[T], max_size: int) -> st.SearchStrategy[tuple[T, ...]]:
    """A tuple with no values, a few, or the most allowed, made of a few repeated values."""
    return st.builds(repeat_values, st.lists(strategy, max_size=4), st.sampled_from([1, 4, max_size]))


OUTCOME_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "plan": st.just(PLAN),
    "text": st.one_of(HOSTILE.map(escape_markdown), LINES, HOSTILE, st.sampled_from(["x" * 20_000, "word " * 4_000])),
    "legs": st.just(()),
    "choices": tuples_of(CHOICES, 100),
    "citations": tuples_of(CITATIONS, 50),
    "tables": tuples_of(GRIDS, 3),
    "assumptions": tuples_of(HOSTILE, 30),
    "kept_conditions": tuples_of(HOSTILE, 30),
    "trace": st.just(TRACE),
    "generation": st.just(Generation("1")),
}
OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Answer, **OUTCOME_FIELDS),
    st.builds(Clarify, kind=st.sampled_from(OutcomeKind), leg=st.just(LEG), **OUTCOME_FIELDS),
    st.builds(
        ExportOutcome, plan=st.just(PLAN), leg=st.just(LEG), count=st.integers(0, 10**9), trace=st.just(TRACE),
        generation=st.just(Generation("1")),
    ),
    st.builds(StartOverOutcome, text=HOSTILE.map(escape_markdown)),
    st.builds(Refused, text=HOSTILE, may_go_private=st.booleans()),
)  # fmt: skip


@pytest.mark.parametrize("surface", RENDERINGS)
@settings(max_examples=30, deadline=None)
@given(outcome=OUTCOMES)
def test_the_product_shows_the_message_of_any_outcome(surface: str, outcome: Outcome) -> None:
    assert RENDERINGS[surface](reply_of(outcome)) is None


def the_largest_answer() -> Answer:
    """300 rows of 20 columns, 1,000 lines, 50 citations, 30 assumptions, 100 choices of 200 characters."""
    cell, label = "a cell of some words", "a label of some words " * 10
    return Answer(
        plan=PLAN,
        text="\n".join(f"- line {number}" for number in range(1_000)),
        legs=(),
        citations=tuple(_citation_of(number) for number in range(50)),
        tables=(ResultTable(caption="300 of 300", columns=(cell,) * 20, rows=((cell,) * 20,) * 300),),
        choices=tuple(
            Choice(label=f"{number} {label}", count=number + 1, leg=LEG, effect=EFFECTS[0]) for number in range(100)
        ),
        assumptions=tuple(f"assumption {number}" for number in range(30)),
        trace=TRACE,
        generation=Generation("1"),
    )


def test_the_largest_answer_in_slack_keeps_its_buttons_its_table_and_show_all() -> None:
    blocks = slack_payload_of(reply_of(the_largest_answer()))["blocks"]
    texts = [block["text"] for block in objects_in(blocks) if isinstance(block.get("text"), str)]

    assert sum(block.get("action_id", "").startswith("clarify:") for block in objects_in(blocks)) == 24
    assert "76 more choices" in texts
    assert "Show all" in texts
    assert any("more rows not shown." in text for text in texts)
    assert "line 0" in "".join(texts)


@pytest.mark.parametrize("is_personal", [True, False])
def test_the_largest_answer_in_teams_keeps_its_choices_its_table_and_show_all(is_personal: bool) -> None:
    activity = teams_activity_of(reply_of(the_largest_answer()), is_personal=is_personal)
    parts = list(objects_in_activity(activity))
    submissions = [part["data"]["parley"] for part in parts if isinstance(part.get("data"), dict)]
    menu_choices = [choice for part in parts if part.get("type") == "Input.ChoiceSet" for choice in part["choices"]]

    assert submissions.count("choice") + len(menu_choices) >= 24
    assert {"pick", "more", "full"} <= set(submissions)
    assert any(part.get("type") == "Table" for part in parts)
    assert any("more rows" in str(part.get("text")) for part in parts)
    assert "line 0" in activity["text"]


def _citation_of(number: int) -> Citation:
    quote = "A sentence that says so. " * 10
    return Citation(
        marker=str(number), doc_id=DocId("d"), title=f"Document {number}", page=number, start=0, end=9, text=quote
    )
