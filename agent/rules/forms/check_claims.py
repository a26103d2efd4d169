"""Recognises questions for yes or no: about one document, about any document of a set, about all of them."""

import re
from collections.abc import Iterable, Sequence

from agent.english.function_words import YES_NO_VERBS
from agent.rules.cues.question_cues import QuestionCues
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import BucketNoun, FieldMention
from agent.rules.reading.bucket_reading import BucketReading
from storage.search.analyser import fold_text
from storage.search.conditions import (
    TEXT_FIELD,
    TITLE_FIELD,
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    OrCondition,
    RowCondition,
    conjunction_of,
    conjuncts_of,
    fields_of,
)
from storage.search.plan import CheckClaims, ClaimQuantifier, Clause, Search

_ANY_SUBJECTS = frozenset("there any anyone anybody someone somebody".split())
_ALL_SUBJECTS = frozenset("all every each everyone everybody".split())
_EVERYBODY = frozenset({"everyone", "everybody"})
_WORDS_BEFORE_SUBJECT = frozenset("we you got have had has still now already".split())
_ARTICLES = frozenset("a an any anyone anybody someone somebody".split())
# Verbs that only join a subject with a value: "does anybody *work* as a rigger", "do the trams *take* bikes".
_LIGHT_VERBS = frozenset(
    """work works working worked take takes taking taken bring hold holds holding carry carries carrying accept
    accepts allow allows allowed offer offers provide provides""".split()
)
_WORD_PATTERN = re.compile(r"\w+")
_WORDS_BEFORE_MEMBERSHIP = frozenset("a an the one of among in on".split())
_MIN_CONDITIONS_OF_MEMBER = 2  # the member, and what names the documents
_MAX_SUBJECT_DISTANCE = 4  # tokens between the verb and "any", "all"


def recognise_claims(cues: QuestionCues) -> CheckClaims | None:
    """ "Is parcel 12 insured?", "does the lease allow pets": the claim may also be one that only the text confirms."""
    return CheckClaims() if cues.words[:1] and cues.words[0] in YES_NO_VERBS else None


def recognise_counted_claims(cues: QuestionCues) -> CheckClaims | None:
    """ "Are all trams low-floor?", "did anybody fail in 2023?", "is Ida Berg still here?": claims that values decide.

    Only where every word of the question is understood: a count of anything else would look like an answer.
    """
    words, reading = cues.words, cues.reading
    asks = bool(words) and words[0] in YES_NO_VERBS and words[1:2] != ["you"]
    if not asks or not cues.lexicon.holds_records or cues.functions or cues.group is not None:
        return None
    if not reading.is_exact and not reading.conditions:
        return None
    if not _is_understood(reading) or any(TEXT_FIELD in fields_of(condition) for condition in reading.conditions):
        return None
    quantifier = _quantifier_of(words)
    if quantifier is ClaimQuantifier.ALL:
        return _claims_about_all(reading)
    named = _claims_about_member(reading) or _claims_about_named(reading, cues.lexicon)
    if named is not None:
        return named
    if _asks_for_own_rows(words, reading):
        return CheckClaims(quantifier=ClaimQuantifier.ANY)
    if quantifier is ClaimQuantifier.ANY and not reading.has_plural_noun and reading.conditions:
        return CheckClaims(quantifier=ClaimQuantifier.ANY)
    return None


def _quantifier_of(words: Sequence[str]) -> ClaimQuantifier | None:
    """Returns what "any", "all" and the like in the subject of the question say."""
    index = 1
    while index < min(len(words), _MAX_SUBJECT_DISTANCE) and words[index] in _WORDS_BEFORE_SUBJECT:
        index += 1
    subject = words[index] if index < len(words) else ""
    if subject in _ALL_SUBJECTS:
        return ClaimQuantifier.ALL
    has_article = index > 1 and subject in _ARTICLES  # "do we have a …"
    return ClaimQuantifier.ANY if subject in _ANY_SUBJECTS or has_article else None


def _asks_for_own_rows(words: Sequence[str], reading: BucketReading) -> bool:
    """ "Did *we* buy timber at Fir Hall?": whether any document of ours has a row, however the others name it."""
    return words[1:2] == ["we"] and any(isinstance(condition, RowCondition) for condition in reading.conditions)


def _is_understood(reading: BucketReading) -> bool:
    open_words = {fold_text(word) for word in (*reading.unknown_words, *reading.required_words)}
    return not reading.unlinked_quotations and open_words <= _LIGHT_VERBS


