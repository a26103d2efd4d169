"""The kinds of requests that questions make of an index, and whole questions, over the corpus of shipments."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench.layouts.corpus import SHIPMENTS, SUPPLIERS, ShipmentCorpus
from prompts.outputs import QuestionPlanOutput
from storage.search.conditions import (
    AndCondition,
    ComparisonCondition,
    ComparisonOperator,
    Condition,
    Scalar,
    SemiJoinCondition,
)
from storage.search.ids import FieldName
from storage.search.index import (
    AggregateRequest,
    CountRequest,
    FacetRequest,
    IndexRequest,
    KeywordPassageRequest,
    OutlineRequest,
    RecordPageRequest,
    SemanticPassageRequest,
)
from storage.search.plan import Clause, GroupBy, Search
from storage.search.schema import SchemaOrder
from tests.agent.model.plan_outputs import a_condition, a_part, a_plan_output

RequestShape = tuple[IndexRequest[object], ...]
THREE_SUB_QUERIES = "three sub-queries"
_MAX_PASSAGES = 50
_REFINEMENT_COUNT = 40


@dataclass(frozen=True, slots=True)
class RequestShapes:
    corpus: ShipmentCorpus

    def by_name(self) -> Mapping[str, RequestShape]:
        text = self.corpus.words_of_rank(40, 900, 6_000)
        frequent_text = self.corpus.words_of_rank(0, 3, 12, 500, 4_000)
        narrow = AndCondition((_equals("carrier", self.corpus.carriers[3]), _in_year(2021)))
        wide = _equals("status", "delivered")
        mention = Search(clauses=(Clause(bucket=SHIPMENTS, required_terms=(self.corpus.words_of_rank(900),)),))
        return {
            "words": _rank_by_words(_search_for(), text),
            "frequent words": _rank_by_words(_search_for(), frequent_text),
            "words, few documents": _rank_by_words(_search_for(narrow), text),
            "words, most documents": _rank_by_words(_search_for(wide), text),
            "words, documents with a word": _rank_by_words(mention, text),
            "words, a Search within": _rank_by_words(_search_for(self._from_city()), text),
            "meaning": _rank_by_meaning(_search_for(), text),
            "meaning, few documents": _rank_by_meaning(_search_for(narrow), text),
            "meaning, most documents": _rank_by_meaning(_search_for(wide), text),
            "outlines, few documents": (OutlineRequest(_search_for(narrow), text),),
            "count": (CountRequest(_search_for(narrow)),),
            "count of a Search within": (CountRequest(_search_for(self._from_city())),),
            "facets, few documents": self._count_with_facets(narrow),
            "facets, most documents": self._count_with_facets(wide),
            "facet of different values": (FacetRequest(_search_for(), FieldName("reference")),),
            "page, first": (RecordPageRequest(_search_for(wide), order=_by_day(), limit=50),),
            "page, 10,000 records": (RecordPageRequest(_search_for(wide), order=_by_day(), limit=10_000),),
            "sums by group": (
                AggregateRequest(
                    _search_for(wide), field=FieldName("price"), group=GroupBy(field=FieldName("country"))
                ),
            ),
            "40 counts, few documents": self._count_refinements(narrow),
            "40 counts, most documents": self._count_refinements(wide),
        }

    def questions(self) -> Mapping[str, str]:
        carrier, country, supplier = self.corpus.carriers[3], self.corpus.countries[5], self.corpus.suppliers[7]
        text = self.corpus.words_of_rank(40, 900, 6_000)
        return {
            "look-up of a value": "What is the weight of shipment S0000777?",
            "look-up in text": f"What does shipment S0000777 say about {text}?",
            "text of all documents": f"What is known about {text}?",
            "list": f"Delayed shipments by {carrier} to {country} in 2021",
            "list, too long": f"All delivered shipments by {carrier}",
            "list of most documents": "List every delivered shipment",
            "a Search within": f"Shipments from suppliers in {self.corpus.cities[2]} in 2021",
            "number": f"What is the average weight of shipments to {country} in 2020?",
            "groups": "Number of shipments by country",
            THREE_SUB_QUERIES: (
                f"How many shipments did {carrier} deliver in 2021, "
                f"what is the average weight of shipments to {country}, "
                f"and which shipments from {supplier} were lost?"
            ),
        }

    def plan_three_sub_queries(self) -> QuestionPlanOutput:
        """The plan of the question, as a model writes it."""
        carrier, country, supplier = self.corpus.carriers[3], self.corpus.countries[5], self.corpus.suppliers[7]
        delivered = a_condition("status", "is", "delivered", words="deliver")
        by_carrier = a_condition("carrier", "is", carrier, words=carrier)
        in_year = a_condition("shipped", "between", "2021-01-01", "2021-12-31", words="in 2021")
        to_country = a_condition("country", "is", country, words=country)
        lost = a_condition("status", "is", "lost", words="lost")
        from_supplier = a_condition("supplier", "is", supplier, words=supplier)
        return a_plan_output(
            a_part("count", SHIPMENTS, by_carrier, delivered, in_year, id="p1"),
            a_part("numbers", SHIPMENTS, to_country, id="p2", functions=["average"], fields=["weight"]),
            a_part("list", SHIPMENTS, from_supplier, lost, id="p3"),
            combine="side_by_side",
        )

    def _from_city(self) -> Condition:
        return SemiJoinCondition(
            field=FieldName("supplier"),
            bucket=SUPPLIERS,
            key=FieldName("title"),
            condition=_equals("city", self.corpus.cities[2]),
        )

    def _count_with_facets(self, condition: Condition) -> RequestShape:
        search = _search_for(condition)
        schema, _ = self.corpus.schemas
        return CountRequest(search), *(FacetRequest(search, field.name) for field in schema.fields)

    def _count_refinements(self, condition: Condition) -> RequestShape:
        search = _search_for(condition)
        values = [("country", value) for value in self.corpus.countries] + [
            ("tags", value) for value in self.corpus.tags
        ]
        refinements = [search.with_condition(_equals(name, value)) for name, value in values[:_REFINEMENT_COUNT]]
        return tuple(CountRequest(refined) for refined in (search, *refinements))


def _search_for(condition: Condition | None = None) -> Search:
    return Search(
        clauses=(Clause(bucket=SHIPMENTS) if condition is None else Clause(bucket=SHIPMENTS, condition=condition),)
    )


def _equals(name: str, value: Scalar) -> Condition:
    op = ComparisonOperator.HAS if name == "tags" else ComparisonOperator.EQ
    return ComparisonCondition(field=FieldName(name), op=op, value=value)


def _in_year(year: int) -> Condition:
    return ComparisonCondition(
        field=FieldName("shipped"), op=ComparisonOperator.BETWEEN, value=(f"{year}-01-01", f"{year}-12-31")
    )


def _by_day() -> SchemaOrder:
    return SchemaOrder(field=FieldName("shipped"), descending=True)


def _rank_by_words(search: Search, text: str) -> RequestShape:
    return (KeywordPassageRequest(search, text, _MAX_PASSAGES),)


def _rank_by_meaning(search: Search, text: str) -> RequestShape:
    return (SemanticPassageRequest(search, text, _MAX_PASSAGES),)
