"""Strategies for every part of a reply, with hostile texts, for the renderers of all surfaces."""

from datetime import UTC, datetime, timedelta
from typing import Final

from hypothesis import strategies as st

from bot.ids import ChoiceId, ClarificationId, TurnId
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    ChosenPart,
    FilePart,
    FullTextPart,
    NoticePart,
    PictureKind,
    PicturePart,
    PicturePoint,
    ProgressPart,
    Reply,
    ReplyPart,
    ShownCitation,
    TablePart,
    TextPart,
    TurnAction,
    TurnActionsPart,
    escape_markdown,
)

_NOON: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOSTILE = st.one_of(
    st.text(max_size=200),
    st.sampled_from(
        ["<!channel>", "<@U1>", "</at>", "@here", "&amp;<", "*b* _i_ `c` ~s~", "<https://evil.example|x>", "",
         "\u202eabc\u200f\u05d0\u05d1", "a\x00\x07\x1b[31mb", "\ud800", "😀" * 50, "x" * 20_000, "<!here|@here>",
         "**_`" * 400, "- a\n- b\n\n\n-", "\\", "\u2028<!everyone>", "e\u0301\u0302\u0303" * 300, "../../a/b\\c.csv",
         "javascript:alert(1)", "\u2066\u05d0\u2069 <#C1|x> <!subteam^S1>", "👩‍👩‍👧‍👦" * 40]
    ),
)  # fmt: skip
MARKDOWN = st.lists(st.one_of(HOSTILE, HOSTILE.map(escape_markdown)), max_size=6).map("\n\n".join)
SOURCES = st.builds(
    ShownCitation,
    marker=HOSTILE,
    title=HOSTILE,
    page=st.none() | st.integers(0, 10**6),
    url=st.none() | HOSTILE | st.just("https://example.org/" + "x" * 4_000) | st.just("https://example.org"),
    quote=HOSTILE,
)
BUTTONS = st.builds(
    ChoiceButton,
    id=st.uuids().map(lambda uuid: ChoiceId(uuid.hex)),
    label=HOSTILE,
    count=st.none() | st.integers(1, 10**9),
    kind=st.just("filter"),
)
TABLES = st.integers(0, 25).flatmap(
    lambda columns: st.builds(
        TablePart,
        caption=HOSTILE,
        columns=st.tuples(*[HOSTILE] * columns),
        rows=st.lists(st.tuples(*[HOSTILE] * min(columns, 4)), max_size=4).flatmap(
            lambda rows: st.sampled_from([1, 80]).map(lambda times: tuple(rows * times))
        ),
    )
)
PICTURES = st.builds(
    PicturePart,
    kind=st.sampled_from(PictureKind),
    title=HOSTILE,
    points=st.lists(
        st.builds(
            PicturePoint,
            label=HOSTILE,
            value=st.floats(),
            value_text=HOSTILE,
            is_rest=st.booleans(),
            follows_gap=st.booleans(),
        ),
        min_size=2,
        max_size=12,
    ).map(tuple),
    description=HOSTILE,
)
ANY_PART: st.SearchStrategy[ReplyPart] = st.one_of(
    st.builds(TextPart, markdown=MARKDOWN, sources=st.lists(SOURCES, max_size=12).map(tuple)),
    TABLES,
    PICTURES,
    st.builds(
        ChoicesPart,
        clarification=st.just(ClarificationId("c")),
        buttons=st.lists(BUTTONS, max_size=60).map(tuple),
        expires=st.just(_NOON + timedelta(hours=1)),
    ),
    st.builds(ChosenPart, label=HOSTILE, by=HOSTILE),
    st.builds(
        FilePart,
        name=HOSTILE,
        title=HOSTILE,
        rows=st.integers(0, 10**7),
        path=HOSTILE,
        url=HOSTILE,
        expires=st.just(_NOON),
    ),
    st.builds(FullTextPart, name=HOSTILE, reply=st.just(Reply(turn=TurnId("t1"), parts=()))),
    st.builds(ProgressPart, text=HOSTILE),
    st.builds(NoticePart, text=HOSTILE),
    st.builds(TurnActionsPart, handles=st.lists(st.sampled_from(TurnAction), max_size=3).map(tuple)),
)
