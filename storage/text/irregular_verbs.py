"""Irregular English verbs: a closed class. A stemmer does not connect "bought" with "buy"."""

from collections.abc import Mapping

# The base form, its past tense and its past participle. Forms that are common words of another meaning ("found",
# "saw", "felt", "rose", "wound", "ground") are left out, except where the verb is more common.
_PRINCIPAL_PARTS = """arise arose arisen|awake awoke awoken|bear bore borne|beat beat beaten|become became become
begin began begun|bend bent bent|bind bound bound|bite bit bitten|bleed bled bled|blow blew blown|break broke broken
breed bred bred|bring brought brought|build built built|burn burnt burnt|buy bought bought|catch caught caught
choose chose chosen|come came come|creep crept crept|deal dealt dealt|dig dug dug|do did done|draw drew drawn
drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed fed|fight fought fought
flee fled fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten|freeze froze frozen|get got got
give gave given|go went gone|grow grew grown|hang hung hung|have had had|hear heard heard|hide hid hidden
hold held held|keep kept kept|know knew known|lay laid laid|lead led led|learn learnt learnt|leave left left
lend lent lent|lose lost lost|make made made|mean meant meant|meet met met|pay paid paid|prove proved proven
quit quit quit|shrink shrank shrunk|undertake undertook undertaken
ride rode ridden|ring rang rung|run ran run|say said said|seek sought sought|sell sold sold|send sent sent
shake shook shaken|shine shone shone|shoot shot shot|show showed shown|sing sang sung|sink sank sunk|sit sat sat
sleep slept slept|slide slid slid|speak spoke spoken|spend spent spent|spin spun spun|stand stood stood
steal stole stolen|stick stuck stuck|strike struck struck|swear swore sworn|sweep swept swept|swim swam swum
take took taken|teach taught taught|tear tore torn|tell told told|think thought thought|throw threw thrown
understand understood understood|wake woke woken|wear wore worn|weave wove woven|win won won|withdraw withdrew withdrawn
write wrote written|see saw seen|find found found|cut cut cut|put put put|set set set|let let let|cost cost cost
hit hit hit|read read read|shut shut shut|split split split|spread spread spread"""

_PARTS = [entry.split() for line in _PRINCIPAL_PARTS.splitlines() for entry in line.split("|")]
_AUXILIARY_FORMS = {
    "am": "be", "are": "be", "been": "be", "being": "be", "is": "be", "was": "be", "were": "be",
    "does": "do", "goes": "go", "has": "have",
}  # fmt: skip
BASE_FORMS: Mapping[str, str] = _AUXILIARY_FORMS | {
    form: base for base, *forms in _PARTS for form in forms if form != base
}
PAST_PARTICIPLES: Mapping[str, str] = {base: participle for base, _, participle in _PARTS}


def base_form_of(word: str) -> str:
    """Returns the base form of a form of an irregular verb: "buy" for "bought"; other words unchanged."""
    return BASE_FORMS.get(word, word)


def past_participle_of(verb: str) -> str:
    """Returns the past participle of a verb in its base form: "paid", "inspected", "planned"; "run out": "run out"."""
    head, _, particle = verb.partition(" ")
    participle = PAST_PARTICIPLES.get(head) or _regular_participle_of(head)
    return f"{participle} {particle}".strip()


def _regular_participle_of(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1] if _doubles_last_letter(verb) else ''}ed"


_VOWELS = frozenset("aeiou")
_STRESSED_ENDS = ("fer", "mit", "cur", "pel", "trol", "cel")  # "referred", "submitted", "cancelled"


def _doubles_last_letter(verb: str) -> bool:
    """ "plan", "refer": whether the verb ends in one consonant after a vowel that is stressed."""
    vowels = [letter in _VOWELS for letter in verb]
    if verb.endswith(_STRESSED_ENDS) and not verb.endswith("ffer"):
        return True
    return len(verb) > 2 and sum(vowels) == 1 and vowels[-2] and not vowels[-1] and verb[-1] not in "wxy"
