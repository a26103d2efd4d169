"""The first round trip: the index requests of all legs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent.decomposition import LegAlternatives, QuestionContext
from agent.limits import AnswerLimits
from agent.refine.facets import facet_requests
from agent.refine.relaxations import comparisons_with_missing
from agent.refine.unknown_words import groups_of_words, mentioning_search
from agent.refine.unstated_values import UnstatedRequests, build_unstated_requests
from agent.retrieval.fusion import weigh_terms
from agent.retrieval.ranking_terms import build_passage_requests, ranking_terms_for
from agent.retrieval.relevance import QueryTerm
from agent.retrieval.sub_queries.sub_query_rankings import (
    SubQueryRequests,
    build_probe_requests,
    build_sub_query_requests,
)
from storage.search.conditions import MissingCondition, conjunction_of, conjuncts_of
from storage.search.ids import FieldName
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    DocumentRequest,
    FacetRequest,
    IndexAnswers,
    IndexRequest,
    KeywordPassageRequest,
    OutlineHit,
    OutlineRequest,
    PassageHit,
    RecordPageRequest,
    SemanticPassageRequest,
)
from storage.search.plan import Clause, Leg, Search, unfiltered_search_of

FETCHED_PASSAGES = 50  # passages fetched before reranking
_MAX_NAMED_DOCUMENTS = 21  # documents fetched where a question names one but may fit several


@dataclass(frozen=True, slots=True, kw_only=True)
class LegRequests:
    """The requests of one leg, by purpose; `all_requests` yields all of them."""

    leg: Leg
    count: CountRequest
    record_page: RecordPageRequest | None = None
    facets: tuple[FacetRequest, ...] = ()
    aggregate: AggregateRequest | None = None
    documents: DocumentRequest | None = None  # those that the search names, of which one is read
    passage_requests: Mapping[str, KeywordPassageRequest | SemanticPassageRequest] = field(
        default_factory=dict[str, KeywordPassageRequest | SemanticPassageRequest]
    )
    fallback_requests: Mapping[str, KeywordPassageRequest | SemanticPassageRequest] = field(
        default_factory=dict[str, KeywordPassageRequest | SemanticPassageRequest]
    )
    # The topics of the question, in the documents of `widest_requests`
    sub_queries: tuple[SubQueryRequests, ...] = ()
    probes: tuple[SubQueryRequests, ...] = ()  # the further ranking texts of the leg, in its set
    fallback_probes: tuple[SubQueryRequests, ...] = ()  # the same in all documents
    outlines: OutlineRequest | None = None  # the documents about the subject of the question
    fallback_outlines: OutlineRequest | None = None  # the same among all documents
    # Counts of the documents that hold each content word
    word_counts: Mapping[str, CountRequest] = field(default_factory=dict[str, CountRequest])
    # Stems of the words that say what is asked
    asked_stems: Mapping[str, str] = field(default_factory=dict[str, str])
    content_stems: Mapping[str, str] = field(default_factory=dict[str, str])  # stems of all content words
    schema_phrases: tuple[str, ...] = ()  # the schema's words for what is asked
    missing_counts: Mapping[FieldName, CountRequest] = field(default_factory=dict[FieldName, CountRequest])
    unstated: UnstatedRequests | None = None  # documents that do not state what the answer depends on
    equal_reading_counts: tuple[CountRequest, ...] = ()  # counts of the equal readings, in their order
    fallback_reading_counts: tuple[CountRequest, ...] = ()  # counts of the fallback readings, in their order
    # Counts, in all documents, of the words that may be misspelt
    misspelt_word_counts: tuple[CountRequest, ...] = ()
    # Counts of the documents of the set that mention words that were not understood: all of them, and each
    mention_counts: Mapping[tuple[str, ...], CountRequest] = field(default_factory=dict[tuple[str, ...], CountRequest])
    whole_count: CountRequest | None = None  # the count of the set that a share refers to

    def all_requests(self) -> Iterator[IndexRequest[object]]:
        yield self.count
        yield from (request for request in (self.record_page, self.aggregate, self.outlines) if request is not None)
        yield from (request for request in (self.fallback_outlines, self.whole_count) if request is not None)
        yield from (self.documents,) if self.documents is not None else ()
        yield from self.facets
        yield from (
            *self.passage_requests.values(),
            *self.sub_query_requests(),
            *self.fallback_requests.values(),
            *self.word_counts.values(),
            *self.missing_counts.values(),
            *self.mention_counts.values(),
        )
        yield from self.unstated.all_requests() if self.unstated is not None else ()
        yield from (*self.equal_reading_counts, *self.fallback_reading_counts, *self.misspelt_word_counts)

    def recorded_requests(self) -> Iterator[IndexRequest[object]]:
        """Yields the requests that are recorded as attempts."""
        yield self.count
        yield from (request for request in (self.record_page, self.aggregate, self.outlines) if request is not None)
        yield from (*self.passage_requests.values(), *self.sub_query_requests(), *self.fallback_requests.values())

    @property
    def widest_requests(self) -> Mapping[str, KeywordPassageRequest | SemanticPassageRequest]:
        """The requests for passages of all documents, or of the set if there are no others."""
        return self.fallback_requests or self.passage_requests

    def probes_beside(
        self, passage_requests: Mapping[str, KeywordPassageRequest | SemanticPassageRequest]
    ) -> tuple[SubQueryRequests, ...]:
        """The probes in the documents that `passage_requests` search."""
        return self.fallback_probes if passage_requests is self.fallback_requests else self.probes

    def sub_query_requests(self) -> Iterator[KeywordPassageRequest | SemanticPassageRequest]:
        for sub_query in (*self.sub_queries, *self.probes, *self.fallback_probes):
            yield from sub_query.passage_requests.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class LegInquiry:
    """A leg whose requests are built, with what building them needs."""

    leg: Leg
    alternatives: LegAlternatives
    question_context: QuestionContext
    limits: AnswerLimits
    may_ask_back: bool
    may_decompose: bool = False  # a question about the text may be searched by its topics too

    @property
    def ranking_text(self) -> str:
        return self.leg.search.ranking_text or self.leg.question

    def rank_passages(self, limit: int) -> Mapping[str, KeywordPassageRequest | SemanticPassageRequest]:
        return {"text": KeywordPassageRequest(self.leg.search, self.ranking_text, limit)}

    def request_facets(self) -> tuple[FacetRequest, ...]:
        """Returns the facets that may split the set; none if the answer may not ask back."""
        return tuple(facet_requests(self.leg.search, self.question_context.schemas)) if self.may_ask_back else ()

    def request_set(self) -> LegRequests:
        """Returns the requests of every question about a set: counts of its documents, missing fields and droppable
        words.
        """
        search = self.leg.search
        return LegRequests(
            leg=self.leg,
            count=CountRequest(search),
            missing_counts=dict(_missing_count_requests(search, self.question_context)),
            unstated=self.request_unstated(),
            word_counts={word: word_count_request(search, word) for word in self.alternatives.droppable_words},
        )

    def request_unstated(self, scope: Search | None = None) -> UnstatedRequests:
        """Returns the counts of documents that do not state what the answer depends on, beyond the `scope`."""
        return build_unstated_requests(self.leg, self.question_context, scope)

    def request_topics(self) -> LegRequests:
        """Returns the requests of a question that the text answers, and those of its topics.

        Topics are searched in all documents: the conditions of the question may name the documents of one of them.
        """
        requests = self.request_text(self.ranking_text)
        if not self.may_decompose:
            return requests
        search = requests.widest_requests["text"].search
        analyser = self.question_context.analysers[search.buckets[0]]
        topics = build_sub_query_requests(self.leg.question, search, analyser, FETCHED_PASSAGES)
        return replace(requests, sub_queries=topics)

    def request_text(self, text: str, named_search: Search | None = None) -> LegRequests:
        """Returns the requests of every question about text: passages of the set, passages anywhere, counts of each
        word.

        `named_search` finds the documents to read, if these are more than the set.
        """
        return _build_text_requests(self.leg, named_search or self.leg.search, text, self.question_context)


def add_alternative_counts(requests: LegRequests, inquiry: LegInquiry) -> LegRequests:
    """Adds a count for each other reading, each word that may be misspelt, and the words that are asked about."""
    alternatives, whole = inquiry.alternatives, unfiltered_search_of(*inquiry.question_context.schemas)
    misspelt = alternatives.spelling_correction.corrections if alternatives.spelling_correction else ()
    equal_readings = alternatives.equal_readings if inquiry.may_ask_back else ()
    asks_about_words = bool(alternatives.unknown_words) and inquiry.may_ask_back
    return replace(
        requests,
        facets=requests.facets or (inquiry.request_facets() if asks_about_words else ()),
        mention_counts=_count_mentions(inquiry.leg, alternatives.unknown_words) if asks_about_words else {},
        equal_reading_counts=tuple(CountRequest(reading.search) for reading in equal_readings),
        fallback_reading_counts=tuple(CountRequest(reading.search) for reading in alternatives.fallback_readings),
        misspelt_word_counts=tuple(word_count_request(whole, written) for written, _ in misspelt),
    )


def _count_mentions(leg: Leg, words: Sequence[str]) -> Mapping[tuple[str, ...], CountRequest]:
    if leg.answer_form.reads_values:
        return {}  # the words ask for a value and restrict no set
    return {group: CountRequest(mentioning_search(leg.search, group)) for group in groups_of_words(words)}


def _build_text_requests(leg: Leg, named_search: Search, text: str, question_context: QuestionContext) -> LegRequests:
    ranking = ranking_terms_for(leg, question_context)
    whole = unfiltered_search_of(*question_context.schemas)
    subject = " ".join(ranking.content_words) or text
    requests = LegRequests(
        leg=leg,
        count=CountRequest(leg.search),
        passage_requests=build_passage_requests(named_search, ranking, text, FETCHED_PASSAGES),
        outlines=OutlineRequest(named_search, subject),
        word_counts={word: word_count_request(whole, word) for word in ranking.content_stems},
        asked_stems=ranking.asked_stems,
        content_stems=ranking.content_stems,
        schema_phrases=ranking.schema_phrases,
        probes=build_probe_requests(leg.probes, named_search, FETCHED_PASSAGES),
    )
    if all(clause.display_condition == conjunction_of() for clause in leg.search.clauses):
        return requests
    anywhere = replace(whole, ranking_text=text)
    return replace(
        requests,
        record_page=RecordPageRequest(named_search, limit=_MAX_NAMED_DOCUMENTS),
        fallback_outlines=OutlineRequest(anywhere, subject),
        fallback_requests={
            "text": KeywordPassageRequest(anywhere, subject, FETCHED_PASSAGES),
            "semantic": SemanticPassageRequest(anywhere, text, FETCHED_PASSAGES),
        },
        fallback_probes=build_probe_requests(leg.probes, anywhere, FETCHED_PASSAGES),
    )


def word_count_request(search: Search, word: str) -> CountRequest:
    """Counts the documents of the search's buckets that hold the word."""
    clauses = tuple(Clause(bucket=bucket, required_terms=(word,)) for bucket in search.buckets)
    return CountRequest(Search(clauses=clauses))


