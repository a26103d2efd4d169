"""What a turn runs with."""

from dataclasses import dataclass

from agent.limits import AnswerLimits
from agent.reasoning_log import ReasoningLog
from bot.attachments.attachments import SearchableContent
from bot.conversation.json_result import ResultRequest
from bot.conversation.turn_result import result_request_of
from bot.dialogue.question_agent import AttemptCallback
from bot.ids import TurnId
from bot.progress import PartialAnswerCallback, ProgressCallback
from bot.surface.inbound import Inbound
from storage.search.scope import Scope
from storage.sql.stores.conversations import ConversationState


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """What a turn runs with: the rights, state, content and limits at the time of the run."""

    inbound: Inbound
    turn: TurnId
    scope: Scope
    may_go_private: bool  # the asker may see more in a private conversation
    state: ConversationState
    content: SearchableContent
    limits: AnswerLimits
    report_progress: ProgressCallback
    report_attempt: AttemptCallback
    report_partial_answer: PartialAnswerCallback
    reasoning_log: ReasoningLog

    def result_request_for(self, question: str) -> ResultRequest:
        return result_request_of(self.inbound, self.turn, question, self.limits)
