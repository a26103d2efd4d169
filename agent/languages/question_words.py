"""Divides a question in another language into words with their roles, and translates them.

The words of the closed classes are translated by the pack, other words where a bucket knows the translation. Names,
quotations, identifiers and values of the documents stay as they are.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum

from agent.languages.known_words import BucketWords, CompoundDivider, RelatedNames, means_nothing_special
from agent.languages.language_pack import LanguagePack, PackPhrase, matches_words
from storage.quantities.days import CLEAR_MONTH_NUMBERS, ENGLISH_MONTHS, MONTH_NUMBERS
from storage.quantities.languages import strip_accents
from storage.text.vocabulary import VocabularyEntry, WordClass, fold_letters

_APOSTROPHES = "'’"
_MAX_NAME_WORDS = 5  # of a phrase that names a field or appears in the vocabulary
_CLAUSE_MARKS = frozenset(".?!;:,()")
_TIME_UNITS = frozenset("day days week weeks month months quarter quarters year years hour hours minutes".split())
_UNITS = _TIME_UNITS | {"EUR", "percent", "million", "billion", "thousand", "€", "%", "$"}
_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_DAY_IN_DIGITS = re.compile(r"(?<![\w.,/-])(\d{1,2})([./])\s?(\d{1,2})\2\s?(\d{4}|\d{2})(?![\w/]|[.,]\d)")
_DAY_AND_MONTH = re.compile(
    r"(?<![\w.,/-])(\d{1,2})(?:\.|er|º)?\s+(?:de\s+)?([^\W\d_]{3,10})\.?(?:\s+(?:del?\s+)?(\d{4}))?(?!\w)",
    re.IGNORECASE,
)
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])(\d{1,3}(?:[.\u00a0\u202f' ]\d{3})+|\d+)(?:,(\d{1,2}|-))?(?![\w]|[.,]\d)")
_IDENTIFIER = re.compile(r"https?://\S+|\S+@\S+|(?<![\w.,])(?=[\w/#-]*\d)(?=[\w/#-]*[^\W\d])\w[\w/#-]*\w")
_QUOTATION = re.compile(r"[\"“”„«»]([^\"“”„«»]{1,300})[\"“”„«»]")


class ClauseRole(StrEnum):
    """What a word is for the order of words, and for the preposition before it."""

    ARTICLE = "article"
    AUXILIARY = "auxiliary"
    VERB = "verb"
    PAST = "past"  # a participle, or a verb in the past
    NOUN = "noun"
    PREPOSITION = "preposition"
    NUMBER = "number"
    DAY = "day"
    UNIT = "unit"
    QUESTION = "question"
    SUBJECT = "subject"  # who: the verb follows as in English
    NEGATION = "negation"
    ADJECTIVE = "adjective"
    CLOSED = "closed"  # other words of the pack
    NAME = "name"  # kept as written
    MARK = "mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWord:
    """A word or phrase of the question at `start:end` with its translation."""

    text: str
    start: int
    end: int
    role: ClauseRole
    folded: str = ""
    written: str = ""
    is_glued: bool = False
    particle: str = ""  # the separated part of a verb
    dropped: frozenset[int] = field(default_factory=frozenset[int])


@dataclass(frozen=True, slots=True)
class _SourceToken:
    text: str
    start: int
    end: int
    folded: str


class QuestionTranslation:
    """Translates the words of one question for buckets that know the same words."""

    def __init__(self, question: str, pack: LanguagePack, buckets: Sequence[BucketWords]) -> None:
        self._question, self._pack, self._buckets = question, pack, buckets
        self._own_buckets = [bucket for bucket in buckets if bucket.language == pack.language]
        self._compounds = CompoundDivider(pack, buckets)
        self._related_names = RelatedNames(pack, self._own_buckets)
        self._is_own_language = bool(self._own_buckets)
        self._tokens = [
            _SourceToken(match[0], match.start(), match.end(), self._fold_token(match[0]))
            for match in pack.word_pattern.finditer(question)
            if match[0] not in _APOSTROPHES
        ]
        self._folded = [token.folded for token in self._tokens]
        self._written = [token.text.lower() for token in self._tokens]
        self._cased_question = self._write_names()
        self._fixed_spans = self._find_fixed_spans()
        self._idle_tokens = self._find_idle_tokens()

    def _find_idle_tokens(self) -> Iterator[int]:
        """The tokens of purposes and addresses: "*für den Steuerberater*", "*kurze Frage vom Büro:* …"."""
        opening = next((i for i, word in enumerate(self._folded[:_MAX_OPENING_WORDS]) if word == ":"), 0)
        if opening and not any(self._names_something(i) or self._may_be_name(i) for i in range(opening)):
            yield from range(opening + 1)
        for index, word in enumerate(self._folded):
            noun = self._find_purpose_noun(index) if word in self._pack.purpose_words else None
            if noun is not None:
                yield from range(index, noun + 1)

    def _find_purpose_noun(self, index: int) -> int | None:
        """The noun of a purpose at the beginning of a clause or behind a request; None where it may be part of the
        question.
        """
        noun = index + 1
        while noun < len(self._tokens) and self._is_determiner(noun):
            noun += 1
        if noun >= len(self._tokens) or self._names_something(noun) or self._may_be_name(noun):
            return None
        start = self._clause_start(index - 1) if index else 0
        before = " ".join(self._folded[start:index])
        is_request = any(
            before == " ".join(phrase.first_part)
            for phrase in (self._pack.phrases_at(self._folded, start) if before else ())
            if phrase.english in _REQUESTS
        )
        ends_clause = noun + 1 < len(self._tokens) and self._folded[noun + 1] in _CLAUSE_MARKS - {"?"}
        return noun if is_request or (ends_clause and not before) else None

    def _is_determiner(self, index: int) -> bool:
        folded = self._folded[index]
        english = [phrase.english for phrase in self._pack.phrases_at(self._folded, index)]
        return folded in self._pack.articles or any(text in _DETERMINERS for text in english)

    def _may_be_name(self, index: int) -> bool:
        """Whether the word is not a word of the language, as far as the vocabulary knows."""
        word = self._tokens[index].text
        is_known = word in self._pack.vocabulary or self._pack.is_closed_class(word) or self._is_common_noun(word)
        folded = self._tokens[index].folded
        return not is_known and folded not in self._pack.function_words and folded not in self._pack.gradables

    def _names_something(self, index: int) -> bool:
        """Whether a bucket may know the word, or it asks for something."""
        token = self._tokens[index]
        if not token.text[0].isalpha():
            return False
        if any(phrase.english in _ASKING_WORDS for phrase in self._pack.phrases_at(self._folded, index)):
            return True
        is_word = not self._pack.is_closed_class(token.text) and token.folded not in self._pack.function_words
        return is_word and any(
            bucket.knows_word(word) for bucket in self._buckets for word in self._pack.spellings_of(token.text)
        )

    def _fold_token(self, text: str) -> str:
        return self._pack.fold_word(text) if text[0].isalpha() else text

    def translate_words(self) -> list[QuestionWord]:
        """Returns the words in the order of the question."""
        words: list[QuestionWord] = []
        dropped = set(self._idle_tokens)
        index = 0
        while index < len(self._tokens):
            if index in dropped:
                index += 1
                continue
            word, count, removed = self._translate_at(index, words)
            dropped |= removed
            words.append(replace(word, is_glued=self._is_glued(index, words)))
            index += count
        return words

    def _translate_at(self, index: int, before: Sequence[QuestionWord]) -> tuple[QuestionWord, int, set[int]]:
        """The word at a token, how many tokens it takes, and the tokens elsewhere that belong to it."""
        token = self._tokens[index]
        fixed = next((span for span in self._fixed_spans if span[0] <= token.start < span[1]), None)
        if fixed is not None:
            count = sum(1 for other in self._tokens[index:] if other.start < fixed[1])
            role = (
                ClauseRole.DAY if fixed[2] == "day" else ClauseRole.NUMBER if fixed[2] == "number" else ClauseRole.NAME
            )
            return self._word_of(index, count, fixed[3], role), count, set()
        if self._is_relative_pronoun(index) and not self._pack.content.verb_final:
            return self._word_of(index, 1, "that", ClauseRole.CLOSED), 1, set()
        if self._is_relative_phrase(index):
            word = self._word_of(index, 2, "where", ClauseRole.CLOSED)
            return replace(word, folded=self._folded[index + 1]), 2, set()
        match, named = self._find_phrase(index), self._find_named_phrase(index)
        if named is not None and (match is None or named[1] > len(match[0].first_part)):
            return named
        if match is not None:
            phrase, removed = match
            count = len(phrase.first_part)
            english = self._question_word_for(phrase.english, index + count)
            if english == "than" and count == 1 and not self._follows_comparative(index):
                english = "as"
            word = self._word_of(index, count, english, self._role_of_phrase(english, index))
            amount = " ".join(self._folded[index : index + count])
            return (replace(word, folded=amount) if amount in self._pack.ago else word), count, removed
        return self._translate_single(index, before)

    def _question_word_for(self, english: str, following: int) -> str:
        """ "Qué facturas" is "which invoices", where the language has one word for what and which."""
        if english != "what" or self._pack.content.verb_final or following >= len(self._tokens):
            return english
        return "which" if self._pack.vocabulary.find_noun(self._tokens[following].text) else english

    def _find_named_phrase(self, index: int) -> tuple[QuestionWord, int, set[int]] | None:
        """The name of a field in several words, or such a phrase of the vocabulary: "date de fin", "prix unitaire"."""
        for count in range(min(_MAX_NAME_WORDS, len(self._tokens) - index), 1, -1):
            words = self._folded[index : index + count]
            if not words[0].isalpha() or not words[-1].isalpha() or _CLAUSE_MARKS.intersection(words):
                continue
            if words[0] in self._pack.articles or words[0] in self._pack.prepositions:
                continue
            written = self._question[self._tokens[index].start : self._tokens[index + count - 1].end]
            if any(bucket.names_field_or_kind(written) for bucket in self._own_buckets):
                return self._word_of(index, count, written.lower(), ClauseRole.NOUN), count, set()
            joined = " ".join(word for word in words if word != "-")
            entry = next((entry for entry in self._pack.vocabulary.find_entries(joined) if not entry.particle), None)
            if entry is not None:
                return self._word_of(index, count, self._choose_word(written, entry), ClauseRole.NOUN), count, set()
            if len(words) > 2 and (translated := self._translate_of_phrase(words)):
                return self._word_of(index, count, translated, ClauseRole.NOUN), count, set()
        return None

    def _translate_of_phrase(self, words: Sequence[str]) -> str | None:
        """ "Fecha de vencimiento" → "due date"; None unless that names a field."""
        content = self._pack.content
        of_words = (word for word, use in self._pack.prepositions.items() if use.other.startswith("of"))
        linking = {*self._pack.articles, *of_words}
        head, *between, last = words
        if not content.adjectives_follow or not between or not linking.issuperset(between):
            return None
        vocabulary = self._pack.vocabulary
        first, second = vocabulary.find_noun(head), vocabulary.find_noun(last)
        if first is None or second is None:
            return None
        modifiers = (*second.english, *_NAMES_OF_DAYS.get(second.english[0], ()))
        names = [f"{modifier} {noun}" for noun in first.english for modifier in modifiers]
        return next((name for name in names if any(bucket.names_field_or_kind(name) for bucket in self._buckets)), None)

    def _translate_single(self, index: int, before: Sequence[QuestionWord]) -> tuple[QuestionWord, int, set[int]]:
        token, pack = self._tokens[index], self._pack
        if not token.text[0].isalpha():
            role = ClauseRole.NUMBER if token.text[0].isdigit() else ClauseRole.MARK
            role = ClauseRole.DAY if _is_year(token.text) and not self._has_unit_after(index) else role
            return self._word_of(index, 1, token.text, role), 1, set()
        written = token.text.lower()
        if written in pack.content.prepositions:
            return self._word_of(index, 1, written, ClauseRole.PREPOSITION), 1, set()
        for folded in pack.spellings_of(token.text):
            if folded in pack.genitive_words and before and before[-1].role in (ClauseRole.NOUN, ClauseRole.NAME):
                return self._word_of(index, 1, pack.genitive_words[folded], ClauseRole.ARTICLE), 1, set()
            if folded in pack.articles:
                return self._word_of(index, 1, pack.articles[folded], ClauseRole.ARTICLE), 1, set()
            if folded in pack.auxiliaries:
                return self._word_of(index, 1, pack.auxiliaries[folded], ClauseRole.AUXILIARY), 1, set()
            if folded in pack.prepositions:
                return self._word_of(index, 1, folded, ClauseRole.PREPOSITION), 1, set()
            if folded in pack.gradables and not self._is_noun_by_accents(token.text):
                return self._word_of(index, 1, self._degree_of(folded, index), ClauseRole.ADJECTIVE), 1, set()
            month = MONTH_NUMBERS.get(strip_accents(token.text.lower()).rstrip("."))
            if month is not None and self._names_month(token.text):
                return self._word_of(index, 1, ENGLISH_MONTHS[month - 1], ClauseRole.DAY), 1, set()
        return self._translate_content(index, before)

    def _is_noun_by_accents(self, written: str) -> bool:
        """ "Âge" is a noun, although "âgé" is an adjective with the same letters."""
        return not written.isascii() and self._pack.vocabulary.find_noun(written) is not None

    def _degree_of(self, folded: str, index: int) -> str:
        """ "Neuer" is newer before "als", and else a form of new."""
        positive = self._pack.positive_forms.get(folded)
        compares = any(
            word in self._pack.comparison_words for word in self._folded[index + 1 : self._clause_end(index)]
        )
        return self._pack.gradables[folded] if positive is None or compares else positive

    def _follows_comparative(self, index: int) -> bool:
        """ "*Teurer* als", "*mehr* Seiten als": whether a comparative appears in the clause before the word."""
        return any(
            _COMPARATIVE_FORM.search(self._pack.gradables.get(self._folded[place], ""))
            or any(
                _COMPARING_WORDS.intersection(phrase.english.split())
                for phrase in self._pack.phrases_at(self._folded, place)
            )
            for place in range(self._clause_start(index), index)
        )

    def _translate_content(self, index: int, before: Sequence[QuestionWord]) -> tuple[QuestionWord, int, set[int]]:
        token = self._tokens[index]
        if token.folded in self._pack.salutations and self._is_name_at(index + 1):
            return self._word_of(index, 1, "", ClauseRole.CLOSED), 1, set()
        agreeing = self._find_agreeing_form(token.text)
        if agreeing is not None:
            return self._word_of(index, 1, agreeing, ClauseRole.ADJECTIVE), 1, set()
        entries = self._find_entries(token.text)
        separated = [
            (entry, last)
            for entry in entries
            if entry.particle and (last := self._find_particle(index, entry.particle))
        ]
        if separated:
            entry, last = max(separated, key=_position_of)
            role = ClauseRole.PAST if entry.is_past else ClauseRole.VERB
            return self._word_of(index, 1, self._choose_english(entry)[0], role), 1, {last}
        entries = [entry for entry in entries if not entry.particle]
        if not entries and any(bucket.is_part_of_name(token.text) for bucket in self._buckets):
            return self._word_of(index, 1, self._spell_unknown(token.text), ClauseRole.NAME), 1, set()
        if not entries and self._pack.content.compounds:
            measured = self._translate_measure(token.text)
            if measured is not None:
                return self._word_of(index, 1, measured, ClauseRole.NOUN), 1, set()
            compound = self._compounds.divide_word(token.text) or self._translate_compound(token.text)
            if compound is not None:
                return self._word_of(index, 1, compound, ClauseRole.NOUN), 1, set()
        if not entries and (name := self._find_related_name(token.text)):
            return self._word_of(index, 1, name, ClauseRole.NOUN), 1, set()
        if not entries:
            role = ClauseRole.PAST if self._looks_like_participle(token.text) else ClauseRole.NAME
            return self._word_of(index, 1, self._spell_unknown(token.text), role), 1, set()
        entry = self._choose_entry(entries, index, before)
        role = {WordClass.NOUN: ClauseRole.NOUN, WordClass.ADJECTIVE: ClauseRole.ADJECTIVE}.get(entry.word_class)
        role = role or (ClauseRole.PAST if entry.is_past else ClauseRole.VERB)
        return self._word_of(index, 1, self._choose_word(token.text, entry), role), 1, set()

    def _find_agreeing_form(self, written: str) -> str | None:
        """The form of a value that differs only by gender or number: "livrée" for "livrés"."""
        word = written.lower()
        if not self._own_buckets or any(bucket.knows_word(word) for bucket in self._buckets):
            return None
        entries = self._find_entries(written)
        may_agree = len(word) >= _MIN_AGREEING_LETTERS or any(
            entry.word_class is WordClass.ADJECTIVE or entry.is_past for entry in entries
        )
        endings = self._pack.content.agreement_endings if may_agree else ()
        ending = next((ending for ending in endings if word.endswith(ending) and len(word) > len(ending) + 2), None)
        forms = (word.removesuffix(ending) + other for other in endings) if ending is not None else ()
        return next((form for form in forms if any(bucket.knows_word(form) for bucket in self._own_buckets)), None)

    def _find_entries(self, written: str) -> Sequence[VocabularyEntry]:
        """What the word may mean: with the accents that are written, else without them."""
        vocabulary = self._pack.vocabulary
        exact = vocabulary.find_entries(written)
        if exact and not written.isascii():
            return exact
        return [entry for form in self._pack.spellings_of(written) for entry in vocabulary.find_entries(form)]

    def _is_name_at(self, index: int) -> bool:
        if index >= len(self._tokens) or not self._tokens[index].text[0].isalpha():
            return False
        word = self._tokens[index].text
        return word not in self._pack.vocabulary and not self._pack.is_closed_class(word)

    def _choose_entry(
        self, entries: Sequence[VocabularyEntry], index: int, before: Sequence[QuestionWord]
    ) -> VocabularyEntry:
        """A form that may be present or past is a participle beside an auxiliary; a capital letter begins a noun.

        A noun that has one form for both numbers is in the plural, unless a word for a single thing appears before it.
        """
        nouns = [entry for entry in entries if entry.word_class is WordClass.NOUN]
        verbs = [entry for entry in entries if entry.word_class is WordClass.VERB]
        if nouns and len({noun.is_plural for noun in nouns}) > 1:
            counts = bool(before) and before[-1].text.endswith((" of", " of the", " of all", "many"))
            is_single = self._follows_singular_word(index, before) and not counts
            nouns = [noun for noun in nouns if noun.is_plural is not is_single]
            entries = [entry for entry in entries if entry.word_class is not WordClass.NOUN or entry in nouns]
        if nouns and verbs:
            is_noun = self._tokens[index].text[0].isupper() or self._follows_article(index)
            if not self._pack.content.common_noun_pattern:
                is_noun = is_noun or not self._follows_pronoun(index)
            names_kind = any(bucket.names_field_or_kind(word) for bucket in self._buckets for word in nouns[0].english)
            return nouns[0] if is_noun or names_kind else verbs[0]
        if verbs and not nouns:
            has_auxiliary = any(word in self._pack.auxiliaries for word in self._clause_around(index))
            others = [entry for entry in entries if entry.word_class is WordClass.ADJECTIVE and not has_auxiliary]
            return next((entry for entry in (*others, *verbs) if entry.is_past is has_auxiliary), entries[0])
        return entries[0]

    def _choose_word(self, written: str, entry: VocabularyEntry) -> str:
        """The word as the buckets know it: in English if that names a field or the documents, else as written."""
        english, names_own = self._choose_english(entry)
        if names_own:
            return english
        if entry.word_class is WordClass.VERB:
            return self._find_related_name(written) or english
        if any(bucket.knows_word(written) for bucket in self._buckets if bucket.language == self._pack.language):
            return written.lower()
        if any(bucket.knows_word(english) for bucket in self._buckets):
            return english
        knows_written = any(bucket.knows_word(written) for bucket in self._buckets)
        if knows_written or (self._is_own_language and not means_nothing_special(english)):
            return self._find_related_name(written) or written.lower()
        return english

    def _find_related_name(self, written: str) -> str | None:
        """The name of a field from the same root, for a word that no bucket knows."""
        is_long = len(written) >= _MIN_RELATED_LETTERS or written not in self._pack.vocabulary
        if not is_long or any(bucket.knows_word(written) for bucket in self._buckets):
            return None
        name = self._related_names.find_name(written)
        return name.lower() if name is not None else None

    def _choose_english(self, entry: VocabularyEntry) -> tuple[str, bool]:
        """The likeliest English word that a bucket knows as a name, and whether there is one; else the likeliest."""
        for base, inflected in zip(entry.english, entry.inflected, strict=True):
            if any(bucket.names_field_or_kind(base) for bucket in self._buckets):
                return inflected, True
        for base, inflected in zip(entry.english, entry.inflected, strict=True):
            if any(bucket.knows_word(base) for bucket in self._buckets):
                return inflected, False
        return entry.inflected[0], False

    def _translate_measure(self, written: str) -> str | None:
        """ "Durchschnittsgehalt" → "average salary"; None for other words."""
        for form in self._pack.spellings_of(written):
            for modifier, english in self._pack.compound_modifiers.items():
                rest = form.removeprefix(modifier)
                entry = self._pack.vocabulary.find_noun(rest) if rest != form else None
                if entry is not None:
                    return f"{english} {self._choose_word(rest, entry)}"
        return None

    def _translate_compound(self, written: str) -> str | None:
        """ "Lieferantennummer" → "supplier number"; None for a word that a bucket knows, or that has unknown parts."""
        for form in self._pack.spellings_of(written):
            parts = self._pack.vocabulary.split_compound(form, self._pack.content.linking_letters)
            if not parts:
                continue
            modifier, head = parts
            candidates = [
                f"{first} {last}"
                for first in modifier.english
                for last in (head.inflected if head.word_class is WordClass.NOUN else head.english)
            ]
            named = next(
                (text for text in candidates if any(bucket.names_field_or_kind(text) for bucket in self._buckets)), None
            )
            if named is not None:
                return named
            if any(bucket.knows_word(written) for bucket in self._buckets) or self._is_own_language:
                return written.lower()
            return candidates[0]
        return None

    def _spell_unknown(self, written: str) -> str:
        """A word outside the vocabulary, with the letters that a bucket knows: "muenchen" is "Munchen"."""
        if any(bucket.is_part_of_name(written) for bucket in self._buckets):
            return written if written[0].isupper() else written.capitalize()
        if any(bucket.knows_word(written) for bucket in self._buckets):
            return written
        collapsed = self._pack.spellings_of(written)[-1]
        if collapsed != written.lower() and any(bucket.knows_word(collapsed) for bucket in self._buckets):
            return collapsed.capitalize() if written[0].isupper() else collapsed
        return written.lower() if self._is_common_noun(written) else written

    def _is_common_noun(self, written: str) -> bool:
        """Whether the word with a capital letter is not a name, in a language that writes nouns so."""
        pattern = self._pack.content.common_noun_pattern
        if not pattern or not written[0].isupper() or written.isupper():
            return False
        folded = fold_letters(written)
        return re.fullmatch(pattern, folded) is not None or bool(
            self._pack.vocabulary.split_compound(folded, self._pack.content.linking_letters)
        )

    def _find_phrase(self, index: int) -> tuple[PackPhrase, set[int]] | None:
        if self._is_relative_pronoun(index):
            return None
        for phrase in self._pack.phrases_at(self._folded, index, self._written):
            removed: set[int] = set()
            position = index + len(phrase.first_part)
            for part in phrase.parts[1:]:
                found = next(
                    (
                        start
                        for start in range(position, self._clause_end(position))
                        if matches_words(part, self._folded, start)
                    ),
                    None,
                )
                if found is None:
                    break
                removed |= set(range(found, found + len(part)))
                position = found + len(part)
            else:
                return phrase, removed
        return None

    def _role_of_phrase(self, english: str, index: int) -> ClauseRole:
        first = " ".join(self._folded[index : index + 2])
        words = {self._folded[index], first}
        if words & self._pack.inverting_words and english.split()[0] in _QUESTION_STARTS and not english.endswith("of"):
            return ClauseRole.QUESTION
        if words & self._pack.subject_words:
            return ClauseRole.SUBJECT
        if english in _TIME_UNITS | _UNITS:
            return ClauseRole.UNIT
        if english in self._pack.degrees or english in _ADJECTIVES:
            return ClauseRole.ADJECTIVE
        return ClauseRole.NEGATION if english in ("not", "not yet", "no longer") else ClauseRole.CLOSED

    def _find_particle(self, index: int, particle: str) -> int:
        """The token of the separated particle at the end of the clause; 0 if it is not there."""
        last = self._clause_end(index + 1) - 1
        return last if last > index and self._folded[last] == particle else 0

    def _clause_end(self, start: int) -> int:
        marks = (i for i in range(start, len(self._folded)) if self._folded[i] in _CLAUSE_MARKS)
        return next(marks, len(self._folded))

    def _clause_around(self, index: int) -> Sequence[str]:
        return self._folded[self._clause_start(index) : self._clause_end(index)]

    def _clause_start(self, index: int) -> int:
        return next((i + 1 for i in range(index, -1, -1) if self._folded[i] in _CLAUSE_MARKS), 0)

    def _is_relative_pronoun(self, index: int) -> bool:
        """Whether the word begins a relative clause: behind a comma, in some languages behind any noun."""
        if index == 0 or self._folded[index] not in self._pack.relative_pronouns:
            return False
        word_before = self._folded[index - 1]
        if self._pack.content.verb_final:
            return word_before == "," and not self._asks_for_noun(index)
        return word_before.isalnum() and not self._pack.is_closed_class(word_before)

    def _asks_for_noun(self, index: int) -> bool:
        """ "Hallo, *welche Aufträge* …": whether the word is one for which, before a noun."""
        if index + 1 >= len(self._tokens):
            return False
        following = self._tokens[index + 1].text
        is_noun = following[0].isupper() or self._pack.vocabulary.find_noun(following) is not None
        return is_noun and any(
            phrase.english == "which" for phrase in self._pack.phrases_at(self._folded, index, self._written)
        )

    def _is_relative_phrase(self, index: int) -> bool:
        """ "Aufträge, *bei denen* …": whether a preposition and a pronoun begin a relative clause."""
        if not self._pack.content.verb_final or index == 0 or index + 3 > len(self._folded):
            return False
        begins = self._folded[index - 1] == "," and self._folded[index + 1] in self._pack.relative_pronouns
        is_preposition = self._pack.is_preposition(self._folded[index])
        return begins and is_preposition and self._is_verb_at(self._clause_end(index) - 1)

    def _is_verb_at(self, index: int) -> bool:
        token = self._tokens[index]
        if token.folded in self._pack.auxiliaries or self._looks_like_participle(token.text):
            return True
        entries = self._pack.vocabulary.find_entries(token.text)
        return not token.text[0].isupper() and any(entry.word_class is WordClass.VERB for entry in entries)

    def _looks_like_participle(self, written: str) -> bool:
        pattern = self._pack.content.participle_pattern
        return bool(pattern) and written.islower() and re.fullmatch(pattern, fold_letters(written)) is not None

    def _follows_singular_word(self, index: int, before: Sequence[QuestionWord]) -> bool:
        """ "*Der* teuerste Artikel": whether a word for a single thing appears before the noun and its adjectives."""
        adjectives = next(
            (count for count, word in enumerate(reversed(before)) if word.role is not ClauseRole.ADJECTIVE), 0
        )
        place = index - 1 - adjectives
        return place >= 0 and self._folded[place] in self._pack.singular_words

    def _follows_pronoun(self, index: int) -> bool:
        """ "Qui *commande*", "*se* reserva": whether a word appears before it that a verb follows."""
        if index == 0:
            return False
        before = self._folded[index - 1]
        english = [phrase.english for phrase in self._pack.phrases_at(self._folded, index - 1)]
        is_pronoun = before in self._pack.relative_pronouns or before in self._pack.subject_words
        return is_pronoun or any(text in _WORDS_BEFORE_VERBS for text in english)

    def _follows_article(self, index: int) -> bool:
        return index > 0 and self._folded[index - 1] in self._pack.articles

    def _has_unit_after(self, index: int) -> bool:
        if index + 1 >= len(self._tokens):
            return False
        following = self._folded[index + 1]
        phrase = next(iter(self._pack.phrases_at(self._folded, index + 1)), None)
        return following in _UNITS or (phrase is not None and phrase.english in _UNITS)

    def _names_month(self, written: str) -> bool:
        """Whether the word is a month here: "mars" and "mai" are, in a language that calls a month so."""
        folded = strip_accents(written.lower())
        return folded in CLEAR_MONTH_NUMBERS or folded in self._pack.months or written[0].isupper()

    def _is_glued(self, index: int, before: Sequence[QuestionWord]) -> bool:
        token = self._tokens[index]
        return bool(before) and index > 0 and self._tokens[index - 1].end == token.start and (
            not token.text[0].isalnum() or self._tokens[index - 1].text not in _CLAUSE_MARKS
        )  # fmt: skip

    def _word_of(self, index: int, count: int, text: str, role: ClauseRole) -> QuestionWord:
        start, end = self._tokens[index].start, self._tokens[index + count - 1].end
        written = self._question[start:end]
        return QuestionWord(text=text, start=start, end=end, role=role, folded=self._folded[index], written=written)

    def _find_fixed_spans(self) -> list[tuple[int, int, str, str]]:
        """The places of quotations, days, identifiers, values and numbers with their kind and the text for them."""
        spans: list[tuple[int, int, str, str]] = []

        def add_span(start: int, end: int, kind: str, text: str) -> None:
            if all(end <= first or last <= start for first, last, _, _ in spans):
                spans.append((start, end, kind, text))

        question = self._question
        for match in _QUOTATION.finditer(question):
            add_span(match.start(), match.end(), "name", match[0])
        for start, end in self._find_value_spans():
            add_span(start, end, "name", self._cased_question[start:end])
        for match in _DAY_IN_DIGITS.finditer(question):
            day = _iso_day(match[1], match[3], match[4])
            if day:
                add_span(match.start(), match.end(), "day", day)
        for match in _DAY_AND_MONTH.finditer(question):
            month = MONTH_NUMBERS.get(strip_accents(match[2].lower()))
            if month is not None and 1 <= int(match[1]) <= 31:
                year = f" {match[3]}" if match[3] else ""
                add_span(match.start(), match.end(), "day", f"{match[1]} {ENGLISH_MONTHS[month - 1]}{year}")
        for match in _IDENTIFIER.finditer(question):
            add_span(match.start(), match.end(), "name", match[0])
        if self._pack.content.decimal_mark == ",":
            for match in _DECIMAL_COMMA.finditer(question):
                text = _plain_number(match[1], match[2])
                if text != match[0]:
                    add_span(match.start(), match.end(), "number", text)
        return spans

    def _write_names(self) -> str:
        """The question with a capital letter in the words that are parts of names, where all nouns would have one."""
        if not self._pack.content.common_noun_pattern or any(token.text[0].isupper() for token in self._tokens[1:]):
            return self._question
        letters = list(self._question)
        for token in self._tokens:
            is_content = token.text[0].isalpha() and not self._is_function_word(token.text)
            if is_content and any(bucket.is_part_of_name(token.text) for bucket in self._own_buckets):
                letters[token.start] = token.text[0].upper()[:1]
        return "".join(letters)

    def _is_function_word(self, word: str) -> bool:
        return self._pack.is_closed_class(word) or self._pack.fold_word(word) in self._pack.function_words

    def _find_value_spans(self) -> Iterator[tuple[int, int]]:
        """The values of the documents; words of the language alone are not a name."""
        for bucket in self._buckets:
            for start, end in bucket.find_values(self._cased_question):
                words = [token.text for token in self._tokens if start <= token.start and token.end <= end]
                is_own = bucket.language == self._pack.language
                if sum(not self._is_function_word(word) for word in words) > 1:
                    yield start, end  # several words of a name are not a coincidence
                    continue
                names_field = len(words) == 1 and bucket.names_field_or_kind(words[0])
                if not names_field and not all(self._may_be_translated(word, is_own=is_own) for word in words):
                    yield start, end

    def _may_be_translated(self, word: str, *, is_own: bool) -> bool:
        """Whether the word is one of the language, and not only a value. Documents in it may have it as a value."""
        spellings = self._pack.spellings_of(word)
        if any(form in self._pack.function_words or form in self._pack.gradables for form in spellings):
            return True
        return not is_own and (self._pack.is_closed_class(word) or word in self._pack.vocabulary)


_WORDS_BEFORE_VERBS = frozenset({"", "i", "we", "you", "they", "he", "it", "not", "who", "when", "where", "how"})
_MAX_OPENING_WORDS = 8  # before a colon, in an address
_REQUESTS = frozenset({"i need", "i would like", "show me", "list", "show", "i am looking for", "can you"})
_DETERMINERS = frozenset("the a our my your its this next".split())
_ASKING_WORDS = frozenset({"how many", "how much", "which", "who", "what", "when", "where", "number of", "all"})
_MIN_AGREEING_LETTERS = 8  # of a word that may be a participle
_MIN_RELATED_LETTERS = 9  # of a word of the vocabulary that a field's name is taken for
_COMPARATIVE_FORM = re.compile(r"\b(?:more|less|worse|\w+er)\b")
_COMPARING_WORDS = frozenset("more less other different earlier later".split())
_ADJECTIVES = frozenset(
    "average total outstanding overdue unpaid expired current former last next different various".split()
)
_NAMES_OF_DAYS = {"expiry": ("due", "end", "expiry"), "end": ("end",), "start": ("start",), "hire": ("hire",)}
_QUESTION_STARTS = frozenset("when where why what how since until from which".split())


def _position_of(entry_and_position: tuple[VocabularyEntry, int]) -> int:
    return entry_and_position[1]


def _is_year(text: str) -> bool:
    return text.isdigit() and len(text) == 4 and _FIRST_YEAR <= int(text) < _LAST_YEAR


def _iso_day(day: str, month: str, year: str) -> str:
    """`2031-05-09`; empty if there is no such day. Two digits are a year of this century."""
    try:
        return date(int(year) if len(year) == 4 else 2000 + int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""


def _plain_number(whole: str, decimals: str | None) -> str:
    """`1.200,50` → `1200.50`."""
    digits = re.sub(r"\D", "", whole)
    return digits if decimals in (None, "-") else f"{digits}.{decimals}"
