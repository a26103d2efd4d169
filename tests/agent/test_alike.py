"""Passages behind the best ones are put in the order of how much they resemble those."""

from hypothesis import given
from hypothesis import strategies as st

from agent.alike import EXAMPLES, like_the_best
from agent.outcome import FoundPassage
from storage.search.ids import BucketId, ChunkId, DocId
from storage.search.index import Hit

PLANES, CAKES = BucketId("planes"), BucketId("cakes")
BEST = (
    "Laminar boundary layers on a slender wing separate behind the leading edge.",
    "Separation of laminar layers from a wing is delayed by suction at the edge.",
    "A slender wing with suction keeps its boundary layers laminar for longer.",
)
OF_THEM = "Suction through slots keeps laminar layers attached to the wing."
NOT_OF_THEM = "Tickets for the flight can be returned within a week of booking."


def found(text: str, at: int, score: float, bucket: BucketId = PLANES) -> FoundPassage:
    hit = Hit(
        doc_id=DocId(f"d{at}"), bucket=bucket, chunk_id=ChunkId(f"d{at}#0"), title="", source="", page=None,
        start=0, end=len(text), text=text, score=score,
    )  # fmt: skip
    return FoundPassage(hit=hit, score=score, found_by=("text",))


def order(passages: list[FoundPassage]) -> list[str]:
    return [one.hit.text for one in passages]


def ranked(*texts: str, last: BucketId = PLANES) -> list[FoundPassage]:
    """Best first; the third is of the bucket `last`."""
    return [found(text, at, 2.0 - at / 10, last if at == EXAMPLES - 1 else PLANES) for at, text in enumerate(texts)]


def test_of_two_passages_behind_the_best_that_goes_first_which_speaks_of_the_same() -> None:
    assert order(like_the_best(ranked(*BEST, NOT_OF_THEM, OF_THEM))) == [*BEST, OF_THEM, NOT_OF_THEM]


def test_the_order_stays_where_the_best_are_of_several_buckets() -> None:
    passages = ranked(*BEST, NOT_OF_THEM, OF_THEM, last=CAKES)

    assert like_the_best(passages) == passages


def test_a_passage_of_the_same_words_does_not_overtake_one_that_was_found_far_better() -> None:
    passages = [*ranked(*BEST), found(NOT_OF_THEM, 7, 1.7), found(OF_THEM, 8, 0.2)]

    assert order(like_the_best(passages)) == order(passages)


@given(st.lists(st.text(alphabet="abcd \n", max_size=30), max_size=8))
def test_the_first_three_stay_none_is_lost_and_scores_never_rise(texts: list[str]) -> None:
    passages = [found(text, at, 2.0 - at / 10) for at, text in enumerate(texts)]

    after = like_the_best(passages)

    assert after[:EXAMPLES] == passages[:EXAMPLES]
    assert {one.hit.chunk_id for one in after} == {one.hit.chunk_id for one in passages}
    assert [one.score for one in after] == sorted((one.score for one in after), reverse=True)
