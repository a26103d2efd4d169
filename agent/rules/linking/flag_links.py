"""Links words to a flag by a part of its name: "missed the target" of `target met`, "needed a ladder".

The name of a flag is a thing and what was done with it. A question may say both in another order, the opposite of what
was done, a verb that says little, or the participle alone: "laptops that aren't encrypted" of `disk encrypted`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from agent.english.inflection import PARTICIPLE_ENDINGS
from agent.english.light_words import is_light_verb
from agent.english.state_words import APPLYING_VERBS, FAILING_VERBS, NOUNS_OF_FLAGS, REACHING_VERBS
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.lexicon.span_links import FieldMention, SpanLink
from agent.rules.words.tokens import QuestionToken
from storage.search.analyser import fold_text
from storage.search.ids import FieldName
from storage.search.schema import FieldType
from storage.text.irregular_verbs import base_form_of

_WEIGHT_PER_WORD = 1.9  # more than a field's name, less than a value
_MAX_WORDS_BETWEEN = 3
_WORDS_BETWEEN = frozenset(
    "a an the any some our their his her its your my us to get got be been was were is are back off on".split()
)
_MIN_PARTICIPLE_LETTERS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _FlagName:
    """A flag, the stems of its name without the verb, and the base form of the verb; "" if there is none."""

    field: FieldName
    nouns: frozenset[str]
    verb: str
    participles: frozenset[str]  # stems


def find_flag_links(
    tokens: Sequence[QuestionToken], links: Sequence[SpanLink], lexicon: BucketLexicon
) -> Iterator[SpanLink]:
    """Yields the links; a word that names something else, too, is left to it."""
    flags = [_name_of(field.name, lexicon) for field in lexicon.schema.fields if field.type is FieldType.FLAG]
    if not flags:
        return
    owned = {
        index
        for link in links
        if not (isinstance(link.meaning, FieldMention) and (link.meaning.is_hint or lexicon.is_flag(link.meaning)))
        for index in range(link.first, link.last)
    }
    yield from _kind_links(tokens, links, lexicon)
    owners = _owners_of_stems(lexicon)
    for flag in flags:
        yield from _verb_links(flag, tokens)
        for index, token in enumerate(tokens):
            is_own = index not in owned and token.stem in flag.participles and owners.get(token.stem) == {flag.field}
            is_own = is_own and _is_participle(token.word)  # "bookings" are not `coach booked`
            if is_own and index and len(token.word) >= _MIN_PARTICIPLE_LETTERS and not is_light_verb(token.word):
                yield _link_to(flag, index, index + 1, is_negated=False)


def tells_failure(words: Iterable[str]) -> bool:
    """ "*Missed* the target": whether the words say that something was tried, so that an empty flag is not meant."""
    return any(_base_of(word) in FAILING_VERBS for word in words)


def _kind_links(
    tokens: Sequence[QuestionToken], links: Sequence[SpanLink], lexicon: BucketLexicon
) -> Iterator[SpanLink]:
    """ "Out of hours *cover*", "gift aid *scheme*": a noun behind the whole name of a flag that says what it is."""
    starts = {link.first for link in links if not (isinstance(link.meaning, FieldMention) and link.meaning.is_hint)}
    for link in links:
        is_whole = lexicon.is_flag(link.meaning) and link.last - link.first > 1 and link.last < len(tokens)
        if is_whole and link.last not in starts and tokens[link.last].word in NOUNS_OF_FLAGS:
            yield replace(link, last=link.last + 1, weight=link.weight + _WEIGHT_PER_WORD)


def _verb_links(flag: _FlagName, tokens: Sequence[QuestionToken]) -> Iterator[SpanLink]:
    """ "*Missed the target*", "*has paid the deposit*", "the target *was missed*": a verb beside all other words."""
    for index, token in enumerate(tokens):
        verb = _base_of(token.word)
        is_negated = _tells_flag(verb, flag)
        if is_negated is None or token.is_quoted or index == 0:
            continue
        behind = _noun_span(flag, tokens, range(index + 1, len(tokens)))
        if behind is not None:
            yield _link_to(flag, index, behind[-1] + 1, is_negated=is_negated)
        before = _noun_span(flag, tokens, range(index - 1, -1, -1)) if flag.verb else None
        if before is not None and verb not in APPLYING_VERBS:
            yield _link_to(flag, before[-1], index + 1, is_negated=is_negated)


def _tells_flag(verb: str, flag: _FlagName) -> bool | None:
    """Whether the verb says that the flag is not set; None if it says nothing of it."""
    if not flag.nouns:
        return None
    if verb == flag.verb or (verb in REACHING_VERBS and flag.verb in REACHING_VERBS):
        return False
    if verb in FAILING_VERBS and flag.verb in REACHING_VERBS:
        return True
    return False if verb in APPLYING_VERBS and (not flag.verb or flag.verb in APPLYING_VERBS) else None


def _noun_span(flag: _FlagName, tokens: Sequence[QuestionToken], indexes: range) -> Sequence[int] | None:
    """Returns the tokens up to the last word of the flag's noun; None if other words stand between."""
    missing, between = set(flag.nouns), 0
    for position, index in enumerate(indexes):
        token = tokens[index]
        if token.stem in flag.nouns:
            missing.discard(token.stem)
            if not missing:
                return indexes[: position + 1]
        elif token.word in _WORDS_BETWEEN and between < _MAX_WORDS_BETWEEN:
            between += 1
        else:
            return None
    return None


def _link_to(flag: _FlagName, first: int, last: int, *, is_negated: bool) -> SpanLink:
    mention = FieldMention(flag.field, is_negated=is_negated)
    return SpanLink(first=first, last=last, meaning=mention, weight=_WEIGHT_PER_WORD * (last - first))


def _name_of(name: FieldName, lexicon: BucketLexicon) -> _FlagName:
    words = fold_text(lexicon.get_field(name).label).split()
    participles = {word for word in words if _is_participle(word)} if len(words) > 1 else set[str]()
    verb_word = words[-1] if len(words) > 1 and _is_participle(words[-1]) else ""
    stems = {stem for word in words if word != verb_word for stem in lexicon.stems_in(word)}
    return _FlagName(
        field=name,
        nouns=frozenset(stems & lexicon.label_stems_of(name)),
        verb=_base_of(verb_word) if verb_word else "",
        participles=frozenset(stem for word in participles for stem in lexicon.stems_in(word)),
    )


def _is_participle(word: str) -> bool:
    return word.endswith(PARTICIPLE_ENDINGS) or base_form_of(word) != word


def _base_of(word: str) -> str:
    """Returns the base form as far as the verbs of flags need it: "need" of "needed", "miss" of "missed"."""
    base = base_form_of(word)
    if base != word or word in _KNOWN_VERBS:
        return base
    for ending in ("ing", "ed", "es", "s"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2:
            return rest if rest in _KNOWN_VERBS or f"{rest}e" not in _KNOWN_VERBS else f"{rest}e"
    return word


_KNOWN_VERBS = REACHING_VERBS | FAILING_VERBS | APPLYING_VERBS


def _owners_of_stems(lexicon: BucketLexicon) -> Mapping[str, Set[FieldName]]:
    owners: dict[str, set[FieldName]] = {}
    for field in lexicon.schema.fields:
        for stem in lexicon.label_stems_of(field.name):
            owners.setdefault(stem, set()).add(field.name)
    return owners
