"""The messages of one conversation: the model calls tools until it gives its answer.

Every reply of a model is treated as data: names and arguments of its calls are repeated to it only in a form that each
server accepts, and only as many calls of a reply are kept as a reply can need.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from agent.errors import UnusableReply
from agent.gateway.language_model import LanguageModel
from agent.gateway.messages import ChatMessage, MessageRole, ModelReply, ModelRequest, ModelRole, ToolCall
from agent.model.options import ModelOptions
from agent.reasoning_log import EvidenceReview, ReasoningLog
from agent.tools.tool_definitions import define_tool
from agent.tools.tool_executor import MAX_ARGUMENT_CHARACTERS, ToolExecutor, describe_errors
from prompts.outputs import ToolAnswerOutput
from prompts.prompt_library import RenderedPrompt

GIVE_ANSWER = "give_answer"
_MAX_CALLS_OF_REPLY = 8
_MAX_TEXT_CHARACTERS = 4_000  # of a reply, that are repeated to the model
_MAX_OUTPUT_TOKENS = 2_000
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FENCE = re.compile(r"```(?:json)?\s*(\{.*\})\s*```", re.DOTALL)
_LAST_REPLY_TEXT = "This is your last reply: call give_answer now, with what you have."
_NO_CALL_TEXT = f"You called nothing. Call a tool, or end with {GIVE_ANSWER}."


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolConversation:
    """A conversation about one question."""

    model: LanguageModel
    executor: ToolExecutor
    options: ModelOptions
    log: ReasoningLog

    async def run_conversation(self, prompt: RenderedPrompt) -> ToolAnswerOutput:
        """Returns the model's answer. Its results name executed calls.

        Raises `ModelUnavailable`, and `UnusableReply` if there is no answer after `max_calls` replies.
        """
        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=prompt.system),
            ChatMessage(role=MessageRole.USER, content=prompt.user),
        ]
        returned_answers = 0
        for remaining in reversed(range(self.options.max_calls)):
            reply = await self.model.complete(self._build_request(prompt, messages), self.log)
            calls = _usable_calls(reply)
            answer, objection = self._read_answer(reply, calls)
            if answer is not None and objection is None:
                self.log.reviews.append(_review_in(answer))
                if not remaining or not self._may_go_on(answer, returned_answers):
                    return answer
                returned_answers += 1
                objection = _describe_gaps(answer, self.executor.budget.remaining_calls)
            messages += await self._respond(reply, calls, objection, is_last_next=remaining == 1)
        raise UnusableReply("the model gave no answer")

    def _build_request(self, prompt: RenderedPrompt, messages: Sequence[ChatMessage]) -> ModelRequest:
        """All tools are in each request: some servers refuse messages about a tool that a request does not define."""
        answer_tool = define_tool(GIVE_ANSWER, "Ends the conversation with the answer.", ToolAnswerOutput)
        return ModelRequest(
            prompt=prompt.label,
            role=ModelRole.MAIN,
            messages=tuple(messages),
            tools=(*self.executor.define_tools(), answer_tool),
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )

    def _read_answer(self, reply: ModelReply, calls: Sequence[ToolCall]) -> tuple[ToolAnswerOutput | None, str | None]:
        """Returns the answer and what is wrong with it; neither for a reply that gives none."""
        written = next((call.arguments for call in calls if call.name == GIVE_ANSWER), None)
        if written is None and not calls:
            written = _find_json(reply.text)  # servers that know no tools leave the call in the text
        if written is None:
            return None, None
        if len(written) > MAX_ARGUMENT_CHARACTERS:
            return None, f"Not accepted: the answer is longer than {MAX_ARGUMENT_CHARACTERS} characters."
        try:
            answer = ToolAnswerOutput.model_validate_json(written)
        except ValidationError as exc:
            return None, f"Not accepted. {describe_errors(exc)}"
        fault = self._find_fault(answer)
        return (answer, None) if fault is None else (None, f"Not accepted. {fault}")

    def _find_fault(self, answer: ToolAnswerOutput) -> str | None:
        unknown = [result.call for result in answer.results if result.call not in self.executor.executed_calls]
        if unknown:
            known = ", ".join(self.executor.executed_calls) or "none"
            return f"There is no call {unknown[0][:20]!r}. The executed calls: {known}."
        if answer.outcome == "answered" and not answer.results and not answer.sentences:
            return "An answer needs results or sentences."
        if answer.outcome == "not_found" and not self.executor.executed_calls:
            return "Nothing was searched yet."
        if answer.outcome == "clarify" and not answer.clarification.question.strip():
            return "clarify needs a question."
        return None

    def _may_go_on(self, answer: ToolAnswerOutput, returned_answers: int) -> bool:
        """Whether the model should search for what is missing: as in a review, while calls and rounds are left."""
        return (
            answer.outcome != "clarify"
            and answer.completeness < self.options.completeness
            and self.executor.budget.remaining_calls > 0
            and returned_answers + 1 < self.options.max_rounds
        )

    async def _respond(
        self, reply: ModelReply, calls: Sequence[ToolCall], objection: str | None, *, is_last_next: bool
    ) -> list[ChatMessage]:
        """Returns the model's reply and the results of its calls, as the messages that follow."""
        text = reply.text[:_MAX_TEXT_CHARACTERS]
        closing = f"\n\n{_LAST_REPLY_TEXT}" if is_last_next else ""
        repeated = [_make_repeatable(call) for call in calls]
        messages = [ChatMessage(role=MessageRole.ASSISTANT, content=text, tool_calls=tuple(repeated))]
        if not calls:
            return [*messages, ChatMessage(role=MessageRole.USER, content=(objection or _NO_CALL_TEXT) + closing)]
        for position, call in enumerate(calls):
            if call.name == GIVE_ANSWER:
                result = objection or "Not accepted."
            elif objection is not None:
                result = "Not executed, since the same reply gives an answer."
            else:
                result = (await self.executor.run_call(call)).text
            is_final = position == len(calls) - 1
            messages.append(
                ChatMessage(
                    role=MessageRole.TOOL,
                    content=result + (closing if is_final else ""),
                    tool_call_id=repeated[position].id,
                )
            )
        return messages


