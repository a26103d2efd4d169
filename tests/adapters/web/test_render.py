"""Renders replies as HTML: text in a part never becomes markup."""

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from adapters.web.render import is_web_address, part_html, question_html, reply_html, steps_html
from bot.ids import ChoiceId, ClarificationId, TurnId
from bot.surface.replies import (
    ChoiceButton,
    ChoicesPart,
    ChosenPart,
    FilePart,
    NoticePart,
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
from bot.turns.turn_actions import SearchStep, TurnSteps

NOW = datetime(2031, 5, 4, 9, 30, tzinfo=UTC)
HOSTILE_TEXTS = st.text() | st.sampled_from(
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "' onfocus='alert(1)' autofocus='",
        "</textarea></div></main>",
        "javascript:alert(1)",
        "data:text/html,<script>1</script>",
        "&lt;b&gt; &amp;",
        "\x00\ud800\u202e",
        "**_`[1]`_** \\",
    ]
)


class _HtmlReader(HTMLParser):
    """Parses HTML as a browser would: text, tags with attributes, and correct nesting."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read_html(html: str) -> _HtmlReader:
    reader = _HtmlReader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


def parts_with_text(text: str) -> list[ReplyPart]:
    expires = NOW + timedelta(hours=1)
    source = ShownCitation(marker="1", title=text, page=3, url=text, quote=text)
    return [
        TextPart(markdown=escape_markdown(text), sources=(source,)),
        TablePart(caption=text, columns=(text, text), rows=((text, text),)),
        ChoicesPart(
            clarification=ClarificationId("c"),
            buttons=(ChoiceButton(id=ChoiceId(text), label=text, count=1, kind="filter"),),
            expires=expires,
        ),
        ChosenPart(label=text, by=text),
        FilePart(name=text, title=text, rows=1, path=text, url=text, expires=expires),
        ProgressPart(text=text),
        NoticePart(text=text),
    ]


@given(HOSTILE_TEXTS)
def test_hostile_text_adds_no_tag_and_no_attribute(text: str) -> None:
    plain_tags = [
        [(tag, set(attrs)) for tag, attrs in read_html(part_html(part, "m", NOW)).tags] for part in parts_with_text("a")
    ]
    hostile_tags = [
        [(tag, set(attrs)) for tag, attrs in read_html(part_html(part, "m", NOW)).tags]
        for part in parts_with_text(text)
    ]

    allowed_tags = {tag for tags in plain_tags for tag, _ in tags} | {
        "strong",
        "em",
        "code",
        "br",
        "a",
        "details",
        "summary",
    }
    assert {tag for tags in hostile_tags for tag, _ in tags} <= allowed_tags | {"blockquote", "sup", "ul", "li"}
    allowed_attributes = {name for tags in plain_tags for _, names in tags for name in names} | {
        "href",
        "rel",
        "target",
        "download",
    }
    assert {name for tags in hostile_tags for _, names in tags for name in names} <= allowed_attributes


@given(HOSTILE_TEXTS)
def test_links_lead_to_the_web_or_within_the_page(text: str) -> None:
    links = [
        attrs.get("href") or ""
        for part in parts_with_text(text)
        for tag, attrs in read_html(part_html(part, "m", NOW)).tags
        if tag == "a"
    ]

    assert all(link.startswith(("http://", "https://", "#")) for link in links)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00\r")))
def test_the_text_of_a_cell_is_unchanged(text: str) -> None:
    assert text in read_html(part_html(TablePart(caption="c", columns=("x",), rows=((text,),)), "m", NOW)).text


@given(HOSTILE_TEXTS)
def test_a_persons_message_is_shown_as_text(text: str) -> None:
    assert {tag for tag, _ in read_html(question_html(text, id_="q", posted_at=NOW)).tags} <= {
        "article",
        "h2",
        "time",
        "div",
        "p",
        "br",
    }


def test_buttons_carry_the_id_and_the_count() -> None:
    button = ChoiceButton(id=ChoiceId("x1"), label="Northline", count=1312, kind="filter")
    part = ChoicesPart(clarification=ClarificationId("c"), buttons=(button,), expires=NOW + timedelta(minutes=1))

    html = read_html(part_html(part, "m", NOW))

    assert ("button", "x1") in [(tag, attrs.get("value")) for tag, attrs in html.tags]
    assert html.text == "Northline 1,312"


def test_an_expired_offer_has_no_buttons() -> None:
    button = ChoiceButton(id=ChoiceId("x1"), label="Northline", count=3, kind="filter")
    part = ChoicesPart(clarification=ClarificationId("c"), buttons=(button,), expires=NOW)

    html = read_html(part_html(part, "m", NOW))

    assert "button" not in [tag for tag, _ in html.tags]
    assert "ended" in html.text


def test_a_citation_links_to_its_source_and_names_the_page() -> None:
    source = ShownCitation(marker="1", title="Manual", page=14, url="https://example.org/m", quote="Every 6 months.")
    reply = Reply(turn=TurnId("t"), parts=(TextPart(markdown="Every **6** months [1].", sources=(source,)),))

    html = read_html(reply_html(reply, id_="r-1", posted_at=NOW, now=NOW, steps_address="/s"))

    assert ("a", "#r-1-1") in [(tag, attrs.get("href")) for tag, attrs in html.tags]
    assert ("li", "r-1-1") in [(tag, attrs.get("id")) for tag, attrs in html.tags]
    assert "page 14" in html.text


def test_a_reply_links_to_its_steps_where_it_has_some() -> None:
    reply = Reply(turn=TurnId("t"), parts=(TurnActionsPart(handles=(TurnAction.STEPS,)),))
    without_steps = Reply(turn=TurnId("t"), parts=(TurnActionsPart(handles=(TurnAction.RATE,)),))

    html, other_html = (
        read_html(reply_html(reply, id_="r", posted_at=NOW, now=NOW, steps_address="/s?turn=t"))
        for reply in (reply, without_steps)
    )

    assert ("a", "/s?turn=t") in [(tag, attrs.get("href")) for tag, attrs in html.tags]
    assert "a" not in [tag for tag, _ in other_html.tags]


def test_a_reply_that_can_be_saved_has_the_button_for_it() -> None:
    reply = Reply(turn=TurnId("t"), parts=(TurnActionsPart(handles=(TurnAction.SAVE,)),))

    html = read_html(reply_html(reply, id_="r", posted_at=NOW, now=NOW, steps_address=""))

    assert ("button", "save", "t") in [(tag, attrs.get("name"), attrs.get("value")) for tag, attrs in html.tags]


def test_steps_show_stages_calls_and_searches_as_text() -> None:
    steps = TurnSteps(
        route="long_text",
        reasoner="model",
        elapsed_ms=41.7,
        steps=(SearchStep(tool="search_text", criteria="“<b>grip</b>”", documents=1_042, elapsed_ms=3.04),),
        stage_lines=("reading the question: 4.0 ms",),
        reasoning_lines=("plan@1 to <i>m</i>: 812 ms",),
    )

    html = read_html(steps_html(steps))

    assert {"b", "i"}.isdisjoint(tag for tag, _ in html.tags)
    for shown in (
        "Stages",
        "reading the question: 4.0 ms",
        "Language model",
        "Searched a long document, with a language model, in 42 ms",
        "<b>grip</b>",
        "1,042 documents found",
        "plan@1 to <i>m</i>",
    ):
        assert shown in html.text


def test_progress_is_announced_to_screen_readers() -> None:
    reply = Reply(turn=TurnId("t"), parts=(ProgressPart(text="Reading"),))

    assert (
        read_html(reply_html(reply, id_="r", posted_at=NOW, now=NOW, steps_address="/s")).tags[0][1]["aria-busy"]
        == "true"
    )


def test_only_http_addresses_become_links() -> None:
    assert is_web_address("https://example.org/a")
    assert not is_web_address("javascript:alert(1)")
    assert not is_web_address("https://")
    assert not is_web_address("http://[")
