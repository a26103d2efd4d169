"""What replies of models look like, as classes that check them. `prompt_library` finds them here by name."""

from prompts.outputs.field_extraction import FieldExtractionOutput
from prompts.outputs.question_plan import QuestionPlanOutput
from prompts.outputs.question_route import QuestionRouteOutput
from prompts.outputs.situated_passages import SituatedPassagesOutput

__all__ = ["FieldExtractionOutput", "QuestionPlanOutput", "QuestionRouteOutput", "SituatedPassagesOutput"]
