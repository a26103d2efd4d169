"""What replies of models look like, as classes that check them. `prompt_library` finds them here by name."""

from prompts.outputs.question_plan import QuestionPlanOutput
from prompts.outputs.question_route import QuestionRouteOutput
from prompts.outputs.tool_answer import ToolAnswerOutput
from prompts.outputs.written_answer import JointAnswerOutput, WrittenAnswerOutput

__all__ = ["JointAnswerOutput", "QuestionPlanOutput", "QuestionRouteOutput", "ToolAnswerOutput", "WrittenAnswerOutput"]
