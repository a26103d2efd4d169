"""Names with several spellings: which of them are one name, and how it is then written.

A name is known by its key: folded, without legal forms, brackets and marks, letters that scanners mix up made alike.
Names are one where their keys are, or are a few letters apart; in a field of shops also where one goes on behind the
other (`Acme Harbour` is `Acme`), if the shorter one is known by itself. The commonest of them is the canonical one,
and what the bucket holds already comes before all others, so that a later run decides the same.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rapidfuzz.distance import OSA

from storage.ingest.extract.concepts import kind_words
from storage.search.text import fold

_FORMS = frozenset(
    "inc incorporated llc ltd limited corp corporation co company lp llp plc gmbh ag kg sa sas nv bv lda sdn bhd pty "
    "pte srl spa unipessoal ltda s a b n v l p d m t enterprise enterprises trading holding holdings group the de do "
    "da e and".split()
)
_BRACKETED = re.compile(r"\([^()]{0,40}\)|\[[^\[\]]{0,40}\]")
_WORD = re.compile(r"[^\W_]+")
_NUMBERED = re.compile(r"\d+|[ivx]+")  # a second shop of the name, which is another one
_MIXED_UP = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "8": "b", "|": "l"})
_SHORT, _LONG = 6, 12  # letters of a key from which one, two edits are a slip of the pen
_CROWD = 300  # canonical names that share a block, above which the block tells nothing


@dataclass(frozen=True, slots=True)
class _Key:
    letters: str
    digits: str  # names that differ in their numbers are different: branches, years


@lru_cache(maxsize=65_536)
def key_of(name: str) -> _Key:
    telling = _telling(name)
    if not telling:
        return _Key("", name)  # marks alone are like nothing else
    return _key(telling)


def _telling(name: str) -> list[str]:
    bare = fold(name)
    words = _WORD.findall(_BRACKETED.sub(" ", bare)) or _WORD.findall(bare)
    return [word for word in words if word not in _FORMS] or words


def _key(telling: Sequence[str]) -> _Key:
    letters = "".join(word.translate(_MIXED_UP) if any(c.isalpha() for c in word) else "" for word in telling)
    return _Key(letters, " ".join(word for word in telling if word.isdigit()))


@lru_cache(maxsize=65_536)
def _heads_of(name: str) -> Sequence[_Key]:
    """The keys of its first words, the most words first, that can be the name of a chain."""
    words = _telling(name)
    if not words or _NUMBERED.fullmatch(words[-1]):
        return ()
    heads = (words[:count] for count in range(len(words) - 1, 0, -1))
    return [_key(one) for one in heads if len("".join(one)) >= _SHORT and not (len(one) == 1 and one[0] in _kinds())]


@lru_cache(maxsize=1)
def _kinds() -> frozenset[str]:
    """Words for kinds of shops: by themselves the name of none."""
    return frozenset(fold(one) for several in kind_words().values() for one in several) | set(kind_words())


@dataclass(slots=True)
class Names:
    """The canonical names of one field, in the order they were taken up."""

    has_branches: bool = False
    _exact: dict[_Key, str] = field(default_factory=dict[_Key, str])
    _blocks: dict[str, list[_Key]] = field(default_factory=dict[str, list[_Key]])

    @classmethod
    def of(cls, known: Sequence[str], *, has_branches: bool = False) -> "Names":
        """`known`: canonical names of earlier runs, the commonest first."""
        names = cls(has_branches)
        for one in known:
            names._add(one)
        return names

    def canonical(self, name: str) -> str | None:
        """The canonical name that this is a spelling of, itself included; None for a new one."""
        key = key_of(name)
        found = self._exact[key] if key in self._exact else self._nearest(key)
        return self._chain(name) if found is None else found

    def _chain(self, name: str) -> str | None:
        heads = _heads_of(name) if self.has_branches else ()
        return next((self._exact[one] for one in heads if one in self._exact), None)

    def take(self, spellings: Mapping[str, int]) -> Mapping[str, str]:
        """Spellings with their documents → canonical names, the same in whichever order they come."""
        by_key = dict[_Key, Counter[str]]()
        for spelling, count in spellings.items():
            by_key.setdefault(key_of(spelling), Counter())[spelling] += count
        ranked = sorted(by_key.items(), key=lambda one: (-one[1].total(), one[0].letters, one[0].digits))
        shops = {key for key, written in by_key.items() if written.total() > 1} | self._exact.keys()
        for key, written in ranked:
            name = min(written, key=lambda one: (-written[one], one))
            is_branch = self.has_branches and not shops.isdisjoint(_heads_of(name))
            if key not in self._exact and self._nearest(key) is None and not is_branch:
                self._add(name)
        found = {spelling: self.canonical(spelling) for spelling in spellings}
        return {spelling: spelling if name is None else name for spelling, name in found.items()}

    def _add(self, name: str) -> None:
        key = key_of(name)
        if key in self._exact:
            return
        self._exact[key] = name
        for block in _blocks_of(key):
            self._blocks.setdefault(block, []).append(key)

    def _nearest(self, key: _Key) -> str | None:
        most = _edits(key)
        near = (self._blocks.get(block, ()) for block in _blocks_of(key)) if most else ()
        found = {one for block in near if len(block) <= _CROWD for one in block if one.digits == key.digits}
        scored = [(OSA.distance(one.letters, key.letters, score_cutoff=most), one.letters) for one in found]
        best = min((one for one in scored if one[0] <= most), default=None)
        return self._exact[_Key(best[1], key.digits)] if best else None


def _edits(key: _Key) -> int:
    """How many letters may differ."""
    return 0 if len(key.letters) < _SHORT else 1 if len(key.letters) < _LONG else 2


def _blocks_of(key: _Key) -> tuple[str, ...]:
    """Parts of which names two edits apart nearly always share one: four letters from either end, and the next."""
    letters = key.letters
    return (f"a{letters[:4]}", f"b{letters[4:8]}", f"y{letters[-8:-4]}", f"z{letters[-4:]}")
