"""The ranking terms of a question, the order of passages, and the quoted sentences and values."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.compose.composed_leg import ComposedLeg
from agent.compose.phrases.figures import highlight_value
from agent.context import AgentContext
from agent.loop import answer
from agent.outcome import Answer, Citation, Clarify, FoundPassage, Outcome
from agent.retrieval.answer_type import AnswerType, answer_type_of, find_values_in
from agent.retrieval.fusion import fuse_hits, merge_rankings, rerank_passages
from agent.retrieval.relevance import QueryTerm, StemMatcher
from agent.rules.reasoner import RuleReasoner
from agent.verify import verify_leg
from storage.embedded.index import EmbeddedIndex
from storage.search.documents import Document, FieldValue, Passage
from storage.search.ids import BucketId, ChunkId, DocId, FieldName, TenantId
from storage.search.index import OutlineHit, PassageHit
from storage.search.schema import FieldType, Schema, SchemaField
from storage.search.scope import Scope
from storage.text.snowball_analyser import analyser_for

ENGLISH = analyser_for("en")
LEASES = BucketId("leases")
TENANT = TenantId("t")
SCHEMA = Schema(
    bucket=LEASES,
    synonyms=("lease", "leases"),
    fields=(
        SchemaField(name=FieldName("tenants"), type=FieldType.LIST, synonyms=("tenant",)),
        SchemaField(
            name=FieldName("leaving"),
            type=FieldType.NUMBER,
            unit="day",
            title="Leaving period",
            synonyms=("leaving period", "notice of vacation", "quitting"),
        ),
        SchemaField(
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


def a_lease(doc_id: str, title: str, pages: Sequence[str], **values: FieldValue) -> Document:
    text, passages = "", list[Passage]()
    for number, page in enumerate(pages, 1):
        passages.append(Passage(start=len(text), end=len(text) + len(page), page=number))
        text += page + "\n"
    named_values = {FieldName(name): value for name, value in values.items()}
    return Document(
        doc_id=DocId(doc_id),
        title=title,
        text=text,
        source="",
        values=named_values,
        passages=tuple(passages),
        digest=doc_id,
    )


@pytest.fixture
async def leases(tmp_path: Path) -> AsyncIterator[EmbeddedIndex]:
    index = await EmbeddedIndex.open(tmp_path, tenant=TENANT, analysers=analyser_for, embedder=None)
    await index.set_schema(SCHEMA)
    tenants = ("Brickyard Homes", "Olga Marten")
    await index.put(LEASES, [a_lease("ferry", "Ferry Lane", PAGES, tenants=tenants, leaving=60.0, rules=("Pets",))])
    other_leases = [
        a_lease(f"o{n}", f"House {n}", (f"A lease of house {n}.",), tenants=(f"Person {n}",), rules=("Subletting",))
        for n in range(12)
    ]
    await index.put(LEASES, other_leases)
    yield index
    await index.close()


async def ask_question(index: EmbeddedIndex, question: str) -> Outcome:
    scope = Scope(tenant=TENANT, buckets=frozenset({LEASES}), ignores_readers=True)
    now = datetime(2031, 5, 9, tzinfo=UTC)
    return await answer(question, AgentContext(index=index.within_scope(scope), reasoner=RuleReasoner(), now=now))


async def test_the_passage_with_the_answer_ranks_before_passages_with_only_the_names(leases: EmbeddedIndex) -> None:
    outcome = await ask_question(leases, "What is the leaving period in the lease of Olga Marten?")

    assert isinstance(outcome, Answer)
    assert "60" in outcome.text
    assert outcome.hits[0].hit.page == 3  # has the schema's synonyms: quitting, vacation
    assert outcome.citations[0].text.startswith("Whoever is quitting")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Does the lease of Olga Marten allow pets?", "**Yes**"),
        ("Does the lease of Olga Marten allow subletting?", "**No**"),
    ],
)
async def test_a_list_value_answers_yes_or_no(leases: EmbeddedIndex, question: str, expected: str) -> None:
    outcome = await ask_question(leases, question)

    assert isinstance(outcome, Answer)
    assert outcome.text.startswith(expected)
    assert {hit.hit.doc_id for hit in outcome.hits} <= {"ferry"}


async def test_a_yes_cites_the_passage_about_the_claim(leases: EmbeddedIndex) -> None:
    outcome = await ask_question(leases, "Does the lease of Olga Marten allow pets?")

    assert isinstance(outcome, Answer)
    assert outcome.citations[0].page == 4


async def test_a_sentence_in_several_documents_is_quoted_once_with_all_sources(leases: EmbeddedIndex) -> None:
    sentence = "The boiler in the cellar is inspected by a chimney sweep each autumn"
    copies = (f"Of warmth.\n{sentence}.", f"Warmth and water, as printed.\n- {sentence}.\nA drain is cleaned.")
    await leases.put(LEASES, [a_lease(f"copy{index}", f"Guide {index}", (page,)) for index, page in enumerate(copies)])

    outcome = await ask_question(leases, "Who inspects the boiler in the cellar?")

    assert isinstance(outcome, Answer)
    assert outcome.text.count("chimney sweep") == 1
    assert "[1][2]" in outcome.text
    assert {citation.doc_id for citation in outcome.citations} == {"copy0", "copy1"}


# -- order


def a_hit(chunk: str, text: str, score: float, *, start: int = 0, page: int | None = None) -> PassageHit:
    return PassageHit(
        doc_id=DocId(chunk.partition("#")[0]), bucket=LEASES, chunk_id=ChunkId(chunk), title="", source="", page=page,
        start=start, end=start + len(text), text=text, score=score,
    )  # fmt: skip


def query_terms_for(*words: str) -> tuple[QueryTerm, ...]:
    return tuple(
        QueryTerm(word=word, stem=ENGLISH.extract_terms(word)[0].text, weight=1.0, is_known=True) for word in words
    )


def chunk_ids_of(passages: Sequence[FoundPassage]) -> list[str]:
    return [passage.hit.chunk_id for passage in passages]


def test_passages_of_documents_about_the_subject_rank_before_equal_ones() -> None:
    first, second = a_hit("a#0", "one", 9.0), a_hit("b#0", "other", 9.0)
    outline = OutlineHit(doc_id=DocId("b"), bucket=LEASES, title="", source="", summary="", score=2.0)

    assert chunk_ids_of(fuse_hits({"text": [first, second]})) == ["a#0", "b#0"]
    assert chunk_ids_of(fuse_hits({"text": [first, second]}, [outline])) == ["b#0", "a#0"]


def test_a_passage_in_several_rankings_comes_before_passages_in_one() -> None:
    whole = fuse_hits({"text": [a_hit("a#0", "one", 9.0), a_hit("b#0", "two", 8.0)]})
    part = fuse_hits({"text": [a_hit("c#0", "three", 2.0), a_hit("b#0", "two", 1.9)]})

    assert chunk_ids_of(merge_rankings([(1.0, whole), (0.5, part)])) == ["b#0", "a#0", "c#0"]


async def test_a_long_question_is_ranked_by_its_last_words_too(leases: EmbeddedIndex) -> None:
    filler = " ".join(f"matter{chr(97 + first)}{chr(97 + second)}" for first in range(5) for second in range(6))

    outcome = await ask_question(leases, f"What is said of {filler} and dangerous dogs?")

    assert isinstance(outcome, Answer | Clarify)
    assert outcome.hits[0].hit.page == 4


def test_fusion_keeps_score_distances_and_collectors() -> None:
    first, second = a_hit("a#0", "one", 9.0), a_hit("b#0", "other", 3.0)

    passages = fuse_hits(
        {"text": (first, second), "semantic": (a_hit("b#0", "other", 0.6), a_hit("c#0", "third", 0.5))}
    )

    assert chunk_ids_of(passages) == ["a#0", "b#0", "c#0"]
    assert [passage.found_by for passage in passages] == [("text",), ("text", "semantic"), ("semantic",)]


def test_a_passage_with_the_words_close_together_ranks_before_one_with_scattered_words() -> None:
    scattered = "The notice hangs in the hall, where all who come home late may read it in any period of the day."
    together = "A notice period of ten weeks holds for all who have lived here for many years without a break."
    passages = fuse_hits({"text": (a_hit("a#0", scattered, 5.0), a_hit("b#0", together, 4.9))})

    assert chunk_ids_of(rerank_passages(passages, query_terms_for("notice", "period"), {LEASES: ENGLISH})) == [
        "b#0",
        "a#0",
    ]


def test_neighbouring_passages_on_a_page_are_joined_and_duplicates_are_dropped() -> None:
    first, second = a_hit("a#0", "notice of ten", 5.0), a_hit("a#1", "weeks, a period", 4.8, start=14)
    copy, distant = a_hit("b#0", "notice of ten", 4.7), a_hit("a#5", "notice later", 4.6, start=90)

    ranked = rerank_passages(
        fuse_hits({"text": (first, second, copy, distant)}), query_terms_for("notice"), {LEASES: ENGLISH}
    )

    assert chunk_ids_of(ranked) == ["a#0", "a#5"]
    assert (ranked[0].hit.start, ranked[0].hit.end) == (0, 29)
    assert ranked[0].hit.text == "notice of ten\nweeks, a period"


def test_passages_on_two_pages_are_not_joined() -> None:
    passages = fuse_hits(
        {"text": (a_hit("a#0", "notice one", 5.0, page=1), a_hit("a#1", "notice two", 4.9, start=11, page=2))}
    )

    assert chunk_ids_of(rerank_passages(passages, query_terms_for("notice"), {LEASES: ENGLISH})) == ["a#0", "a#1"]


def test_a_stem_matcher_finds_every_form_of_a_stem_with_and_without_diacritics() -> None:
    matcher = StemMatcher({ENGLISH.extract_terms(word)[0].text for word in ("party", "renewal", "café", "ox")}, ENGLISH)

    positions = matcher.find_stems("Parties renewing at the CAFÉ; partly an ox.")

    assert sorted(positions) == sorted(
        {ENGLISH.extract_terms(word)[0].text for word in ("party", "café", "ox", "renewing")} & set(positions)
    )
    assert {"parti", "ox", "cafe"} <= positions.keys()


# -- values


@pytest.mark.parametrize(
    ("question", "kind", "text", "value"),
    [
        ("When was it signed?", AnswerType.DAY, "made on the 12th day of March 2019 by both", "12th day of March 2019"),
        ("How long does it run?", AnswerType.SPAN, "a term of five (5) years from then", "five (5) years"),
        ("How much does it cost?", AnswerType.MONEY, "for EUR 1,200.50 a piece", "EUR 1,200.50"),
        ("What percentage is kept?", AnswerType.SHARE, "a share of 15 percent of it", "15 percent"),
        ("How many are there?", AnswerType.NUMBER, "some 24 of them", "24"),
        ("Who signed it?", AnswerType.NAME, "for them signed Olga Marten as agent", "Olga Marten"),
    ],
)
def test_a_value_of_the_answer_type_is_found(question: str, kind: AnswerType, text: str, value: str) -> None:
    assert answer_type_of(question) is kind
    start, end = find_values_in(text, kind)[0]
    assert text[start:end] == value


def test_a_why_question_has_no_answer_type() -> None:
    assert answer_type_of("Why is the roof green?") is None


def test_a_highlighted_quotation_still_passes_verification() -> None:
    sentence = "It runs *at least* five years from then."
    citation = Citation(marker="1", doc_id=DocId("a"), title="A", page=1, start=0, end=len(sentence), text=sentence)

    line = f"“{highlight_value(sentence, AnswerType.SPAN)}” [1]"

    assert "**five years**" in line
    kept = verify_leg(ComposedLeg(sentences=(line,), citations=(citation,)))
    removed = verify_leg(ComposedLeg(sentences=(line.replace("five", "six"),), citations=(citation,)))

    assert (kept.sentences, kept.citations) == ((line,), (citation,))
    assert removed.sentences == ()
