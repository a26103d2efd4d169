"""The report page with its pictures, and the synonym that closes the circle."""

from dataclasses import replace

import pytest

from bot.admin.admin_page.usage import keep_open_suggestions
from bot.admin.usage.usage_report import SynonymSuggestion, UnknownWord
from bot.cli.speaker import new_conversation_id, speaker_for
from bot.ids import Subject
from bot.surface.inbound import TextMessage
from tests.adapters.web.admin.conftest import ANN, HIDDEN_WORD, LETTERS, SECRET, OpenedSite
from tests.builders import a_document
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


async def test_a_word_without_a_suggestion_leads_to_the_choice_of_what_it_stands_for(site: OpenedSite) -> None:
    await site.enter_as(ANN)
    await ask(site, "how many letters about zeppelin <b>?", ANN)

    report = await site.get_markup("/admin/report")
    first = await site.get_markup("/admin/synonym/choose?word=zeppelin")
    in_bucket = await site.get_markup("/admin/synonym/choose?word=zeppelin&b=letters")
    in_field = await site.get_markup("/admin/synonym/choose?word=zeppelin&b=letters&field=boat")
    in_number = await site.get_markup("/admin/synonym/choose?word=zeppelin&b=letters&field=length")
    counted = await site.get("/admin/synonym?word=zeppelin&b=letters&field=boat&value=Dunlin")

    assert '<form method="get" action="/admin/synonym/choose">' in report
    assert '<input type="hidden" name="word" value="zeppelin">' in report
    assert ("Letters (letters)" in first, 'id="choice-field"' in first) == (True, False)
    assert ("Boat (category)" in in_bucket, 'id="choice-value"' in in_bucket) == (True, False)
    assert '<option value="Dunlin">Dunlin</option>' in in_field
    assert ('id="choice-value"' in in_number, "another name of the field" in in_number) == (False, True)
    assert "“zeppelin” as boat “Dunlin” would find 20 documents." in counted[1]


async def test_a_bucket_without_a_grant_is_not_offered_for_a_word(site: OpenedSite) -> None:
    await site.enter_as(ANN)

    markup = await site.get_markup("/admin/synonym/choose?word=gull%3Cb%3E&b=secret&field=topic")
    await site.bot.administration.revoke_grant(LETTERS, Subject(f"user:{ANN}"), by=ANN)
    without_any = await site.get_markup("/admin/synonym/choose?word=gull")

    assert [text in markup for text in ("Permits", "topic", HIDDEN_WORD, "gull<b>")] == [False] * 4
    assert ("Letters (letters)" in markup, "“gull&lt;b&gt;” stands for" in markup) == (True, True)
    assert ("No bucket is granted to you" in without_any, "<select" in without_any) == (True, False)


async def test_a_field_with_too_many_values_takes_a_typed_one(site: OpenedSite) -> None:
    boats = [a_document(f"b-{number}", f"Boat {number}.", boat=f"Boat {number}") for number in range(120)]
    await site.bot.index.put(LETTERS, boats)
    await site.enter_as(ANN)

    markup = await site.get_markup("/admin/synonym/choose?word=gull&b=letters&field=boat")

    assert '<input id="choice-value" name="value" required maxlength="300">' in markup


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
