"""Finds the words of a leg that may be misspelt, and plans the leg with the words that the documents hold."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.decomposition import LegAlternatives, SpellingCorrection
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.planning.leg_plan import plan_leg
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from storage.search.plan import Leg

_MAX_CORRECTED_BUCKETS = 3  # the number of best buckets that are searched for corrections


def add_spelling_correction(
    leg_with_alternatives: tuple[Leg, LegAlternatives],
    question: str,
    readings: Sequence[BucketReading],
    reader: QuestionReader,
) -> tuple[Leg, LegAlternatives]:
    """Adds to the alternatives the leg that results if the unknown words are misspelt."""
    leg, alternatives = leg_with_alternatives
    misspelt_words = {
        reading.bucket: _find_misspelt_words(reading, reader.lexicons[reading.bucket])
        for reading in readings[:_MAX_CORRECTED_BUCKETS]
    }
    if not any(misspelt_words.values()):
        return leg_with_alternatives
    stems = {
        bucket: {misspelt.stem: misspelt.correction_stem for misspelt in words}
        for bucket, words in misspelt_words.items()
    }
    corrected_readings = reader.read_with_corrections(question, stems)
    words = tuple(
        (misspelt.written, misspelt.correction) for misspelt in misspelt_words.get(corrected_readings[0].bucket, ())
    )
    if not words:
        return leg_with_alternatives
    corrected_leg, corrected_alternatives = plan_leg(leg.id, question, corrected_readings, reader.lexicons)
    correction = SpellingCorrection(
        corrections=words, leg=corrected_leg, unknown_words=corrected_alternatives.unknown_words
    )
    return leg, replace(alternatives, spelling_correction=correction)


@dataclass(frozen=True, slots=True, kw_only=True)
class _MisspeltWord:
    """A word as written and its likely correction, each with its stem."""

    written: str
    stem: str
    correction: str
    correction_stem: str


def _find_misspelt_words(reading: BucketReading, lexicon: BucketLexicon) -> list[_MisspeltWord]:
    """Returns the unlinked words that resemble a word known in the bucket."""
    unlinked_text = " ".join(reading.unlinked_words).casefold()
    corrections = [
        (token, lexicon.correct_spelling(token))
        for token in reading.tokens
        if not token.is_quoted and token.word in unlinked_text
    ]
    return [
        _MisspeltWord(written=token.word, stem=token.stem, correction=correction[0], correction_stem=correction[1])
        for token, correction in corrections
        if correction is not None
    ]
