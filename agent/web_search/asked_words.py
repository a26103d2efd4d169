"""The words of a question that a web search is about. Queries are made of them, and of nothing that documents hold."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent.english.function_words import GREETING_WORDS, QUESTION_WORDS, YES_NO_VERBS
from agent.evidence.word_meanings import WordMeanings
from agent.languages.language_pack import load_pack
from agent.retrieval.ranking_terms import FORM_WORDS
from storage.search.analyser import Analyser, fold_text

_WORD: Final = re.compile(r"[^\W_]+(?:[-.'’/][^\W_]+)*")
_QUOTED: Final = re.compile(r"[\"“”„«»]([^\"“”„«»]{2,80})[\"“”„«»]")
_SENTENCE_END: Final = re.compile(r"[.?!:]\s*$")
_IGNORED_WORDS: Final = (
    FORM_WORDS
    | QUESTION_WORDS
    | YES_NO_VERBS
    | GREETING_WORDS
    | frozenset[str]("mine ours yours hers theirs am until till again also mr mrs ms dr good going whos whats".split())
)
_SENTENCE_GAP: Final = re.compile(r"(?<=[.!?])\s+")
_POSSESSIVE_ENDING: Final = re.compile(r"['’]s$")
_MAX_WORDS: Final = 16
_NAME_WEIGHT, _WORD_WEIGHT, _GAP_FACTOR = 2.0, 1.0, 1.5
_MIN_LIKENESS: Final = 0.5  # from which another word says the same


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWord:
    """A content word as the person wrote it. `stems`: of its parts, as the analyser divides it; at least one."""

    text: str
    stems: tuple[str, ...]
    is_name: bool  # or a number or an identifier: nothing else means the same
    is_gap: bool = False  # no document mentions it
    emphasis: float = 1.0  # 0 to 1: how much the meaning of the question depends on it

    @property
    def weight(self) -> float:
        basis = _NAME_WEIGHT if self.is_name else _WORD_WEIGHT * self.emphasis
        return basis * (_GAP_FACTOR if self.is_gap else 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCoverage:
    """How much of a question a text holds. `share` is that of the weight of its words, from 0 to 1."""

    share: float
    held_words: tuple[str, ...]
    missing_words: tuple[str, ...]
    holds_name: bool  # some name of the question, if it has any


@dataclass(frozen=True, slots=True, kw_only=True)
class WebQuestion:
    """A question as the web search reads it."""

    text: str
    words: tuple[AskedWord, ...]  # in order, each once
    quoted_phrases: tuple[str, ...]
    analyser: Analyser

    @property
    def names(self) -> tuple[AskedWord, ...]:
        return tuple(word for word in self.words if word.is_name)

    def with_gaps(self, gap_words: Collection[str]) -> "WebQuestion":
        """The question with these words, and only these, as its gaps."""
        folded = {fold_text(word) for word in gap_words}
        words = tuple(replace(word, is_gap=fold_text(word.text) in folded) for word in self.words)
        return replace(self, words=words)

    async def weigh_words(self, meanings: WordMeanings) -> "WebQuestion":
        """The question whose words weigh as much as its meaning depends on them; unchanged without an embedder."""
        plain = [fold_text(word.text) for word in self.words if not word.is_name]
        if not meanings.is_available or not plain:
            return self
        effects = await meanings.weigh_words([fold_text(match[0]) for match in _WORD.finditer(self.text)], plain)
        most = max(effects.values()) or 1.0
        words = tuple(
            replace(word, emphasis=math.sqrt(min(effects.get(fold_text(word.text), most) / most, 1.0)))
            for word in self.words
        )
        return replace(self, words=words)

    async def cover_words(self, text: str, meanings: WordMeanings) -> WordCoverage:
        """Measures which words of the question the text holds. A word that means the same counts in part."""
        written = [match[0] for match in _WORD.finditer(text)]
        stems = {term.text for term in self.analyser.extract_terms(text)}
        asked = [fold_text(word.text) for word in self.words if not word.is_name]
        likeness = await meanings.compare_words(asked, sorted({fold_text(word) for word in written}))
        shares = [self._share_of(word, stems, likeness.get(fold_text(word.text), {})) for word in self.words]
        total = sum(word.weight for word in self.words)
        pairs = list(zip(self.words, shares, strict=True))
        return WordCoverage(
            share=sum(word.weight * share for word, share in pairs) / total if total else 0.0,
            held_words=tuple(word.text for word, share in pairs if share),
            missing_words=tuple(word.text for word, share in pairs if not share),
            holds_name=not self.names or any(share for word, share in pairs if word.is_name),
        )

    @staticmethod
    def _share_of(word: AskedWord, stems: Collection[str], likeness: Mapping[str, float]) -> float:
        if all(stem in stems for stem in word.stems):
            return 1.0
        best = 0.0 if word.is_name else max(likeness.values(), default=0.0)
        return best if best >= _MIN_LIKENESS else 0.0


def read_web_question(text: str, analyser: Analyser, language: str, gap_words: Collection[str] = ()) -> WebQuestion:
    """Reads the content words of a question in `language` (ISO 639-1). `gap_words`: those that no document mentions."""
    pack = load_pack(language)
    function_words = _IGNORED_WORDS | (pack.function_words if pack is not None else frozenset[str]())
    asked_text, words = _asking_part_of(text), dict[str, AskedWord]()
    for match in _WORD.finditer(asked_text):
        word, before = _POSSESSIVE_ENDING.sub("", match[0]), asked_text[: match.start()]
        folded, stems = fold_text(word), tuple(term.text for term in analyser.extract_terms(word))
        if not stems or folded in function_words or folded in words:
            continue
        begins_sentence = not before.strip() or _SENTENCE_END.search(before) is not None
        words[folded] = AskedWord(text=word, stems=stems, is_name=_is_name(word, begins_sentence))
    phrases = tuple(" ".join(match[1].split()) for match in _QUOTED.finditer(asked_text))
    kept: Sequence[AskedWord] = list(words.values())[:_MAX_WORDS]
    question = WebQuestion(
        text=" ".join(asked_text.split()), words=tuple(kept), quoted_phrases=phrases, analyser=analyser
    )
    return question.with_gaps(gap_words)


def _asking_part_of(text: str) -> str:
    """The sentences that end with a question mark; all of the text without one."""
    asking = [sentence for sentence in _SENTENCE_GAP.split(text) if sentence.rstrip().endswith("?")]
    return " ".join(asking) or text


def _is_name(word: str, begins_sentence: bool) -> bool:
    if any(character.isdigit() for character in word) or (len(word) > 1 and word.isupper()):
        return True
    return word[0].isupper() and not begins_sentence
