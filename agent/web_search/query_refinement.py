"""Makes the queries of a web search, from the words of the person's own question alone."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from agent.web_search.asked_words import AskedWord, WebQuestion
from storage.search.analyser import fold_text

MAX_QUERY_CHARACTERS: Final = 200
MAX_QUERIES_PER_ROUND: Final = 3
_MAX_SUBJECT_WORDS: Final = 6


def first_queries(question: WebQuestion, subject: str = "") -> tuple[str, ...]:
    """Returns the query of the first round: the content words in their order.

    `subject`: what the pages that answered before are about; it is added if the question names nothing itself.
    """
    words = _join_words(question.words, question.quoted_phrases)
    if subject and not question.names:
        words = f"{_first_words_of(subject)} {words}"
    return _cut_queries([words], ())


def refine_queries(
    question: WebQuestion, gap_words: Collection[str], asked_queries: Collection[str]
) -> tuple[str, ...]:
    """Returns up to three queries for the words that the pages so far do not hold; none if no new query is left."""
    folded_gaps = {fold_text(word) for word in gap_words}
    gaps = [word for word in question.words if fold_text(word.text) in folded_gaps]
    others = [word for word in question.words if word not in gaps]
    phrases = _phrases_of_names(question)
    candidates = [
        _join_words([*question.names, *(word for word in gaps if not word.is_name)], ()),
        _join_words(question.words, phrases) if phrases else "",
        question.text,
        _join_words([*gaps, *others], ()),
        _join_words(gaps, ()),
    ]
    return _cut_queries(candidates, asked_queries)


def keep_own_words(query: str, question: WebQuestion, subject: str = "") -> str:
    """Returns the query without words that are neither the question's nor the subject's; empty without a content word.

    A model has read documents. Whatever it writes, nothing of them leaves the house.
    """
    analyser = question.analyser
    own_stems = {term.text for term in analyser.extract_terms(f"{question.text} {subject}")}
    content_stems = {stem for word in question.words for stem in word.stems}
    kept, holds_content = list[str](), False
    for word in query.split():
        stems = {term.text for term in analyser.extract_terms(word)}
        if stems and stems <= own_stems:
            kept.append(word)
            holds_content = holds_content or bool(stems & content_stems)
    return " ".join(kept)[:MAX_QUERY_CHARACTERS].strip() if holds_content else ""


def _phrases_of_names(question: WebQuestion) -> list[str]:
    """The names of two words and more that stand side by side in the question."""
    phrases, words = list[str](), list[str]()
    for name in (*question.names, None):
        if name is not None and (not words or f"{' '.join(words)} {name.text}" in question.text):
            words.append(name.text)
            continue
        phrases += [" ".join(words)] if len(words) > 1 else []
        words = [] if name is None else [name.text]
    return phrases


def _join_words(words: Sequence[AskedWord], phrases: Iterable[str]) -> str:
    """Joins the words; those of a quoted phrase stay together, in quotation marks."""
    quoted = [phrase for phrase in phrases if phrase]
    in_phrases = {fold_text(word) for phrase in quoted for word in phrase.split()}
    rest = [word.text for word in words if fold_text(word.text) not in in_phrases]
    return " ".join([*(f'"{phrase}"' for phrase in quoted), *rest])


def _first_words_of(subject: str) -> str:
    return " ".join(subject.split()[:_MAX_SUBJECT_WORDS])


def _cut_queries(candidates: Iterable[str], asked_queries: Collection[str]) -> tuple[str, ...]:
    known = {_key_of(query) for query in asked_queries}
    queries: dict[str, str] = {}
    for candidate in candidates:
        query = candidate[:MAX_QUERY_CHARACTERS].strip()
        if query and _key_of(query) not in known:
            queries.setdefault(_key_of(query), query)
    return tuple(queries.values())[:MAX_QUERIES_PER_ROUND]


def _key_of(query: str) -> str:
    """Equal for queries of the same words in the same order, without function marks."""
    return " ".join(fold_text(query).replace('"', " ").replace("?", " ").split()) + ("\0" if '"' in query else "")
