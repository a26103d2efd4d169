"""Which words of a question a reply may say that no document mentions: none that a text says in other words.

A word counts as unmentioned if no document has its stem, and if the passages that come closest have no word that begins
like it or means nearly the same. Without word vectors only stems and beginnings are compared.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent.evidence.question_words import WordStems, share_start
from agent.evidence.text_lines import words_of
from agent.evidence.word_meanings import WordMeanings
from agent.forms.find_passages import NoAnswerFacts
from agent.review.leg_review import Enough, LegClarification, LegReview
from storage.search.analyser import Analyser, fold_text


async def drop_mentioned_words(
    review: LegReview, decision: Enough | LegClarification, meanings: WordMeanings
) -> Enough | LegClarification:
    """Returns the decision without the unknown words that its closest passages say in other words."""
    facts = decision.facts
    if not isinstance(decision, LegClarification) or not isinstance(facts, NoAnswerFacts) or not facts.unknown_words:
        return decision
    analyser = next(iter(review.question_context.analysers.values()))
    texts = [f"{passage.hit.title}\n{passage.hit.text}" for passage in decision.hits]
    words = await words_without_likeness(facts.unknown_words, texts, analyser, meanings)
    return replace(decision, facts=replace(facts, unknown_words=words))


async def words_without_likeness(
    words: Sequence[str], texts: Iterable[str], analyser: Analyser, meanings: WordMeanings
) -> tuple[str, ...]:
    """Returns the words for which no text has a word that begins like it or means nearly the same, in their order."""
    stems, held = WordStems(analyser), sorted(frozenset[str]().union(*map(words_of, texts)))
    held_stems = {stems.stem_of(word) for word in held}
    likeness = await meanings.compare_words([fold_text(word) for word in words], held)
    return tuple(
        word
        for word in words
        if not likeness.get(fold_text(word))
        and not any(
            stem == stems.stem_of(fold_text(word)) or share_start(stems.stem_of(fold_text(word)), stem)
            for stem in held_stems
        )
    )
