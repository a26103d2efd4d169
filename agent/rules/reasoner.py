"""The rule reasoner: value linking against the scoped dictionary, the best reading per bucket, coverage as routing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from agent.reasoner import (
    Decomposition,
    Doubt,
    Material,
    MeansNothing,
    Planned,
    Reread,
    Respelled,
    WantsExport,
    WantsHelp,
    WantsStartOver,
)
from agent.rules.atoms import Literal
from agent.rules.commands import exports, goes_back, is_thanks, starts_over, wants_help, without_file
from agent.rules.compare import Reader, compared
from agent.rules.follow import follows
from agent.rules.intent import wanted_of
from agent.rules.keeping import KeptLexicons
from agent.rules.language import DOCUMENT_NOUNS, LIST_VERBS, QUESTION_WORDS
from agent.rules.lexicon import Lexicon, Noun, Partly, Valued
from agent.rules.literals import literals_of
from agent.rules.overview import as_summary
from agent.rules.parts import Part, continued, is_open, only_shows, with_noun
from agent.rules.reading import EXPLAINED, Alternative, Reading, read
from agent.rules.share import share_asked
from agent.rules.split import questions_of
from agent.rules.spoken import without_measure
from agent.rules.tokens import is_identifier, quotations_of
from agent.rules.tongue import foreign_language
from agent.rules.unmet import unmet
from agent.wording import condition_words
from storage.search.conditions import TEXT, Not, all_of, fields_of, titled
from storage.search.ids import BucketId, LegId
from storage.search.plan import (
    Clause,
    Combine,
    Compute,
    FindPassages,
    Function,
    Leg,
    ListDocuments,
    Plan,
    ReadFields,
    Search,
    Summarise,
    Wanted,
)

_AS_GOOD = 0.05  # readings of two buckets whose scores differ by less are taken together
_RESPELLED = 3  # buckets in whose words a misspelt one is looked for: those that fit best
_ASKING = QUESTION_WORDS - {"which"}  # begin a question about what documents say, rather than which there are
_OF_DOCUMENTS = (Noun, Valued, Partly)
_SAYS_LITTLE = frozenset(
    """relevant pertinent applicable various respective individual actual corresponding specific particular possible
    remaining suitable appropriate good best nice main typical usual common similar new old recent big small there
    own single complete entire real proper""".split()
)
_MOST_REQUIRED = 3  # words that documents must mention; more are a topic to rank by
_BEFORE_NAMES = frozenset("from with by about for of mentioning containing called named at against regarding".split())


class RuleReasoner:
    """Needs no model and no network. Keeps the lexicons of the buckets asked last."""

    name = "rule"

    def __init__(self) -> None:
        self._kept = KeptLexicons()

    def decompose(self, question: str, material: Material) -> Decomposition:
        """Pure but for the lexicons kept. The plan's legs are the question's parts, at most four."""
        if starts_over(question):
            return WantsStartOver()
        if goes_back(question):
            return _before(material)
        if wants_help(question):
            return WantsHelp()
        if is_thanks(question):
            return MeansNothing(words=())
        tongue = foreign_language(question)
        if tongue is not None:
            return _searched(question, tongue, material)
        known = self._kept.of(material)
        if material.last is not None:
            leg = exports(question, material.last)
            if leg is not None:
                return WantsExport(plan=material.last, leg=leg)
        listed = without_file(question)
        if listed is not None:
            return _as_file(self.decompose(listed, material))
        reader = self._reader(known, material)
        parts = questions_of(question)
        comparison = compared(question, reader)
        follows_on = material.last is not None and len(parts) == 1
        following = (
            follows(question, material.last, reader, material.earlier)
            if follows_on and material.last is not None
            else None
        )
        if following is not None and (comparison is None or following.picks):
            return following
        if comparison is not None and comparison.sure:
            return comparison.planned
        several = self._several(question, parts, reader, material) if len(parts) > 1 else None
        alone = several or self._decomposed(question, reader, material)
        compares = comparison is not None and isinstance(alone, Planned) and not alone.follows
        return replace(comparison.planned, instead=alone) if comparison is not None and compares else alone

    def _several(self, question: str, parts: Sequence[str], reader: Reader, material: Material) -> Planned | None:
        """A leg for each part; one that points back goes on with the leg before it. None where a part asks nothing."""
        found: list[Part] = []
        for at, part in enumerate(parts):
            if only_shows(part):
                return None
            leg_id = LegId(chr(97 + at))
            plan = Plan(question=question, legs=tuple(one.leg for one in found)) if found else material.last
            going_on = None if plan is None else continued(part, plan, reader, is_first=not found)
            if going_on is None:
                part = with_noun(part, found[-1], reader) if found else part
                readings = reader.readings(as_summary(part))
                if not (_asks_something(readings[0]) or _asks_number(readings[0], reader.known)):
                    return None
                leg, doubt = _with_respelling(
                    _leg(leg_id, part, readings, reader.known), part, readings, reader.known, material
                )
                found.append(Part(leg=leg, doubt=doubt, assumed=_assumed(leg, readings[0], reader.known)))
            else:
                found.append(going_on.renamed(leg_id, part))
        if len(found) > 1 and any(one.continues and is_open(before.leg) for before, one in pairwise(found)):
            return None  # what "it" is stands nowhere yet: one question
        plan = Plan(
            question=question,
            legs=tuple(one.leg for one in found),
            combine=Combine.SEQUENCE if any(one.continues for one in found[1:]) else Combine.SIDE_BY_SIDE,
            assumptions=tuple(dict.fromkeys(said for one in found for said in one.assumed)),
        )
        doubts = tuple(one.doubt for one in found)
        return Planned(
            plan=plan,
            doubts=doubts,
            picks=tuple(pick for one in found for pick in one.picks),
            follows=found[0].continues,
        )

    def _decomposed(self, question: str, reader: Reader, material: Material) -> Decomposition:
        """What a question of one part asks."""
        share = share_asked(question, reader)
        if share is not None:
            return share
        known, readings = reader.known, reader.readings(as_summary(question))
        leg, doubt = _with_respelling(_leg(LegId("a"), question, readings, known), question, readings, known, material)
        if not _means_anything(readings) and not _wants_every(leg, readings):
            return MeansNothing(words=max((r.leftovers for r in readings), key=len, default=()))
        plan = Plan(question=question, legs=(leg,), assumptions=_assumed(leg, readings[0], known))
        if exports(question, plan) and isinstance(leg.wanted, ListDocuments):
            return WantsExport(plan=plan, leg=leg.id)
        return Planned(plan=plan, doubts=(doubt,))

    def _reader(self, known: Mapping[BucketId, Lexicon], material: Material) -> Reader:
        read: dict[str, list[Reading]] = {}  # each text once, though several steps look at it

        def readings(text: str) -> list[Reading]:
            if text not in read:
                read[text] = self._read(text, known, material)
            return read[text]

        return Reader(
            literals=lambda text: literals_of(text, material.now.date()),
            readings=readings,
            asks_for_list=lambda text: _asks_for_list(readings(text)[0], known),
            known=known,
        )

    def _read(self, question: str, known: Mapping[BucketId, Lexicon], material: Material) -> list[Reading]:
        """A reading per bucket, the best first; among equals the larger bucket."""
        return _readings(question, known, material)


def _as_file(found: Decomposition) -> Decomposition:
    """The file of the last list that was found; anything else is answered as it is."""
    legs = found.plan.legs if isinstance(found, Planned) else ()
    if not isinstance(found, Planned) or not legs or not isinstance(legs[-1].wanted, ListDocuments):
        return found
    return WantsExport(plan=found.plan, leg=legs[-1].id)


def _before(material: Material) -> Planned | WantsStartOver:
    """The plan before the last one, once more."""
    if not material.earlier:
        return WantsStartOver(nothing_before=True)
    plan = material.earlier[-1]
    return Planned(plan=plan, kept=(f"“{plan.question}”",), follows=True, goes_back=True)


def _searched(question: str, tongue: str, material: Material) -> Planned:
    """A question that is not read is searched for as it stands, in every bucket."""
    search = Search(clauses=tuple(Clause(bucket=bucket) for bucket in material.schemas), ranking=question)
    leg = Leg(id=LegId("a"), question=question, search=search, wanted=FindPassages())
    said = f"questions are read in English; this one seems to be in {tongue}, so the text was searched for its words"
    return Planned(plan=Plan(question=question, legs=(leg,), assumptions=(said,)))


def _asks_for_list(reading: Reading, known: Mapping[BucketId, Lexicon]) -> bool:
    return isinstance(wanted_of(reading, known[reading.bucket]), ListDocuments)


def _readings(
    question: str,
    known: Mapping[BucketId, Lexicon],
    material: Material,
    respelled: Mapping[BucketId, Mapping[str, str]] | None = None,
) -> list[Reading]:
    literals: tuple[Literal, ...] = literals_of(question, material.now.date())
    quotations = quotations_of(question)
    outside = tuple(one for one in literals if not any(q.start <= one.start < q.end for q in quotations))
    meant = respelled or {}
    today = material.now.date()
    readings = [read(one, question, outside, quotations, meant.get(bucket), today) for bucket, one in known.items()]
    return sorted(readings, key=lambda one: (-one.score, -known[one.bucket].documents, one.bucket))


def _with_respelling(
    taken: tuple[Leg, Doubt],
    question: str,
    readings: Sequence[Reading],
    known: Mapping[BucketId, Lexicon],
    material: Material,
) -> tuple[Leg, Doubt]:
    """The leg and its doubt, which holds what the leg would be were its unknown words misspelt."""
    leg, doubt = taken
    meant = {one.bucket: _misspelt(one, known[one.bucket]) for one in readings[:_RESPELLED]}
    if not any(meant.values()):
        return taken
    stems = {bucket: {one.stem: one.meant_stem for one in words} for bucket, words in meant.items()}
    again = _readings(question, known, material, stems)
    words = tuple((one.written, one.meant) for one in meant.get(again[0].bucket, ()))
    if not words:
        return taken
    other, _ = _leg(leg.id, question, again, known)
    return leg, replace(doubt, respelled=Respelled(words=words, leg=other))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Misspelt:
    """A word as written, and the one that may be meant, each with its stem."""

    written: str
    stem: str
    meant: str
    meant_stem: str


def _misspelt(reading: Reading, lexicon: Lexicon) -> list[_Misspelt]:
    """The words left over that resemble one that is known here."""
    left = " ".join(reading.leftovers).casefold()
    found = [(one, lexicon.respelled(one)) for one in reading.tokens if not one.quoted and one.word in left]
    return [
        _Misspelt(written=token.word, stem=token.stem, meant=known[0], meant_stem=known[1])
        for token, known in found
        if known is not None
    ]


def _asks_something(reading: Reading) -> bool:
    """Whether a part of a message stands on its own: "Show them." does not."""
    return bool(reading.conditions or reading.leftovers or reading.quoted or reading.asked)


def _asks_number(reading: Reading, known: Mapping[BucketId, Lexicon]) -> bool:
    """ "How many receipts are there?" asks of all; "list the receipts" asks of those spoken of before."""
    return reading.has_noun and isinstance(wanted_of(reading, known[reading.bucket]), Compute)


def _wants_every(leg: Leg, readings: Sequence[Reading]) -> bool:
    """ "List all documents": of every bucket; numbers only where there is one."""
    named = any(token.word in DOCUMENT_NOUNS for token in readings[0].tokens)
    wanted = leg.wanted
    counts = isinstance(wanted, Compute) and (wanted.functions == (Function.COUNT,) or len(readings) == 1)
    return named and (isinstance(wanted, ListDocuments) or counts)


def _says_nothing(reading: Reading) -> bool:
    return not (reading.conditions or reading.leftovers or reading.quoted or reading.has_noun)


def _means_anything(readings: Sequence[Reading]) -> bool:
    """Whether some word is left to search for, or some condition was read."""
    return any(one.conditions or one.leftovers or one.quoted or one.has_noun or one.asked for one in readings)


def _assumed(leg: Leg, reading: Reading, known: Mapping[BucketId, Lexicon]) -> tuple[str, ...]:
    """What was taken for granted, and what was left out, in words."""
    return tuple(dict.fromkeys((*reading.assumed, *unmet(leg.wanted, reading, known[reading.bucket]))))


def _leg(
    leg_id: LegId, question: str, readings: Sequence[Reading], known: Mapping[BucketId, Lexicon]
) -> tuple[Leg, Doubt]:
    wanted = _of_one_named(wanted_of(readings[0], known[readings[0].bucket]), readings[0])
    best = without_measure(readings[0], wanted, known[readings[0].bucket])
    readings = [best, *readings[1:]]
    if (told := _told_of_id(leg_id, question, readings, known)) is not None:
        return told, Doubt(leg=leg_id)
    if isinstance(wanted, FindPassages) or not _is_told(best, wanted):
        return _lookup(leg_id, question, readings)
    if isinstance(wanted, ReadFields):
        return _one_value(leg_id, question, best, wanted), Doubt(leg=leg_id)
    chosen = _chosen(readings, wanted)
    clauses = tuple(_set_clause(one) for one in chosen)
    search = Search(clauses=clauses, ranking=question)
    doubt = Doubt(
        leg=leg_id,
        alike=tuple(_reread(search, best, one, known) for one in best.alike),
        otherwise=tuple(_reread(search, best, one, known) for one in best.otherwise),
        wider=tuple(_reread(search, best, one, known) for one in best.wider),
        elsewhere=_elsewhere(readings, chosen, wanted),
        doubtful=tuple(word for word in best.leftovers if not (_is_name(word, question) or _tells_apart(word, best))),
    )
    return Leg(id=leg_id, question=question, search=search, wanted=wanted), doubt


def _told_of_id(
    leg_id: LegId, question: str, readings: Sequence[Reading], known: Mapping[BucketId, Lexicon]
) -> Leg | None:
    """What is asked of a document that an identifier alone names, in whichever bucket; None for anything else."""
    ids = [titled(word) for word in readings[0].leftovers if is_identifier(word)]
    if not ids or any(one.conditions or one.has_noun for one in readings):
        return None
    asked = [(one, wanted_of(one, known[one.bucket])) for one in readings]
    told = [(one, wanted) for one, wanted in asked if isinstance(wanted, ReadFields)]
    clauses = tuple(Clause(bucket=one.bucket, condition=all_of(*ids), required=one.quoted) for one, _ in told)
    fields = tuple(field for _, wanted in told for field in wanted.fields)
    wanted, search = ReadFields(fields=fields), Search(clauses=clauses, ranking=question)
    return Leg(id=leg_id, question=question, search=search, wanted=wanted) if told else None


def _of_one_named(wanted: Wanted, reading: Reading) -> Wanted:
    """Which document an identifier names, where nothing else is said; what it is about, where that is asked."""
    says_more = reading.conditions or reading.quoted or reading.asked or len(reading.leftovers) != 1
    if says_more or not isinstance(wanted, FindPassages) or not is_identifier(reading.leftovers[0]):
        return wanted
    return Summarise() if reading.tokens[0].word in QUESTION_WORDS else ListDocuments()


def _is_told(reading: Reading, wanted: Wanted) -> bool:
    """Whether what was said tells a set of documents, rather than what their text is to be searched for."""
    first = reading.tokens[0].word if reading.tokens else ""
    computes = isinstance(wanted, Compute) and len(reading.leftovers) <= 1
    if reading.has_noun and (
        first not in _ASKING or reading.coverage >= EXPLAINED or not reading.leftovers or computes
    ):
        topic = not reading.conditions and len(reading.leftovers) > _MOST_REQUIRED
        return not (topic and isinstance(wanted, ListDocuments))
    if reading.conditions and reading.exact:
        return reading.is_sure
    if reading.asked and not (reading.leftovers or reading.quoted) and _names_field(wanted):
        return True  # "the latest filing date": a field, and no other word
    if isinstance(wanted, ReadFields):
        return 0 < len(reading.leftovers) <= _MOST_REQUIRED  # a field, and words that may be a title
    if len(reading.leftovers) == 1 and is_identifier(reading.leftovers[0]):
        return True
    if reading.quoted or any(token.word in DOCUMENT_NOUNS for token in reading.tokens):
        return len(reading.leftovers) <= _MOST_REQUIRED
    return first in LIST_VERBS and len(reading.leftovers) <= _MOST_REQUIRED


def _one_value(leg_id: LegId, question: str, reading: Reading, wanted: ReadFields) -> Leg:
    """The value of a document that conditions, or the words left over as its title, name."""
    ids = [word for word in reading.leftovers if is_identifier(word)]
    named = [titled(word) for word in ids or reading.leftovers]
    of_fields = [one for one in reading.conditions if TEXT not in fields_of(one)]
    condition = all_of(*of_fields) if reading.exact and of_fields else all_of(*of_fields, *named)
    clause = Clause(bucket=reading.bucket, condition=condition, required=reading.quoted)
    return Leg(id=leg_id, question=question, search=Search(clauses=(clause,), ranking=question), wanted=wanted)


def _chosen(readings: Sequence[Reading], wanted: Wanted) -> list[Reading]:
    """The best bucket, and those that the question fits just as well."""
    best = readings[0]
    counts = isinstance(wanted, Compute) and wanted.functions == (Function.COUNT,) and wanted.group is None
    anywhere = counts and not best.has_noun and not best.conditions
    if isinstance(wanted, Compute) and not (anywhere or (counts and _says_nothing(best))):
        return [best]
    if _names_field(wanted):
        return [best]  # other buckets may not have it
    if not best.has_noun and not best.conditions:
        return [one for one in readings if not one.conditions and not one.has_noun]  # words alone: anywhere
    return [
        one
        for one in readings
        if one is best
        or (best.score - one.score <= _AS_GOOD and one.has_noun == best.has_noun and one.exact == best.exact)
    ]


def _names_field(wanted: Wanted) -> bool:
    """Whether documents are put in order, or numbers computed, by a field of one bucket."""
    match wanted:
        case ListDocuments(order=order):
            return order is not None
        case Compute(field=field, group=group):
            return field is not None or group is not None
        case ReadFields() | FindPassages() | Summarise():
            return False


def _set_clause(reading: Reading) -> Clause:
    """Conditions, and the words left over as required terms."""
    required = (*reading.leftovers, *reading.quoted)
    return Clause(bucket=reading.bucket, condition=reading.condition, required=required)


def _elsewhere(readings: Sequence[Reading], chosen: Sequence[Reading], wanted: Wanted) -> tuple[Clause, ...]:
    """What the question says to other buckets: in their fields, or, where they lack the field, in words alone."""
    if not isinstance(wanted, (ListDocuments, Summarise)):
        return ()
    best = readings[0]
    open_to_others = bool(best.conditions) and not best.has_noun
    return tuple(
        _set_clause(one)
        for one in readings
        if one not in chosen and (one.exact if one.conditions else open_to_others and bool(one.leftovers or one.quoted))
    )


def _lookup(leg_id: LegId, question: str, readings: Sequence[Reading]) -> tuple[Leg, Doubt]:
    """What text says: the conditions that rest on whole values narrow, all words rank."""
    narrowing = [one for one in readings if _narrows(one)]
    best = narrowing[0] if narrowing else readings[0]
    runner_up = next((one.score for one in narrowing[1:]), 0.0)
    if narrowing and (best.has_noun or best.score - runner_up > _AS_GOOD):
        of_fields = all_of(*(one for one in best.conditions if TEXT not in fields_of(one) and not isinstance(one, Not)))
        clauses = (Clause(bucket=best.bucket, condition=of_fields, required=_must_hold(best)),)
    else:
        clauses = tuple(Clause(bucket=one.bucket, required=_must_hold(one)) for one in readings)
    search = Search(clauses=clauses, ranking=question)
    return Leg(id=leg_id, question=question, search=search, wanted=FindPassages()), Doubt(leg=leg_id)


def _must_hold(reading: Reading) -> tuple[str, ...]:
    """What a document must hold for its text to be searched: phrases in quotation marks, identifiers."""
    return (*reading.quoted, *filter(is_identifier, reading.leftovers))


def _narrows(reading: Reading) -> bool:
    """Whether its conditions say which documents' text is to be searched."""
    told = reading.names or (reading.has_noun and reading.coverage >= EXPLAINED)
    return reading.exact and bool(reading.conditions) and told


