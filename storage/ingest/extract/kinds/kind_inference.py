"""Infers the kinds of a mixed folder from what its documents, their folders and their files are called."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from storage.ingest.extract.document_text import DocumentText
from storage.ingest.extract.kinds.kind_phrases import (
    KindPhrase,
    NamedKind,
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
from storage.ingest.extract.kinds.label_match import kind_by_labels, kind_of_correspondence
from storage.ingest.extract.labels.kind_labels import WRITTEN_KIND_KEYS
from storage.ingest.extract.labels.labelled_texts import LabelledText
from storage.ingest.schemas.names import words_in_name
from storage.ingest.schemas.synonyms import nouns_for_bucket

_MIN_KINDS = 2
_MIN_DOCUMENTS = 2  # of a kind
_MIN_UNKNOWN_DOCUMENTS = 3  # of a kind whose noun is unknown, in a folder of more than a few documents
_FEW_DOCUMENTS = 10
_MIN_KNOWN_SHARE = 0.5  # of the documents that have a kind; of fewer, the folder is not a collection of kinds
_MIN_PHRASE_SHARE = 0.8  # of the documents with a noun whose longer phrases recur: then these are the kinds
_MIN_BARE_SHARE = 0.3  # of these documents that have the noun alone: then longer phrases name no kinds of their own
_MIN_MARKED_SHARE = 0.5  # of the headings with an unknown noun, which a reference or day follows: no name of a company
_USUAL_SHARE = 0.5  # of the documents of a kind that have a label which is usual in it
_MAX_OWN_SHARE = 0.25  # of the documents whose kind the name of the bucket gives: more, and it is a bucket of one kind
_MIN_NAMED_SHARE = 0.9  # of the documents that have a kind, in a bucket that is called by a kind of document
_MIN_FOLDER_DOCUMENTS, _MIN_FOLDER_SHARE, _MIN_KNOWN_FOLDER_SHARE = 3, 0.8, 0.5  # of a folder with one kind
_RECORD_NOUNS = frozenset("sheet card record file form datasheet factsheet".split())
_WORDS_BEFORE_REFERENCE = frozenset("no nr number of dated from vom du del".split())
_NO_NOUN_WORDS = frozenset("and or & you your we us i my his her dear re subject".split())
_NUMBER_WORDS = frozenset("no nr number num id ref reference nummer numero número".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedDocument:
    """A text of the folder as kinds are inferred from it."""

    path: str
    phrases: tuple[KindPhrase, ...]  # of heading, title and banners, the most certain first
    heading_rest: str  # what appears in the line of the first of them beside it
    texts: Sequence[LabelledText]

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(labelled.key for labelled in self.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredKinds:
    """The kinds of a folder, the commonest first, with further words for each; empty: it has no kinds.

    `kind_by_document` has the numbers of the surveyed documents whose kind is certain, `kind_by_table` the paths of the
    tables whose rows have a kind. `are_of_one_kind`: whether most documents are of one
    kind, or of that which the name of the bucket says.
    """

    synonyms_by_kind: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    kind_by_document: Mapping[int, str] = field(default_factory=dict[int, str])
    kind_by_table: Mapping[str, str] = field(default_factory=dict[str, str])
    are_of_one_kind: bool = False


def survey_document(path: str, document: DocumentText, texts: Sequence[LabelledText]) -> SurveyedDocument:
    named = list(named_kinds_of_text(document))
    written = [kind_phrase_in(labelled.text) for labelled in texts if labelled.key in WRITTEN_KIND_KEYS]
    heads = [kind_phrase_in(labelled.label) for labelled in texts if labelled.stands_alone]
    known_heads = [phrase for phrase in heads if phrase is not None and phrase.noun]
    return SurveyedDocument(
        path=path,
        phrases=(*filter(None, written), *(each.phrase for each in named), *known_heads),
        heading_rest=_rest_of_heading(document, named[0]) if named else "",
        texts=texts,
    )


def _rest_of_heading(document: DocumentText, named: NamedKind) -> str:
    """Returns the reference or day after the phrase; empty if there is none, or if other words appear between."""
    if named.span is None:
        return ""  # a title may be the name of the file
    line = document.text[named.span.start : named.span.end]
    heading = re.sub(r"\W+", " ", line.casefold()).strip()
    rest = heading.removeprefix(re.sub(r"\W+", " ", named.phrase.words)).split()
    rest = rest[1:] if rest and rest[0] in _WORDS_BEFORE_REFERENCE else rest
    return " ".join(rest) if rest and any(map(str.isdigit, "".join(rest[:2]))) else ""


def infer_kinds(documents: Sequence[SurveyedDocument], table_paths: Iterable[str], bucket: str) -> InferredKinds:
    """Returns the kinds of the documents and of the rows of tables; none if all are of one kind, or most of none."""
    phrases = {number: phrase for number, each in enumerate(documents) if (phrase := _phrase_of_document(each))}
    phrases |= _unknown_headings(documents, phrases)
    phrases |= _numbered_kinds(documents, phrases)
    kind_by_document = _merge_same_kinds(_kinds_of_phrases(phrases))
    kind_by_document |= _kinds_by_labels(documents, kind_by_document)
    kind_by_folder = _kinds_of_folders(documents, kind_by_document)
    kind_by_document |= {
        number: kind
        for number, document in enumerate(documents)
        if number not in kind_by_document and (kind := kind_by_folder.get(_innermost_folder(document)))
    }
    kind_by_table = _kinds_of_tables(table_paths, set(kind_by_document.values()))
    counts = Counter(kind_by_document.values())
    kinds = [*(kind for kind, _ in counts.most_common()), *sorted(set(kind_by_table.values()) - counts.keys())]
    if not counts or len(kind_by_document) < _MIN_KNOWN_SHARE * len(documents):
        return InferredKinds(are_of_one_kind=_is_named_by_kind(bucket))
    if len(kinds) < _MIN_KINDS:
        return InferredKinds(are_of_one_kind=True)
    nouns = set(nouns_for_bucket(bucket))
    own_count = sum(count for kind, count in counts.items() if _is_own_kind(kind, nouns, bucket))
    if own_count > _MAX_OWN_SHARE * len(documents):
        return InferredKinds(are_of_one_kind=True)
    if _is_named_by_kind(bucket) and len(kind_by_document) < _MIN_NAMED_SHARE * len(documents):
        return InferredKinds(are_of_one_kind=True)
    synonyms = _synonyms_of(kinds, nouns)
    for folder, kind in kind_by_folder.items():
        is_free = all(folder not in (other, *words) for other, words in synonyms.items())
        synonyms[kind] = (*synonyms[kind], *([folder] if is_free else []))
    return InferredKinds(synonyms_by_kind=synonyms, kind_by_document=kind_by_document, kind_by_table=kind_by_table)


def nouns_of_documents(documents: Sequence[SurveyedDocument], kinds: InferredKinds, bucket: str) -> dict[int, str]:
    """Returns what each document is called, by its number: as its kind, by its own words, or as the bucket is."""
    noun_of_bucket = phrase_of_words(words_in_name(bucket)).noun if _is_named_by_kind(bucket) else ""
    found = dict[int, str]()
    for number, document in enumerate(documents):
        phrase = None if noun_of_bucket and kinds.are_of_one_kind else _phrase_of_document(document)
        if noun := kinds.kind_by_document.get(number, "") or (phrase.noun if phrase else "") or noun_of_bucket:
            found[number] = noun
    return found


def _is_own_kind(kind: str, nouns: Collection[str], bucket: str) -> bool:
    """Whether all documents of the bucket are called so: "agreement" and "contract sheet" in `leases`."""
    words = {*_words_for(kind), kind.split()[-1]}
    return not words.isdisjoint(nouns) or names_bucket(kind, bucket)


def _is_named_by_kind(bucket: str) -> bool:
    """Whether a bucket is called by a kind of document in the plural: `letters`, but not `handbook`."""
    words = words_in_name(bucket)
    noun = phrase_of_words(words).noun
    return bool(noun) and forms_of_kind(noun)[-1].split()[-1] == words[-1]


def _merge_same_kinds(kinds: Mapping[int, str]) -> dict[int, str]:
    """Returns the kinds; of several with one meaning ("agreement", "contract", "contract sheet") the commonest."""
    merged = dict[str, str]()
    for kind, _ in Counter(kinds.values()).most_common():
        words = _words_for(kind)
        merged[kind] = next((other for other in merged.values() if not words.isdisjoint(_words_for(other))), kind)
    return {number: merged[kind] for number, kind in kinds.items()}


def _words_for(kind: str) -> frozenset[str]:
    return frozenset({kind, *other_words_for(kind), *_things_described_by(kind)})


def _kinds_of_folders(documents: Sequence[SurveyedDocument], kinds: Mapping[int, str]) -> dict[str, str]:
    """Returns the folders in which nearly all documents with a kind have the same one, with it."""
    numbers_by_folder = defaultdict[str, list[int]](list)
    for number, document in enumerate(documents):
        numbers_by_folder[_innermost_folder(document)].append(number)
    found = dict[str, str]()
    for folder, numbers in numbers_by_folder.items():
        counts = Counter(kinds[number] for number in numbers if number in kinds)
        is_usable = folder.isalpha() and len(folder) >= _MIN_FOLDER_DOCUMENTS
        if is_usable and counts.total() >= max(_MIN_FOLDER_DOCUMENTS, _MIN_KNOWN_FOLDER_SHARE * len(numbers)):
            kind, count = counts.most_common(1)[0]
            found |= {folder: kind} if count >= _MIN_FOLDER_SHARE * counts.total() else {}
    return found


def _innermost_folder(document: SurveyedDocument) -> str:
    return (folder_names_of(document.path) or ("",))[-1].casefold()


def _phrase_of_document(document: SurveyedDocument) -> KindPhrase | None:
    """Returns the first phrase with a known noun: of the text, of the innermost folder that has one, of the file."""
    known = [phrase for phrase in document.phrases if phrase.noun]
    names = [*reversed(folder_names_of(document.path)), file_stem_of(document.path)]
    by_path = [phrase for name in names if (phrase := kind_phrase_of_name(name)) is not None]
    if phrase := next(iter((*known, *by_path)), None):
        return phrase
    kind = kind_of_correspondence(document.texts)
    return None if kind is None else KindPhrase(words=kind, noun=kind)


def _unknown_headings(documents: Sequence[SurveyedDocument], known: Mapping[int, KindPhrase]) -> dict[int, KindPhrase]:
    """Returns the first headings of the other documents that recur and have a reference or more words after them."""
    firsts = {
        number: document.phrases[0]
        for number, document in enumerate(documents)
        if number not in known and document.phrases
    }
    numbers_by_words = defaultdict[str, list[int]](list)
    for number, phrase in firsts.items():
        numbers_by_words[phrase.words].append(number)
    least = _MIN_DOCUMENTS if len(documents) <= _FEW_DOCUMENTS else _MIN_UNKNOWN_DOCUMENTS
    recurring = {
        words
        for words, numbers in numbers_by_words.items()
        if len(numbers) >= least
        and _NO_NOUN_WORDS.isdisjoint(words.split())
        and _are_numbered([documents[number] for number in numbers])
    }
    return {number: phrase for number, phrase in firsts.items() if phrase.words in recurring}


def _are_numbered(documents: Sequence[SurveyedDocument]) -> bool:
    """Whether a reference or day that varies follows the headings; the same line in all documents is a letterhead."""
    rests = [document.heading_rest for document in documents if document.heading_rest]
    return len(rests) >= _MIN_MARKED_SHARE * len(documents) and len(set(rests)) > 1


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
        is_bare = recurring.get(noun, 0) >= _MIN_BARE_SHARE * len(numbers) and len(recurring) > 1
        if sum(recurring.values()) >= _MIN_PHRASE_SHARE * len(numbers) and not is_bare:
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
