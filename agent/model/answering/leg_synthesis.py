"""Joins the answers to the parts of a question where the question asks how they belong together."""

import re
from collections.abc import Iterator, Sequence

from agent.answer_combination import JointAnswer
from agent.compose.phrases.words import escape_markdown
from agent.errors import ModelUnavailable, UnusableReply
from agent.gateway.call_budget import BudgetedModel
from agent.gateway.language_model import LanguageModel
from agent.gateway.structured_output import request_structured
from agent.model.answering.answer_prompts import render_joint_prompt
from agent.model.answering.claim_checks import ClaimChecker
from agent.model.answering.evidence import EvidenceItem, LegEvidence, clean_text
from agent.outcome import ResultTable
from agent.review.review import ReviewedPlan
from agent.verify import VerifiedLeg, markers_in, number_citations, plain_text_of
from prompts.outputs.written_answer import JointAnswerOutput
from storage.search.ids import LegId
from storage.search.plan import LegCombination

_STAGE = "combine"
_UNSUPPORTED_REASON = "most sentences were not in the answers"
_BUDGET_REASON = "no calls left"
_MAX_TABLE_ROWS = 30
# Words that ask how things belong together, in the languages of the project: `why`, `what drove`, `as a result`
_JOINING_WORDS = re.compile(
    r"\b(?:why|reasons?|because|causes?|caused|drove|drives?|driven|due\s+to|led\s+to|leads?\s+to|behind|explain\w*"
    r"|result(?:ed|s|ing)?|effects?|affect\w*|impact\w*|influence\w*|relate[sd]?|relation\w*|connect\w*|consequen\w*"
    r"|therefore|overall|together|come\s+from"
    r"|warum|weshalb|wieso|gr[uü]nde?|ursachen?|wodurch|auswirk\w*|folgen?|zusammenh\w*|insgesamt"
    r"|pourquoi|raisons?|causes?|effets?|ensemble|cons[eé]quences?"
    r"|por\s+qu[eé]|raz[oó]n(?:es)?|causas?|efectos?|consecuencias?)\b",
    re.IGNORECASE,
)
_JOINED = (LegCombination.SIDE_BY_SIDE, LegCombination.SEQUENCE)


def asks_joint_statement(question: str) -> bool:
    """Whether the question asks how its parts belong together: "…, and why?", "what drove the change?"."""
    return _JOINING_WORDS.search(question) is not None


async def combine_leg_answers(
    model: LanguageModel,
    reviewed: ReviewedPlan,
    legs: Sequence[VerifiedLeg],
    *,
    language: str,
    max_calls: int,
    max_output_tokens: int = 800,
    timeout_s: float | None = None,
) -> JointAnswer | None:
    """Returns one answer from the verified answers to all legs; None if the question does not ask for one.

    Every sentence is checked against the answers that it cites. An answer without sentences says that the answers could
    not be joined; why is in the log. Raises nothing. `max_calls`: of models in one turn.
    """
    plan, log = reviewed.plan, reviewed.reviews[0].question_context.reasoning_log
    if plan.combination not in _JOINED or len(legs) < 2 or not asks_joint_statement(plan.question):
        return None
    if log.model_requests >= max_calls:
        log.record_fallback(_STAGE, _BUDGET_REASON)
        return JointAnswer()
    answers = list(_answers_of(reviewed, number_citations(legs)))
    items = tuple(item for item, _, _ in answers)
    prompt = render_joint_prompt(plan.question, items, language)
    try:
        reply = await request_structured(
            BudgetedModel(model, max_calls),
            prompt,
            JointAnswerOutput,
            log,
            max_output_tokens=max_output_tokens,
            timeout_s=timeout_s,
        )
    except (ModelUnavailable, UnusableReply) as exc:
        log.record_failure(_STAGE, exc)
        return JointAnswer()
    joint = _verify_reply(reply.value, answers, ClaimChecker(
        evidence=LegEvidence(items=items), question=plan.question, language=language
    ))  # fmt: skip
    if not joint.sentences:
        log.record_fallback(_STAGE, _UNSUPPORTED_REASON)
    return joint


def _answers_of(
    reviewed: ReviewedPlan, legs: Sequence[VerifiedLeg]
) -> Iterator[tuple[EvidenceItem, Sequence[str], LegId]]:
    """Yields each sentence and table of the answers as an item, with its markers and its leg."""
    number = 0
    for leg, review in zip(legs, reviewed.reviews, strict=True):
        texts = [(plain_text_of(sentence), markers_in(sentence)) for sentence in leg.sentences]
        texts += [(_text_of_table(table), []) for table in leg.composed.tables]
        for text, markers in texts:
            number += 1
            item = EvidenceItem(id=number, title=clean_text(review.leg.question), text=clean_text(text))
            yield item, markers, review.leg.id


def _text_of_table(table: ResultTable) -> str:
    rows = (" | ".join(row) for row in (table.columns, *table.rows[:_MAX_TABLE_ROWS]))
    return "\n".join((table.caption, *rows))


def _verify_reply(
    reply: JointAnswerOutput, answers: Sequence[tuple[EvidenceItem, Sequence[str], LegId]], checker: ClaimChecker
) -> JointAnswer:
    """Returns the sentences that pass, with the markers of the answers that they cite; none if most do not pass."""
    by_id = {item.id: (markers, leg) for item, markers, leg in answers}
    sentences: list[str] = []
    joined = set[LegId]()
    for sentence in reply.sentences:
        verified = checker.verify_sentence(sentence)
        if verified is None:
            continue
        cited = [by_id[number] for number in dict.fromkeys(sentence.evidence)]
        markers = sorted({marker for own, _ in cited for marker in own}, key=int)
        joined |= {leg for _, leg in cited}
        text = escape_markdown(verified.claim.text)
        sentences.append(f"{text} {''.join(f'[{marker}]' for marker in markers)}".rstrip())
    if 2 * len(sentences) < len(reply.sentences) or len(joined) < 2:
        return JointAnswer()
    return JointAnswer(sentences=tuple(sentences), legs=frozenset(joined))
