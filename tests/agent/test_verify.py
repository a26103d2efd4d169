"""A quotation may be shown without the marks of Markdown, and not otherwise than its source says."""

import pytest

from agent.compose.composed_leg import ComposedLeg
from agent.compose.phrases.words import format_quotation
from agent.outcome import Citation
from agent.verify import verify_leg
from storage.search.ids import DocId

SOURCE = "# Terms\n- **Report within:** **5** days\n| Courtesy car | for at most **21** days |\nsee `rule_7`"


def verify_quotation(quoted: str, source: str) -> tuple[str, ...]:
    citation = Citation(
        marker="1", doc_id=DocId("terms"), title="Terms", page=None, start=0, end=len(source), text=source, url=None
    )
    return verify_leg(ComposedLeg(sentences=(f"“{quoted}” [1]",), citations=(citation,))).sentences


@pytest.mark.parametrize("line", SOURCE.splitlines())
def test_a_line_passes_as_it_is_shown(line: str) -> None:
    assert len(verify_quotation(format_quotation(line), line)) == 1


@pytest.mark.parametrize(
    "quoted",
    [
        "Report within: 6 days",
        "Report within 5 weeks",
        "Courtesy car · for at most 12 days",
        "for at most 21 days · Courtesy car",
        "see rule_8",
        "Nothing of the kind",
    ],
)
def test_a_changed_line_does_not(quoted: str) -> None:
    assert not any(verify_quotation(quoted, line) for line in SOURCE.splitlines())
