"""Replies as HTML: whatever a part holds stays text."""

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from adapters.web.render import is_web_address, part_html, question_html, reply_html
from bot.ids import ChoiceId, ClarificationId, TurnId
from bot.replies import Button, Choices, Chosen, File, Notice, Part, Progress, Reply, Source, Table, Text, escaped

NOW = datetime(2031, 5, 4, 9, 30, tzinfo=UTC)
HOSTILE = st.text() | st.sampled_from(
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


class _Reader(HTMLParser):
    """What a browser would see: text, tags with attributes, and whether they nest."""

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


def read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


def with_text(text: str) -> list[Part]:
    later = NOW + timedelta(hours=1)
    source = Source(marker="1", title=text, page=3, url=text, quote=text)
    return [
        Text(markdown=escaped(text), sources=(source,)),
        Table(caption=text, columns=(text, text), rows=((text, text),)),
        Choices(
            clarification=ClarificationId("c"),
            buttons=(Button(id=ChoiceId(text), label=text, count=1, kind="filter"),),
            expires=later,
        ),
        Chosen(label=text, by=text),
        File(name=text, title=text, rows=1, path=text, url=text, expires=later),
        Progress(text=text),
        Notice(text=text),
    ]


@given(HOSTILE)
def test_hostile_text_adds_no_tag_and_no_attribute(text: str) -> None:
    plain = [[(tag, set(attrs)) for tag, attrs in read(part_html(one, "m", NOW)).tags] for one in with_text("a")]
    hostile = [[(tag, set(attrs)) for tag, attrs in read(part_html(one, "m", NOW)).tags] for one in with_text(text)]

    allowed = {tag for tags in plain for tag, _ in tags} | {"strong", "em", "code", "br", "a", "details", "summary"}
    assert {tag for tags in hostile for tag, _ in tags} <= allowed | {"blockquote", "sup", "ul", "li"}
    known = {name for tags in plain for _, names in tags for name in names} | {"href", "rel", "target", "download"}
    assert {name for tags in hostile for _, names in tags for name in names} <= known


@given(HOSTILE)
def test_links_lead_to_the_web_or_within_the_page(text: str) -> None:
    links = [
        attrs.get("href") or ""
        for one in with_text(text)
        for tag, attrs in read(part_html(one, "m", NOW)).tags
        if tag == "a"
    ]

    assert all(link.startswith(("http://", "https://", "#")) for link in links)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00\r")))
def test_a_cell_reads_as_it_was(text: str) -> None:
    assert text in read(part_html(Table(caption="c", columns=("x",), rows=((text,),)), "m", NOW)).text


@given(HOSTILE)
def test_what_a_person_wrote_is_text(text: str) -> None:
    assert {tag for tag, _ in read(question_html(text, id_="q", at=NOW)).tags} <= {
        "article",
        "h2",
        "time",
        "div",
        "p",
        "br",
    }


def test_buttons_carry_the_id_and_the_count() -> None:
    button = Button(id=ChoiceId("x1"), label="Northline", count=1312, kind="filter")
    part = Choices(clarification=ClarificationId("c"), buttons=(button,), expires=NOW + timedelta(minutes=1))

    shown = read(part_html(part, "m", NOW))

    assert ("button", "x1") in [(tag, attrs.get("value")) for tag, attrs in shown.tags]
    assert shown.text == "Northline 1,312"


def test_an_offer_past_its_time_has_no_buttons() -> None:
    button = Button(id=ChoiceId("x1"), label="Northline", count=3, kind="filter")
    part = Choices(clarification=ClarificationId("c"), buttons=(button,), expires=NOW)

    shown = read(part_html(part, "m", NOW))

    assert "button" not in [tag for tag, _ in shown.tags]
    assert "ended" in shown.text


def test_a_citation_leads_to_its_source_and_the_page_is_named() -> None:
    source = Source(marker="1", title="Manual", page=14, url="https://example.org/m", quote="Every 6 months.")
    reply = Reply(turn=TurnId("t"), parts=(Text(markdown="Every **6** months [1].", sources=(source,)),))

    shown = read(reply_html(reply, id_="r-1", at=NOW, now=NOW))

    assert ("a", "#r-1-1") in [(tag, attrs.get("href")) for tag, attrs in shown.tags]
    assert ("li", "r-1-1") in [(tag, attrs.get("id")) for tag, attrs in shown.tags]
    assert "page 14" in shown.text


def test_work_under_way_is_told_to_screen_readers() -> None:
    reply = Reply(turn=TurnId("t"), parts=(Progress(text="Reading"),))

    assert read(reply_html(reply, id_="r", at=NOW, now=NOW)).tags[0][1]["aria-busy"] == "true"


def test_only_http_addresses_become_links() -> None:
    assert is_web_address("https://example.org/a")
    assert not is_web_address("javascript:alert(1)")
    assert not is_web_address("https://")
    assert not is_web_address("http://[")
