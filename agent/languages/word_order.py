"""Puts the translated words of a question into the order of English, and chooses the words of prepositions."""

from collections.abc import Sequence
from dataclasses import replace

from agent.languages.language_pack import LanguagePack
from agent.languages.question_words import ClauseRole, QuestionWord
from storage.quantities.days import ENGLISH_MONTHS

_VERBS = frozenset({ClauseRole.VERB, ClauseRole.PAST, ClauseRole.AUXILIARY})
_TIME_UNITS = frozenset("day days week weeks month months quarter quarters year years hour hours minutes".split())
_LEAVING_OUT = frozenset({"leave out", "exclude", "not include", "not count"})
_YES_NO_MARK = "?"  # the English of "est-ce que" in a pack
_MAX_WORDS_IN_AMOUNT = 3  # between "vor" and the unit: "vor mehr als 3 Jahren"
_MAX_WORDS_IN_RANGE = 4  # between the two ends of a range
_ADVERBIAL = frozenset(
    {ClauseRole.PREPOSITION, ClauseRole.DAY, ClauseRole.NUMBER, ClauseRole.CLOSED, ClauseRole.NEGATION}
)


def choose_prepositions(words: Sequence[QuestionWord], pack: LanguagePack) -> list[QuestionWord]:
    """Returns the words with the English of each preposition, by what follows it: "nach 2020", "nach Kategorie"."""
    chosen = list(words)
    for index, word in enumerate(words):
        begins_end = word.folded in pack.range_ends and _following_role(words, index) in _ENDS_OF_RANGES
        if begins_end and (start := _find_range_start(chosen, index, pack)) is not None:
            chosen[start] = replace(chosen[start], text="from", role=ClauseRole.CLOSED)
            chosen[index] = replace(word, text="to", role=ClauseRole.CLOSED)
            continue
        unit = _find_amount_of_time(words, index) if word.folded in pack.ago else None
        if unit is not None:
            chosen[index] = replace(word, text="", role=ClauseRole.CLOSED)
            chosen[unit] = replace(words[unit], text=f"{words[unit].text} ago")
        elif word.role is ClauseRole.PREPOSITION:
            chosen[index] = replace(word, text=_english_of_preposition(words, index, pack))
    return chosen


_ENDS_OF_RANGES = frozenset({ClauseRole.DAY, ClauseRole.NUMBER})


def _following_role(words: Sequence[QuestionWord], index: int) -> ClauseRole:
    following = (word.role for word in words[index + 1 :] if word.text and word.role is not ClauseRole.ARTICLE)
    return next(following, ClauseRole.MARK)


def _english_of_preposition(words: Sequence[QuestionWord], index: int, pack: LanguagePack) -> str:
    use = pack.prepositions[words[index].folded]
    following = next((word for word in words[index + 1 :] if word.text), None)
    role = ClauseRole.MARK if following is None else following.role
    joins_date = use.other == "of" and index > 0 and words[index - 1].role is ClauseRole.DAY is role
    if joins_date and words[index - 1].text in ENGLISH_MONTHS:
        return ""  # "julio de 2024"
    if role is ClauseRole.CLOSED and following is not None and following.text in _PERIOD_STARTS:
        role = ClauseRole.DAY
    options = {
        ClauseRole.DAY: use.date,
        ClauseRole.NUMBER: use.number,
        ClauseRole.NOUN: use.noun,
        ClauseRole.UNIT: use.noun,
    }
    return options.get(role) or use.other


_PERIOD_STARTS = frozenset("Q1 Q2 Q3 Q4 today yesterday tomorrow last next this".split())


def _find_range_start(words: Sequence[QuestionWord], end: int, pack: LanguagePack) -> int | None:
    for start in range(end - 2, max(end - _MAX_WORDS_IN_RANGE - 2, -1), -1):
        between = words[start + 1 : end]
        if (
            words[start].text != "from"
            and words[start].folded in pack.range_starts
            and any(word.role in (ClauseRole.DAY, ClauseRole.NUMBER) for word in between)
        ):
            return start
    return None


def _find_amount_of_time(words: Sequence[QuestionWord], index: int) -> int | None:
    """ "Vor 3 Monaten": the place of the unit behind the number; None where a day follows."""
    following = words[index + 1 : index + 2 + _MAX_WORDS_IN_AMOUNT]
    for offset, word in enumerate(following, index + 1):
        if word.text in _TIME_UNITS and offset > index + 1:
            return offset
        if word.role not in (ClauseRole.NUMBER, ClauseRole.CLOSED, ClauseRole.ARTICLE):
            return None
    return None


_SINGULAR_UNITS = frozenset("day week month quarter year".split())


def _counts_several(word: QuestionWord) -> bool:
    return word.role is ClauseRole.NUMBER and word.text != "1"


