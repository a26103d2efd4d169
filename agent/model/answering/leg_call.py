"""One call about a leg, and the sentences of its reply that are shown while they arrive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any as Json

from pydantic import ValidationError

from agent.compose.written_answers import compose_written_answer
from agent.model.answering.claim_checks import ClaimChecker
from agent.model.answering.evidence import LegEvidence
from agent.reasoning_log import ReasoningLog
from agent.review.leg_review import Enough, LegClarification, LegReview
from agent.review.written_answer import AnswerLayout, WrittenAnswerFacts, WrittenSentence
from agent.verify import verify_leg
from prompts.outputs.written_answer import OutputLayout, OutputVerdict, SentenceOutput, WrittenAnswerOutput
from prompts.prompt_library import RenderedPrompt
from storage.search.plan import FindSteps, Leg

VERDICTS: Mapping[OutputVerdict, bool] = {OutputVerdict.YES: True, OutputVerdict.NO: False}


@dataclass(frozen=True, slots=True, kw_only=True)
class LegCall:
    """One call about one leg."""

    review: LegReview
    decision: Enough | LegClarification  # of the rules
    evidence: LegEvidence
    checker: ClaimChecker
    log: ReasoningLog
    prompt: RenderedPrompt
    may_search_again: bool
    may_ask_again: bool


@dataclass(slots=True)
class ShownSentences:
    """The sentences of a stream that have passed; each is shown as soon as it has."""

    call: LegCall
    threshold: float  # from which evidence is enough
    floor: float  # under which there is no answer
    received: list[SentenceOutput] = field(default_factory=list[SentenceOutput])
    sentences: list[WrittenSentence] = field(default_factory=list[WrittenSentence])

    def add_element(self, element: Json, fields: Mapping[str, Json]) -> None:
        """Verifies the next sentence. Nothing is shown of an answer that will be withdrawn or replaced."""
        try:
            sentence = SentenceOutput.model_validate(element)
        except ValidationError:
            return
        self.received.append(sentence)
        verified = self.call.checker.verify_sentence(sentence)
        if verified is None:
            return
        self.sentences.append(verified)
        reply = self.build_reply(fields)
        if reply.completeness < (self.threshold if self.call.may_search_again else self.floor):
            return
        facts = WrittenAnswerFacts(
            sentences=tuple(self.sentences),
            language=self.call.review.language,
            layout=AnswerLayout.LIST
            if reply.layout is OutputLayout.TABLE
            else layout_of(reply, self.call.review.leg, ()),
            verdict=VERDICTS.get(reply.verdict),
            settles_question=reply.verdict is not OutputVerdict.UNCLEAR,
        )
        text = verify_leg(compose_written_answer(facts)).text
        self.call.review.session.context.report_partial_answer(self.call.review.leg.id, text)

    def build_reply(self, fields: Mapping[str, Json]) -> WrittenAnswerOutput:
        """Returns the fields and sentences so far as a reply; only the sentences if a field is not as it should be."""
        partial = {"completeness": 0.0, "reasoning": "", **fields}
        try:
            reply = WrittenAnswerOutput.model_validate(partial)
        except ValidationError:
            reply = WrittenAnswerOutput(completeness=0.0, reasoning="")
        return reply.model_copy(update={"sentences": list(self.received)})


def layout_of(reply: WrittenAnswerOutput, leg: Leg, columns: Sequence[str]) -> AnswerLayout:
    """Returns the layout of the reply; steps for a question for steps, and a list for a table without columns."""
    if isinstance(leg.answer_form, FindSteps) and len(reply.sentences) > 1:
        return AnswerLayout.STEPS
    if reply.layout is OutputLayout.TABLE:
        return AnswerLayout.TABLE if columns else AnswerLayout.LIST
    return AnswerLayout(reply.layout.value)
