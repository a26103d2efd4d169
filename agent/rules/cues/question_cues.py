"""The input of the recognisers: the words of a question, its functions and its group."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.rules.cues.function_phrases import FunctionPhrase, find_functions
from agent.rules.cues.grouping import find_groups, find_leading_group
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.plan import GroupBy


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionCues:
    """A reading of a question, with the data that most recognisers use."""

    reading: BucketReading
    lexicon: BucketLexicon
    words: Sequence[str]
    functions: tuple[FunctionPhrase, ...]  # in order
    group: GroupBy | None
    second_group: GroupBy | None = None

    @property
    def superlative(self) -> FunctionPhrase | None:
        return next((phrase for phrase in self.functions if phrase.is_superlative), None)


def find_cues(reading: BucketReading, lexicon: BucketLexicon) -> QuestionCues:
    words = [token.word for token in reading.tokens]
    groups = find_groups(words, reading, lexicon)
    return QuestionCues(
        reading=reading,
        lexicon=lexicon,
        words=words,
        functions=tuple(find_functions(words, reading)),
        group=groups[0] if groups else find_leading_group(words, reading, lexicon),
        second_group=groups[1] if len(groups) > 1 else None,
    )
