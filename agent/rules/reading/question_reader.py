"""Reads the texts of one question in every bucket."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.linking.label_similarity import NO_SIMILARITIES, WordSimilarities
from agent.rules.literals.literal_types import QuestionLiteral
from agent.rules.literals.recognition import find_literals
from agent.rules.reading.asked_noun import explain_nouns_of_others, prefer_asked_buckets, prefer_buckets_of_money
from agent.rules.reading.bucket_reading import BucketReading, read_question
from agent.rules.reading.part_names import prefer_named_parts
from agent.rules.words.tokens import find_quotations
from storage.search.ids import BucketId


class QuestionReader:
    """Reads a question and its parts. It keeps the readings, since several steps read the same text."""

    def __init__(
        self,
        lexicons: Mapping[BucketId, BucketLexicon],
        today: date,
        similarities: Mapping[BucketId, WordSimilarities] | None = None,
    ) -> None:
        """`today` is the date in the asker's time zone; `similarities` are of the words of the whole message."""
        self.lexicons = lexicons
        self._similarities = similarities or {}
        self._today = today
        self._cached_readings: dict[str, list[BucketReading]] = {}
        self._single_readings: dict[tuple[str, BucketId], BucketReading] = {}
        self._literals: dict[str, Sequence[QuestionLiteral]] = {}
        self._reading_count = 0

    @property
    def reading_count(self) -> int:
        """How many readings it has made, each of one text in one bucket: the measure of the work on a question."""
        return self._reading_count

    def literals_in(self, text: str) -> Sequence[QuestionLiteral]:
        if text not in self._literals:
            self._literals[text] = find_literals(text, self._today)
        return self._literals[text]

    def readings_of(self, text: str) -> list[BucketReading]:
        """Returns a reading per bucket, best first; the larger bucket precedes if scores are equal."""
        if text not in self._cached_readings:
            self._cached_readings[text] = self.read_with_corrections(text, {})
        return self._cached_readings[text]

    def read_in_bucket(self, text: str, bucket: BucketId) -> BucketReading:
        """Returns the reading in one bucket, which takes less time than those in all."""
        if text in self._cached_readings:
            return next(reading for reading in self._cached_readings[text] if reading.bucket == bucket)
        if (text, bucket) not in self._single_readings:
            self._single_readings[text, bucket] = self._read_in_buckets(text, {}, [bucket])[0]
        return self._single_readings[text, bucket]

    def read_with_corrections(
        self, text: str, corrected_stems: Mapping[BucketId, Mapping[str, str]]
    ) -> list[BucketReading]:
        """Returns the readings as if each misspelt stem were the correct one of its bucket."""
        readings = self._read_in_buckets(text, corrected_stems, self.lexicons)
        readings = explain_nouns_of_others(prefer_asked_buckets(readings, self.lexicons), self.lexicons)
        readings = prefer_named_parts(readings, self.lexicons)
        readings = prefer_buckets_of_money(readings, self.lexicons)
        return sorted(
            readings,
            key=lambda reading: (-reading.score, -self.lexicons[reading.bucket].document_count, reading.bucket),
        )

    def _read_in_buckets(
        self, text: str, corrected_stems: Mapping[BucketId, Mapping[str, str]], buckets: Iterable[BucketId]
    ) -> list[BucketReading]:
        quotations = find_quotations(text)
        literals = [
            literal
            for literal in self.literals_in(text)
            if not any(quotation.start <= literal.start < quotation.end for quotation in quotations)
        ]
        readings = [
            read_question(
                self.lexicons[bucket],
                text,
                literals,
                quotations,
                corrected_stems.get(bucket),
                self._today,
                self._similarities.get(bucket, NO_SIMILARITIES),
            )
            for bucket in buckets
        ]
        self._reading_count += len(readings)
        return readings
