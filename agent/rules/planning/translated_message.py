"""Reads a message in another language: rewrites it in the words of the rules, and restores the person's words in the
decision.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from typing import Any, TypeVar, cast

from agent.assumptions import CorrectedSpelling
from agent.decomposition import ContinuedQuestion, Decomposition, ExportRequest, PlannedQuestion
from agent.languages.language_pack import LanguagePack
from agent.languages.rewriting import rewrite_question
from agent.languages.text_map import RewrittenText
from agent.review.answer_confidence import ReadingAssessment
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention, PartialMatch, ValueMatch
from agent.rules.planning.plain_message import PlainMessage, simplify_message
from agent.rules.reading.question_reader import QuestionReader
from agent.rules.words.tokens import find_quotations, tokenize_question
from storage.search.analyser import fold_text
from storage.search.conditions import TEXT_FIELD, TITLE_FIELD, ComparisonCondition
from storage.search.ids import BucketId
from storage.search.plan import Clause, Leg

_MIN_NAME_LETTERS = 3  # of a value in small letters that counts as a name in a message
_WORD_FIELDS = frozenset(
    {"words", "word", "unknown_words", "unused_words", "droppable_words", "text_words", "required_terms"}
)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslatedMessage:
    """A message in the words that the rules read, in their plain form, with the way back to the person's words."""

    rewritten: RewrittenText
    plain_message: PlainMessage
    own_buckets: frozenset[BucketId]  # whose documents are in the language of the message


class _LexiconWords:
    """What a bucket's lexicon knows of words, as the rewriting asks for it."""

    def __init__(self, lexicon: BucketLexicon) -> None:
        self._lexicon = lexicon

    @property
    def language(self) -> str:
        return self._lexicon.analyser.language

    @property
    def field_names(self) -> Sequence[str]:
        return [word for field in self._lexicon.schema.fields for word in field.label.split()]

    def names_field_or_kind(self, phrase: str) -> bool:
        return any(isinstance(link, (BucketNoun, FieldMention)) for link in self._lexicon.meanings_of_text(phrase))

    def knows_word(self, word: str) -> bool:
        return self._lexicon.knows_word(word)

    def is_part_of_name(self, word: str) -> bool:
        return self._lexicon.is_part_of_name(word)

    def find_values(self, question: str) -> Sequence[tuple[int, int]]:
        tokens = tokenize_question(question, self._lexicon.analyser, find_quotations(question))
        spans: list[tuple[int, int]] = []
        for link in self._lexicon.find_links(tokens):
            linked = tokens[link.first : link.last]
            is_name = any(token.is_name for token in linked) or isinstance(link.meaning, ValueMatch)
            is_long = sum(len(token.word) for token in linked) >= _MIN_NAME_LETTERS
            if isinstance(link.meaning, (ValueMatch, PartialMatch)) and is_name and is_long:
                spans.append((linked[0].start, linked[-1].end))
        return sorted(spans, key=lambda span: span[0] - span[1])


def translate_message(
    question: str, pack: LanguagePack, lexicons: Mapping[BucketId, BucketLexicon], today: date
) -> TranslatedMessage:
    """Returns the message as the best of the buckets reads it.

    A word that the documents use in the language of the message stays as it is. So the buckets in that language and
    the others may need different words, and those that explain more of the message are taken.
    """
    own = {bucket: lexicon for bucket, lexicon in lexicons.items() if lexicon.analyser.language == pack.language}
    others = {bucket: lexicon for bucket, lexicon in lexicons.items() if bucket not in own}
    candidates = [_translate_for(question, pack, group, lexicons, own) for group in (own, others) if group]
    if not candidates:
        return _translate_for(question, pack, {}, lexicons, own)
    if len({candidate.plain_message.text for candidate in candidates}) == 1:
        return candidates[0]
    reader = QuestionReader(lexicons, today)
    return max(candidates, key=lambda candidate: reader.readings_of(candidate.plain_message.text)[0].score)


