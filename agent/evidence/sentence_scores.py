"""Scores sentences as answers: how much of what is asked they hold, where they appear, and what they add to it.

The names of a question only say which documents are meant. So a sentence answers if its passage holds the names, if it
holds what is asked about them, itself or by its heading and the lines beside it, and if it says something that the
question does not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.english.function_words import STOP_WORDS
from agent.evidence.asked_values import (
    AskedKind,
    TextValue,
    find_full_names,
    find_new_values,
    holds_extension,
    holds_known_name,
    holds_single_name,
    names_owner,
)
from agent.evidence.english_glosses import NO_GLOSSES, WordGlosses
from agent.evidence.question_words import WeighedQuestion, WeighedWord
from agent.evidence.text_lines import WORD, TextLine, words_of
from agent.evidence.word_meanings import WordMeanings
from agent.retrieval.answer_type import AnswerType
from storage.search.analyser import fold_text

# Weight of a word of the question by where it is: a word in the sentence itself weighs 1.
_HEADING, _TITLE, _BESIDE, _PASSAGE = 0.9, 0.7, 0.6, 0.4
# What the parts of a score weigh. Measured on some hundred look-ups over rules, letters, minutes and contracts.
_OWN_WEIGHT, _COSINE_WEIGHT, _NAMES_WEIGHT, _OWN_NAMES_WEIGHT, _VALUE_WEIGHT = 0.3, 0.3, 0.6, 0.1, 0.2
_CARRIED = 0.9  # of a word in the label that the line before has, where the line begins with "it"
_CONTINUING_PRONOUNS = frozenset("it they he she".split())
_CASE = re.compile(r"\W*(?P<case>(?:if|when|where|once|should)\s[^,;:.]{3,}),", re.IGNORECASE)
_NOTHING_NEW_PENALTY = 0.5
_PART_WEIGHT = 0.5  # of what the part of a question asks, in the sentence or its heading
_MIN_OWN_SHARE_OF_NAMED = 0.3  # of what is asked, for a sentence that names somebody by a single word
_COMPARED_SENTENCES = 24  # the best ones, compared with the question in meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSentence:
    """A sentence, and how well it answers. All shares are 0 to 1."""

    line: TextLine
    score: float
    asked_share: float  # of what is asked, in the sentence and around it
    own_share: float  # of what is asked, in the sentence itself
    section_share: float  # of what is asked, in the sentence or its heading
    names_share: (
        float  # of the names, in the passage, its title or its folder; in the sentence, if nothing else is asked
    )
    own_names_share: float  # of the names, in the sentence itself
    heading_share: float  # of what is asked, in the title and the heading
    has_value: bool  # it holds a new value of the asked kind
    adds_words: bool  # it says something that the question does not


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceScorer:
    """Scores the sentences of passages as answers to one question, or to a part of it."""

    question: WeighedQuestion
    kinds: frozenset[AskedKind]
    part: tuple[WeighedWord, ...] = ()  # what the part asks; empty for a whole question
    glosses: WordGlosses = NO_GLOSSES
    known_names: frozenset[str] = frozenset()  # folded words of people's and firms' full names

    def score_lines(self, lines: Sequence[TextLine], place_words: frozenset[str]) -> list[ScoredSentence]:
        """Scores the lines of one passage. `place_words`: the words of its title and its folder."""
        passage_words = place_words.union(*(line.words for line in lines)) if lines else place_words
        names_share = self._share_of_names(passage_words)
        return [
            self._score_line(index, lines, place_words, passage_words, names_share)
            for index, line in enumerate(lines)
            if not line.is_heading
        ]

    def _score_line(
        self,
        index: int,
        lines: Sequence[TextLine],
        place_words: frozenset[str],
        passage_words: frozenset[str],
        names_share: float,
    ) -> ScoredSentence:
        line, question = lines[index], self.question
        beside = frozenset[str]().union(
            *(
                lines[other].words
                for other in (index - 1, index + 1)
                if 0 <= other < len(lines) and lines[other].block == line.block
            )
        )
        heading_words = words_of(line.heading)
        main, case = self._split_case(line)
        told = (1.0, main), (_BESIDE, case), (_CARRIED, _words_of_subject(index, lines))
        own_share = question.share_of(question.asked, *told)
        asked_share = question.share_of(
            question.asked,
            *told,
            (_HEADING, heading_words),
            (_TITLE, place_words),
            (_BESIDE, beside),
            (_PASSAGE, passage_words),
        )
        adds_words = any(
            question.word_stems.stem_of(word) not in question.stems and word not in STOP_WORDS
            for word in line.value_words
        )
        own_names_share = self._share_of_names(line.words)
        part_share = question.share_of(self.part, (1.0, line.words), (_HEADING, heading_words)) if self.part else 0.0
        has_value = holds_value(line, self.kinds, question.text, self.glosses)
        has_value = has_value or (own_share >= _MIN_OWN_SHARE_OF_NAMED and self._names_somebody(line))
        has_value = has_value and not question.is_contradicted_by(line.words)
        value_score = (_VALUE_WEIGHT if has_value else -_VALUE_WEIGHT) if self.kinds else 0.0
        return ScoredSentence(
            line=line,
            score=asked_share
            + _OWN_WEIGHT * own_share
            + _NAMES_WEIGHT * names_share
            + _OWN_NAMES_WEIGHT * own_names_share
            + _PART_WEIGHT * part_share
            + value_score
            - (0.0 if adds_words else _NOTHING_NEW_PENALTY),
            asked_share=asked_share,
            own_share=own_share,
            section_share=question.share_of(question.asked, *told, (_HEADING, heading_words)),
            names_share=names_share if self._asks_for_more_than_kind() else own_names_share,
            own_names_share=own_names_share,
            heading_share=question.share_of(question.asked, (1.0, place_words | heading_words)),
            has_value=has_value,
            adds_words=adds_words,
        )

    def _names_somebody(self, line: TextLine) -> bool:
        """Whether the line names somebody by a word, where a name is asked for: "*Ada's* certificate", "ring *Ada*"."""
        if AnswerType.NAME not in self.kinds or not self.glosses.is_english:
            return False
        text, question = line.value_text, self.question.text
        return names_owner(text, question) or holds_known_name(text, self.known_names, words_of(question))

    def _split_case(self, line: TextLine) -> tuple[frozenset[str], frozenset[str]]:
        """ "*If our reply is refused*, the fine is due after a week": returns the words of the rest, and of the case.

        A value is asked about in the clause that holds it. All words are the rest's if the case has a value itself.
        """
        match, asked = _CASE.match(line.quote.text) if self.kinds else None, self.question.text
        if match is None or find_new_values(match["case"], self.kinds, asked, words_of(asked)):
            return line.words, frozenset()
        case = words_of(match["case"]) - words_of(line.quote.text[match.end() :])
        return line.words - case, case

    def _asks_for_more_than_kind(self) -> bool:
        """ "How long is the *voyage*": False for "how long is the Pelican", which any span of time would answer."""
        return not all(word.is_kind for word in self.question.asked)

    def _share_of_names(self, words: frozenset[str]) -> float:
        return self.question.share_of(self.question.names, (1.0, words)) if self.question.names else 1.0


def _words_of_subject(index: int, lines: Sequence[TextLine]) -> frozenset[str]:
    """ "Town hall: closed on Friday. *It* reopens on Monday": returns the words of the label that "it" stands for."""
    line, before = lines[index], lines[index - 1] if index else None
    opens = WORD.match(line.quote.text.lstrip())
    if before is None or before.block != line.block or opens is None or fold_text(opens[0]) not in _CONTINUING_PRONOUNS:
        return frozenset()
    return before.words - before.value_words if before.is_row else frozenset()


def holds_value(line: TextLine, kinds: frozenset[AskedKind], question: str, glosses: WordGlosses) -> bool:
    """Whether the line, best without its label, holds a value of one of the kinds that the question does not hold."""
    asked_words = words_of(question)
    if AnswerType.NAME in kinds and holds_single_name(line.value_text, asked_words, glosses, is_labelled=line.is_row):
        return True
    if TextValue.PHONE_NUMBER in kinds and line.is_row and holds_extension(line.heading, line.value_text):
        return True
    if any(find_new_values(text, kinds, question, asked_words) for text in (line.value_text, line.quote.text)):
        return True
    glossed = glosses.gloss_sentence(line.value_text)
    others = kinds - {AnswerType.NAME}  # English words in a text of another language are not names
    return glossed != line.value_text and bool(find_new_values(glossed, others, question, asked_words))


def known_names_in(lines: Sequence[TextLine]) -> frozenset[str]:
    """Returns the folded words of the full names in the lines that no line writes without a capital letter."""
    texts = [line.quote.text for line in lines if not line.is_heading]
    names = frozenset(name for text in texts for name in find_full_names(text))
    return names - frozenset(word for text in texts for word in WORD.findall(text) if word.islower())


def text_in_context(line: TextLine) -> str:
    """Returns the line under its title and heading, as it is compared with a question in meaning."""
    return f"{line.passage.hit.title} {line.heading}\n{line.quote.text}"


async def rank_by_meaning(
    sentences: Sequence[ScoredSentence], question: str, meanings: WordMeanings, glosses: WordGlosses
) -> list[ScoredSentence]:
    """Returns the sentences, best first, with the likeness of their whole meaning to the question in their scores."""
    ranked = sorted(sentences, key=lambda sentence: -sentence.score)[:_COMPARED_SENTENCES]
    texts = [glosses.gloss_sentence(text_in_context(sentence.line)) for sentence in ranked]
    cosines = await meanings.cosines_with(glosses.gloss_question(question), texts)
    compared = [
        replace(sentence, score=sentence.score + _COSINE_WEIGHT * cosine)
        for sentence, cosine in zip(ranked, cosines, strict=True)
    ]
    return sorted(compared, key=lambda sentence: -sentence.score)