def _review_in(answer: ToolAnswerOutput) -> EvidenceReview:
    completeness = min(max(answer.completeness, 0.0), 1.0)
    return EvidenceReview(
        question="", completeness=completeness, reasoning=answer.reasoning, missing=tuple(answer.missing)
    )


def _usable_calls(reply: ModelReply) -> Sequence[ToolCall]:
    """Returns the first calls, each with an id of its own."""
    seen = set[str]()
    calls = list[ToolCall]()
    for position, call in enumerate(reply.tool_calls[:_MAX_CALLS_OF_REPLY]):
        call_id = call.id if call.id and len(call.id) <= 100 and call.id not in seen else f"call{position:05d}"
        seen.add(call_id)
        calls.append(ToolCall(id=call_id, name=call.name, arguments=call.arguments))
    return calls


def _make_repeatable(call: ToolCall) -> ToolCall:
    """Returns the call in a form that every server takes: a plain name, and a JSON object that is not too long."""
    name = call.name if _TOOL_NAME.fullmatch(call.name) else "unknown"
    is_object = len(call.arguments) <= MAX_ARGUMENT_CHARACTERS and _is_json_object(call.arguments)
    return ToolCall(id=call.id, name=name, arguments=call.arguments if is_object else "{}")


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _find_json(text: str) -> str | None:
    """Returns the JSON object that a text is, or that appears between its code fences; else None."""
    stripped = text.strip()
    if stripped.startswith("{") and stripped.endswith("}"):
        return stripped
    fenced = _FENCE.search(text[: MAX_ARGUMENT_CHARACTERS + _MAX_TEXT_CHARACTERS])
    return fenced[1] if fenced is not None else None


def _describe_gaps(answer: ToolAnswerOutput, remaining_calls: int) -> str:
    gaps = "; ".join(gap[:200] for gap in answer.missing[:5])
    missing = f" Missing: {gaps}." if gaps else ""
    return (
        f"By your own judgement the evidence answers only {answer.completeness:.0%} of the question.{missing} "
        f"{remaining_calls} calls of tools are left: search for what is missing, in other words or elsewhere. If it is "
        f"not there, call {GIVE_ANSWER} again."
    )
