"""Which language texts are in, by their commonest words; of those that have a stemmer."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

_STEMMED = ("en", "de", "fr", "es")
_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(word for word in words.split() if len(word) > 1)
    for language, words in {
        "en": "the of and to in is for that with as this by on are be or from an which it at was shall not have",
        "de": "der die das und den von zu mit sich des ist im für auf ein eine dem nicht als auch werden bei oder wird",
        "fr": "le les des et du une est dans que pour qui sur par au pas avec sont aux cette ou ne ce il nous vous",
        "es": "el los las del y en que por con una para se al lo como más pero sus este entre su no ha son",
        "it": "il di che è per una con non sono della del da gli nel alla dei delle anche più si questo le ha al",
        "pt": "o os do da em que não uma para com por dos das ao mais se na no são pela pelo como foi seu",
        "nl": "de het een van en in is dat op te zijn voor met die niet aan er om ook als bij door naar wordt",
        "sv": "och att det som en på är av för med den till inte har ett om var de kan vid från eller ska",
        "pl": "i w na z do się nie to jest że o od za przez po dla oraz są jak przy lub który być tym",
    }.items()
}
_WORD = re.compile(r"[^\W\d_]+")
_READ = 2_000  # characters of a text
_TEXTS = 300
_ENOUGH = 30  # words below which nothing is said
_SHARE = 0.08  # of the words are among a language's commonest, in prose of it
_LATIN = 0x250


@dataclass(slots=True)
class Heard:
    """What was heard of the texts of a bucket."""

    texts: int = 0
    words: int = 0
    foreign: int = 0  # words of another script
    common: Counter[str] = field(default_factory=Counter[str])  # language -> words of it

    def hear(self, text: str) -> None:
        """Take the beginning of a text into account; the first few hundred texts are enough."""
        if self.texts >= _TEXTS:
            return
        self.texts += 1
        words = [word.lower() for word in _WORD.findall(text[:_READ])]
        self.words += len(words)
        self.foreign += sum(ord(word[0]) >= _LATIN for word in words)
        for language, common in _WORDS.items():
            self.common[language] += sum(word in common for word in words)

    @property
    def language(self) -> str:
        """English where too little was heard, or words that are in no sentences; empty for one without a stemmer.

        `en`, too, where words of prose are too few to tell: names and figures of most tables.
        """
        if self.words < _ENOUGH:
            return "en"
        if 2 * self.foreign > self.words:
            return ""
        best, count = max(self.common.items(), key=lambda pair: (pair[1], pair[0] == "en"))
        if count < _SHARE * self.words:
            return "en"
        return best if best in _STEMMED else ""
