"""What passages are ranked for, how they are ordered, and what is quoted of them."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.compose import highlighted
from agent.context import Context
from agent.loop import answer
from agent.outcome import Answer, Citation, FoundPassage, Outcome
from agent.prune import fused, reranked
from agent.rerank import Spotter, Weighted
from agent.rules.reasoner import RuleReasoner
from agent.sought import Sought, held_in, sought_by
from agent.verify import verified
from storage.analysis import analyser_for
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, Passage, Value
from storage.search.ids import BucketId, ChunkId, DocId, FieldName, TenantId
from storage.search.index import Hit
from storage.search.schema import Field, FieldType, Schema
from storage.search.scope import Scope

ENGLISH = analyser_for("en")
LEASES = BucketId("leases")
TENANT = TenantId("t")
SCHEMA = Schema(
    bucket=LEASES,
    synonyms=("lease", "leases"),
    fields=(
        Field(name=FieldName("tenants"), type=FieldType.LIST, synonyms=("tenant",)),
        Field(
            name=FieldName("leaving"),
            type=FieldType.NUMBER,
            unit="day",
            title="Leaving period",
            synonyms=("leaving period", "notice of vacation", "quitting"),
        ),
        Field(
            name=FieldName("rules"),
            type=FieldType.LIST,
            values={"Pets": ("animals allowed", "keeping animals"), "Subletting": ("sublet", "let to others")},
        ),
    ),
)
PAGES = (
    "This lease is made between Brickyard Homes and Olga Marten for the flat in Ferry Lane.",
    "Rent is due on the first of each month. Brickyard Homes repairs the roof of the flat in Ferry Lane.",
    "Whoever is quitting gives notice of vacation at least sixty (60) days before the end of a month.",
    "Dogs and cats are welcome. Keeping animals that are dangerous is forbidden.",
    "Olga Marten and Brickyard Homes sign this lease in Ferry Lane.",
)


def a_lease(doc_id: str, title: str, pages: Sequence[str], **values: Value) -> Document:
    text, passages = "", list[Passage]()
    for number, page in enumerate(pages, 1):
        passages.append(Passage(start=len(text), end=len(text) + len(page), page=number))
        text += page + "\n"
    named = {FieldName(name): value for name, value in values.items()}
    return Document(
        doc_id=DocId(doc_id), title=title, text=text, source="", values=named, passages=tuple(passages), digest=doc_id
    )


@pytest.fixture
async def leases(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(SCHEMA)
    tenants = ("Brickyard Homes", "Olga Marten")
    await index.put(LEASES, [a_lease("ferry", "Ferry Lane", PAGES, tenants=tenants, leaving=60.0, rules=("Pets",))])
    others = [
        a_lease(f"o{n}", f"House {n}", (f"A lease of house {n}.",), tenants=(f"Person {n}",), rules=("Subletting",))
        for n in range(12)
    ]
    await index.put(LEASES, others)
    yield index
    await index.close()


async def asked(index: EmbeddedIndex, question: str) -> Outcome:
    scope = Scope(tenant=TENANT, buckets=frozenset({LEASES}), all_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    return await answer(question, Context(index=index.within(scope), reasoner=RuleReasoner(), now=now))


async def test_the_passage_that_says_it_stands_before_those_that_only_name_the_parties(leases: EmbeddedIndex) -> None:
    outcome = await asked(leases, "What is the leaving period in the lease of Olga Marten?")

    assert isinstance(outcome, Answer)
    assert "60" in outcome.text
    assert outcome.hits[0].hit.page == 3  # speaks of quitting and vacation, as the schema does
    assert outcome.citations[0].text.startswith("Whoever is quitting")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Does the lease of Olga Marten allow pets?", "**Yes**"),
        ("Does the lease of Olga Marten allow subletting?", "**No**"),
    ],
)
async def test_yes_and_no_are_said_where_a_list_tells(leases: EmbeddedIndex, question: str, said: str) -> None:
    outcome = await asked(leases, question)

    assert isinstance(outcome, Answer)
    assert outcome.text.startswith(said)
    assert {one.hit.doc_id for one in outcome.hits} <= {"ferry"}


async def test_the_evidence_of_a_yes_is_the_passage_that_speaks_of_it(leases: EmbeddedIndex) -> None:
    outcome = await asked(leases, "Does the lease of Olga Marten allow pets?")

    assert isinstance(outcome, Answer)
    assert outcome.citations[0].page == 4


async def test_a_sentence_of_several_copies_is_quoted_once_with_every_place(leases: EmbeddedIndex) -> None:
    said = "The boiler in the cellar is inspected by a chimney sweep each autumn"
    copies = (f"Of warmth.\n{said}.", f"Warmth and water, as printed.\n- {said}.\nA drain is cleaned.")
    await leases.put(LEASES, [a_lease(f"copy{at}", f"Guide {at}", (page,)) for at, page in enumerate(copies)])

    outcome = await asked(leases, "Who inspects the boiler in the cellar?")

    assert isinstance(outcome, Answer)
    assert outcome.text.count("chimney sweep") == 1
    assert "[1][2]" in outcome.text
    assert {one.doc_id for one in outcome.citations} == {"copy0", "copy1"}


# -- order


def a_hit(chunk: str, text: str, score: float, *, start: int = 0, page: int | None = None) -> Hit:
    return Hit(
        doc_id=DocId(chunk.partition("#")[0]), bucket=LEASES, chunk_id=ChunkId(chunk), title="", source="", page=page,
        start=start, end=start + len(text), text=text, score=score,
    )  # fmt: skip


def words(*said: str) -> tuple[Weighted, ...]:
    return tuple(Weighted(word=one, stem=ENGLISH.terms(one)[0].text, weight=1.0, known=True) for one in said)


def order(found: Sequence[FoundPassage]) -> list[str]:
    return [one.hit.chunk_id for one in found]


def test_fusion_keeps_by_how_much_the_best_leads_and_who_found_it() -> None:
    one, other = a_hit("a#0", "one", 9.0), a_hit("b#0", "other", 3.0)

    found = fused({"text": (one, other), "semantic": (a_hit("b#0", "other", 0.6), a_hit("c#0", "third", 0.5))})

    assert order(found) == ["a#0", "b#0", "c#0"]
    assert [found.found_by for found in found] == [("text",), ("text", "semantic"), ("semantic",)]


def test_words_that_stand_together_as_asked_go_before_scattered_ones() -> None:
    scattered = "The notice hangs in the hall, where all who come home late may read it in any period of the day."
    together = "A notice period of ten weeks holds for all who have lived here for many years without a break."
    found = fused({"text": (a_hit("a#0", scattered, 5.0), a_hit("b#0", together, 4.9))})

    assert order(reranked(found, words("notice", "period"), {LEASES: ENGLISH})) == ["b#0", "a#0"]


def test_passages_that_follow_each_other_on_a_page_are_one_hit_and_copies_are_dropped() -> None:
    first, second = a_hit("a#0", "notice of ten", 5.0), a_hit("a#1", "weeks, a period", 4.8, start=14)
    copy, far = a_hit("b#0", "notice of ten", 4.7), a_hit("a#5", "notice later", 4.6, start=90)

    ranked = reranked(fused({"text": (first, second, copy, far)}), words("notice"), {LEASES: ENGLISH})

    assert order(ranked) == ["a#0", "a#5"]
    assert (ranked[0].hit.start, ranked[0].hit.end) == (0, 29)
    assert ranked[0].hit.text == "notice of ten\nweeks, a period"


def test_passages_of_two_pages_stay_apart() -> None:
    found = fused(
        {"text": (a_hit("a#0", "notice one", 5.0, page=1), a_hit("a#1", "notice two", 4.9, start=11, page=2))}
    )

    assert order(reranked(found, words("notice"), {LEASES: ENGLISH})) == ["a#0", "a#1"]


def test_a_spotter_finds_every_form_of_a_stem_with_and_without_marks() -> None:
    spotter = Spotter({ENGLISH.terms(one)[0].text for one in ("party", "renewal", "café", "ox")}, ENGLISH)

    found = spotter.found("Parties renewing at the CAFÉ; partly an ox.")

    assert sorted(found) == sorted(
        {ENGLISH.terms(one)[0].text for one in ("party", "café", "ox", "renewing")} & set(found)
    )
    assert {"parti", "ox", "cafe"} <= found.keys()


# -- values


@pytest.mark.parametrize(
    ("question", "kind", "text", "value"),
    [
        ("When was it signed?", Sought.DAY, "made on the 12th day of March 2019 by both", "12th day of March 2019"),
        ("How long does it run?", Sought.SPAN, "a term of five (5) years from then", "five (5) years"),
        ("How much does it cost?", Sought.MONEY, "for EUR 1,200.50 a piece", "EUR 1,200.50"),
        ("What percentage is kept?", Sought.SHARE, "a share of 15 percent of it", "15 percent"),
        ("How many are there?", Sought.NUMBER, "some 24 of them", "24 of"),
        ("Who signed it?", Sought.NAME, "for them signed Olga Marten as agent", "Olga Marten"),
    ],
)
def test_a_value_of_the_kind_asked_for_is_found(question: str, kind: Sought, text: str, value: str) -> None:
    assert sought_by(question) is kind
    start, end = held_in(text, kind)[0]
    assert text[start:end] == value


def test_questions_that_any_sentence_may_answer_seek_no_value() -> None:
    assert sought_by("Why is the roof green?") is None


def test_a_highlighted_quotation_is_still_borne_out_by_its_source() -> None:
    sentence = "It runs *at least* five years from then."
    citation = Citation(marker="1", doc_id=DocId("a"), title="A", page=1, start=0, end=len(sentence), text=sentence)

    line = f"“{highlighted(sentence, Sought.SPAN)}” [1]"

    assert "**five years**" in line
    assert verified([line], [citation]) == ([line], [citation], 0)
    assert verified([line.replace("five", "six")], [citation])[0] == []
