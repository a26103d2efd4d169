"""Derivation of English words: the root of a word family, and the endings of adjectives."""

from functools import lru_cache

from storage.text.irregular_verbs import base_form_of

# Nouns of measure and participles that no ending connects with their family.
_DERIVED_FORMS = {
    "length": "long", "width": "wide", "depth": "deep", "strength": "strong", "height": "high", "weight": "weigh",
    "born": "bear", "drafted": "draft",
}  # fmt: skip
# Endings of nouns, verbs and adjectives of one family, the longer ones first: "invent", "inventor", "invention".
_ENDINGS = (
    "ations ation ements ement ments ment itions ition ances ance ences ence ities ity ators ator ously ious ness ated "
    "ates ate ants ant ents ent ures ure ions ion ings ing ible able ives ive eers eer ists ist ally als al ous ful "
    "ees ee ers er ors or ies ied ed es ics ic ly y at s e"
).split()
_MIN_ROOT_LETTERS = 3
_MIN_LETTERS_BEFORE_Y = 5  # "expiry" is one word with "expire"; "county" is not one with "count"
_MIN_LETTERS_BEFORE_LATIN_ENDING = 4  # "closure" is one word with "close"; "arrive" has no ending of its own
_LATIN_ENDINGS = frozenset("ent ents ant ants ive ives ure ures able ible al als at".split())
_MAX_STRIPPED_ENDINGS = 3
_VOWELS = frozenset("aeiou")
PARTICIPLE_ENDINGS = ("ed", "en", "wn", "id", "nt")  # "assigned", "given", "known", "paid", "sent"
_ADJECTIVE_ENDINGS = (
    "ous", "ful", "ive", "able", "ible", "less", "ic", "ical", "al", "ant", "ent", "ed", "ing", "ern", "ary", "ial",
    "ish", "some", "like", "ly",
)  # fmt: skip


@lru_cache(maxsize=4096)
def root_of_word(word: str) -> str:
    """Returns what the words of a family share: "invent" of "inventor", "invented" and "invention".

    Roots are only compared with one another; many are not words.
    """
    root = _DERIVED_FORMS.get(word) or base_form_of(word)
    for turn in range(_MAX_STRIPPED_ENDINGS):
        shorter = _strip_ending(root, is_whole_word=turn == 0)
        if shorter == root:
            break
        root = shorter
    doubled = len(root) > _MIN_ROOT_LETTERS and root[-1] == root[-2] and root[-1] not in _VOWELS | {"l", "s"}
    return root[:-1] if doubled else root


def _strip_ending(word: str, *, is_whole_word: bool) -> str:
    for ending in _ENDINGS:
        rest = word.removesuffix(ending)
        shortest = _MIN_LETTERS_BEFORE_LATIN_ENDING if ending in _LATIN_ENDINGS else _MIN_ROOT_LETTERS
        shortest = _MIN_LETTERS_BEFORE_Y if ending == "y" else shortest
        if ending == "y" and not rest.endswith(("r", "l", "n")):
            continue
        is_plural = ending != "s" or (is_whole_word and not rest.endswith("s"))
        if rest != word and len(rest) >= shortest and is_plural:
            return rest
    return word


def may_be_adjective(word: str) -> bool:
    """Whether the word ends like an adjective or a participle: "crowded", "toxic", "productive"."""
    return word.endswith(_ADJECTIVE_ENDINGS)
