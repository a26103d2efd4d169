"""The words of a question: those that name a thing, and those that say what is asked about it.

A word is a name if the documents write it with a capital letter inside their sentences, or if the question does and no
document writes it without. The weight of a word is its rarity, lessened if the question means the same without it:
"the tenant *at the counter* lost her key" is about keys.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations

from agent.evidence.calendar_words import CALENDAR_WORDS
from agent.evidence.english_glosses import NO_GLOSSES, WordGlosses
from agent.evidence.stated_causes import asks_for_cause
from agent.evidence.text_lines import WORD, TextLine
from agent.evidence.word_meanings import Likeness, WordMeanings
from agent.retrieval.relevance import QueryTerm
from storage.search.analyser import Analyser, fold_text
from storage.text.everyday_synonyms import SYNONYMS
from storage.text.irregular_verbs import base_form_of
from storage.text.snowball_analyser import analyser_for

_SENTENCE_STARTS = frozenset(".:|!?-•")  # what may appear before the first word of a sentence or of a labelled value
_FULL_NAME = re.compile(r"[^\W\d_a-z]\w+ [^\W\d_a-z]\w")  # two words with capital letters
_CAPITALISED_INSIDE = re.compile(r"(?<=[^\s.?!:>])[\s(\"'“‘-]+(?P<word>[^\W\d_a-z][^\W_]+)")
_LABEL_END = re.compile(r"\W*:|\W{1,3}[\d+(]")  # what follows a label, and no name
_MIN_CAPITALISED_RATIO = 3  # occurrences with a capital letter for one without, from which a word is a name
# They tie a question together or measure it; no text need hold them.
_CONNECTIVES = frozenset[str](
    """because too whats whos wheres again otherwise instead really kind sort way allowed permitted supposed""".split()
)
# "What was the matter with …", "what happened to …": any account of the thing answers.
_ACCOUNT_WORDS = frozenset[str](
    "wrong matter problem problems trouble happen happened happening issue issues story".split()
)
_DECISION_WORDS = frozenset[str]("decided decide agreed resolved".split())
_TOLD_WORDS = _ACCOUNT_WORDS | _DECISION_WORDS  # what happened, and what a meeting decided, is told in some sentences
_ACCOUNT_STARTS = frozenset({"what", "whats"})
_MIN_PREFIX, _MIN_PREFIX_SHARE = 4, 0.7  # letters that two words share at their start, and their share of the longer
# Who a rule is for, and when something was: a text may say it by "you", by "nobody" or by its date.
LIGHT_WORDS = frozenset[str](
    """people guest guests customer customers client clients visitor visitors member members user users person persons
    last next year month week today""".split()
)
_LIGHT_WEIGHT = 0.4  # factor of their weight
_KIND_WEIGHT = 0.4  # factor of the weight of a word that only says which kind of value is asked for
# They are near in meaning, and yet one does not answer a question about the other. "Closed" is none: hours of opening
# name the days on which a place is closed.
_OPPOSITES = tuple(
    (frozenset(first.split()), frozenset(second.split()))
    for first, second in (
        ("open opens opened reopen reopens", "close closes shut shuts"),
        ("start starts begin begins", "end ends finish finishes"),
        ("arrive arrives arrival", "leave leaves depart departs departure"),
        ("buy buys", "sell sells"),
        ("borrow borrows", "lend lends"),
    )
)
_REPEATED_LIKENESS = 0.9  # of "open", where the question says "open again", and "reopens"
_SYNONYM_LIKENESS = 0.9  # of an everyday word and what texts write instead
_PREFIX_LIKENESS = 0.7  # of words with the same start: "book" and "bookkeeping", "treasurer" and "treasury"


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedWord:
    """A content word of a question, folded, with its stem and its weight (0 to 1)."""

    word: str
    stem: str
    weight: float
    is_name: bool
    is_kind: bool = False  # it only says which kind of value is asked for


@dataclass(slots=True)
class WordStems:
    """Stems of single words, with irregular verbs brought to their base form."""

    analyser: Analyser
    _stem_by_word: dict[str, str] = field(default_factory=dict[str, str])

    def stem_of(self, word: str) -> str:
        if word not in self._stem_by_word:
            terms = self.analyser.extract_terms(base_form_of(word))
            self._stem_by_word[word] = terms[0].text if terms else word
        return self._stem_by_word[word]

    def are_synonyms(self, asked: str, told: str) -> bool:
        """Whether the word of a question with the stem `asked` may stand for one with the stem `told`: "sack",
        "dismiss". English only.
        """
        return self.analyser.language == "en" and told in _synonyms_by_stem().get(asked, frozenset())


@lru_cache(maxsize=1)
def _synonyms_by_stem() -> Mapping[str, frozenset[str]]:
    word_stems = WordStems(analyser_for("en"))
    return {
        word_stems.stem_of(word): frozenset(map(word_stems.stem_of, synonyms)) for word, synonyms in SYNONYMS.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedQuestion:
    """The weighed words of a question, and the words of the texts that are like them."""

    text: str
    asks_account: bool  # "what was the matter with …", "why …": it asks for what happened, told in some sentences
    names: tuple[WeighedWord, ...]
    asked: tuple[WeighedWord, ...]
    stems: frozenset[str]  # of all its words
    likeness: Likeness
    word_stems: WordStems
    _compared_words: dict[str, set[str]] = field(default_factory=dict[str, set[str]], init=False)
    _similar_words: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]], init=False)
    _likeness_by_set: dict[tuple[str, frozenset[str]], float] = field(
        default_factory=dict[tuple[str, frozenset[str]], float], init=False
    )

    def share_of(self, weighed: Sequence[WeighedWord], *levels: tuple[float, frozenset[str]]) -> float:
        """Returns the share (0 to 1) of the weight that the texts hold.

        Each level is a weight from 0 to 1 and the words of a text; a word counts by the best level that holds it.
        """
        total = sum(word.weight for word in weighed)
        held = sum(
            word.weight * max(weight * self._likeness_to(word, words) for weight, words in levels) for word in weighed
        )
        return held / total if total else 0.0

    def holds_half_of_name(self, words: frozenset[str]) -> bool:
        """Whether `words` hold one of two names that appear side by side: Fatima Zahir is not Fatima Zouari."""
        stems, text = {self.word_stems.stem_of(word) for word in words}, fold_text(self.text)
        return any(
            (first.stem in stems) != (second.stem in stems)
            for first, second in permutations(self.names, 2)
            if f" {first.word} {second.word}" in f" {text}"
        )

    @property
    def length(self) -> int:
        """The number of its content words."""
        return len(self.names) + len(self.asked)

    def covered_share_of(self, words: frozenset[str]) -> float:
        """Returns the share (0 to 1) of the weight of all its words whose stems are among those of `words`."""
        stems = {self.word_stems.stem_of(word) for word in words}
        weighed = (*self.names, *self.asked)
        total = sum(word.weight for word in weighed)
        return sum(word.weight for word in weighed if word.stem in stems) / total if total else 0.0

    def _likeness_to(self, weighed: WeighedWord, words: frozenset[str]) -> float:
        """Returns how nearly one of `words` means the same; a name must be there itself. Each set is read once."""
        key = weighed.word, words
        if key not in self._likeness_by_set:
            similar = self._find_similar_words(weighed, words)
            self._likeness_by_set[key] = max((similar[word] for word in similar.keys() & words), default=0.0)
        return self._likeness_by_set[key]

    def _find_similar_words(self, weighed: WeighedWord, words: frozenset[str]) -> dict[str, float]:
        """Returns all words that are anything like it among these and those that it was compared with before: few."""
        similar = self._similar_words.setdefault(weighed.word, {})
        compared = self._compared_words.setdefault(weighed.word, set())
        for word in words - compared:
            likeness = self._compare_words(weighed, word)
            if likeness > 0:
                similar[word] = likeness
        compared |= words
        return similar

    def is_contradicted_by(self, words: frozenset[str]) -> bool:
        """Whether the words have the opposite of an asked one, and not the asked one: "closes at five" for "opens"."""
        asked = {word.word for word in self.asked}
        return any(
            asked & own and words & other and not words & own
            for pair in _OPPOSITES
            for own, other in (pair, pair[::-1])
            if not asked & other
        )

    def _is_repetition(self, weighed: WeighedWord, stem: str) -> bool:
        """ "*Open again*": whether a word of a text says both, as "reopens" does."""
        return stem == f"re{weighed.stem}" and "again" in WORD.findall(fold_text(self.text))

    def _compare_words(self, weighed: WeighedWord, word: str) -> float:
        stem = self.word_stems.stem_of(word)
        if stem == weighed.stem or weighed.is_name:
            return float(stem == weighed.stem)
        if self._is_repetition(weighed, stem):
            return _REPEATED_LIKENESS
        if self.word_stems.are_synonyms(weighed.stem, stem):
            return _SYNONYM_LIKENESS
        shared = _PREFIX_LIKENESS if share_start(stem, weighed.stem) else 0.0
        return max(self.likeness.get(weighed.word, {}).get(word, 0.0), shared)


def share_start(stem: str, other: str) -> bool:
    """Whether one stem begins with the other, or nearly all of the longer one is the same."""
    shorter, longer = sorted((stem, other), key=len)
    if len(shorter) < _MIN_PREFIX:
        return False
    shared = next((index for index, letter in enumerate(shorter) if letter != longer[index]), len(shorter))
    return shared == len(shorter) or (shared > _MIN_PREFIX and shared >= _MIN_PREFIX_SHARE * len(longer))


async def read_question(
    text: str,
    terms: Iterable[QueryTerm],
    lines: Sequence[TextLine],
    analyser: Analyser,
    meanings: WordMeanings,
    *,
    kind_words: Collection[str] = (),
    other_words: Iterable[str] = (),
    glosses: WordGlosses = NO_GLOSSES,
) -> WeighedQuestion:
    """Weighs the content words `terms` of the question against the lines of the texts that may answer it.

    `kind_words` say which kind of value is asked for: the value itself says it too. `other_words`: folded words that
    are compared with the question beside those of the texts. `glosses`: of the language of the texts, whose words are
    compared in English.
    """
    word_stems = WordStems(analyser)
    written = WORD.findall(text)
    capitalised = {fold_text(match["word"]) for match in _CAPITALISED_INSIDE.finditer(text)} - CALENDAR_WORDS
    start = fold_text(written[0]) if written else ""
    asks_what = start in _ACCOUNT_STARTS
    ignored = _CONNECTIVES | _ACCOUNT_WORDS if asks_what else _CONNECTIVES
    ignored |= glosses.salutations
    content = {term.word: term for term in terms if term.word not in ignored and len(term.word) > 1}
    in_texts, without_capital = _count_capitals(lines, word_stems)
    names = {
        word
        for word in content
        if (not capitalised or word in capitalised or fold_text(written[0]) == word)
        and _is_name(word, word in capitalised, in_texts, without_capital, word_stems.stem_of(word))
        and not glosses.is_common_word(word)
    }
    effects = await meanings.weigh_words([fold_text(word) for word in written], list(content), glosses.gloss_of)
    most = max((effects[word] for word in content if word not in names), default=0.0) or 1.0
    weighed = [
        WeighedWord(
            word=word,
            stem=word_stems.stem_of(word),
            weight=math.sqrt(term.weight * min(effects[word] / most, 1.0))
            * (_KIND_WEIGHT if word in kind_words else 1.0)
            * (_LIGHT_WEIGHT if word in LIGHT_WORDS else 1.0),
            is_name=word in names,
            is_kind=word in kind_words,
        )
        for word, term in content.items()
    ]
    vocabulary = {
        word
        for words in (other_words, *((*line.words, *WORD.findall(fold_text(line.heading))) for line in lines))
        for word in words
        if len(word) > 2
    }
    return WeighedQuestion(
        text=text,
        asks_account=start == "why"
        or asks_for_cause(text)
        or (asks_what and any(fold_text(word) in _TOLD_WORDS for word in written)),
        names=tuple(word for word in weighed if word.is_name),
        asked=tuple(word for word in weighed if not word.is_name),
        stems=frozenset(word_stems.stem_of(fold_text(word)) for word in written),
        likeness=await meanings.compare_words(
            list(content), (word for word in sorted(vocabulary) if not word.isdigit()), glosses.gloss_of
        ),
        word_stems=word_stems,
    )


def _count_capitals(lines: Sequence[TextLine], word_stems: WordStems) -> tuple[Counter[str], Counter[str]]:
    """Returns how often each stem is written with a capital letter inside a sentence, and how often without one."""
    capitalised, small = Counter[str](), Counter[str]()
    for line in lines:
        text = line.quote.text
        if line.is_heading or text.isupper():
            continue
        for index, match in enumerate(WORD.finditer(text)):
            word = match[0]
            if word[0].isdigit() or (word.isupper() and len(word) > 1):
                continue
            stem = word_stems.stem_of(fold_text(word))
            if not word[0].isupper():
                small[stem] += 1
                continue
            if _LABEL_END.match(text, match.end()):
                continue  # "Phone: 120", "Room 12"
            begins = index == 0 or text[: match.start()].rstrip(" \t\"'“(*_")[-1:] in _SENTENCE_STARTS
            if not begins or (line.is_row and index and _FULL_NAME.match(text, match.start())):
                capitalised[stem] += 1
    return capitalised, small


def _is_name(word: str, has_capital: bool, in_texts: Counter[str], small: Counter[str], stem: str) -> bool:
    if word.isdigit() or word.removesuffix("s") in CALENDAR_WORDS:
        return False
    if not in_texts[stem]:
        return has_capital and not small[stem]
    return in_texts[stem] >= _MIN_CAPITALISED_RATIO * small[stem] if has_capital else not small[stem]
