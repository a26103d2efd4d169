"""Infers the kinds of a mixed folder from what its documents, their folders and their files are called."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.kinds.kind_phrases import (
    KindPhrase,
    file_stem_of,
    folder_names_of,
    forms_of_kind,
    kind_phrase_in,
    kind_phrase_of_name,
    named_kinds_of_text,
    names_bucket,
    other_words_for,
    phrase_of_words,
)
from storage.ingest.extract.kinds.kind_reader import row_kinds_of_path
from storage.ingest.extract.kinds.label_match import kind_by_labels
from storage.ingest.extract.labels.kind_labels import WRITTEN_KIND_KEYS
from storage.ingest.extract.labels.labelled_texts import LabelledText
from storage.ingest.schemas.synonyms import nouns_for_bucket

_MIN_DOCUMENTS = 2  # of a kind
_MIN_KNOWN_SHARE = 1 / 3  # of the documents that have a kind; of fewer, the folder is no collection of kinds
_MIN_PHRASE_SHARE = 0.8  # of the documents with a noun whose longer phrases recur: then these are the kinds
_MIN_MARKED_SHARE = 0.1  # of the headings with an unknown noun, which more words follow: no name of a company
_USUAL_SHARE = 0.5  # of the documents of a kind that have a label which is usual in it
_MAX_OWN_SHARE = 0.5  # of the documents whose kind the name of the bucket gives: more, and it is a bucket of one kind
_RECORD_NOUNS = frozenset("sheet card record file form datasheet factsheet".split())
_NUMBER_WORDS = frozenset("no nr number num id ref reference nummer numero número".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedDocument:
    """A text of the folder as kinds are inferred from it."""

    path: str
    phrases: tuple[KindPhrase, ...]  # of heading, title and banners, the most certain first
    is_heading_marked: bool  # whether more than the phrase stands in the first of them
    texts: Sequence[LabelledText]

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(labelled.key for labelled in self.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredKinds:
    """The kinds of a folder, the commonest first, with further words for each; empty: it has no kinds.

    `kind_by_document` has the numbers of the surveyed documents whose kind is certain, `kind_by_table` the paths of the
    tables whose rows have a kind.
    """

    synonyms_by_kind: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    kind_by_document: Mapping[int, str] = field(default_factory=dict[int, str])
    kind_by_table: Mapping[str, str] = field(default_factory=dict[str, str])


def survey_document(path: str, document: DocumentText, texts: Sequence[LabelledText]) -> SurveyedDocument:
    named = list(named_kinds_of_text(document))
    written = [kind_phrase_in(labelled.text) for labelled in texts if labelled.key in WRITTEN_KIND_KEYS]
    heads = [kind_phrase_in(labelled.label) for labelled in texts if labelled.stands_alone]
    known_heads = [phrase for phrase in heads if phrase is not None and phrase.noun]
    first = named[0] if named else None
    is_marked = (
        first is not None
        and first.span is not None
        and len(document.text[first.span.start : first.span.end].strip("# ")) > len(first.phrase.words)
    )
    return SurveyedDocument(
        path=path,
        phrases=(*filter(None, written), *(each.phrase for each in named), *known_heads),
        is_heading_marked=is_marked,
        texts=texts,
    )


def infer_kinds(documents: Sequence[SurveyedDocument], table_paths: Iterable[str], bucket: str) -> InferredKinds:
    """Returns the kinds of the documents and of the rows of tables; none if all are of one kind, or most of none."""
    phrases = {number: phrase for number, each in enumerate(documents) if (phrase := _phrase_of_document(each))}
    phrases |= _unknown_headings(documents, phrases)
    phrases |= _numbered_kinds(documents, phrases)
    kind_by_document = _kinds_of_phrases(phrases)
    kind_by_document |= _kinds_by_labels(documents, kind_by_document)
    kind_by_table = _kinds_of_tables(table_paths, set(kind_by_document.values()))
    counts = Counter(kind_by_document.values())
    kinds = [*(kind for kind, _ in counts.most_common()), *sorted(set(kind_by_table.values()) - counts.keys())]
    if len(kinds) < 2 or not counts or len(kind_by_document) < _MIN_KNOWN_SHARE * len(documents):
        return InferredKinds()
    nouns = set(nouns_for_bucket(bucket))
    own_count = sum(count for kind, count in counts.items() if kind in nouns or names_bucket(kind, bucket))
    if own_count > _MAX_OWN_SHARE * len(documents):
        return InferredKinds()
    return InferredKinds(
        synonyms_by_kind=_synonyms_of(kinds, nouns), kind_by_document=kind_by_document, kind_by_table=kind_by_table
    )


def _phrase_of_document(document: SurveyedDocument) -> KindPhrase | None:
    """Returns the first phrase with a known noun: of the text, of the innermost folder that has one, of the file."""
    known = [phrase for phrase in document.phrases if phrase.noun]
    names = [*reversed(folder_names_of(document.path)), file_stem_of(document.path)]
    by_path = [phrase for name in names if (phrase := kind_phrase_of_name(name)) is not None]
    return next(iter((*known, *by_path)), None)


def _unknown_headings(documents: Sequence[SurveyedDocument], known: Mapping[int, KindPhrase]) -> dict[int, KindPhrase]:
    """Returns the first headings of the other documents that recur and have a reference or more words after them."""
    firsts = {
        number: document.phrases[0]
        for number, document in enumerate(documents)
        if number not in known and document.phrases
    }
    counts = Counter(phrase.words for phrase in firsts.values())
    marked = Counter(phrase.words for number, phrase in firsts.items() if documents[number].is_heading_marked)
    recurring = {
        words
        for words, count in counts.items()
        if count >= _MIN_DOCUMENTS and marked[words] >= _MIN_MARKED_SHARE * count and marked[words]
    }
    return {number: phrase for number, phrase in firsts.items() if phrase.words in recurring}


def _numbered_kinds(documents: Sequence[SurveyedDocument], known: Mapping[int, KindPhrase]) -> dict[int, KindPhrase]:
    """Returns the kinds that a label for the document's own number gives: "Invoice number" among the first labels."""
    found = dict[int, KindPhrase]()
    for number, document in enumerate(documents):
        for labelled in document.texts[:2] if number not in known else ():
            *words, last = labelled.key.split()
            phrase = phrase_of_words(words) if words and last in _NUMBER_WORDS else None
            if phrase is not None and phrase.noun == phrase.words:
                found[number] = phrase
                break
    return found


