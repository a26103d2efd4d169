"""What replies of models look like, as classes that check them. `prompt_library` finds them here by name."""

from prompts.outputs.conversation_summary import ConversationSummaryOutput
from prompts.outputs.document_check import DocumentCheckOutput
from prompts.outputs.field_extraction import FieldExtractionOutput
from prompts.outputs.model_check import ModelCheckOutput
from prompts.outputs.question_plan import QuestionPlanOutput
from prompts.outputs.question_route import QuestionRouteOutput
from prompts.outputs.situated_passages import SituatedPassagesOutput
from prompts.outputs.tool_answer import ToolAnswerOutput
from prompts.outputs.written_answer import JointAnswerOutput, WrittenAnswerOutput

__all__ = [
    "ConversationSummaryOutput",
    "DocumentCheckOutput",
    "FieldExtractionOutput",
    "JointAnswerOutput",
    "ModelCheckOutput",
    "QuestionPlanOutput",
    "QuestionRouteOutput",
    "SituatedPassagesOutput",
    "ToolAnswerOutput",
    "WrittenAnswerOutput",
]
