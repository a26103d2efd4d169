"""Names with several spellings: which spellings are the same name, and its canonical spelling.

A name has a key: folded, without legal forms, brackets and marks, with one letter for those that scanners confuse. Two
spellings are the same name if their keys are equal or a few letters apart. In a field of shops, a name that begins with
another known name is a branch of it (`Acme Harbour` is `Acme`). The commonest spelling is the canonical one. Names that
the bucket already has come before all others, so that a later run decides the same.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rapidfuzz.distance import OSA

from storage.ingest.extract.concepts import words_by_kind
from storage.search.analyser import fold_text

_LEGAL_FORMS = frozenset(
    "inc incorporated llc ltd limited corp corporation co company lp llp plc gmbh ag kg sa sas nv bv lda sdn bhd pty "
    "pte srl spa unipessoal ltda s a b n v l p d m t enterprise enterprises trading holding holdings group the de do "
    "da e and".split()
)
_BRACKETED = re.compile(r"\([^()]{0,40}\)|\[[^\[\]]{0,40}\]")
_WORD = re.compile(r"[^\W_]+")
_BRANCH_NUMBER = re.compile(r"\d+|[ivx]+")  # a numbered shop is a name of its own
_CONFUSED_LETTERS = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "|": "l"})
_ONE_EDIT_LETTERS, _TWO_EDITS_LETTERS = 6, 12  # minimum key length for one and two edits
_MAX_BLOCK = 300  # canonical names in a block; a larger block is skipped


@dataclass(frozen=True, slots=True)
class _NameKey:
    letters: str
    digits: str  # names with other numbers are other names: branches, years


@lru_cache(maxsize=65_536)
def name_key_of(name: str) -> _NameKey:
    words = _distinctive_words(name)
    if not words:
        return _NameKey("", name)  # a name without letters or digits matches only itself
    return _key_of_words(words)


def _distinctive_words(name: str) -> list[str]:
    bare = fold_text(name)
    words = _WORD.findall(_BRACKETED.sub(" ", bare)) or _WORD.findall(bare)
    return [word for word in words if word not in _LEGAL_FORMS] or words


def _key_of_words(words: Sequence[str]) -> _NameKey:
    letters = "".join(word.translate(_CONFUSED_LETTERS) if any(c.isalpha() for c in word) else "" for word in words)
    return _NameKey(letters, " ".join(word for word in words if word.isdigit()))


@lru_cache(maxsize=65_536)
def _chain_keys_of(name: str) -> Sequence[_NameKey]:
    """The keys of the name's first words that can be the name of a chain, the longest first."""
    words = _distinctive_words(name)
    if not words or _BRANCH_NUMBER.fullmatch(words[-1]):
        return ()
    heads = (words[:count] for count in range(len(words) - 1, 0, -1))
    return [
        _key_of_words(head)
        for head in heads
        if len("".join(head)) >= _ONE_EDIT_LETTERS and not (len(head) == 1 and head[0] in _shop_kind_words())
    ]


@lru_cache(maxsize=1)
def _shop_kind_words() -> frozenset[str]:
    """Words for kinds of shops, which alone are not a name."""
    return frozenset(fold_text(phrase) for phrases in words_by_kind().values() for phrase in phrases) | set(
        words_by_kind()
    )


@dataclass(slots=True)
class CanonicalNames:
    """The canonical names of one field, in the order they were added."""

    has_branches: bool = False
    _name_by_key: dict[_NameKey, str] = field(default_factory=dict[_NameKey, str])
    _keys_by_block: dict[str, list[_NameKey]] = field(default_factory=dict[str, list[_NameKey]])

    @classmethod
    def from_known_names(cls, known_names: Sequence[str], *, has_branches: bool = False) -> "CanonicalNames":
        """`known_names`: canonical names of earlier runs, the commonest first."""
        names = cls(has_branches)
        for name in known_names:
            names._add_name(name)
        return names

    def canonical_name_of(self, name: str) -> str | None:
        """The canonical name of a spelling, which may be the spelling itself; None for a new name."""
        key = name_key_of(name)
        canonical = self._name_by_key[key] if key in self._name_by_key else self._nearest_name(key)
        return self._chain_name_of(name) if canonical is None else canonical

    def _chain_name_of(self, name: str) -> str | None:
        keys = _chain_keys_of(name) if self.has_branches else ()
        return next((self._name_by_key[key] for key in keys if key in self._name_by_key), None)

    def cluster_spellings(self, spelling_counts: Mapping[str, int]) -> Mapping[str, str]:
        """Spelling → canonical name, whatever the order. `spelling_counts`: documents of each spelling."""
        by_key = dict[_NameKey, Counter[str]]()
        for spelling, count in spelling_counts.items():
            by_key.setdefault(name_key_of(spelling), Counter())[spelling] += count
        ranked = sorted(by_key.items(), key=lambda item: (-item[1].total(), item[0].letters, item[0].digits))
        known_keys = {key for key, spellings in by_key.items() if spellings.total() > 1} | self._name_by_key.keys()
        for key, spellings in ranked:
            name = min(spellings.items(), key=lambda item: (-item[1], item[0]))[0]
            is_branch = self.has_branches and not known_keys.isdisjoint(_chain_keys_of(name))
            if key not in self._name_by_key and self._nearest_name(key) is None and not is_branch:
                self._add_name(name)
        canonical = {spelling: self.canonical_name_of(spelling) for spelling in spelling_counts}
        return {spelling: spelling if name is None else name for spelling, name in canonical.items()}

    def _add_name(self, name: str) -> None:
        key = name_key_of(name)
        if key in self._name_by_key:
            return
        self._name_by_key[key] = name
        for block in _blocking_keys_of(key):
            self._keys_by_block.setdefault(block, []).append(key)

    def _nearest_name(self, key: _NameKey) -> str | None:
        limit = _allowed_edits(key)
        blocks = (self._keys_by_block.get(block, ()) for block in _blocking_keys_of(key)) if limit else ()
        others = {
            other for block in blocks if len(block) <= _MAX_BLOCK for other in block if other.digits == key.digits
        }
        scored = ((OSA.distance(other.letters, key.letters, score_cutoff=limit), other.letters) for other in others)
        best = min((pair for pair in scored if pair[0] <= limit), default=None)
        return self._name_by_key[_NameKey(best[1], key.digits)] if best else None


def _allowed_edits(key: _NameKey) -> int:
    """How many letters two keys of the same name may differ in."""
    return 0 if len(key.letters) < _ONE_EDIT_LETTERS else 1 if len(key.letters) < _TWO_EDITS_LETTERS else 2


def _blocking_keys_of(key: _NameKey) -> tuple[str, ...]:
    """Parts of a key. Keys two edits apart nearly always share one: four letters from either end, and the next four."""
    letters = key.letters
    return (f"a{letters[:4]}", f"b{letters[4:8]}", f"y{letters[-8:-4]}", f"z{letters[-4:]}")