def _missing_count_requests(
    search: Search, question_context: QuestionContext
) -> Iterator[tuple[FieldName, CountRequest]]:
    """Yields, for each compared field, the count of documents that lack it and meet all other conditions."""
    if len(search.clauses) != 1:
        return
    clause = search.clauses[0]
    compared = list(comparisons_with_missing(clause, question_context.schemas[clause.bucket]))
    for name in dict.fromkeys(name for _, name in compared):
        own = [condition for condition, field in compared if field == name]  # both ends of a range
        others = (condition for condition in conjuncts_of(clause.condition) if condition not in own)
        lacking = replace(clause, condition=conjunction_of(*others, MissingCondition(field=name)))
        yield name, CountRequest(Search(clauses=(lacking,)))


def hits_by_collector(
    requests: Mapping[str, KeywordPassageRequest | SemanticPassageRequest], answers: IndexAnswers
) -> dict[str, Sequence[PassageHit]]:
    return {name: answers[request] for name, request in requests.items()}


def outlines_for(
    requests: LegRequests,
    passage_requests: Mapping[str, KeywordPassageRequest | SemanticPassageRequest],
    answers: IndexAnswers,
) -> Sequence[OutlineHit]:
    """Returns the best outlines of the documents that `passage_requests` search; empty if none were asked for."""
    is_fallback = passage_requests is requests.fallback_requests
    outlines = requests.fallback_outlines if is_fallback else requests.outlines
    return answers[outlines] if outlines is not None else ()


