"""Plans a leg from the readings of its question: a set, the values of a document, or a search of the text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from agent.assumptions import Assumption, SiblingsLeftOut
from agent.decomposition import AlternativeForm, AlternativeReading, LegAlternatives
from agent.english.function_words import DIMENSION_UNITS, DOCUMENT_NOUNS, LIST_VERBS, QUESTION_WORDS
from agent.english.telling_words import select_telling_words
from agent.rules.binding.implied_kind import add_implied_kind
from agent.rules.binding.literal_conditions import AlternativeCondition
from agent.rules.cues.form_wording import drop_added_groups, drop_measure_words, mark_unmeasured_superlative
from agent.rules.cues.question_cues import find_cues
from agent.rules.cues.vague_adjectives import find_vague_condition
from agent.rules.forms.equal_forms import find_equal_forms
from agent.rules.forms.possible_forms import find_possible_forms, find_possible_sets
from agent.rules.forms.recognisers import answer_form_of, drop_words_of_form, recognise_form, text_form_of
from agent.rules.lexicon.bucket_lexicon import BucketLexicon
from agent.rules.planning.left_over_words import telling_words
from agent.rules.planning.unhandled_terms import find_unhandled_terms
from agent.rules.planning.unused_mentions import words_of_unused_mentions
from agent.rules.reading.bucket_reading import MIN_COVERAGE, BucketReading
from agent.rules.reading.part_names import find_sibling_readings
from agent.rules.reading.title_words import find_title_words
from storage.quantities.units import convert_unit
from storage.search.conditions import (
    MATCH_ALL,
    TEXT_FIELD,
    TITLE_FIELD,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    MissingCondition,
    NotCondition,
    conjunction_of,
    fields_of,
    title_condition_for,
)
from storage.search.ids import BucketId, FieldName, LegId
from storage.search.plan import (
    AnswerForm,
    CheckClaims,
    Clause,
    FindPassages,
    Leg,
    ListDocuments,
    ReadFields,
    Search,
    SummariseDocuments,
)
from storage.search.schema import FieldType
from storage.text.identifiers import is_identifier

_TIE_MARGIN = 0.05  # readings whose scores differ by less count as equal
_TEXT_QUESTION_WORDS = QUESTION_WORDS - {"which"}  # they begin a question about the text of documents
_MAX_REQUIRED_WORDS = 3  # more unlinked words than this are a topic that only ranks


def plan_leg(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> tuple[Leg, LegAlternatives]:
    lexicon = lexicons[readings[0].bucket]
    cues = find_cues(readings[0], lexicon)
    recogniser, recognised_form = recognise_form(cues)
    answer_form = _form_for_identifier(recognised_form, readings[0])
    equal_forms = find_equal_forms(answer_form, cues)
    best = drop_added_groups(drop_words_of_form(readings[0], recogniser.form_words), answer_form)
    best = drop_measure_words(best, answer_form, lexicon)
    best = mark_unmeasured_superlative(_without_event_verb(best, answer_form), answer_form, lexicon)
    vague_condition = find_vague_condition(readings[0], lexicon) if _may_need_threshold(answer_form) else None
    if vague_condition is not None:
        best = _without_word(best, vague_condition.word)
    readings = [best, *readings[1:]]
    if (identified_leg := _leg_by_identifier(leg_id, question, readings, lexicons)) is not None:
        is_single = len(identified_leg.search.clauses) == 1
        forms = _alternative_forms(equal_forms, identified_leg.search, lexicon) if is_single else ()
        return identified_leg, LegAlternatives(leg=leg_id, equal_forms=forms)
    if isinstance(answer_form, CheckClaims) and answer_form.quantifier is not None:
        search = Search(clauses=(Clause(bucket=best.bucket, condition=best.condition),), ranking_text=question)
        return Leg(id=leg_id, question=question, search=search, answer_form=answer_form), LegAlternatives(leg=leg_id)
    if answer_form.reads_text or not _defines_set(best, answer_form, lexicon):
        return _lookup_leg(leg_id, question, readings, text_form_of(best, lexicon), lexicons)
    if answer_form.reads_values:
        leg = _value_leg(leg_id, question, best, answer_form, lexicon)
        forms = _alternative_forms(equal_forms, leg.search, lexicon)
        # Where fields are as likely, these are asked about; and a text may know the words.
        is_certain_form = lexicon.holds_records and len(forms) < 2
        left_words = [word for word in best.unknown_words if not _names_dimension(word, answer_form, lexicon)]
        unknown_words = telling_words(left_words, best.tokens, best.light_words) if is_certain_form else ()
        return leg, LegAlternatives(
            leg=leg_id,
            equal_forms=forms,
            unknown_words=unknown_words,
            suggested_fields=best.similarities.rank_fields(unknown_words),
            possible_sets=find_possible_sets(readings, lexicons) if best.unlinked_words else (),
            is_understood=not best.unlinked_words and any(not mention.is_hint for mention in best.asked_mentions),
        )
    unknown_words = _unknown_words_of_set(best, answer_form, lexicon)
    chosen_readings = _choose_readings(readings, answer_form)
    if len(chosen_readings) == 1 and _may_join_siblings(answer_form):
        chosen_readings += find_sibling_readings(best, readings)
    clauses = tuple(
        add_implied_kind(_clause_of(reading), answer_form, lexicons[reading.bucket].schema)
        for reading in chosen_readings
    )
    search = Search(clauses=clauses, ranking_text=question)
    alternatives = LegAlternatives(
        leg=leg_id,
        equal_readings=tuple(
            _alternative_reading(search, best, alternative) for alternative in best.equal_alternatives
        ),
        fallback_readings=tuple(
            _alternative_reading(search, best, alternative) for alternative in best.fallback_alternatives
        ),
        wider_readings=tuple(
            _alternative_reading(search, best, alternative) for alternative in best.wider_alternatives
        ),
        equal_forms=_alternative_forms(equal_forms, search, lexicon) if len(clauses) == 1 else (),
        vague_condition=vague_condition if len(clauses) == 1 else None,
        other_bucket_clauses=_clauses_elsewhere(readings, chosen_readings, answer_form),
        is_understood=bool(best.conditions) and not (best.required_words or unknown_words),
        unknown_words=unknown_words,
        suggested_fields=best.similarities.rank_fields(unknown_words),
        possible_sets=find_possible_sets(readings, lexicons) if best.unlinked_words else (),
    )
    return Leg(id=leg_id, question=question, search=search, answer_form=answer_form), alternatives


def _unknown_words_of_set(reading: BucketReading, answer_form: AnswerForm, lexicon: BucketLexicon) -> tuple[str, ...]:
    """Returns the words that may restrict the set. Everyday words do so only if nothing else does."""
    may_be_whole_bucket = answer_form.is_document_count or (
        answer_form.lists_documents and answer_form.list_order is None
    )
    words = (*reading.unknown_words, *words_of_unused_mentions(reading, answer_form, lexicon))
    return words or (reading.light_words if may_be_whole_bucket and not reading.conditions else ())


def _leg_by_identifier(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> Leg | None:
    """Returns a leg for fields of a document that only an identifier names, in any bucket; else None."""
    title_conditions = [title_condition_for(word) for word in readings[0].unlinked_words if is_identifier(word)]
    if not title_conditions or any(reading.conditions or reading.has_noun for reading in readings):
        return None
    forms = [(reading, answer_form_of(reading, lexicons[reading.bucket])) for reading in readings]
    value_forms = [(reading, answer_form) for reading, answer_form in forms if answer_form.reads_values]
    clauses = tuple(
        Clause(
            bucket=reading.bucket,
            condition=conjunction_of(*title_conditions),
            required_terms=reading.unlinked_quotations,
        )
        for reading, _ in value_forms
    )
    fields = tuple(field for _, answer_form in value_forms for field in answer_form.requested_fields)
    answer_form, search = ReadFields(fields=fields), Search(clauses=clauses, ranking_text=question)
    return Leg(id=leg_id, question=question, search=search, answer_form=answer_form) if value_forms else None


def _form_for_identifier(answer_form: AnswerForm, reading: BucketReading) -> AnswerForm:
    """Returns a list or a summary for a lone identifier; returns the form unchanged for other questions."""
    says_more = (
        reading.conditions or reading.unlinked_quotations or reading.asked_mentions or len(reading.unlinked_words) != 1
    )
    if says_more or answer_form not in (FindPassages(), CheckClaims()) or not is_identifier(reading.unlinked_words[0]):
        return answer_form
    return SummariseDocuments() if reading.tokens[0].word in QUESTION_WORDS else ListDocuments()


def _defines_set(reading: BucketReading, answer_form: AnswerForm, lexicon: BucketLexicon) -> bool:
    """Whether the reading defines a set of documents, and is not only a search in their text."""
    first_word = reading.tokens[0].word if reading.tokens else ""
    if reading.unknown_words and first_word in _TEXT_QUESTION_WORDS and not lexicon.holds_records:
        return answer_form.computes  # "what does the guide say of …": the texts are more likely to know the words
    if answer_form.is_of_whole_bucket and not (reading.unlinked_words or reading.unlinked_quotations):
        return True
    computes = answer_form.computes and len(reading.unlinked_words) <= 1
    if reading.has_noun and (
        first_word not in _TEXT_QUESTION_WORDS
        or reading.coverage >= MIN_COVERAGE
        or not reading.unlinked_words
        or computes
    ):
        topic_words = (*reading.required_words, *reading.unknown_words)
        is_topic = len(topic_words) > (_MAX_REQUIRED_WORDS if not reading.conditions else len(reading.links))
        asks_text = not reading.conditions or first_word in _TEXT_QUESTION_WORDS
        return not (is_topic and asks_text and answer_form.lists_documents)
    if reading.conditions and reading.is_exact:
        return reading.is_credible
    if _asks_field_of_named(reading, answer_form):
        return True
    if (
        (reading.asked_mentions or answer_form.list_order is not None or answer_form.computed_field is not None)
        and not (reading.unlinked_words or reading.unlinked_quotations)
        and answer_form.depends_on_field
    ):
        return True  # "the latest filing date": a field, and no other word
    if answer_form.reads_values:
        has_title = bool(find_title_words(reading, lexicon))
        return has_title and len(reading.unlinked_words) <= _MAX_REQUIRED_WORDS  # a field and a possible title
    if len(reading.unlinked_words) == 1 and is_identifier(reading.unlinked_words[0]):
        return True
    if reading.unlinked_quotations or any(token.word in DOCUMENT_NOUNS for token in reading.tokens):
        return len(reading.unlinked_words) <= _MAX_REQUIRED_WORDS
    return first_word in LIST_VERBS and len(reading.unlinked_words) <= _MAX_REQUIRED_WORDS


def _asks_field_of_named(reading: BucketReading, answer_form: AnswerForm) -> bool:
    """ "Who looks after *Talvora*": whether a field is asked of what a part of a name stands for, and nothing else."""
    has_other_words = bool(reading.unlinked_words or reading.unlinked_quotations)
    asks_field = any(not mention.is_hint for mention in reading.asked_mentions)
    needs_field = answer_form.reads_values or answer_form.depends_on_field
    return bool(reading.conditions) and asks_field and needs_field and not has_other_words


def _value_leg(
    leg_id: LegId, question: str, reading: BucketReading, answer_form: AnswerForm, lexicon: BucketLexicon
) -> Leg:
    """Returns a leg for the values of a document named by conditions, or by unlinked words that may be its title."""
    identifiers = [word for word in reading.unlinked_words if is_identifier(word)]
    field_conditions = [condition for condition in reading.conditions if TEXT_FIELD not in fields_of(condition)]
    title_words = () if _names_row(field_conditions) else find_title_words(reading, lexicon)
    title_conditions = [title_condition_for(word) for word in identifiers or title_words]
    condition = (
        conjunction_of(*field_conditions, *map(title_condition_for, _names_left_over(reading)))
        if reading.is_exact and field_conditions
        else conjunction_of(*field_conditions, *title_conditions)
    )
    clause = Clause(bucket=reading.bucket, condition=condition, required_terms=reading.unlinked_quotations)
    return Leg(
        id=leg_id, question=question, search=Search(clauses=(clause,), ranking_text=question), answer_form=answer_form
    )


def _names_row(conditions: Sequence[Condition]) -> bool:
    """ "How many *boxes* of the absorbable sutures": whether several words name a value; no other word is a title."""
    return any(
        isinstance(condition, ComparisonCondition)
        and condition.op is ComparisonOperator.EQ
        and isinstance(condition.value, str)
        and len(condition.words.split()) > 1
        for condition in conditions
    )


def _names_left_over(reading: BucketReading) -> Iterator[str]:
    """ "Who is in charge of room *K03*": yields names that nothing is known by; no other room answers."""
    names = {token.word for token in reading.tokens if token.is_name}
    for word in reading.required_words:
        if names & set(word.casefold().split()):
            yield word


def _names_dimension(word: str, answer_form: AnswerForm, lexicon: BucketLexicon) -> bool:
    """ "At what *temperature* does it melt": whether the word is the dimension that a requested field measures."""
    unit = DIMENSION_UNITS.get(word.casefold())
    units = (lexicon.get_field(name).unit for bucket, name in answer_form.requested_fields if bucket == lexicon.bucket)
    return unit is not None and any(own and convert_unit(Decimal(1), unit, own) is not None for own in units)


def _choose_readings(readings: Sequence[BucketReading], answer_form: AnswerForm) -> list[BucketReading]:
    """Returns the reading of the best bucket and those of buckets that fit equally well."""
    best = readings[0]
    counts = answer_form.is_document_count
    counts_anywhere = counts and not best.has_noun and not best.conditions
    if answer_form.computes and not (counts_anywhere or (counts and is_empty_reading(best))):
        return [best]
    if answer_form.depends_on_field:
        return [best]  # other buckets may lack the field
    if not best.has_noun and not best.conditions:
        return [
            reading for reading in readings if not reading.conditions and not reading.has_noun
        ]  # only words: all buckets
    return [
        reading
        for reading in readings
        if reading is best
        or (
            best.score - reading.score <= _TIE_MARGIN
            and reading.has_noun == best.has_noun
            and reading.is_exact == best.is_exact
        )
    ]


def _may_join_siblings(answer_form: AnswerForm) -> bool:
    """Whether documents are counted or listed, which no field of a single bucket is needed for."""
    return answer_form.is_document_count or (answer_form.lists_documents and answer_form.list_order is None)


def is_empty_reading(reading: BucketReading) -> bool:
    return not (reading.conditions or reading.unlinked_words or reading.unlinked_quotations or reading.has_noun)


def _clause_of(reading: BucketReading) -> Clause:
    """Returns a clause with the conditions, and with the required words as required terms."""
    required = (*reading.required_words, *reading.unlinked_quotations)
    return Clause(bucket=reading.bucket, condition=reading.condition, required_terms=required)


def _clauses_elsewhere(
    readings: Sequence[BucketReading], chosen: Sequence[BucketReading], answer_form: AnswerForm
) -> tuple[Clause, ...]:
    """Returns clauses for the other buckets: by their fields, or by words alone if they lack the field."""
    if not answer_form.shows_documents:
        return ()
    best = readings[0]
    open_to_others = bool(best.conditions) and not best.has_noun
    return tuple(
        _clause_of(reading)
        for reading in readings
        if reading not in chosen
        and (
            reading.is_exact
            if reading.conditions
            else open_to_others and bool(reading.unlinked_words or reading.unlinked_quotations)
        )
    )


def _is_title_of_prose(condition: Condition, lexicon: BucketLexicon) -> bool:
    """Whether a title is that of a text; such a title may also be the subject of other texts."""
    return TITLE_FIELD in fields_of(condition) and not lexicon.holds_records


def _lookup_leg(
    leg_id: LegId,
    question: str,
    readings: Sequence[BucketReading],
    answer_form: AnswerForm,
    lexicons: Mapping[BucketId, BucketLexicon],
) -> tuple[Leg, LegAlternatives]:
    """Returns a leg for a text search: conditions on whole values filter it, and all words rank the results."""
    narrowing_readings = [reading for reading in readings if _narrows_search(reading, lexicons[reading.bucket])]
    best = narrowing_readings[0] if narrowing_readings else readings[0]
    runner_up = next((reading.score for reading in narrowing_readings[1:]), 0.0)
    if narrowing_readings and (best.has_noun or best.score - runner_up > _TIE_MARGIN):
        field_condition = conjunction_of(
            *(
                condition
                for condition in best.conditions
                if TEXT_FIELD not in fields_of(condition)
                and not _is_negation_in_text(condition, answer_form)
                and not _is_title_of_prose(condition, lexicons[best.bucket])
            )
        )
        clauses = (Clause(bucket=best.bucket, condition=field_condition, required_terms=_required_terms(best)),)
    else:
        clauses = tuple(Clause(bucket=reading.bucket, required_terms=_required_terms(reading)) for reading in readings)
    search = Search(clauses=clauses, ranking_text=question)
    words = select_telling_words(best.unlinked_words)
    alternatives = LegAlternatives(
        leg=leg_id,
        suggested_fields=best.similarities.rank_fields(words),
        possible_forms=find_possible_forms(question, readings, lexicons),
        possible_sets=find_possible_sets(readings, lexicons),
    )
    return Leg(id=leg_id, question=question, search=search, answer_form=answer_form), alternatives


def _is_negation_in_text(condition: Condition, answer_form: AnswerForm) -> bool:
    """Whether the condition negates what the text may say. That a value is known, is a claim: "has Ida Berg left?"."""
    match condition:
        case NotCondition(MissingCondition()):
            return not isinstance(answer_form, CheckClaims)
        case NotCondition():
            return True
        case _:
            return False


def _required_terms(reading: BucketReading) -> tuple[str, ...]:
    """Returns the terms that a document must contain: quoted phrases and identifiers."""
    return (*reading.unlinked_quotations, *filter(is_identifier, reading.unlinked_words))


def _narrows_search(reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """Whether the conditions of the reading are reliable enough to restrict the text search."""
    is_named = reading.has_whole_name or (reading.has_noun and reading.coverage >= MIN_COVERAGE)
    is_named = is_named or _asks_flag_of_named(reading, lexicon)
    return reading.is_exact and bool(reading.conditions) and is_named


def _asks_flag_of_named(reading: BucketReading, lexicon: BucketLexicon) -> bool:
    """ "Is *Ida* a keyholder": whether a flag is asked of the one document that a part of a name stands for."""
    if reading.unlinked_words or reading.unlinked_quotations or not reading.tokens:
        return False
    fields = [
        lexicon.schema.by_name[condition.field]
        for condition in reading.conditions
        if isinstance(condition, ComparisonCondition)
        and condition.op is ComparisonOperator.EQ
        and condition.field in lexicon.schema.by_name
    ]
    is_named = any(field.type is not FieldType.FLAG and lexicon.is_identifying(field.name) for field in fields)
    asks_flag = any(field.type is FieldType.FLAG for field in fields)
    return len(fields) == len(reading.conditions) and is_named and asks_flag


def _alternative_reading(
    search: Search,
    reading: BucketReading,
    alternative: AlternativeCondition,
) -> AlternativeReading:
    clauses = tuple(
        replace(clause, condition=conjunction_of(*alternative.all_conditions))
        if clause.bucket == reading.bucket
        else clause
        for clause in search.clauses
    )
    return AlternativeReading(
        bucket=reading.bucket, conditions=(alternative.replacement,), search=search.with_clauses(*clauses)
    )


def _without_event_verb(reading: BucketReading, answer_form: AnswerForm) -> BucketReading:
    """ "What *went* to Acme": the verb right after "what" says only that documents are asked for."""
    words = [token.word for token in reading.tokens[:2]]
    is_event = answer_form.lists_documents and words[:1] == ["what"] and len(words) > 1
    return _without_word(reading, words[1]) if is_event else reading


def _may_need_threshold(answer_form: AnswerForm) -> bool:
    """Whether a vague adjective would narrow the set that the form is about."""
    return answer_form.is_document_count or (answer_form.lists_documents and answer_form.list_order is None)


def _without_word(reading: BucketReading, word: str) -> BucketReading:
    left = tuple(words for words in reading.unlinked_words if words.casefold() != word)
    return replace(reading, unlinked_words=left)


def _alternative_forms(
    forms: Sequence[tuple[FieldName, AnswerForm]], search: Search, lexicon: BucketLexicon
) -> tuple[AlternativeForm, ...]:
    """Returns the forms with the documents that have a value for the field of each."""
    return tuple(
        AlternativeForm(
            bucket=lexicon.bucket,
            field=name,
            answer_form=answer_form,
            search=search.with_condition(_known_condition_for(name, lexicon)),
        )
        for name, answer_form in forms
    )


def _known_condition_for(name: FieldName, lexicon: BucketLexicon) -> Condition:
    """Returns the condition that the field has a value; none if every document has one."""
    return MATCH_ALL if lexicon.is_known_of_all(name) else NotCondition(MissingCondition(field=name))


def assumptions_of_leg(
    leg: Leg, readings: Sequence[BucketReading], lexicons: Mapping[BucketId, BucketLexicon]
) -> tuple[Assumption, ...]:
    """Returns the assumptions of the reading, those about terms that the plan does not handle, and unused siblings."""
    reading, form = readings[0], leg.answer_form
    unhandled = find_unhandled_terms(form, reading, lexicons[reading.bucket])
    is_of_reading = form.computes and leg.search.buckets == (reading.bucket,)
    siblings = find_sibling_readings(reading, readings) if is_of_reading else ()
    others = tuple(sibling.bucket for sibling in siblings)
    left_out = (SiblingsLeftOut(bucket=reading.bucket, others=others),) if others else ()
    return (*reading.assumptions, *unhandled, *left_out)