def _reread(search: Search, reading: Reading, other: Alternative, known: Mapping[BucketId, Lexicon]) -> Reread:
    clauses = tuple(
        replace(clause, condition=all_of(*other.conditions)) if clause.bucket == reading.bucket else clause
        for clause in search.clauses
    )
    words = condition_words(other.instead, known[reading.bucket].schema)
    return Reread(words=words, search=search.with_clauses(*clauses))


def _tells_apart(word: str, reading: Reading) -> bool:
    """Whether an unknown word says which documents, as an adjective does: "*purple* backpacks", "that are purple"."""
    tokens = reading.tokens
    at = next((at for at, one in enumerate(tokens) if one.word == word.casefold()), None)
    if at is None or at == 0 or word in _SAYS_LITTLE or word.endswith(("ing", "ed", "ly")):
        return False
    predicate = at == len(tokens) - 1 and tokens[at - 1].word in ("are", "is")
    return predicate or any(link.first == at + 1 and isinstance(link.meaning, _OF_DOCUMENTS) for link in reading.links)


def _is_name(word: str, question: str) -> bool:
    """Whether an unknown word must be meant: a name, an identifier, or what stands after "from", "with", "about"."""
    at = question.find(word)
    before = question[:at].split()
    if any(c.isdigit() for c in word) or " " in word or "-" in word:
        return True
    if word[:1].isupper() and before and before[-1].strip("?!.:;,").lower() not in QUESTION_WORDS:
        return True
    return bool(before) and before[-1].lower() in _BEFORE_NAMES
