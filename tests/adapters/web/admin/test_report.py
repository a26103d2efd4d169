"""The report page with its pictures, and the synonym that closes the circle."""

from dataclasses import replace

import pytest

from bot.admin.admin_page.usage import keep_open_suggestions
from bot.admin.usage_report import SynonymSuggestion, UnknownWord
from bot.cli.speaker import new_conversation_id, speaker_for
from bot.ids import Subject
from bot.surface.inbound import TextMessage
from tests.adapters.web.admin.conftest import ANN, LETTERS, SECRET, OpenedSite
from tests.stored_rows import list_audit_entries


async def ask(site: OpenedSite, question: str, person: str | None = None) -> str:
    """Ask in a conversation of its own. Returns the ending."""
    inbound = speaker_for(person).inbound_for(TextMessage(question), new_conversation_id())
    turn = await site.bot.accept_inbound(replace(inbound, received_at=site.clock()))
    assert turn is not None
    finished = await site.bot.run_turn(turn)
    return str(finished.result["outcome"])


async def test_an_empty_report_says_so(site: OpenedSite) -> None:
    status, page = await site.get("/admin/report?days=7")

    assert (status, "Nothing was asked in the last 7 days." in page, "<img" in page.replace("/chat/icon", "")) == (
        200,
        True,
        True,
    )


async def test_the_report_has_questions_words_and_pictures(site: OpenedSite) -> None:
    for question in (
        "list the letters about Tern",
        "zeppelin hangar <b>",
        "zeppelin hangars?",
        "list the letters about Tern",
    ):
        await ask(site, question)

    markup = await site.get_markup("/admin/report")
    status, picture = await site.get("/admin/picture?days=30&name=endings&look=dark")

    assert "4 questions of 1 person" in markup
    assert ("zeppelin hangar &lt;b&gt;" in markup, "<b>" in markup) == (True, False)
    assert "Words that no bucket knows" in markup
    assert 'srcset="/admin/picture?days=30&amp;name=endings&amp;look=dark"' in markup
    assert (status, picture.lstrip().startswith("<?xml"), "nothing found" in picture) == (200, True, True)
    assert (await site.get("/admin/picture?name=nothing"))[0] == 404
    assert (await site.get("/admin/report?days=99999"))[0] == 200


def test_a_suggested_value_of_a_closed_bucket_is_not_shown() -> None:
    suggested = tuple(
        SynonymSuggestion(bucket=bucket, field="boat", value="Tern", clicks=1) for bucket in (LETTERS, SECRET)
    )
    word = UnknownWord(word="zeppelin", questions=1, people=1, buckets=(), suggestions=suggested)

    shown = keep_open_suggestions(word, {LETTERS})

    assert [each.bucket for each in shown.suggestions] == [LETTERS]


async def test_a_question_fails_an_admin_adds_the_word_and_it_answers(site: OpenedSite) -> None:
    await site.enter_as(ANN)
    before = await ask(site, "how many letters about seabird?", ANN)

    preview = await site.get("/admin/synonym?b=letters&field=boat&word=seabird&value=Tern")
    added = await site.submit("/admin/synonym", b=LETTERS, field="boat", word="seabird", value="Tern")
    after = await ask(site, "how many letters about seabird?", ANN)

    assert "“seabird” as boat “Tern” would find 20 documents." in preview[1]
    assert (added[0], added[2]) == (303, "/admin/report?done=synonym")
    assert (before, after) == ("no_results", "answer")
    entry = (await list_audit_entries(site.bot.database))[0]
    assert (entry.action, entry.matter, entry.by) == ("schema.synonym", LETTERS, ANN)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("b=letters&field=nothing&word=x", 422),
        ("b=letters&field=boat&word=gull&value=Nothing", 422),
        ("b=letters&field=boat&word=%20&value=Tern", 422),
        ("b=nothing&field=boat&word=gull", 404),
        ("b=secret&field=topic&word=gull&value=falconry", 403),
        ("", 404),
    ],
)
async def test_a_synonym_that_cannot_be_is_refused_with_the_reason(site: OpenedSite, query: str, status: int) -> None:
    await site.enter_as(ANN)

    assert (await site.get(f"/admin/synonym?{query}"))[0] == status


async def test_a_synonym_for_a_bucket_without_a_grant_is_not_added(site: OpenedSite) -> None:
    await site.enter_as(ANN)

    status, _, _ = await site.submit("/admin/synonym", b=SECRET, field="topic", word="hawking", value="falconry")

    assert status == 403
    await site.bot.administration.grant_bucket(SECRET, Subject(f"user:{ANN}"), by=ANN)
    assert (await site.submit("/admin/synonym", b=SECRET, field="topic", word="hawking", value="falconry"))[0] == 303