def weigh_question_terms(
    requests: LegRequests,
    answers: IndexAnswers,
    question_context: QuestionContext,
    *,
    include_naming_terms: bool = False,
) -> tuple[QueryTerm, ...]:
    """Returns the words that say what the leg's question asks, weighted by rarity among all visible documents.

    `include_naming_terms`: also the words that name documents, for a search that is not limited to these documents.
    """
    stems = requests.content_stems if include_naming_terms else requests.asked_stems
    counts = {word: (stem, answers[requests.word_counts[word]]) for word, stem in stems.items()}
    return weigh_terms(counts, question_context.vocabulary.total_document_count)


def drop_unknown_words(
    leg: Leg, alternatives: LegAlternatives, requests: LegRequests, answers: IndexAnswers
) -> tuple[Leg, tuple[str, ...]]:
    """Returns the leg without the droppable words that no document contains, and these words."""
    required = {word for clause in leg.search.clauses for word in clause.required_terms}
    doubtful = [word for word in alternatives.droppable_words if word in required and word in requests.word_counts]
    unknown = tuple(word for word in doubtful if answers[requests.word_counts[word]] == 0)
    if not unknown:
        return leg, ()
    clauses = tuple(
        replace(clause, required_terms=tuple(word for word in clause.required_terms if word not in unknown))
        for clause in leg.search.clauses
    )
    if all(clause.display_condition == conjunction_of() for clause in clauses) and not _has_single_bucket(leg):
        return leg, ()  # without these words nothing is left to search for
    return replace(leg, search=leg.search.with_clauses(*clauses)), unknown


def _has_single_bucket(leg: Leg) -> bool:
    return len(leg.search.clauses) == 1
