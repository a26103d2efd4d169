"""Pseudo-relevance feedback: passages behind the best ones are reordered by similarity to them."""

from hypothesis import given
from hypothesis import strategies as st

from agent.outcome import FoundPassage
from agent.retrieval.pseudo_relevance_feedback import EXAMPLE_PASSAGES, apply_relevance_feedback
from storage.search.ids import BucketId, ChunkId, DocId
from storage.search.index import PassageHit

PLANES, CAKES = BucketId("planes"), BucketId("cakes")
BEST_TEXTS = (
    "Laminar boundary layers on a slender wing separate behind the leading edge.",
    "Separation of laminar layers from a wing is delayed by suction at the edge.",
    "A slender wing with suction keeps its boundary layers laminar for longer.",
)
SIMILAR_TEXT = "Suction through slots keeps laminar layers attached to the wing."
OTHER_TEXT = "Tickets for the flight can be returned within a week of booking."


def found_passage(text: str, index: int, score: float, bucket: BucketId = PLANES) -> FoundPassage:
    hit = PassageHit(
        doc_id=DocId(f"d{index}"), bucket=bucket, chunk_id=ChunkId(f"d{index}#0"), title="", source="", page=None,
        start=0, end=len(text), text=text, score=score,
    )  # fmt: skip
    return FoundPassage(hit=hit, score=score, found_by=("text",))


def texts_of(passages: list[FoundPassage]) -> list[str]:
    return [passage.hit.text for passage in passages]


def ranked_passages(*texts: str, third_bucket: BucketId = PLANES) -> list[FoundPassage]:
    """Returns passages, best first; the third one is of the bucket `third_bucket`."""
    return [
        found_passage(text, index, 2.0 - index / 10, third_bucket if index == EXAMPLE_PASSAGES - 1 else PLANES)
        for index, text in enumerate(texts)
    ]


def test_of_two_passages_behind_the_best_the_more_similar_one_ranks_first() -> None:
    assert texts_of(apply_relevance_feedback(ranked_passages(*BEST_TEXTS, OTHER_TEXT, SIMILAR_TEXT))) == [
        *BEST_TEXTS,
        SIMILAR_TEXT,
        OTHER_TEXT,
    ]


def test_the_order_does_not_change_if_the_best_are_of_several_buckets() -> None:
    passages = ranked_passages(*BEST_TEXTS, OTHER_TEXT, SIMILAR_TEXT, third_bucket=CAKES)

    assert apply_relevance_feedback(passages) == passages


def test_a_similar_passage_does_not_overtake_one_with_a_much_higher_score() -> None:
    passages = [*ranked_passages(*BEST_TEXTS), found_passage(OTHER_TEXT, 7, 1.7), found_passage(SIMILAR_TEXT, 8, 0.2)]

    assert texts_of(apply_relevance_feedback(passages)) == texts_of(passages)


@given(st.lists(st.text(alphabet="abcd \n", max_size=30), max_size=8))
def test_the_first_three_stay_and_no_passage_is_lost_and_scores_never_rise(texts: list[str]) -> None:
    passages = [found_passage(text, index, 2.0 - index / 10) for index, text in enumerate(texts)]

    reordered = apply_relevance_feedback(passages)

    assert reordered[:EXAMPLE_PASSAGES] == passages[:EXAMPLE_PASSAGES]
    assert {passage.hit.chunk_id for passage in reordered} == {passage.hit.chunk_id for passage in passages}
    assert [passage.score for passage in reordered] == sorted((passage.score for passage in reordered), reverse=True)
