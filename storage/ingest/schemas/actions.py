"""Question phrases for fields that are named after an action.

`repaired_by` answers "who fixed …", and `last_check` "when was … last inspected".

The actions with their everyday verbs, nouns and agents come from a file of general English. The other words of the name
and the type of the field say what is asked of the action: the time, the person, the cost, the reason or the place.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import yaml

from storage.search.schema import QUESTION_GAP, FieldType
from storage.text.irregular_verbs import past_participle_of

_ACTIONS_FILE = Path(__file__).with_name("actions.yaml")
_MAX_NAME_WORDS = 3  # words of a verb, noun or agent in the name of a field
_LAST_WORDS = frozenset("last latest previous prev recent".split())
_NEXT_WORDS = frozenset("next due planned upcoming expected target future deadline".split())
_LIMIT_WORDS = frozenset("deadline until till by before end".split())
_COST_WORDS = frozenset("cost costs price fee charge charges amount".split())
_REASON_WORDS = frozenset("reason cause grounds".split())
_DURATION_WORDS = frozenset("duration hours days time minutes weeks".split())
_PLACE_WORDS = frozenset("place location site venue room city town port address".split())
_VERBS_WITHOUT_PASSIVE = frozenset("be belong come get go have leave report start".split())
_NO_AGENTS = frozenset(
    """center centre chapter cluster colour corner counter factor filter folder gender header letter meter monitor motor
    number order paper parameter printer quarter register semester sector server shoulder sticker tower trailer transfer
    weather""".split()
)
_NEED_WORDS = frozenset("needed required necessary due".split())
_COUNT_WORDS = frozenset("count number times occurrences".split())
_ROLE_PREPOSITIONS = frozenset({"from", "with", "to", "for"})
_MIN_AGENT_LETTERS = 5  # letters of an agent that may end a longer word
_NAMED_TYPES = frozenset({FieldType.CATEGORY, FieldType.TEXT, FieldType.LIST})
_AMOUNT_TYPES = frozenset({FieldType.NUMBER, FieldType.MONEY})


@dataclass(frozen=True, slots=True, kw_only=True)
class EverydayAction:
    """What people call an action: verbs in the base form, nouns, those who do it, and verbs that name no field."""

    verbs: tuple[str, ...]
    nouns: tuple[str, ...]
    agents: tuple[str, ...]
    said: tuple[str, ...]
    vague_verbs: tuple[str, ...]  # said of it where no other field is better named by them
    receiver_verbs: tuple[str, ...]
    giver_verbs: tuple[str, ...]
    time_questions: tuple[str, ...]

    @property
    def all_verbs(self) -> tuple[str, ...]:
        return tuple(_separate_adjective(verb) for verb in (*self.verbs, *self.said))


def _separate_adjective(verb: str) -> str:
    """ "be late": other words may appear before the adjective: "was the train late"."""
    return f"be {QUESTION_GAP} {verb[3:]}" if verb.startswith("be ") else verb


@dataclass(frozen=True, slots=True)
class ActionName:
    """The name of a field that contains the name of an action."""

    action: EverydayAction
    other_words: frozenset[str]
    is_agent: bool  # the name contains the one who does it: "technician"
    last_word: str
    word: str  # the verb, noun or agent

    @property
    def is_noun(self) -> bool:
        return self.word in self.action.nouns

    @property
    def is_plural_noun(self) -> bool:
        return self.word.removesuffix("s") in self.action.nouns and not self.is_noun


def phrases_for_action(words: Sequence[str], kind: FieldType) -> Iterator[tuple[str, bool]]:
    """Yields the synonyms for a field with these words in its name, and whether each is exact.

    A phrase that is not exact fits another field better that is named without "last" or "next". `words` are lower-case,
    with expanded abbreviations.
    """
    name = _find_action(words, kind)
    if name is None:
        yield from ((phrase, True) for phrase in _phrases_of_unknown_verb(words, kind))
        return
    if kind is FieldType.DATE:
        yield from _phrases_for_date(name)
    elif kind in _AMOUNT_TYPES:
        yield from _phrases_for_amount(name)
    elif kind is FieldType.FLAG:
        yield from _phrases_for_flag(name)
    elif kind in _NAMED_TYPES:
        yield from _phrases_for_named_value(name)


@lru_cache(maxsize=10_000)
def participles_like(value: str) -> tuple[str, ...]:
    """Returns the participles of the same action for a value that is one: "rejected" is also turned down."""
    action = _load_actions()[0].get(value)
    participles = [] if action is None else [past_participle_of(verb) for verb in action.verbs]
    if action is None or value not in participles:
        return ()
    no_passives = _VERBS_WITHOUT_PASSIVE | {"not"}
    particle_verbs = (verb for verb in action.said if verb.split()[0] not in no_passives and " " in verb)
    return (*participles, *map(past_participle_of, particle_verbs))


def _phrases_of_unknown_verb(words: Sequence[str], kind: FieldType) -> Iterator[str]:
    """Yields phrases with the verb of the name itself: "goes with", "drink by", "welder"."""
    if kind is FieldType.CATEGORY and words:
        yield from (f"who {QUESTION_GAP} {verb}" for verb in _verbs_of_agent(words))
    if len(words) > 1 and kind is FieldType.DATE and words[-1] in ("by", "until", "before"):
        yield from _limit_phrases(" ".join(words[:-1]))
    if len(words) > 1 and kind in _NAMED_TYPES and words[-1] in _ROLE_PREPOSITIONS:
        yield from _phrases_with_preposition(" ".join(words[:-1]), words[-1])


def _phrases_for_date(name: ActionName) -> Iterator[tuple[str, bool]]:
    action, words = name.action, name.other_words
    if words & _LIMIT_WORDS:
        yield from ((phrase, True) for verb in action.all_verbs for phrase in _limit_phrases(verb))
    if words & _NEXT_WORDS:
        yield from ((phrase, True) for phrase in _next_phrases(action))
        yield from ((f"when {QUESTION_GAP} {verb}", False) for verb in action.all_verbs if "back" in verb)
        return
    if words & _LAST_WORDS:
        yield from ((phrase, True) for phrase in _last_phrases(action))
    is_plain = not words & (_LAST_WORDS | _LIMIT_WORDS | {"first"})
    yield from ((past_participle_of(verb), is_plain) for verb in action.verbs)
    yield from ((f"when {QUESTION_GAP} {verb}", is_plain) for verb in action.all_verbs)
    yield from ((phrase, is_plain) for phrase in action.time_questions)
    yield from ((f"when {QUESTION_GAP} {verb}", False) for verb in action.vague_verbs)
    if "first" in words:
        yield from ((f"since when {QUESTION_GAP} {word}", True) for word in (*action.all_verbs, *action.nouns))
        yield from ((f"when {QUESTION_GAP} first {verb}", True) for verb in action.all_verbs)


def _phrases_for_flag(name: ActionName) -> Iterator[tuple[str, bool]]:
    """ "repair_needed": what must be repaired, needs fixing."""
    if name.other_words & _NEED_WORDS:
        for verb in name.action.all_verbs:
            yield from ((f"{modal} {QUESTION_GAP} {verb}", True) for modal in ("must", "need", "have to"))


def _limit_phrases(verb: str) -> Iterator[str]:
    yield f"until when {QUESTION_GAP} {verb}"
    yield f"when {QUESTION_GAP} {verb} by"


def _next_phrases(action: EverydayAction) -> Iterator[str]:
    for verb in action.all_verbs:
        yield f"when {QUESTION_GAP} next {verb}"
        yield f"when {QUESTION_GAP} {verb} {QUESTION_GAP} next"
        yield f"when {QUESTION_GAP} {verb} {QUESTION_GAP} again"
        yield f"when {QUESTION_GAP} need {QUESTION_GAP} {verb}"
        yield from (f"when {modal} {QUESTION_GAP} {verb}" for modal in ("will", "can", "must"))
    for noun in action.nouns:
        yield f"when {QUESTION_GAP} next {noun}"
        yield f"when {QUESTION_GAP} due {QUESTION_GAP} {noun}"
        yield f"when {QUESTION_GAP} {noun} due"
        yield f"next {noun}"


def _last_phrases(action: EverydayAction) -> Iterator[str]:
    for verb in action.all_verbs:
        yield f"when {QUESTION_GAP} last {verb}"
        yield f"when {QUESTION_GAP} {verb} {QUESTION_GAP} last"
    yield from (f"last {past_participle_of(verb)}" for verb in action.verbs)
    yield from (f"last {noun}" for noun in action.nouns)


def _phrases_for_amount(name: ActionName) -> Iterator[tuple[str, bool]]:
    verbs = name.action.all_verbs
    if name.last_word == "for":
        for verb in (*verbs, "get"):
            yield from ((f"{asking} {QUESTION_GAP} {verb} for", True) for asking in ("what", "how much"))
    elif name.other_words & _COST_WORDS:
        yield from ((f"what {QUESTION_GAP} cost {QUESTION_GAP} {verb}", True) for verb in verbs)
        yield from ((f"how much {QUESTION_GAP} {verb}", True) for verb in verbs)
    elif name.other_words & _DURATION_WORDS:
        yield from ((f"how long {QUESTION_GAP} {verb}", True) for verb in verbs)
    elif "year" in name.other_words:
        yield from ((f"when {QUESTION_GAP} {verb}", True) for verb in verbs)
        yield from ((phrase, True) for phrase in name.action.time_questions)
    elif name.other_words & _COUNT_WORDS or name.is_plural_noun:
        yield from ((f"how often {QUESTION_GAP} {verb}", True) for verb in verbs)
        yield from ((f"how many times {QUESTION_GAP} {verb}", True) for verb in verbs)
    elif not name.is_agent:
        yield from ((f"how many {QUESTION_GAP} {verb}", True) for verb in name.action.verbs)
        yield from ((f"how much {QUESTION_GAP} {verb}", True) for verb in name.action.verbs)


def _phrases_for_named_value(name: ActionName) -> Iterator[tuple[str, bool]]:
    verbs, words = name.action.all_verbs, name.other_words
    if words & _REASON_WORDS:
        yield from ((f"why {QUESTION_GAP} {verb}", True) for verb in verbs)
    elif words & _PLACE_WORDS:
        yield from ((f"where {QUESTION_GAP} {verb}", True) for verb in verbs)
    elif name.last_word in _ROLE_PREPOSITIONS:
        if name.last_word == "from" and name.is_noun:
            yield from ((f"who {QUESTION_GAP} {verb}", True) for verb in verbs)  # "gift from": who gave
        converse = {"to": name.action.receiver_verbs, "from": name.action.giver_verbs}.get(name.last_word, ())
        yield from ((f"who {QUESTION_GAP} {verb}", True) for verb in converse)
        yield from ((phrase, True) for verb in verbs for phrase in _phrases_with_preposition(verb, name.last_word))
    elif name.is_agent or name.last_word == "by":
        yield from ((agent, True) for agent in name.action.agents)
        passive_verbs = (verb for verb in verbs if verb.split()[0] not in _VERBS_WITHOUT_PASSIVE)
        yield from ((f"{past_participle_of(verb)} by", True) for verb in passive_verbs)
        yield from ((f"who {QUESTION_GAP} {verb}", True) for verb in verbs)
        if name.last_word == "by":
            yield from ((f"what {QUESTION_GAP} {verb}", True) for verb in verbs)
    elif name.last_word in name.action.nouns:
        yield from ((f"what {QUESTION_GAP} {verb}", True) for verb in name.action.verbs)


def _phrases_with_preposition(verb: str, preposition: str) -> Iterator[str]:
    """Yields the phrases for a field such as `bought_from` or `sprayed_with`."""
    if preposition == "for":
        yield f"for who {QUESTION_GAP} {verb}"
    pronoun = "who" if preposition in ("from", "to") else "what"
    yield f"{past_participle_of(verb)} {preposition}"
    yield f"{preposition} {pronoun} {QUESTION_GAP} {verb}"
    yield f"{pronoun} {QUESTION_GAP} {verb} {preposition}"
    yield f"{pronoun} {QUESTION_GAP} {verb} {QUESTION_GAP} {preposition}"
    if preposition == "from":
        yield f"where {QUESTION_GAP} {verb}"


def _find_action(words: Sequence[str], kind: FieldType) -> ActionName | None:
    """Returns the last action in the name; a date has no agent, and the agent of a value goes before other words."""
    actions, agents = _load_actions()
    by_agent: list[ActionName] = []
    by_action: list[ActionName] = []
    for size in range(1, _MAX_NAME_WORDS + 1):
        for first in range(len(words) - size + 1):
            text = " ".join(words[first : first + size])
            others = frozenset((*words[:first], *words[first + size :]))
            if (action := actions.get(text)) is not None:
                by_action.append(ActionName(action, others, is_agent=False, last_word=words[-1], word=text))
            if kind in _NAMED_TYPES and (action := agents.get(text) or _action_of_compound(text)) is not None:
                by_agent.append(ActionName(action, others, is_agent=True, last_word=words[-1], word=text))
    found = by_agent or by_action
    return found[-1] if found else None


def _action_of_compound(word: str) -> EverydayAction | None:
    """Returns the action of a word that ends in an agent: "beekeeper", "shipbuilder"."""
    if not word.endswith(("er", "or")):
        return None
    agents = _load_actions()[1]
    ends = (word[start:] for start in range(1, len(word) - _MIN_AGENT_LETTERS + 1))
    return next((agents[end] for end in ends if end in agents), None)


def _verbs_of_agent(words: Sequence[str]) -> Iterator[str]:
    """Yields the verb of an agent that no entry has, in both spellings: "welder" gives "weld" and "welde"."""
    last = words[-1]
    is_agent = len(last) > _MIN_AGENT_LETTERS and last.endswith(("er", "or")) and last not in _NO_AGENTS
    if len(words) <= _MAX_NAME_WORDS and is_agent:
        yield from (last[:-2], last[:-1])


@lru_cache(maxsize=1)
def _load_actions() -> tuple[Mapping[str, EverydayAction], Mapping[str, EverydayAction]]:
    """Returns the action of each verb and noun that may appear in a name, and of each agent."""
    actions: dict[str, EverydayAction] = {}
    agents: dict[str, EverydayAction] = {}
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data = cast(list[dict[str, list[str]]], yaml.load(_ACTIONS_FILE.read_text(encoding="utf-8"), Loader=loader))  # noqa: S506 - safe
    for entry in data:
        action = EverydayAction(
            verbs=tuple(entry["verbs"]),
            nouns=tuple(entry.get("nouns", ())),
            agents=tuple(entry.get("agents", ())),
            said=tuple(entry.get("said", ())),
            vague_verbs=tuple(entry.get("otherwise", ())),
            receiver_verbs=tuple(entry.get("to", ())),
            giver_verbs=tuple(entry.get("from", ())),
            time_questions=tuple(entry.get("asked", ())),
        )
        for word in (*_inflections_of(action.verbs), *action.nouns, *(f"{noun}s" for noun in action.nouns)):
            actions.setdefault(word, action)
        for agent in action.agents:
            agents.setdefault(agent, action)
    return actions, agents


def _inflections_of(verbs: Iterable[str]) -> Iterator[str]:
    """Yields the forms of verbs that appear in names: base, third person, participles."""
    for verb in verbs:
        head, _, particle = verb.partition(" ")
        stem = head.removesuffix("e")
        forms = (head, f"{head}s", f"{head}es", f"{stem}ing", past_participle_of(head))
        yield from (f"{form} {particle}".strip() for form in forms)
