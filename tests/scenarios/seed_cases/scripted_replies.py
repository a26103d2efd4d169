"""What a good model would reply to a prompt, for the prompts of the staged reasoner."""

import json
import re
from dataclasses import dataclass
from typing import Any as Json
from typing import Protocol

from prompts.outputs import QuestionPlanOutput
from tests.stand_ins.model.request_bodies import ChatBody, SchemaFormatBody, UserBody

_ITEM = re.compile(r'<item id="(?P<id>\d+)" title="(?P<title>[^"]*)".*?>\n(?P<text>.*?)\n</item>', re.DOTALL)


class UnexpectedPrompt(AssertionError):
    """A request is not the one that the script has a reply for."""


class ScriptedReply(Protocol):
    """A reply for one request."""

    def answer_request(self, body: ChatBody) -> str:
        """Raises `UnexpectedPrompt`."""
        ...


@dataclass(frozen=True, kw_only=True)
class PlanReply:
    """A plan. `seen`: what the planner's prompt must show, so that the plan could be made from it."""

    plan: QuestionPlanOutput
    seen: tuple[str, ...] = ()

    def answer_request(self, body: ChatBody) -> str:
        prompt = _user_text_of(body, "QuestionPlanOutput")
        missing = [text for text in self.seen if text not in prompt]
        if missing:
            raise UnexpectedPrompt(f"the planner does not see {missing}")
        return self.plan.model_dump_json()


@dataclass(frozen=True, kw_only=True)
class ScriptedSentence:
    """A sentence of an answer. It cites the first item whose text holds `proof`, and quotes `proof`."""

    text: str
    proof: str


@dataclass(frozen=True, kw_only=True)
class WrittenReply:
    """An answer from the items of evidence; without sentences, that they do not answer."""

    question: str  # that the prompt must ask
    sentences: tuple[ScriptedSentence, ...] = ()
    missing: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    layout: str = "prose"

    def answer_request(self, body: ChatBody) -> str:
        prompt = _user_text_of(body, "WrittenAnswerOutput")
        if f"<question>\n{self.question}\n</question>" not in prompt:
            raise UnexpectedPrompt(f"the prompt does not ask {self.question!r}: {prompt[-300:]}")
        reply: dict[str, Json] = {
            "completeness": 1.0 if self.sentences else 0.0,
            "reasoning": "the items say it" if self.sentences else "no item says it",
            "missing": self.missing,
            "queries": self.queries,
            "verdict": "none",
            "contradiction": None,
            "layout": self.layout,
            "columns": [],
            "sentences": [
                {"text": sentence.text, "evidence": [_find_item(prompt, sentence.proof)], "quote": sentence.proof}
                for sentence in self.sentences
            ],
        }
        return json.dumps(reply, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class UnusableText:
    """A reply that follows no schema."""

    text: str = "I am not able to do that."

    def answer_request(self, body: ChatBody) -> str:
        _user_text_of(body, schema_name_of(body))
        return self.text


def schema_name_of(body: ChatBody) -> str:
    return body.response_format.json_schema.name if isinstance(body.response_format, SchemaFormatBody) else ""


def _user_text_of(body: ChatBody, schema_name: str) -> str:
    """The data of the prompt. Raises `UnexpectedPrompt` if it asks for another output."""
    if schema_name_of(body) != schema_name:
        raise UnexpectedPrompt(f"a {schema_name_of(body)} is asked for where a {schema_name} was expected")
    return str(next(message.content for message in body.messages if isinstance(message, UserBody)))


def _find_item(prompt: str, proof: str) -> int:
    for match in _ITEM.finditer(prompt):
        if proof in match["text"]:
            return int(match["id"])
    raise UnexpectedPrompt(f"no item holds {proof!r}")
