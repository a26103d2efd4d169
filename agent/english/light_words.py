"""Everyday verbs and nouns that restrict no documents by themselves: "the orders *placed* this year".

Beside a condition that is understood they add nothing. Verbs that tell a state or a direction are left out: a document
may be sent or received, paid or unpaid, open or closed.
"""

from collections.abc import Sequence

from storage.text.irregular_verbs import BASE_FORMS

# Base forms; a verb that is missing here may say what happened to a document.
_LIGHT_VERBS = frozenset(
    """add appear arise ask attach be bear become belong bring call carry chat choose come compare concern consider
    count deal decide describe discuss do draw enter exist face fall feel fill fit get give go handle hang happen have
    hear help hit hold include involve keep know lead let lie like live log look make manage mean meet mention
    move need occur offer own pick place pull put reach read register relate remain remember require run say
    schedule see seem serve set share show sit spend split stand state stay suggest take talk tell think touch try turn
    understand undergo use wait want wear wonder work write""".split()
)
_IRREGULAR_FORMS = frozenset(form for form, base in BASE_FORMS.items() if base in _LIGHT_VERBS)
# Nouns that say how the asker puts it: a unit of asking, a manner, a part that every document has.
_LIGHT_NOUNS = frozenset(
    """answer answers bit bits bunch couple detail details fact facts figure figures half idea ideas kind kinds lot lots
    manner mind moment moments pair sort sorts time times type types way ways""".split()
)
_VOWELS = frozenset("aeiou")
_MIN_STEM_LETTERS = 2


_FORMS_OF_GETTING = frozenset("get gets got getting had have received".split())
_FORMS_OF_LOOK = frozenset("look looks looked looking".split())


def is_particle(word_before: str, word: str) -> bool:
    """ "The devices that we look *after*": whether the word belongs to a verb and compares no days."""
    return word == "after" and word_before in _FORMS_OF_LOOK


def is_returned(words_before: Sequence[str], word: str, word_after: str) -> bool:
    """ "Have we got the contract *back from* them": whether the word only says from whom something comes."""
    return word == "back" and word_after in ("", "from") and not _FORMS_OF_GETTING.isdisjoint(words_before)


def is_light_word(word: str) -> bool:
    """Whether the folded word is a form of a light verb, or a light noun."""
    return word in _LIGHT_NOUNS or is_light_verb(word)


def is_light_verb(word: str) -> bool:
    return word in _LIGHT_VERBS or word in _IRREGULAR_FORMS or any(base in _LIGHT_VERBS for base in _bases_of(word))


def _bases_of(word: str) -> list[str]:
    """Returns what may be the base form of a regular form: "place" of "placing", "plan" of "planned"."""
    bases: list[str] = []
    for ending in ("ing", "ed", "es", "s"):
        rest = word.removesuffix(ending)
        if rest == word or len(rest) < _MIN_STEM_LETTERS:
            continue
        bases += [rest, f"{rest}e"]
        if len(rest) > _MIN_STEM_LETTERS and rest[-1] == rest[-2] and rest[-1] not in _VOWELS:
            bases.append(rest[:-1])
        if ending in ("ed", "es") and rest.endswith("i"):
            bases.append(f"{rest[:-1]}y")
    return bases
