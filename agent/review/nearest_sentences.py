"""Shows what a document says that comes closest to a question, where somebody chose the document for it.

The person has seen that no sentence surely answers, and picked a document. So the sentences are ranked as answers, but
none of them has to hold enough of the question.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.evidence.sentence_scores import ScoredSentence
from agent.evidence.word_meanings import WordMeanings
from agent.forms.summarise_documents import OutlineFacts
from agent.retrieval.key_sentences import KeySentence
from agent.review.leg_review import Enough, LegClarification, LegReview
from agent.review.sentence_evidence import find_sentence_evidence
from storage.search.plan import SummariseDocuments

_MAX_SENTENCES = 4
_MIN_SHARE_OF_BEST = 0.6  # of the best score, for a further sentence
_CELL_MARK = re.compile(r"\s*\|\s*")


async def show_nearest_sentences(
    review: LegReview, decision: Enough | LegClarification, meanings: WordMeanings
) -> Enough | LegClarification:
    """Returns the outline of one document with the sentences nearest to the question instead of its own.

    Other decisions are kept, an outline of a document in which nothing has to do with the question, and a row of a
    table, of which all cells are shown.
    """
    answer_form, facts = review.leg.answer_form, decision.facts
    if (
        not isinstance(answer_form, SummariseDocuments)
        or not answer_form.is_for_question
        or not isinstance(facts, OutlineFacts)
        or facts.row is not None
        or not isinstance(decision, Enough)
    ):
        return decision
    parts = await find_sentence_evidence(review, meanings, "", within=facts.document.doc_id)
    nearest = {sentence.line.quote.start: sentence for part in parts for sentence in _nearest_of(part.sentences)}
    if not nearest:
        return decision
    sentences = tuple(_key_sentence_of(nearest[start]) for start in sorted(nearest))
    return replace(decision, facts=replace(facts, sentences=sentences, is_for_question=True))


def _nearest_of(ranked: Sequence[ScoredSentence]) -> Iterator[ScoredSentence]:
    for sentence in ranked[:_MAX_SENTENCES]:
        if sentence.score >= _MIN_SHARE_OF_BEST * ranked[0].score:
            yield sentence


def _key_sentence_of(sentence: ScoredSentence) -> KeySentence:
    heading = _CELL_MARK.sub(" · ", sentence.line.heading).strip(" ·")
    return KeySentence(quote=sentence.line.quote, heading=heading)