def _translate_for(
    question: str,
    pack: LanguagePack,
    group: Mapping[BucketId, BucketLexicon],
    lexicons: Mapping[BucketId, BucketLexicon],
    own: Iterable[BucketId],
) -> TranslatedMessage:
    rewritten = rewrite_question(question, pack, [_LexiconWords(lexicon) for lexicon in group.values()])
    kept_words = frozenset(part.text.casefold() for part in rewritten.parts if part.text == part.written)
    plain_message = simplify_message(rewritten.text, lexicons, kept_words)
    return TranslatedMessage(rewritten=rewritten, plain_message=plain_message, own_buckets=frozenset(own))


def restore_words(decomposition: Decomposition, message: TranslatedMessage) -> Decomposition:
    """Returns the decision with the words of the person in it, where it names words of the question.

    The documents' texts are searched in their own language.
    """
    restored = _WordRestoration(message).restore(decomposition)
    if isinstance(restored, (PlannedQuestion, ExportRequest)):
        return replace(restored, plan=replace(restored.plan, question=message.rewritten.original))
    return restored


class _WordRestoration:
    def __init__(self, message: TranslatedMessage) -> None:
        self._message = message

    def restore(self, value: Value, *, is_own: bool = True) -> Value:
        """Returns the value with the person's words in place of translated ones.

        `is_own`: it belongs to a bucket in the language of the message, whose texts hold the original words.
        """
        if isinstance(value, tuple):
            members = cast(tuple[Any, ...], value)
            return cast(Value, tuple(self.restore(member, is_own=is_own) for member in members))
        if not is_dataclass(value) or isinstance(value, (type, CorrectedSpelling)):
            return value
        if isinstance(value, Clause):
            is_own = value.bucket in self._message.own_buckets
        if isinstance(value, ComparisonCondition):
            return cast(Value, self._restore_comparison(value, is_own=is_own))
        changes: dict[str, Any] = {}
        for member in fields(value):
            before = getattr(value, member.name)
            if member.name in _WORD_FIELDS and not (
                member.name in ("required_terms", "droppable_words") and not is_own
            ):
                after = self._restore_words(before)
            else:
                after = self.restore(before, is_own=is_own)
            if after is not before and after != before and member.init:
                changes[member.name] = after
        if isinstance(value, Leg):
            changes["search"] = replace(changes.get("search", value.search), ranking_text=self._ranking_text_of(value))
            if value.answer_form.reads_text and self._reads_own_texts(value):
                changes["question"] = self._message.rewritten.write_content_words(value.question)
        if isinstance(value, ContinuedQuestion):
            changes["message"] = self._message.rewritten.write_content_words(value.message)
        restored = cast(Value, replace(cast(Any, value), **changes)) if changes else value
        return cast(Value, self._with_own_words(restored)) if isinstance(restored, ReadingAssessment) else restored

    def _with_own_words(self, assessment: ReadingAssessment) -> ReadingAssessment:
        """Leaves out words that are not the person's: those of an earlier question stay translated."""
        original = fold_text(self._message.rewritten.original)
        words = tuple(words for words in assessment.unused_words if fold_text(words) in original)
        return replace(assessment, unused_words=words)

    def _restore_comparison(self, condition: ComparisonCondition, *, is_own: bool) -> ComparisonCondition:
        words = self._restore_words(condition.words)
        is_text = condition.field in (TEXT_FIELD, TITLE_FIELD) and isinstance(condition.value, str)
        value = self._restore_words(condition.value) if is_text and is_own else condition.value
        return replace(condition, words=words, value=value)

    def _restore_words(self, words: Any) -> Any:
        if isinstance(words, str):
            return self._message.rewritten.written_words(words)
        if isinstance(words, tuple):
            return tuple(self._restore_words(word) for word in cast(tuple[Any, ...], words))
        return words

    def _reads_own_texts(self, leg: Leg) -> bool:
        return bool(self._message.own_buckets.intersection(leg.search.buckets))

    def _ranking_text_of(self, leg: Leg) -> str:
        """The words that rank passages: the person's for texts in the language of the message, else the translation."""
        if not self._reads_own_texts(leg):
            return leg.search.ranking_text
        words = [self._message.rewritten.written_words(word) for word in leg.search.ranking_text.split()]
        return " ".join(dict.fromkeys((*words, *leg.search.ranking_text.split())))
