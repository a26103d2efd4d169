"""What sources say is below the answer where no link opens them."""

import json

from adapters.slack.lines import Line
from adapters.slack.quoting import quotes_of
from adapters.slack.render import message_for
from bot.ids import TurnId
from bot.replies import Reply, Source, Text


def a_source(quote: str, *, marker: str = "1", url: str | None = None, page: int | None = 3) -> Source:
    return Source(marker=marker, title="Lease", page=page, url=url, quote=quote)


def marked(line: Line) -> list[str]:
    return [span.text.strip() for span in line.spans if span.bold]


def words(line: Line) -> str:
    return "".join(span.text for span in line.spans)


def test_the_sentence_that_holds_the_value_is_marked() -> None:
    quote = "The rent is due monthly. It amounts to 1,200.50 EUR a month. It was 900 EUR before."

    [line] = quotes_of("The rent is **1,200.50 EUR** [1].\nFor 900 days [2].", [a_source(quote)])

    assert marked(line) == ["It amounts to 1,200.50 EUR a month."]
    assert words(line) == f"[1] “{quote}”"


def test_where_no_value_is_found_nothing_is_marked() -> None:
    [line] = quotes_of("It may be sublet [1].", [a_source("Subletting is allowed. Ask first.")])

    assert marked(line) == []


def test_what_the_answer_quotes_itself_is_not_quoted_again() -> None:
    assert quotes_of("It says: “Subletting is  allowed.” [1]", [a_source("Subletting is allowed.")]) == []


def test_a_long_quote_is_cut_around_its_sentence() -> None:
    quote = "Before. " * 200 + "It ends on 2031-05-09. " + "After. " * 200

    [line] = quotes_of("It ends on 2031-05-09 [1].", [a_source(quote)])

    assert marked(line) == ["It ends on 2031-05-09."]
    assert len(words(line)) <= 320
    assert "…" in words(line)


def blocks(*sources: Source) -> str:
    return json.dumps(message_for(Reply(turn=TurnId("t"), parts=(Text(markdown="x 7 [1]", sources=sources),))).blocks)


def test_a_source_with_an_address_is_a_link_at_its_page_and_is_not_quoted() -> None:
    shown = blocks(a_source("Seven: 7.", url="https://example.org/lease.pdf"))

    assert '"url": "https://example.org/lease.pdf#page=3"' in shown
    assert "Lease, page 3" in shown
    assert "rich_text_quote" not in shown


def test_a_source_without_an_address_is_quoted() -> None:
    assert "rich_text_quote" in blocks(a_source("Seven: 7. Eight: 8."))
