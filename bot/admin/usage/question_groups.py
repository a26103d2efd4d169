"""Groups questions that are about the same: by meaning where words can be compared, else by their words."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from agent.evidence.word_meanings import TextEmbedder
from bot.admin.usage.unknown_words import grammatical_words_of, words_of
from storage.ingest.schemas.names import singular_of
from storage.search.errors import EmbedderUnavailable
from storage.text.snowball_analyser import analyser_for
from storage.text.vocabulary import fold_letters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = Mapping[str, NDArray[np.float32]]

_MAX_COMPARED: Final = 300  # different questions that are compared by meaning: those of most people
_MAX_WORDS: Final = 30  # of a question; the rest is not compared
_MIN_COSINE: Final = 0.3  # of what two questions say differently (WordLlama, 256 dimensions)
_MIN_SHARED_WORDS: Final = 2 / 3  # of the words of two questions, if they say nothing differently
_NAME_START: Final = 4  # letters; vectors of rare names with the same start are near, whatever they name


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredQuestion:
    """`unknown_words`: those that no bucket knows, folded."""

    text: str
    person: str
    unknown_words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionGroup:
    """Questions about the same, the most frequent wording first. `words`: those that no bucket knows."""

    questions: tuple[str, ...]
    count: int
    people: int
    words: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _QuestionTopic:
    """Questions with the same words. `stems`: by word, in each language of the buckets."""

    stems: Mapping[str, frozenset[str]]
    unknown_words: frozenset[str]
    questions: list[UnansweredQuestion] = field(default_factory=list[UnansweredQuestion])

    @cached_property
    def all_stems(self) -> frozenset[str]:
        return frozenset[str]().union(*self.stems.values())

    @property
    def rank(self) -> tuple[int, int, list[str]]:
        people = {question.person for question in self.questions}
        return -len(people), -len(self.questions), sorted(self.stems)


async def group_questions(
    questions: Sequence[UnansweredQuestion], languages: Iterable[str], embedder: TextEmbedder | None
) -> tuple[QuestionGroup, ...]:
    """Returns the groups, those of most people first. The same questions make the same groups in any order.

    Each question joins a group with one of its unknown words, else the group whose most frequent question is nearest to
    it: what the two say differently has to mean nearly the same. Words that both have say nothing
    about that: “who repairs the boats” and “who sells the boats” are not about the same.

    `languages`: of the buckets. Keeps no text and no vector of a question.
    """
    topics = await asyncio.to_thread(_collect_topics, questions, languages)
    vectors = await _embed_words(topics[:_MAX_COMPARED], embedder)
    groups = await asyncio.to_thread(_join_topics, topics, vectors)
    summaries = [_summarise_group([question for topic in group for question in topic.questions]) for group in groups]
    return tuple(sorted(summaries, key=lambda group: (-group.people, -group.count, group.questions)))


def _collect_topics(questions: Iterable[UnansweredQuestion], languages: Iterable[str]) -> list[_QuestionTopic]:
    """Returns the topics, those of most people first."""
    named = sorted({"en", *languages})
    grammatical = grammatical_words_of(named)
    stems_of_word: dict[str, frozenset[str]] = {}
    topics: dict[tuple[frozenset[str], frozenset[str]], _QuestionTopic] = {}
    for question in questions:
        words = words_of(question.text)
        telling = [word for word in words if fold_letters(word) not in grammatical] or words
        chosen = list(dict.fromkeys(telling))[:_MAX_WORDS] or [question.text.strip().casefold()]
        unknown = frozenset(question.unknown_words)
        topic = topics.get((frozenset(chosen), unknown))
        if topic is None:
            for word in chosen:
                if word not in stems_of_word:
                    stems_of_word[word] = frozenset(_stem_word(word, language) for language in named)
            stems = {word: stems_of_word[word] for word in chosen}
            topic = topics[frozenset(chosen), unknown] = _QuestionTopic(stems=stems, unknown_words=unknown)
        topic.questions.append(question)
    return sorted(topics.values(), key=lambda topic: topic.rank)


def _stem_word(word: str, language: str) -> str:
    return " ".join(term.text for term in analyser_for(language).extract_terms(word)) or word


async def _embed_words(topics: Sequence[_QuestionTopic], embedder: TextEmbedder | None) -> "Vectors | None":
    words = sorted({word for topic in topics for word in topic.stems})
    if embedder is None or not words:
        return None
    try:
        return dict(zip(words, await embedder.embed_texts([singular_of(word) for word in words]), strict=True))
    except EmbedderUnavailable:
        return None


def _join_topics(topics: Sequence[_QuestionTopic], vectors: "Vectors | None") -> list[list[_QuestionTopic]]:
    """Returns the groups; the first topic of each is the one that the others are compared with."""
    groups: list[list[_QuestionTopic]] = []
    group_of_word: dict[str, list[_QuestionTopic]] = {}
    for number, topic in enumerate(topics):
        group = next((group_of_word[word] for word in sorted(topic.unknown_words) if word in group_of_word), None)
        if group is None and number < _MAX_COMPARED:
            group = _find_nearest(topic, groups, vectors)
        if group is None:
            group = list[_QuestionTopic]()
            groups.append(group)
        group.append(topic)
        for word in topic.unknown_words:
            group_of_word.setdefault(word, group)
    return groups


def _find_nearest(
    topic: _QuestionTopic, groups: Sequence[list[_QuestionTopic]], vectors: "Vectors | None"
) -> list[_QuestionTopic] | None:
    """Returns the group about the same; None if there is none."""
    nearest, nearest_likeness = None, 0.0
    for group in groups:
        likeness = _likeness_of(group[0], topic, vectors)
        if likeness > nearest_likeness:
            nearest, nearest_likeness = group, likeness
    return nearest


def _likeness_of(first: _QuestionTopic, second: _QuestionTopic, vectors: "Vectors | None") -> float:
    """Returns how near both are, from 0 to 1; 0 for topics that are not about the same."""
    rest = [word for word, stems in first.stems.items() if not stems & second.all_stems]
    other_rest = [word for word, stems in second.stems.items() if not stems & first.all_stems]
    words = len(first.stems) + len(second.stems)
    shared = (words - len(rest) - len(other_rest)) / words
    if not rest or not other_rest or vectors is None:
        return shared if shared >= _MIN_SHARED_WORDS else 0.0
    starts = {word[:_NAME_START] for word in rest if len(word) >= _NAME_START}
    if any(word[:_NAME_START] in starts for word in other_rest):
        return 0.0
    cosine = _cosine_of(rest, other_rest, vectors)
    return cosine if cosine >= _MIN_COSINE else 0.0


def _cosine_of(words: Iterable[str], others: Iterable[str], vectors: "Vectors") -> float:
    import numpy as np

    total, other_total = (np.sum([vectors[word] for word in side], axis=0) for side in (words, others))
    lengths = float(np.linalg.norm(total) * np.linalg.norm(other_total))
    return float(total @ other_total) / lengths if lengths else 0.0


def _summarise_group(questions: Sequence[UnansweredQuestion]) -> QuestionGroup:
    return QuestionGroup(
        questions=_most_frequent(question.text for question in questions),
        count=len(questions),
        people=len({question.person for question in questions}),
        words=_most_frequent(word for question in questions for word in question.unknown_words),
    )


def _most_frequent(texts: Iterable[str]) -> tuple[str, ...]:
    counts = Counter(texts)
    return tuple(sorted(counts, key=lambda text: (-counts[text], text)))