def _kinds_of_phrases(phrases: Mapping[int, KindPhrase]) -> dict[int, str]:
    """Returns the kind of each document: the noun, or the whole phrases where most documents with the noun share some.

    "Travel policy", "Leave policy" and six others are policies; ten "Asset sheets" are asset sheets.
    """
    by_noun = dict[str, list[int]]()
    for number, phrase in phrases.items():
        by_noun.setdefault(phrase.noun or phrase.words, []).append(number)
    kinds = dict[int, str]()
    for noun, numbers in by_noun.items():
        counts = Counter(phrases[number].words for number in numbers)
        recurring = {words: count for words, count in counts.items() if count >= _MIN_DOCUMENTS}
        if sum(recurring.values()) >= _MIN_PHRASE_SHARE * len(numbers):
            kinds |= {number: phrases[number].words for number in numbers if phrases[number].words in recurring}
        elif len(numbers) >= _MIN_DOCUMENTS:
            kinds |= dict.fromkeys(numbers, noun)
    return kinds


def _kinds_by_labels(documents: Sequence[SurveyedDocument], kinds: Mapping[int, str]) -> dict[int, str]:
    """Returns the kinds of the other documents whose labels are the usual ones of a kind."""
    keys_by_kind = dict[str, set[str]]()
    for kind, count in Counter(kinds.values()).items():
        keys = Counter(key for number, own in kinds.items() if own == kind for key in documents[number].keys)
        keys_by_kind[kind] = {key for key, found in keys.items() if found >= max(_USUAL_SHARE * count, _MIN_DOCUMENTS)}
    others = (number for number in range(len(documents)) if number not in kinds)
    found = ((number, kind_by_labels(documents[number].keys, keys_by_kind)) for number in others)
    return {number: kind for number, kind in found if kind is not None}


def _kinds_of_tables(paths: Iterable[str], kinds: Collection[str]) -> dict[str, str]:
    """Returns what the rows of each table are called: as a kind of the texts, if one of its names is one."""
    found = dict[str, str]()
    for path in paths:
        names = list(row_kinds_of_path(path))
        if names:
            found[path] = next((name for name in names if name in kinds), names[0])
    return found


def _synonyms_of(kinds: Sequence[str], nouns_of_bucket: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Returns plurals and synonyms of each kind, without words that another kind or the bucket has, or any document."""
    words_by_kind = {
        kind: [*forms_of_kind(kind)[1:], *other_words_for(kind), *_things_described_by(kind)] for kind in kinds
    }
    own = {form for kind in kinds for form in forms_of_kind(kind)}
    counts = Counter(word for words in words_by_kind.values() for word in set(words))
    return {
        kind: tuple(
            word
            for word in dict.fromkeys(words)
            if word in forms_of_kind(kind) or (counts[word] == 1 and word not in own and word not in nouns_of_bucket)
        )
        for kind, words in words_by_kind.items()
    }


def _things_described_by(kind: str) -> tuple[str, ...]:
    """Returns what documents that describe one thing each are about: an "asset sheet" is found as an asset, too."""
    *modifiers, noun = kind.split()
    return forms_of_kind(" ".join(modifiers)) if modifiers and noun in _RECORD_NOUNS else ()
