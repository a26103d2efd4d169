"""Plans questions about the documents of somebody who is named: "what did Acme order", "how much did Acme spend".

The name is a row of one table (customers), and what is asked stands in another, which refers to it (orders). The words
for the relation and the name are replaced by the noun of these documents, the rest is planned like any other question,
and the condition on the name is added.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.rules.lexicon.span_links import ValueMatch
from agent.rules.nested.joins import BucketJoin, find_join_table
from agent.rules.nested.subordinates import PlanLeg, RelatedLeg, condition_on, join_with, names_itself
from agent.rules.reading.bucket_reading import BucketReading
from agent.rules.reading.question_reader import QuestionReader
from storage.search.conditions import Condition
from storage.search.ids import LegId
from storage.search.schema import FieldType, Schema

_ORDERS = frozenset("order orders purchase purchases sale sales".split())
_BUYING = r"(?:order(?:ed)?|buy|bought|purchase[ds]?)"
_SPENDING = r"(?:spend|spent|pay|paid|buy(?:\s+for)?|bought(?:\s+for)?)"
_TOTALS = frozenset("total amount gross sum value price".split())
_SO_FAR = r"(?:\s+(?:with\s+us|from\s+us|so\s+far|in\s+total|altogether|overall))*"
_DOING = (
    r"(?:do|done|work(?:ed)?|make|made|place[d]?|have|had|get|got|log(?:ged)?|complete[d]?|take[n]?|book(?:ed)?|sen[dt]"
    r"|receive[d]?|raise[d]?|report(?:ed)?|handle[d]?)"
)
_DID = r"(?:did|has|have|does|do)"


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartyForm:
    """What stands before and behind the name. `text` replaces both; `{n}` is the noun, `{amount}` what is added up.

    `kept` is a part of the words before the name that stays. A form of purchases fits documents of this kind only.
    """

    before: re.Pattern[str]
    behind: re.Pattern[str]
    text: str
    is_of_purchases: bool = False


def _form(before: str, behind: str, text: str, *, is_of_purchases: bool = False) -> _PartyForm:
    return _PartyForm(
        before=re.compile(before + r"\s*$", re.I),
        behind=re.compile("^" + behind, re.I),
        text=text,
        is_of_purchases=is_of_purchases,
    )


_TOTAL = "total {amount} of the {n}"
_FORMS = (
    _form(rf"^(?:so\s+)?how\s+much\s+(?:money\s+)?{_DID}", rf"\s+{_SPENDING}\b{_SO_FAR}", _TOTAL, is_of_purchases=True),
    _form(
        r"^(?:what(?:'s|\s+is)\s+)?(?:the\s+)?total\s+(?:amount\s+)?(?:spent|spend|spending)\s+(?:by|of)",
        "",
        _TOTAL,
        is_of_purchases=True,
    ),
    _form(rf"^what\s+(?:all\s+)?{_DID}", rf"\s+{_BUYING}\b{_SO_FAR}", "list the {n}", is_of_purchases=True),
    _form(
        r"^(?:has|does|do|did|have)",
        r"\s+(?:have\s+|got\s+|placed?\s+|made?\s+)?(?=(?:any|an?|some)\s)",
        "are there ",
    ),
    _form(r"\b(?:did|does|do|has|have)", rf"\s+{_DOING}\b", ""),
    _form("", r"['’]s?(?=\s+\w)", "the "),
    _form(r"\b(?:of|from|by|for|with|to)", "", ""),
)


def plan_party_documents(
    leg_id: LegId, question: str, readings: Sequence[BucketReading], reader: QuestionReader, plan_leg: PlanLeg
) -> RelatedLeg | None:
    """Returns the leg; None if the question names nobody, or is explained by the table that has the name."""
    joins = [join for join in find_join_table(reader.lexicons).direct if join.is_forward and not join.is_within_bucket]
    for reading in readings:
        if not joins or reading.asked_mentions:
            continue
        is_explained = not readings[0].unlinked_words
        for name in reading.links:
            if not isinstance(name.meaning, ValueMatch) or not names_itself(name.meaning.field, reading, reader):
                continue
            start, end = reading.tokens[name.first].start, reading.tokens[name.last - 1].end
            party = condition_on(name.meaning, question[start:end])
            legs = (
                _plan_in_bucket(
                    leg_id, question, (start, end), party, join, reader, plan_leg, by_verb_alone=is_explained
                )
                for join in joins
                if join.inner == reading.bucket and len(join.outer_fields) == 1
            )
            planned = [leg for leg in legs if leg is not None]
            if len(planned) == 1:  # "approved by Ida" and "made by Ida" are two fields: which is meant, is not known
                return planned[0]
    return None


def _plan_in_bucket(
    leg_id: LegId,
    question: str,
    span: tuple[int, int],
    party: Condition,
    join: BucketJoin,
    reader: QuestionReader,
    plan_leg: PlanLeg,
    *,
    by_verb_alone: bool,
) -> RelatedLeg | None:
    lexicon = reader.lexicons[join.outer]
    for text, is_named in _texts_without(question, span, lexicon.schema):
        reading = reader.read_in_bucket(text, join.outer)
        has_own_noun = any(token.stem in lexicon.noun_stems for token in reading.tokens)
        if reading.unlinked_words or not (is_named or (has_own_noun and not by_verb_alone)):
            continue
        leg, alternatives = plan_leg(leg_id, text, [reading])
        if leg.search.buckets == (join.outer,) and not leg.answer_form.reads_text:
            words = question[span[0] : span[1]]
            return join_with(
                (leg, alternatives),
                question,
                join.outer,
                (join.outer_fields[0], join.inner, join.inner_key),
                party,
                words,
            )
    return None


def _texts_without(question: str, span: tuple[int, int], schema: Schema) -> Iterator[tuple[str, bool]]:
    """Yields the question without the name, and whether it names documents of the schema by a verb."""
    nouns = [noun for noun in (*schema.synonyms, schema.title) if noun]
    is_of_purchases = any(set(noun.casefold().split()) & _ORDERS for noun in nouns)
    noun = next((noun for noun in nouns if noun.casefold().endswith("s")), nouns[0] if nouns else "")
    amounts = [field.label for field in schema.fields if field.type in (FieldType.MONEY, FieldType.NUMBER)]
    amount = next((label for label in amounts if set(label.casefold().split()) & _TOTALS), "amount")
    for form in _FORMS:
        before, behind = form.before.search(question[: span[0]]), form.behind.search(question[span[1] :])
        if before is None or behind is None or (form.is_of_purchases and not is_of_purchases):
            continue
        text = form.text.format(n=noun, amount=amount)
        yield f"{question[: before.start()]}{text}{question[span[1] + behind.end() :]}", form.is_of_purchases
