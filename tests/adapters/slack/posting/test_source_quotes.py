"""Quotes of sources without a link stand below the answer."""

import json

from adapters.slack.posting.render import slack_message_for
from adapters.slack.posting.source_quotes import quote_lines_of
from adapters.slack.posting.styled_lines import StyledLine
from bot.ids import TurnId
from bot.surface.replies import Reply, ShownCitation, TextPart


def source_with_quote(quote: str, *, marker: str = "1", url: str | None = None, page: int | None = 3) -> ShownCitation:
    return ShownCitation(marker=marker, title="Lease", page=page, url=url, quote=quote)


def bold_texts_of(line: StyledLine) -> list[str]:
    return [span.text.strip() for span in line.spans if span.bold]


def line_text_of(line: StyledLine) -> str:
    return "".join(span.text for span in line.spans)


def test_the_sentence_with_the_value_is_bold() -> None:
    quote = "The rent is due monthly. It amounts to 1,200.50 EUR a month. It was 900 EUR before."

    [line] = quote_lines_of("The rent is **1,200.50 EUR** [1].\nFor 900 days [2].", [source_with_quote(quote)])

    assert bold_texts_of(line) == ["It amounts to 1,200.50 EUR a month."]
    assert line_text_of(line) == f"[1] “{quote}”"


def test_without_a_value_nothing_is_bold() -> None:
    [line] = quote_lines_of("It may be sublet [1].", [source_with_quote("Subletting is allowed. Ask first.")])

    assert bold_texts_of(line) == []


def test_a_quote_in_the_answer_is_not_repeated() -> None:
    assert quote_lines_of("It says: “Subletting is  allowed.” [1]", [source_with_quote("Subletting is allowed.")]) == []


def test_a_long_quote_is_shortened_around_its_sentence() -> None:
    quote = "Before. " * 200 + "It ends on 2031-05-09. " + "After. " * 200

    [line] = quote_lines_of("It ends on 2031-05-09 [1].", [source_with_quote(quote)])

    assert bold_texts_of(line) == ["It ends on 2031-05-09."]
    assert len(line_text_of(line)) <= 320
    assert "…" in line_text_of(line)


def blocks_json_for(*sources: ShownCitation) -> str:
    return json.dumps(
        slack_message_for(Reply(turn=TurnId("t"), parts=(TextPart(markdown="x 7 [1]", sources=sources),))).blocks
    )


def test_a_source_with_an_address_links_to_its_page_and_is_not_quoted() -> None:
    json_text = blocks_json_for(source_with_quote("Seven: 7.", url="https://example.org/lease.pdf"))

    assert '"url": "https://example.org/lease.pdf#page=3"' in json_text
    assert "Lease, page 3" in json_text
    assert "rich_text_quote" not in json_text


def test_a_source_without_an_address_is_quoted() -> None:
    assert "rich_text_quote" in blocks_json_for(source_with_quote("Seven: 7. Eight: 8."))