def order_words(words: Sequence[QuestionWord], pack: LanguagePack) -> list[QuestionWord]:
    """Returns the words clause by clause in the order of English."""
    ordered: list[QuestionWord] = []
    clause: list[QuestionWord] = []
    for index, word in enumerate(words):
        if word.text in _SINGULAR_UNITS and any(_counts_several(other) for other in words[max(index - 2, 0) : index]):
            word = replace(word, text=f"{word.text}s")
        if word.role is ClauseRole.MARK:
            ordered += [*_order_clause(clause, ordered, pack), word]
            clause = []
        else:
            clause.append(word)
    return ordered + _order_clause(clause, ordered, pack)


def _order_clause(clause: list[QuestionWord], before: Sequence[QuestionWord], pack: LanguagePack) -> list[QuestionWord]:
    if len(clause) < 2:
        return clause
    if clause[-1].text in _LEAVING_OUT and clause[0].role is not ClauseRole.QUESTION:
        start = clause[0].start
        without = replace(_move_to(clause[-1], start), end=start, text="without", role=ClauseRole.CLOSED)
        return [without, *(word for word in clause[:-1] if word.text != "please")]
    if pack.content.adjectives_follow:
        clause = _put_adjectives_first(clause)
    if pack.content.verb_final and _opens_relative_clause(clause, before, pack):
        return _order_relative_clause(clause, pack)
    relative = _find_bare_relative(clause, pack) if pack.content.verb_final else None
    if relative is not None:
        return [*clause[:relative], *_order_relative_clause(clause[relative:], pack)]
    asking = _asking_word(clause)
    if (
        asking is not None
        and asking + 1 < len(clause)
        and clause[asking + 1].role in (ClauseRole.VERB, ClauseRole.PAST)
    ):
        return _invert_verb(clause, asking)
    return _join_verbs(clause) if pack.content.verb_final else clause


def _put_adjectives_first(clause: Sequence[QuestionWord]) -> list[QuestionWord]:
    """ "La facture la plus chère" → "the most expensive invoice"."""
    ordered: list[QuestionWord] = []
    for word in clause:
        noun = ordered[-1] if ordered else None
        if noun is not None and _stands_before(word, noun):
            ordered[-1:] = [_move_to(word, noun.start), noun]
        else:
            ordered.append(word)
    return _put_participle_last(ordered)


def _stands_before(word: QuestionWord, other: QuestionWord) -> bool:
    """Whether the word appears before the one that it follows, in English."""
    if word.role is ClauseRole.ADJECTIVE and other.role is ClauseRole.NOUN:
        return True
    if word.text in ("last", "next"):
        return other.role is ClauseRole.NUMBER  # "les 3 derniers mois"
    return word.role is ClauseRole.AUXILIARY and other.role is ClauseRole.NEGATION


def _put_participle_last(clause: list[QuestionWord]) -> list[QuestionWord]:
    """ "¿Está pagada la factura?", "est-ce que la facture est payée" → "is the invoice paid"."""
    if clause[0].text == _YES_NO_MARK:
        auxiliary = next((word for word in clause if word.role is ClauseRole.AUXILIARY), None)
        if auxiliary is None:
            return [replace(clause[0], text="does"), *clause[1:]]
        return [_move_to(auxiliary, clause[0].end), *(word for word in clause[1:] if word is not auxiliary)]
    opens_question = clause[0].role is ClauseRole.AUXILIARY and len(clause) > 2
    if opens_question and clause[1].role in (ClauseRole.PAST, ClauseRole.ADJECTIVE):
        return [clause[0], *clause[2:], _move_to(clause[1], clause[-1].end)]
    return clause


def _opens_relative_clause(clause: Sequence[QuestionWord], before: Sequence[QuestionWord], pack: LanguagePack) -> bool:
    follows_noun = len(before) > 1 and before[-1].text == "," and before[-2].role not in _CLOSED_ROLES
    begins = clause[0].folded in pack.relative_pronouns and clause[0].text not in ("what", "who")
    return follows_noun and begins and clause[-1].role in _VERBS


def _find_bare_relative(clause: Sequence[QuestionWord], pack: LanguagePack) -> int | None:
    """ "Verträge die 2025 enden": the place of a relative pronoun without its comma."""
    if clause[-1].role not in _VERBS:
        return None
    for index, word in enumerate(clause[:-1]):
        if word.role in _VERBS:
            return None
        follows_noun = index > 0 and clause[index - 1].role in (ClauseRole.NOUN, ClauseRole.NAME)
        if follows_noun and word.folded in pack.relative_pronouns - pack.genitive_words.keys():
            return index
    return None