def _claims_about_all(reading: BucketReading) -> CheckClaims | None:
    """ "Are all boats *insured*": the last condition is claimed of the documents that the noun and the others name."""
    placed = sorted((_position_of(condition, reading), index) for index, condition in enumerate(reading.conditions))
    nouns = [link.last for link in reading.links if isinstance(link.meaning, BucketNoun)]
    if not placed or placed[0][0] < 0 or placed[-1][0] < max(nouns, default=0):
        return None
    claim = reading.conditions[placed[-1][1]]
    scope = [condition for condition in reading.conditions if condition is not claim]
    if not scope and not nouns and not _asks_about_everybody(reading):
        return None
    return CheckClaims(quantifier=ClaimQuantifier.ALL, scope=_search_for(scope, reading))


def _asks_about_everybody(reading: BucketReading) -> bool:
    """ "Has *everybody* paid": whether the subject stands for all documents."""
    return any(token.word in _EVERYBODY for token in reading.tokens[:_MAX_SUBJECT_DISTANCE])


def _claims_about_named(reading: BucketReading, lexicon: BucketLexicon) -> CheckClaims | None:
    """ "Does *Fir Hall* have a bar": what is claimed of the documents that the other conditions name."""
    claims = [condition for condition in reading.conditions if _is_flag_condition(condition)]
    asks_for_any = _quantifier_of([token.word for token in reading.tokens]) is not None
    names = [
        condition for condition in reading.conditions if _names_document(condition, lexicon, by_identity=asks_for_any)
    ]
    if claims and not names and (len(reading.conditions) - len(claims) < 2 or asks_for_any):
        return None
    if claims and names:
        return None  # the values of the named document decide: `recognise_claims`
    if not claims and names:
        claims = [condition for condition in reading.conditions if condition not in names]
        if any(isinstance(claim, ComparisonCondition) and claim.op is ComparisonOperator.HAS for claim in claims):
            return None
    scope = [condition for condition in reading.conditions if condition not in claims]
    if not claims or not scope:
        return None
    return CheckClaims(quantifier=ClaimQuantifier.ANY, scope=_search_for(scope, reading))


def _claims_about_member(reading: BucketReading) -> CheckClaims | None:
    """ "Is *Acme* a party to the Fir Hall lease?": whether the documents that the rest names have the first value.

    The name of the value's field appears after the value.
    """
    conditions = [part for condition in reading.conditions for part in conjuncts_of(condition)]
    placed = sorted((_position_of(condition, reading), index) for index, condition in enumerate(conditions))
    if len(placed) < _MIN_CONDITIONS_OF_MEMBER or placed[0][0] != 1:
        return None
    claim = conditions[placed[0][1]]
    fields, value_words = fields_of(claim), _WORD_PATTERN.findall(next(iter(_words_in(claim)), ""))
    mentions = [
        link
        for link in reading.links
        if isinstance(link.meaning, FieldMention) and link.meaning.field in fields and link.meaning.column is None
    ]
    words = [token.word for token in reading.tokens]
    index = 1 + len(value_words)
    while index < len(words) and words[index] in _WORDS_BEFORE_MEMBERSHIP:
        index += 1
    if not any(mention.first == index for mention in mentions):
        return None
    scope = [condition for condition in conditions if condition is not claim]
    return CheckClaims(quantifier=ClaimQuantifier.ANY, scope=_search_for(scope, reading))


def _search_for(conditions: Sequence[Condition], reading: BucketReading) -> Search:
    return Search(clauses=(Clause(bucket=reading.bucket, condition=conjunction_of(*conditions)),))


def _is_flag_condition(condition: Condition) -> bool:
    return isinstance(condition, ComparisonCondition) and isinstance(condition.value, bool)


def _names_document(condition: Condition, lexicon: BucketLexicon, *, by_identity: bool) -> bool:
    """Whether the condition is the title of a document, or a value that identifies it.

    `by_identity`: a value that one document happens to have is not a name: "is there a guide at the museum".
    """
    if not isinstance(condition, ComparisonCondition) or not isinstance(condition.value, str):
        return False
    if condition.field == TITLE_FIELD:
        return True
    if condition.op not in (ComparisonOperator.EQ, ComparisonOperator.HAS):
        return False
    is_single = not by_identity and lexicon.count_documents_with(condition.field, condition.value) == 1
    return is_single or lexicon.is_identifying(condition.field)


def _position_of(condition: Condition, reading: BucketReading) -> int:
    """Returns the first token of the words that the condition was read from; -1 if they are not found."""
    condition_words = _WORD_PATTERN.findall(fold_text(next(iter(_words_in(condition)), "")))
    words = [token.word for token in reading.tokens]
    found = (
        first
        for first in range(len(words) - len(condition_words) + 1)
        if condition_words and words[first : first + len(condition_words)] == condition_words
    )
    return next(found, -1)


def _words_in(condition: Condition) -> Iterable[str]:
    match condition:
        case AndCondition(members) | OrCondition(members):
            for member in members:
                yield from _words_in(member)
        case NotCondition(inner):
            yield from _words_in(inner)
        case MissingCondition(words=words):
            yield words
        case _:
            if condition.words:
                yield condition.words
