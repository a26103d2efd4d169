"""Rewrites a question of a language that has a pack in the English words that the rules read."""

from collections.abc import Sequence

from agent.languages.known_words import BucketWords
from agent.languages.language_pack import LanguagePack
from agent.languages.question_words import ClauseRole, QuestionTranslation
from agent.languages.text_map import RewrittenPart, RewrittenText
from agent.languages.word_order import choose_prepositions, order_words

_CONTENT_ROLES = frozenset({ClauseRole.NOUN, ClauseRole.VERB, ClauseRole.PAST, ClauseRole.ADJECTIVE})


def rewrite_question(question: str, pack: LanguagePack, buckets: Sequence[BucketWords]) -> RewrittenText:
    """Returns the question in English function words and in the nouns, verbs and adjectives that the buckets know.

    Names, quotations, identifiers and values of the documents stay. `buckets` are buckets of one language.
    """
    words = QuestionTranslation(question, pack, buckets).translate_words()
    ordered = order_words(choose_prepositions(words, pack), pack)
    parts = tuple(
        RewrittenPart(
            text=word.text,
            start=word.start,
            end=word.end,
            written=word.written,
            is_glued=word.is_glued,
            is_content=word.role in _CONTENT_ROLES,
        )
        for word in ordered
        if word.text not in ("¿", "¡")
    )
    return RewrittenText(question, parts)