def _order_relative_clause(clause: Sequence[QuestionWord], pack: LanguagePack) -> list[QuestionWord]:
    """ "Die im Mai bezahlt wurden" → "that were paid in May"; "die wir bezahlt haben" → "that we have paid"."""
    first = len(clause)
    while first > 1 and clause[first - 1].role in _VERBS:
        first -= 1
    verbs, middle = list(clause[first:]), list(clause[1:first])
    negations = [middle.pop()] if middle and middle[-1].role is ClauseRole.NEGATION else []
    auxiliaries = [verb for verb in verbs if verb.role is ClauseRole.AUXILIARY]
    others = [verb for verb in verbs if verb.role is not ClauseRole.AUXILIARY]
    text = "whose" if clause[0].folded in pack.possessive_relatives else "that"
    pronoun = clause[0] if clause[0].text == "where" else replace(clause[0], text=text)
    count = _count_subject_words(middle, pack, begins_with_any=pronoun.text in ("where", "whose"))
    end = middle[count - 1].end if count else pronoun.end
    moved = [_move_to(word, end) for word in (*auxiliaries, *negations, *others)]
    return [pronoun, *middle[:count], *moved, *middle[count:]]


def _count_subject_words(words: Sequence[QuestionWord], pack: LanguagePack, *, begins_with_any: bool) -> int:
    """How many words the subject of a relative clause has that begins with it; 0 if the pronoun is the subject.

    `begins_with_any`: the pronoun is not the subject, so a noun phrase is.
    """
    start = next((index for index, word in enumerate(words) if word.text), 0)
    if not words or not (begins_with_any or words[start].folded in pack.subject_starts):
        return 0
    if words[start].text in _SUBJECT_PRONOUNS:
        return start + 1
    for index, word in enumerate(words[: start + _MAX_WORDS_IN_SUBJECT]):
        if word.role in _NOMINAL:
            following = words[index + 1 : index + 2]
            return index + 1 + (bool(following) and following[0].role is ClauseRole.NAME)
        if word.role not in _BEFORE_NOUNS and word.text not in _DETERMINERS:
            return 0
    return 0


_MAX_WORDS_IN_SUBJECT = 4
_DETERMINERS = frozenset({"", "a", "no", "every", "our", "its", "my", "your", "not yet"})
_SUBJECT_PRONOUNS = frozenset("i we he they it you one".split())
_NOMINAL = frozenset({ClauseRole.NOUN, ClauseRole.NAME})
_BEFORE_NOUNS = frozenset({ClauseRole.ARTICLE, ClauseRole.ADJECTIVE, ClauseRole.PAST})
_CLOSED_ROLES = frozenset({ClauseRole.CLOSED, ClauseRole.MARK})


def _asking_word(clause: Sequence[QuestionWord]) -> int | None:
    return next((index for index, word in enumerate(clause[:3]) if word.role is ClauseRole.QUESTION), None)


def _invert_verb(clause: Sequence[QuestionWord], asking: int) -> list[QuestionWord]:
    """ "Wann endet der Vertrag" → "when does the contract end"."""
    verb = clause[asking + 1]
    does = replace(verb, text="did" if verb.role is ClauseRole.PAST else "does", role=ClauseRole.AUXILIARY)
    rest = list(clause[asking + 2 :])
    if not rest:
        return list(clause)
    base = replace(verb, text=verb.text)
    return [*clause[: asking + 1], does, *rest, _move_to(base, rest[-1].end)]


def _join_verbs(clause: list[QuestionWord]) -> list[QuestionWord]:
    """ "Welche Rechnungen wurden im Mai bezahlt" → "which invoices were paid in May".

    A noun behind the auxiliary is the subject, as in English, except after "who".
    """
    clause = _join_passive(clause)
    last = clause[-1]
    auxiliary = next((index for index, word in enumerate(clause) if word.role is ClauseRole.AUXILIARY), None)
    is_known = last.role in (ClauseRole.PAST, ClauseRole.VERB) and last.text != last.written
    if not is_known or auxiliary in (None, 0) or auxiliary >= len(clause) - 2:
        return clause
    following = next(word for word in clause[auxiliary + 1 :] if word.text)
    if following.role not in _ADVERBIAL and clause[0].role is not ClauseRole.SUBJECT:
        return clause
    middle = clause[auxiliary + 1 : -1]
    negations = [word for word in middle if word.role is ClauseRole.NEGATION]
    others = [word for word in middle if word.role is not ClauseRole.NEGATION]
    end = clause[auxiliary].end
    return [
        *clause[: auxiliary + 1],
        *(_move_to(word, end) for word in (*negations, last)),
        *others,
    ]


def _join_passive(clause: list[QuestionWord]) -> list[QuestionWord]:
    """ "Müssen gewartet werden" ends like "must … be serviced"."""
    *rest, verb, last = clause
    has_modal = any(word.text in _MODALS for word in rest)
    if not has_modal or last.text not in ("is", "are") or verb.role not in (ClauseRole.PAST, ClauseRole.NAME):
        return clause
    return [*rest, replace(verb, text=f"be {verb.text}", role=ClauseRole.PAST, end=last.end)]


_MODALS = frozenset("can must should may".split())


def _move_to(word: QuestionWord, position: int) -> QuestionWord:
    return replace(word, start=position, end=position, is_glued=False)
